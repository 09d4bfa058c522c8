"""Whether the other end of a link is there, as one end knows it: by what it has heard."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from airloom.basics.clock import NS_PER_SECOND


class News(Enum):
    LOST = "lost"
    BACK = "back"


@dataclass
class Outage:
    """From the last word that was heard to the first one after it; times in ns."""

    since_ns: int
    until_ns: int | None = None

    @property
    def seconds(self) -> tuple[float, float | None]:
        until = None if self.until_ns is None else self.until_ns / NS_PER_SECOND
        return self.since_ns / NS_PER_SECOND, until


@dataclass
class Link:
    """It begins with the first word: who has never been heard is not lost."""

    patience: float
    """How long it may be silent, s."""
    heard_ns: int | None = None
    """When the last word was heard."""
    outages: list[Outage] = field(default_factory=list)

    @property
    def is_lost(self) -> bool:
        return bool(self.outages) and self.outages[-1].until_ns is None

    def hear(self, now_ns: int) -> None:
        self.heard_ns = now_ns

    def look(self, now_ns: int) -> News | None:
        """Whether it was lost, or is back, since the last look."""
        if self.heard_ns is None:
            return None
        if self.is_lost and self.heard_ns > self.outages[-1].since_ns:
            self.outages[-1].until_ns = self.heard_ns
            return News.BACK
        if not self.is_lost and now_ns - self.heard_ns > self.patience * NS_PER_SECOND:
            self.outages.append(Outage(self.heard_ns))
            return News.LOST
        return None
