"""Something that is done again and again, asked for whenever somebody has a turn."""

from __future__ import annotations

from math import floor

from airloom.basics.clock import NS_PER_SECOND


class Schedule:
    def __init__(self, rate: float, phase: float = 0.0) -> None:
        """`rate` in Hz; `phase` is the share of a period after which it is done for the first time."""
        self._period_ns, self._phase, self.count = NS_PER_SECOND / rate, phase, 0
        """`count`: of the turns up to the last one at which it was done."""

    def is_due(self, now_ns: int) -> bool:
        """Whether it is to be done now; times that were missed are not made up for."""
        turn = floor(now_ns / self._period_ns - self._phase) + 1
        if turn <= self.count:
            return False
        self.count = turn
        return True
