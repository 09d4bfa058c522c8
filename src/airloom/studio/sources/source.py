"""What a studio shows: a simulation that runs, or one that was recorded, behind one interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from airloom.scenario.models import Scenario

POSITION = slice(0, 3)
ATTITUDE = slice(3, 7)
VELOCITY = slice(7, 10)
RATES = slice(10, 13)
TARGET = slice(13, 16)
TARGET_YAW = 16
MODE = 17
ROTOR_SPEEDS = slice(18, None)
"""Columns of a snapshot: world ENU, quaternion w, x, y, z, body rates; the position it is told; rotors as many as the
vehicle with the most has."""


@dataclass(frozen=True)
class Snapshot:
    """All vehicles at one moment."""

    time: float
    vehicles: np.ndarray
    """[vehicle, column], in the order of the source's names."""


@dataclass(frozen=True)
class Status:
    """How a run stands."""

    time: float
    end: float
    """When it is over, s."""
    speed: float | None
    """Seconds of simulation time a second that are wished for; None for as many as possible."""
    real_time_factor: float
    paused: bool
    finished: bool
    edition: int
    """Grows with every change of the scenario: then names, scenario and what snapshots hold are others."""
    events: int
    """How many things have happened so far, see `ask("events")`."""


class Source(Protocol):
    recorded: bool
    """Whether it can only be looked at, and its time can be chosen."""
    title: str
    scenario: Scenario
    """With every copy of a vehicle spelled out: its vehicles are those of `names`, in that order."""
    names: list[str]
    edition: int
    """Of this scenario."""

    def refresh(self) -> bool:
        """Take in a changed scenario; tells whether it was, so that names, scenario and snapshots are others now."""
        ...

    def status(self) -> Status: ...

    def snapshot(self) -> Snapshot: ...

    def ask(self, method: str, **fields: Any) -> dict[str, Any]:
        """Carry out a request of the control link, such as `ask("goto", vehicle="cf", position=[1, 2, 3])`.

        Raises `Refused`, or `LinkError` if there is nobody to ask any more (`bridges/control/client.py`).
        """
        ...

    def history(self, topic: str, field: str, since: float) -> tuple[np.ndarray, np.ndarray]:
        """Times and values that were known before anybody asked for the series, and after `since` seconds.

        May take its time. Empty where nothing was kept, and for a recorded run, whose series has everything.
        """
        ...

    def close(self) -> None: ...
