"""A plan for a round: who has a turn, and the memory for it. The same members come round again and again."""

from __future__ import annotations

import numpy as np

from airloom.loom.bundles import Round, TurnOutcome, What
from airloom.loom.line import LineLost
from airloom.loom.partners import BranchPartner, Partner, failed
from airloom.loom.protocol import HEAD, NO_LETTERS, STATE_NUMBERS, Kind, letters_as_bytes
from airloom.loom.round import LIST_AT, NOT_READ, NOT_SENT, ROOM, obey, play_round
from airloom.loom.visibility import GONE, Visibility


class Plan:
    def __init__(
        self,
        partners: list[Partner],
        branches: dict[BranchPartner, list[str]],
        missing: list[str],
        visibility: Visibility,
    ) -> None:
        """`missing` are those whose branch was lost while others had their turn."""
        self.partners, self.branches, self.missing, self.edition = partners, branches, missing, visibility.edition
        self._memory, self._stride = visibility.memory, visibility.stride
        self.places = visibility.places[np.concatenate([np.empty(0, int), *(partner.vehicles for partner in partners)])]
        self._counts = np.array([len(partner.vehicles) for partner in partners], np.int64)
        self._lines = np.array([partner.line.fileno() for partner in partners], np.int32)
        self._answers = np.empty((len(partners), ROOM), np.uint8)
        self._sizes = np.zeros(len(partners), np.int64)
        self._no_tails = np.frombuffer(NO_LETTERS * len(partners), np.uint8)
        self._no_tail_sizes = np.full(len(partners), len(NO_LETTERS))
        self._outgoing = self._room_for(len(NO_LETTERS))
        self.heard = np.zeros(len(self.places), bool)
        self._all_present = not (self.places == GONE).any()

    def _room_for(self, tail: int) -> np.ndarray:
        return np.empty(LIST_AT + 8 * STATE_NUMBERS * max(self._counts, default=0) + tail, np.uint8)

    def play(self, round_: Round) -> None:
        """Everybody begins, and everybody who answers as usual has ended."""
        if not self._all_present:
            self._play_in_python(round_)
            return
        tails, sizes, outgoing = self._no_tails, self._no_tail_sizes, self._outgoing
        if any(round_.letters.values()):
            letters = [letters_as_bytes(round_.letters[partner.name]) for partner in self.partners]
            tails, sizes = np.frombuffer(b"".join(letters), np.uint8), np.array([len(one) for one in letters])
            outgoing = self._room_for(int(sizes.max()))
        play_round(
            self._lines, round_.time_ns, self._memory, self._stride, self.places, self._counts, tails, sizes, outgoing,
            self._answers, self._sizes,
        )  # fmt: skip

    def _play_in_python(self, round_: Round) -> None:
        """A vehicle that somebody sees has left the simulation, and has no place in memory any more."""
        for k, partner in enumerate(self.partners):
            try:
                partner.line.send(partner.message(round_))
                self._sizes[k] = NOT_READ
            except (LineLost, TimeoutError):
                self._sizes[k] = NOT_SENT

    def obey(self, time_ns: int, world: np.ndarray) -> int:
        """Carry out what was said if it is all plain, see `round.obey`."""
        return obey(time_ns, self._memory, world, self.places, self._counts, self._answers, self._sizes, self.heard)

    def outcomes(self, begun: float) -> dict[str, TurnOutcome]:
        sizes = self._sizes.tolist()
        return {partner.name: self._outcome(k, partner, sizes[k], begun) for k, partner in enumerate(self.partners)}

    def _outcome(self, k: int, partner: Partner, size: int, begun: float) -> TurnOutcome:
        """A whole answer is taken as it is; anything else is left to the line, which knows about parts and errors."""
        if size == 0:
            return failed("is gone: it hung up")
        if size == NOT_SENT:
            return failed("is gone: nothing can be sent to it")
        if size > 0:
            data = self._answers[k, :size].tobytes()
            if size >= HEAD.size and HEAD.unpack_from(data) == (size - 4, Kind.END):
                return TurnOutcome(What.END, data[HEAD.size :])
            partner.line.put_back(data)
        return partner.outcome(begun + partner.patience)
