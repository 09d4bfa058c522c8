"""A plan for a round: who has a turn, and the memory for it. The same members come round again and again."""

from __future__ import annotations

import numpy as np

from airloom.loom.bundles import Outcome, Round, What
from airloom.loom.exchange import LIST_AT, NOT_READ, NOT_SENT, ROOM, exchange, obey
from airloom.loom.line import LineLost
from airloom.loom.partners import BranchSeat, Seat, failed
from airloom.loom.protocol import HEAD, NO_LETTERS, STATE_NUMBERS, Kind, letters_as_bytes
from airloom.loom.visibility import GONE, Sights


class Plan:
    def __init__(
        self, seats: list[Seat], branches: dict[BranchSeat, list[str]], missing: list[str], sights: Sights
    ) -> None:
        """`missing` are those whose branch was lost while others had their turn."""
        self.seats, self.branches, self.missing, self.edition = seats, branches, missing, sights.edition
        self._memory, self._stride = sights.memory, sights.stride
        self.places = sights.places[np.concatenate([np.empty(0, int), *(seat.vehicles for seat in seats)])]
        self._counts = np.array([len(seat.vehicles) for seat in seats], np.int64)
        self._lines = np.array([seat.line.fileno() for seat in seats], np.int32)
        self._answers = np.empty((len(seats), ROOM), np.uint8)
        self._sizes = np.zeros(len(seats), np.int64)
        self._no_tails = np.frombuffer(NO_LETTERS * len(seats), np.uint8)
        self._no_tail_sizes = np.full(len(seats), len(NO_LETTERS))
        self._outgoing = self._room_for(len(NO_LETTERS))
        self.heard = np.zeros(len(self.places), bool)
        self._all_present = not (self.places == GONE).any()

    def _room_for(self, tail: int) -> np.ndarray:
        return np.empty(LIST_AT + 8 * STATE_NUMBERS * max(self._counts, default=0) + tail, np.uint8)

    def exchange(self, round_: Round) -> None:
        """Everybody begins, and everybody who answers as usual has ended."""
        if not self._all_present:
            self._exchange_in_python(round_)
            return
        tails, sizes, outgoing = self._no_tails, self._no_tail_sizes, self._outgoing
        if any(round_.letters.values()):
            letters = [letters_as_bytes(round_.letters[seat.name]) for seat in self.seats]
            tails, sizes = np.frombuffer(b"".join(letters), np.uint8), np.array([len(one) for one in letters])
            outgoing = self._room_for(int(sizes.max()))
        exchange(
            self._lines, round_.time_ns, self._memory, self._stride, self.places, self._counts, tails, sizes, outgoing,
            self._answers, self._sizes,
        )  # fmt: skip

    def _exchange_in_python(self, round_: Round) -> None:
        """A vehicle that somebody sees has left the simulation, and has no place in memory any more."""
        for k, seat in enumerate(self.seats):
            try:
                seat.line.send(seat.message(round_))
                self._sizes[k] = NOT_READ
            except (LineLost, TimeoutError):
                self._sizes[k] = NOT_SENT

    def obey(self, time_ns: int) -> int:
        """Carry out what was said if it is all plain, see `exchange.obey`."""
        return obey(time_ns, self._memory, self.places, self._counts, self._answers, self._sizes, self.heard)

    def outcomes(self, begun: float) -> dict[str, Outcome]:
        sizes = self._sizes.tolist()
        return {seat.name: self._outcome(k, seat, sizes[k], begun) for k, seat in enumerate(self.seats)}

    def _outcome(self, k: int, seat: Seat, size: int, begun: float) -> Outcome:
        """A whole answer is taken as it is; anything else is left to the line, which knows about parts and errors."""
        if size == 0:
            return failed("is gone: it hung up")
        if size == NOT_SENT:
            return failed("is gone: nothing can be sent to it")
        if size > 0:
            data = self._answers[k, :size].tobytes()
            if size >= HEAD.size and HEAD.unpack_from(data) == (size - 4, Kind.END):
                return Outcome(What.END, data[HEAD.size :])
            seat.line.put_back(data)
        return seat.outcome(begun + seat.patience)
