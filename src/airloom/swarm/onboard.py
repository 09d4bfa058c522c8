"""What the computers of members of any swarm do, for as many members as they are told: one, or all in one process.

A computer knows what its own sensor measured and what its own radio heard, and nothing else; members that are computed
side by side share no number. Each result is the same to the bit however many are computed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from airloom.compiled import compiled
from airloom.radio.packet import Packet
from airloom.swarm.neighbours import NEVER, SECONDS, Neighbours
from airloom.swarm.parameters import SwarmParameters
from airloom.swarm.words import spoken

HEIGHT_GAIN = 0.5  # 1/s
TOUCHDOWN = 0.5  # m above where it started; who lands is on the ground then, as far as GNSS can tell


@compiled
def limit(v_max, out):
    """None is told to fly faster than v_max, m/s: [member, 2]."""
    for i in range(out.shape[0]):
        speed = sqrt(out[i, 0] * out[i, 0] + out[i, 1] * out[i, 1])
        if speed > v_max:
            out[i, 0] *= v_max / speed
            out[i, 1] *= v_max / speed


class Onboard:
    """It rises to its height, tells where it is, and goes where `_in_the_plane` wants."""

    def __init__(self, parameters: SwarmParameters, members: Sequence[str], nodes: Sequence[str]) -> None:
        """`nodes` are all that have a radio, in the same order for each member."""
        count = len(members)
        self._height, self._layer, self._climb = parameters.height, parameters.layer, parameters.climb
        self._forget_ns = round(parameters.forget * 1e9)
        self._neighbours = Neighbours(count, nodes, parameters.forget)
        self._times = np.full(count, NEVER)
        self._own = np.zeros((count, 6))
        self._said = np.full(count, NEVER)
        self._risen = np.zeros(count, bool)
        self._starts = np.full(count, np.nan)
        self._landing = np.zeros(count, bool)
        """Who goes down because it wants to, and says nothing more."""
        self.fallen = np.zeros(count, bool)
        """Who has come down unasked: its rotors should stop, and it says nothing more."""
        self.landed = np.zeros(count, bool)
        """Who has come down as it wanted: likewise."""

    @property
    def stopped(self) -> np.ndarray:
        """Whose rotors should stop."""
        return self.fallen | self.landed

    def measured(self, member: int, time_ns: int, state: np.ndarray) -> None:
        """Position, m, and velocity, m/s, of a member by its own sensor."""
        self._times[member], self._own[member] = time_ns, state
        if self._starts[member] != self._starts[member]:
            self._starts[member] = state[2]

    def hear(self, members: Sequence[int], packets: Sequence[Packet]) -> None:
        """Packets, and by whose radio each was heard."""
        if packets:
            self._neighbours.hear(members, packets)

    def words(self, member: int) -> list[bytes]:
        """What a member has to say now: nothing if it has not been measured anew."""
        if self._times[member] == self._said[member] or self._landing[member] or self.stopped[member]:
            return []
        self._said[member] = self._times[member]
        return self._told(member)

    def _told(self, member: int) -> list[bytes]:
        return [self._place(member)]

    def _place(self, member: int, leg: int = 0) -> bytes:
        """Where it is, as a word."""
        return spoken(int(self._times[member]), self._own[member], leg)

    def steer(self, time_ns: int) -> np.ndarray:
        """The velocity that each is to fly with, [member, 3], m/s. Who does not know where it is should stop."""
        own = self._own.copy()
        ages = time_ns - self._times
        sure = ages < self._forget_ns
        own[:, :3] += own[:, 3:] * (np.where(sure, ages, 0) * SECONDS)[:, None]
        self._notice_heights(own[:, 2], sure)
        wanted = np.zeros((len(own), 3))
        wanted[:, 2] = np.clip(HEIGHT_GAIN * (self._height - own[:, 2]), -self._climb, self._climb)
        wanted[:, :2] = self._in_the_plane(own, time_ns)
        wanted[~self._risen, :2] = 0.0
        wanted[self._landing] = 0.0, 0.0, -self._climb
        wanted[~sure] = 0.0
        return wanted

    def _notice_heights(self, heights: np.ndarray, sure: np.ndarray) -> None:
        lowest = self._height - self._layer
        self.fallen |= self._risen & sure & (heights < lowest) & ~self._landing
        self.landed |= self._landing & sure & (heights < self._starts + TOUCHDOWN)
        self._risen |= sure & (heights > lowest + 0.5 * self._layer)

    def _others(self, own: np.ndarray, time_ns: int) -> tuple[np.ndarray, np.ndarray]:
        """Where each believes the others to be, [member, node, 6], and who of them is at its height, [member, node]."""
        others, known = self._neighbours.at(time_ns)
        known &= np.abs(others[..., 2] - own[:, None, 2]) < self._layer
        return others, known

    def _in_the_plane(self, own: np.ndarray, time_ns: int) -> np.ndarray:
        """The horizontal velocity that each wants, [member, 2], m/s, from where it is, [member, 6]."""
        raise NotImplementedError
