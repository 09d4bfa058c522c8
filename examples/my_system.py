"""A system of your own: one vehicle follows another. Copy this file to begin yours.

Use it in a scenario as `systems: {follow: {kind: my_system.py:Follow, leader: a, follower: b}}`.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

import airloom as al
from airloom.bus import messages
from airloom.systems import chosen


class FollowParameters(al.Parameters):
    """What the scenario may set; unknown keys and values outside the limits are refused before the run."""

    leader: str = Field(description="name of a vehicle")
    follower: str = Field(description="name of a vehicle")
    offset: tuple[float, float, float] = Field((-1.0, 0.0, 0.0), description="from leader to follower, world, m")
    start: float = Field(2.0, ge=0, description="s")
    nearest: float = Field(0.5, ge=0, description="distance below which a warning is noted, m")


class Follow(al.System):
    """Let a vehicle follow another one at a fixed offset."""

    Parameters = FollowParameters
    rate = 50.0  # calls of each hook a second, unless the scenario says otherwise

    def configure(self, sim: al.Simulation) -> None:
        """Once: find vehicles, advertise topics."""
        p = self.parameters
        self.leader = chosen(sim, self.name, p.leader)[0]
        self.follower = chosen(sim, self.name, p.follower)[0]
        vector = messages.Template(messages.VECTOR3_STAMPED, ["vector.x", "vector.y", "vector.z"])
        self.gap = sim.bus.advertise(f"/{self.name}/gap", vector)

    def reset(self, sim: al.Simulation) -> None:
        """Before the first tick and after every sim.reset(): all that changes during a run starts here."""
        self.following = self.warned = False
        sim.call_at(self.parameters.start, self.begin)

    def begin(self) -> None:
        self.following = True

    def pre_update(self, sim: al.Simulation) -> None:
        """Act: what is set here holds for the tick that comes."""
        if self.following:
            place = self.leader.position + self.parameters.offset
            self.follower.command(al.PositionYaw(tuple(place), velocity=tuple(self.leader.velocity)))

    def post_update(self, sim: al.Simulation) -> None:
        """Look: the tick is over, all vehicles are at sim.time."""
        gap = self.leader.position - self.follower.position
        self.gap.publish_values(sim.time_ns, gap)
        if np.linalg.norm(gap) < self.parameters.nearest and not self.warned:
            self.warned = True
            sim.event(self.name, f"{self.follower.name} is close to {self.leader.name}", level="warning")
