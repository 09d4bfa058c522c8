"""A flock: vehicles that fly together by what their own sensors measure and their own radios hear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airloom.swarm.driven import Driven
from airloom.swarm.flocking import Flocking
from airloom.swarm.parameters import FlockParameters
from airloom.swarm.surroundings import boundaries

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.world.boundaries import Boundary


class Flock(Driven):
    """Fly vehicles as a flock, by radio alone: Vásárhelyi's model or Reynolds' rules, with walls, obstacles, a way."""

    Parameters = FlockParameters
    parameters: FlockParameters

    @classmethod
    def boundaries(cls, parameters: FlockParameters) -> list[Boundary]:
        return boundaries(parameters.arena, parameters.obstacles, parameters.height)

    def _logic_for(self, sim: Simulation, members: list[str], nodes: list[str]) -> Flocking:
        return Flocking(self.parameters, members, nodes)
