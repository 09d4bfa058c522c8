"""What a studio shows: a simulation that runs, or one that was recorded."""

from typing import TYPE_CHECKING

from airloom.basics.lazy import lazily

if TYPE_CHECKING:
    from airloom.studio.sources.playback import Playback
    from airloom.studio.sources.recorded import RecordedSource
    from airloom.studio.sources.source import ATTITUDE, POSITION, RATES, ROTOR_SPEEDS, VELOCITY, Snapshot

__all__ = [
    "ATTITUDE",
    "POSITION",
    "RATES",
    "ROTOR_SPEEDS",
    "VELOCITY",
    "Playback",
    "RecordedSource",
    "Snapshot",
]

_MODULES = {
    "ATTITUDE": "source",
    "POSITION": "source",
    "RATES": "source",
    "ROTOR_SPEEDS": "source",
    "VELOCITY": "source",
    "Playback": "playback",
    "RecordedSource": "recorded",
    "Snapshot": "source",
}

__getattr__ = lazily(__name__, _MODULES)
