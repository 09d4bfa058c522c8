"""Orders on their way from a base station to a vehicle: in pieces, each again and again until it is acknowledged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from airloom.basics.clock import NS_PER_SECOND
from airloom.station.words import Got, Piece, in_pieces

State = Literal["under way", "delivered", "given up", "overtaken"]


@dataclass
class Dispatch:
    """One order to one vehicle."""

    vehicle: str
    number: int
    """Counted for each vehicle, from 1."""
    given_ns: int
    content: bytes
    state: State = "under way"
    delivered_ns: int | None = None
    attempts: int = 0
    _missing: dict[int, Piece] = field(default_factory=dict)
    _due_ns: int = 0

    def __post_init__(self) -> None:
        self._missing = {piece.number: piece for piece in in_pieces(self.number, self.content)}

    def due(self, now_ns: int, retry: float, most: int) -> Iterator[Piece]:
        """Pieces that are to be sent now, if any; after the last attempt it is given up."""
        if self.state != "under way" or now_ns < self._due_ns:
            return
        if self.attempts == most:
            self.state = "given up"
            return
        self.attempts += 1
        self._due_ns = now_ns + round(retry * NS_PER_SECOND)
        yield from self._missing.values()

    def remembered(self) -> tuple[Any, ...]:
        return self.number, self.content, self.attempts, self._due_ns, list(self._missing)

    def acknowledge(self, got: Got, now_ns: int) -> bool:
        """Whether all of it has arrived by this."""
        if self.state != "under way" or got.order != self.number or self._missing.pop(got.piece, None) is None:
            return False
        if self._missing:
            return False
        self.state, self.delivered_ns = "delivered", now_ns
        return True
