"""Who sits at a coordinator: a member on a line of its own, or a branch with many members behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from airloom.loom import bundles, protocol
from airloom.loom.bundles import Admission, Round, TurnOutcome, What
from airloom.loom.line import Line, LineLost
from airloom.loom.protocol import Hello, Kind, ProtocolError

GRACE = 5.0  # s that a branch may take longer than its slowest member


def failed(text: str) -> TurnOutcome:
    return TurnOutcome(What.FAILED, text.encode())


class Partner:
    """A member on a line of its own."""

    def __init__(self, admission: Admission, line: Line) -> None:
        self.name, self.line, self.patience = admission.name, line, admission.patience
        self.vehicles = np.array(admission.vehicles, int)
        line.be_patient(self.patience)

    def message(self, round_: Round) -> bytes:
        """Its BEGIN."""
        return protocol.begin(round_.time_ns, round_.visibility.states(self.vehicles), round_.letters[self.name])

    def outcome(self, deadline: float) -> TurnOutcome:
        """What it says until then."""
        try:
            kind, body = self.line.receive_bytes(max(deadline - time.monotonic(), 1e-3))
        except TimeoutError:
            return failed(f"did not answer within {self.patience:g} s")
        except LineLost as lost:
            return failed(f"is gone: {lost}")
        except ProtocolError as error:
            return failed(f"talks nonsense: {error}")
        if self.line.has_more:
            return failed("said more than one thing in its turn")
        if kind is Kind.END:
            return TurnOutcome(What.END, body)
        if kind is Kind.BYE:
            return TurnOutcome(What.LEFT)
        return failed(f"sent {kind.name} where END was due")


class BranchPartner:
    """A branch, as its parent sees it."""

    def __init__(
        self, name: str, line: Line, joins: Callable[[BranchPartner, Hello], None], lost: Callable[[str, str], None]
    ) -> None:
        self.name, self.line = name, line
        line.longest = protocol.LONGEST_BUNDLE
        self._joins, self._lost = joins, lost
        self._vehicles: dict[str, Sequence[int]] = {}
        self._patience: dict[str, float] = {}

    @property
    def members(self) -> list[str]:
        return list(self._vehicles)

    def admit(self, admission: Admission) -> None:
        self._vehicles[admission.name] = admission.vehicles
        self._patience[admission.name] = admission.patience
        self.line.send(bundles.admitted(admission))

    def turn_away(self, name: str, reason: str) -> None:
        self.line.send(bundles.bad_news(Kind.TURNED_AWAY, name, reason))

    def dismiss(self, name: str) -> None:
        del self._vehicles[name], self._patience[name]
        self.line.send(bundles.dismiss(name))

    def begin(self, round_: Round, names: Sequence[str]) -> None:
        seen = sorted({number for name in names for number in self._vehicles[name]})
        self.line.send(bundles.begins(round_, np.array(seen, int), names))

    def outcomes(self, round_: Round, names: Sequence[str], begun: float) -> dict[str, TurnOutcome]:
        """What its members say. If the branch itself fails, they all do."""
        patience = max(self._patience[name] for name in names) + GRACE
        try:
            found = self._ends(round_, begun + patience)
            return {name: found.get(name) or failed(f"was not answered for by branch '{self.name}'") for name in names}
        except TimeoutError:
            return self.lost(names, f"did not answer within {patience:g} s")
        except LineLost as lost:
            return self.lost(names, f"is gone: {lost}")
        except ProtocolError as error:
            return self.lost(names, f"talks nonsense: {error}")

    def lost(self, names: Sequence[str], why: str) -> dict[str, TurnOutcome]:
        self.line.close()
        return {name: failed(f"is out of reach: branch '{self.name}' {why}") for name in names}

    def _ends(self, round_: Round, deadline: float) -> dict[str, TurnOutcome]:
        while True:
            kind, body = self.line.receive_bytes(max(deadline - time.monotonic(), 1e-3))
            if kind is Kind.ENDS:
                time_ns, found = bundles.parse_ends(body)
                if time_ns != round_.time_ns:
                    raise ProtocolError(f"it ended a round of {time_ns} ns at {round_.time_ns} ns")
                return found
            self.hear(kind, body)

    def hear(self, kind: Kind, body: bytes) -> None:
        """What it says between rounds: a member wants to join, or never will, or that it is there."""
        if kind is Kind.JOIN:
            self._joins(self, bundles.parse_join(body))
        elif kind is Kind.LOST:
            self._lost(*bundles.parse_bad_news(body))
        elif kind is not Kind.BEAT:
            raise ProtocolError(f"{kind.name} is nothing that a branch says")
