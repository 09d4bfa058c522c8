"""Something that is done again and again, asked for whenever somebody has a turn."""

from __future__ import annotations

from airloom.basics.clock import NS_PER_SECOND


class Schedule:
    def __init__(self, rate: float) -> None:
        """`rate` in Hz; the first time is at once."""
        self._period_ns, self._count = NS_PER_SECOND / rate, 0

    def is_due(self, now_ns: int) -> bool:
        """Whether it is to be done now; times that were missed are not made up for."""
        turn = int(now_ns / self._period_ns) + 1
        if turn <= self._count:
            return False
        self._count = turn
        return True
