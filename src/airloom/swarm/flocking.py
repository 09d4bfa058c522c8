"""What the computer of each member of a flock does."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from airloom.compiled import compiled
from airloom.swarm.onboard import Onboard, limit
from airloom.swarm.parameters import FlockParameters
from airloom.swarm.reynolds import add_reynolds
from airloom.swarm.surroundings import add_obstacles, add_walls, outlines
from airloom.swarm.vasarhelyi import add_vasarhelyi
from airloom.swarm.way import Way, middles

INTERACTIONS = {"vasarhelyi": add_vasarhelyi, "reynolds": add_reynolds}


@compiled
def propel(own, v_flock, out):
    """Each goes on in the direction it flies in, with v_flock: [member, 6] → [member, 2], m/s."""
    for i in range(own.shape[0]):
        speed = sqrt(own[i, 3] * own[i, 3] + own[i, 4] * own[i, 4])
        out[i, 0] = v_flock * own[i, 3] / speed if speed > 0.0 else 0.0
        out[i, 1] = v_flock * own[i, 4] / speed if speed > 0.0 else 0.0


class Flocking(Onboard):
    def __init__(self, parameters: FlockParameters, members: Sequence[str], nodes: Sequence[str]) -> None:
        super().__init__(parameters, members, nodes)
        self._p = p = parameters
        self._numbers, self._shills = np.array(p.law.numbers()), p.shills.numbers()
        self._interact = INTERACTIONS[p.law.kind]
        self._arena = None if p.arena is None else p.arena.numbers()
        self._obstacles = outlines(p.obstacles)
        self._way = Way(p.way, p.near, p.again, len(members))

    def _told(self, member: int) -> list[bytes]:
        return [self._place(member, int(self._way.legs[member]))]

    def _in_the_plane(self, own: np.ndarray, time_ns: int) -> np.ndarray:
        p, wanted = self._p, np.empty((len(own), 2))
        others, known = self._others(own, time_ns)
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
