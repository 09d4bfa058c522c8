"""The clock that recorded runs are played by; several share one, and so play side by side."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

FASTEST = 100.0
"""Seconds a second, when asked for as fast as possible: faster, there would be nothing to see."""


@dataclass(frozen=True)
class _Course:
    """Where a clock was at a moment of wall time, and how it goes on from there."""

    time: float
    began: float
    speed: float | None
    going: bool


class Playback:
    """Stands at the beginning until somebody looks on; a clock that has come to the end stands there."""

    def __init__(self, wall_time: Callable[[], float] = time.monotonic) -> None:
        self._wall_time = wall_time
        self.end = 0.0
        self._seen = False
        self._course = _Course(0.0, wall_time(), 1.0, False)

    @property
    def time(self) -> float:
        course = self._course
        elapsed = (self._wall_time() - course.began) * (course.speed or FASTEST) if course.going else 0.0
        return min(course.time + elapsed, self.end)

    @property
    def speed(self) -> float | None:
        """None for as fast as possible."""
        return self._course.speed

    @property
    def paused(self) -> bool:
        return not self._course.going or self.time >= self.end

    def welcome(self) -> None:
        """Somebody looks on: the first sees everything from the beginning."""
        if not self._seen:
            self._seen = True
            self.resume()

    def pause(self) -> None:
        self._go_on(going=False)

    def resume(self) -> None:
        """Go on; from the end, begin anew."""
        self._go_on(time=0.0 if self.time >= self.end else self.time, going=True)

    def change_speed(self, speed: float | None) -> None:
        self._go_on(speed=speed)

    def seek(self, moment: float) -> None:
        self._seen = True
        self._go_on(time=min(max(moment, 0.0), self.end))

    def _go_on(self, **changes: float | bool | None) -> None:
        course = self._course
        state = {"time": self.time, "speed": course.speed, "going": course.going, **changes}
        self._course = _Course(began=self._wall_time(), **state)  # type: ignore[arg-type]
