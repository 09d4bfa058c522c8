"""A member as the loom sees it: what was agreed with it, and its turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from airloom.loom import protocol
from airloom.loom.line import Line, LineLost
from airloom.loom.protocol import Begin, End, Kind, Letter, Phase, ProtocolError

if TYPE_CHECKING:
    from airloom.scenario.models import Member as Description
    from airloom.vehicle import Vehicle

MOST_LETTERS = 10_000
"""That may wait for a member; whoever sends more floods it."""


class MemberFailed(Exception):
    """A member did not keep to the agreement; the message says which and how."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"member '{name}' {what}")


@dataclass
class Seat:
    """A member at the loom."""

    name: str
    line: Line
    phase: Phase
    period: int
    """Ticks from turn to turn."""
    vehicles: Sequence[Vehicle]
    description: Description
    inbox: list[Letter] = field(default_factory=list)

    def begin(self, time_ns: int) -> None:
        states = np.concatenate([vehicle.state for vehicle in self.vehicles]).reshape(-1, protocol.STATE_NUMBERS)
        letters, self.inbox = self.inbox, []
        try:
            self.line.send(protocol.begin(Begin(time_ns, states, letters)))
        except (LineLost, TimeoutError) as lost:
            raise MemberFailed(self.name, f"is gone: {lost}") from None

    def end(self, time_ns: int) -> End | None:
        """What it says at the end of its turn; None if it takes its leave."""
        patience = self.description.timeout
        try:
            kind, told = self.line.receive(patience)
        except TimeoutError:
            raise MemberFailed(self.name, f"did not answer within {patience:g} s") from None
        except LineLost as lost:
            raise MemberFailed(self.name, f"is gone: {lost}") from None
        except ProtocolError as error:
            raise MemberFailed(self.name, f"talks nonsense: {error}") from None
        if kind is Kind.BYE:
            return None
        return self._checked(kind, told, time_ns)

    def _checked(self, kind: Kind, told: End, time_ns: int) -> End:
        if kind is not Kind.END:
            raise MemberFailed(self.name, f"sent {kind.name} where END was due")
        if told.time_ns != time_ns:
            when = f"{told.time_ns * 1e-9:.6f} s"
            raise MemberFailed(self.name, f"ended a turn of {when} at {time_ns * 1e-9:.6f} s")
        if self.line.has_more:
            raise MemberFailed(self.name, "said more than one thing in its turn")
        for order in told.orders:
            if order.vehicle >= len(self.vehicles):
                raise MemberFailed(self.name, f"commands vehicle {order.vehicle} of {len(self.vehicles)}")
        return told

    def post(self, letter: Letter) -> None:
        if len(self.inbox) < MOST_LETTERS:
            self.inbox.append(letter)
