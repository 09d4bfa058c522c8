"""Pacing: simulation time that passes as fast as wall time, or a multiple of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from airloom.basics.clock import OVERSLEPT


@dataclass
class Lateness:
    """How far a paced run fell behind the wall clock, seconds."""

    chunks: int = 0
    late: int = 0
    total: float = 0.0
    maximum: float = 0.0

    def note(self, seconds: float) -> None:
        self.chunks += 1
        self.late += seconds > OVERSLEPT
        self.total += max(seconds, 0.0)
        self.maximum = max(self.maximum, seconds)

    @property
    def mean(self) -> float:
        return self.total / self.chunks if self.chunks else 0.0


class Pacer:
    """Holds a run back so that `speed` seconds of simulation time pass in a second of wall time.

    The schedule is fixed when it starts: whoever falls behind is not held back until the delay is made up.
    """

    slice = 0.01
    """Seconds of wall time between two waits."""

    def __init__(
        self,
        speed: float,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.speed = _checked(speed)
        self.lateness = Lateness()
        self._clock, self._sleep = clock, sleep
        self._start_time = self._start_clock = 0.0

    def start(self, time: float) -> None:
        """Begin the schedule at this simulation time."""
        self._start_time, self._start_clock = time, self._clock()

    def change(self, speed: float, time: float) -> None:
        """From this simulation time on, go at another speed."""
        self.speed = _checked(speed)
        self.start(time)

    def wait(self, time: float) -> None:
        """Sleep until the wall clock reaches this simulation time."""
        due = self._start_clock + (time - self._start_time) / self.speed
        ahead = due - self._clock()
        if ahead > 0:
            self._sleep(ahead)
        self.lateness.note(self._clock() - due)


def _checked(speed: float) -> float:
    if not (isfinite(speed) and speed > 0):
        raise ValueError(f"a speed must be a number above 0, got {speed}")
    return speed
