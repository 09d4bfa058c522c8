"""What the computer of each member of a flock does, for as many members as it is told: one, or all in one process.

It knows what its own sensor measured and what its own radio heard, and nothing else; members that are computed side by
side share no number. Each result is the same to the bit however many are computed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from airloom.compiled import compiled
from airloom.radio.packet import Packet
from airloom.swarm.neighbours import NEVER, SECONDS, Neighbours
from airloom.swarm.parameters import FlockParameters
from airloom.swarm.reynolds import add_reynolds
from airloom.swarm.surroundings import add_obstacles, add_walls, outlines
from airloom.swarm.vasarhelyi import add_vasarhelyi
from airloom.swarm.way import Way, middles
from airloom.swarm.words import spoken

INTERACTIONS = {"vasarhelyi": add_vasarhelyi, "reynolds": add_reynolds}
HEIGHT_GAIN = 0.5  # 1/s


@compiled
def propel(own, v_flock, out):
    """Each goes on in the direction it flies in, with v_flock: [member, 6] → [member, 2], m/s."""
    for i in range(own.shape[0]):
        speed = sqrt(own[i, 3] * own[i, 3] + own[i, 4] * own[i, 4])
        out[i, 0] = v_flock * own[i, 3] / speed if speed > 0.0 else 0.0
        out[i, 1] = v_flock * own[i, 4] / speed if speed > 0.0 else 0.0


@compiled
def limit(v_max, out):
    """None is told to fly faster than v_max, m/s."""
    for i in range(out.shape[0]):
        speed = sqrt(out[i, 0] * out[i, 0] + out[i, 1] * out[i, 1])
        if speed > v_max:
            out[i, 0] *= v_max / speed
            out[i, 1] *= v_max / speed


class Flocking:
    def __init__(self, parameters: FlockParameters, members: Sequence[str], nodes: Sequence[str]) -> None:
        """`nodes` are all that have a radio, in the same order for each member."""
        self._p = p = parameters
        count = len(members)
        self._numbers, self._shills = np.array(p.law.numbers()), p.shills.numbers()
        self._interact = INTERACTIONS[p.law.kind]
        self._arena = None if p.arena is None else p.arena.numbers()
        self._obstacles = outlines(p.obstacles)
        self._neighbours = Neighbours(count, nodes, p.forget)
        self._way = Way(p.way, p.near, p.again, count)
        self._times = np.full(count, NEVER)
        self._own = np.zeros((count, 6))
        self._said = np.full(count, NEVER)
        self._risen = np.zeros(count, bool)
        self.fallen = np.zeros(count, bool)
        """Who has come down unasked: its rotors should stop, and it says nothing more."""

    def measured(self, member: int, time_ns: int, state: np.ndarray) -> None:
        """Position, m, and velocity, m/s, of a member by its own sensor."""
        self._times[member], self._own[member] = time_ns, state

    def hear(self, members: Sequence[int], packets: Sequence[Packet]) -> None:
        """Packets, and by whose radio each was heard."""
        if packets:
            self._neighbours.hear(members, packets)

    def word(self, member: int) -> bytes | None:
        """What a member has to say: nothing if it has not been measured anew."""
        if self._times[member] == self._said[member] or self.fallen[member]:
            return None
        self._said[member] = self._times[member]
        return spoken(int(self._times[member]), self._own[member], int(self._way.legs[member]))

    def steer(self, time_ns: int) -> np.ndarray:
        """The velocity that each is to fly with, [member, 3], m/s. Who does not know where it is should stop."""
        p, own = self._p, self._own.copy()
        ages = time_ns - self._times
        sure = ages < round(p.forget * 1e9)
        own[:, :3] += own[:, 3:] * (np.where(sure, ages, 0) * SECONDS)[:, None]
        self._notice_heights(own[:, 2], sure)
        wanted = np.zeros((len(own), 3))
        wanted[:, 2] = np.clip(HEIGHT_GAIN * (p.height - own[:, 2]), -p.climb, p.climb)
        wanted[:, :2] = self._in_the_plane(own, time_ns)
        wanted[~self._risen, :2] = 0.0
        wanted[~sure] = 0.0
        return wanted

    def _notice_heights(self, heights: np.ndarray, sure: np.ndarray) -> None:
        lowest = self._p.height - self._p.layer
        self.fallen |= self._risen & sure & (heights < lowest)
        self._risen |= sure & (heights > lowest + 0.5 * self._p.layer)

    def _in_the_plane(self, own: np.ndarray, time_ns: int) -> np.ndarray:
        p, wanted = self._p, np.empty((len(own), 2))
        others, known = self._neighbours.at(time_ns)
        known &= np.abs(others[..., 2] - own[:, None, 2]) < p.layer
        if len(self._way):
            heard = np.where(known, self._neighbours.legs, 0).max(axis=1, initial=0)
            wanted[:] = p.v_flock * self._way.headings(middles(own, others, known), heard)
        else:
            propel(own, p.v_flock, wanted)
        self._interact(own, others, known, self._numbers, wanted)
        if self._arena is not None:
            add_walls(own, self._arena, self._shills, wanted)
        add_obstacles(own, *self._obstacles, self._shills, wanted)
        limit(p.v_max, wanted)
        return wanted
