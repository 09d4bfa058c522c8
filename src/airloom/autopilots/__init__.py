"""Autopilots: the flight code that will really fly, a process of its own for each vehicle, in lockstep."""

from typing import TYPE_CHECKING

from airloom.basics.lazy import lazily

if TYPE_CHECKING:
    from airloom.autopilots.autopilot import Autopilot, AutopilotError, AutopilotFailed, AutopilotParameters
    from airloom.autopilots.transcript import Transcript, TranscriptError

__all__ = [
    "Autopilot",
    "AutopilotError",
    "AutopilotFailed",
    "AutopilotParameters",
    "Transcript",
    "TranscriptError",
]

_MODULES = {
    "Autopilot": "autopilot",
    "AutopilotError": "autopilot",
    "AutopilotFailed": "autopilot",
    "AutopilotParameters": "autopilot",
    "Transcript": "transcript",
    "TranscriptError": "transcript",
}

__getattr__ = lazily(__name__, _MODULES)
