"""Spray leaves, not soil: a depth camera looks ahead, and only the nozzles that come over leaves are open.

It is also the example of how a perception of your own takes part: copy it, and name it as
`my_file.py:SelectiveSpraying`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from airloom.basics.rotations import matrix_from_quaternion
from airloom.plugin import Parameters
from airloom.scenario.models import Name, NonNegative, Positive
from airloom.system import System

if TYPE_CHECKING:
    from airloom.eyes.eye import Frame
    from airloom.simulation import Simulation

DOWN = np.array([0.0, 0.0, -1.0])
FARTHEST = 50.0  # m below a nozzle


class SelectiveSprayingParameters(Parameters):
    vehicle: Name = Field(description="its name")
    sensor: Name = Field("depth", description="the depth camera that looks ahead and down")
    leaves: Positive = Field(0.7, description="what is so much higher than the lowest point near by is leaves, m")
    cell: Positive = Field(0.3, description="side of the cells in which leaves are remembered, m")
    margin: NonNegative = Field(0.3, description="a nozzle is open so far beside leaves, m")
    lead: NonNegative = Field(0.6, description="from the command until the drops are at the leaves, s")


class SelectiveSpraying(System):
    """Open nozzles over leaves only, by what a depth camera has seen on the way there."""

    Parameters = SelectiveSprayingParameters
    parameters: SelectiveSprayingParameters
    rate = 20.0

    @classmethod
    def mistakes(cls, parameters, scenario):
        vehicle = scenario.vehicles.get(parameters.vehicle)
        if vehicle is None:
            yield "vehicle", f"no vehicle is called '{parameters.vehicle}'; there are {', '.join(scenario.vehicles)}"
        elif vehicle.tank is None or not vehicle.nozzles:
            yield "vehicle", f"{parameters.vehicle} has no tank with nozzles to open; extend sprayer, for one"
        elif parameters.sensor not in vehicle.sensors or vehicle.sensors[parameters.sensor].kind != "depth_camera":
            yield "sensor", f"{parameters.vehicle} has no depth camera called '{parameters.sensor}'; add one"

    def configure(self, sim: Simulation) -> None:
        self._vehicle = sim.vehicles[self.parameters.vehicle]
        self._tank: Any = self._vehicle.tank
        self._eye: Any = self._vehicle.eye(self.parameters.sensor)
        nozzles = self._vehicle.description.nozzles
        self._names, self._places = list(nozzles), np.array([nozzle.position for nozzle in nozzles.values()])

    def reset(self, sim: Simulation) -> None:
        self._leaves: set[tuple[int, int]] = set()
        self._last: Frame | None = None
        self._asked = self._given = self._over_leaves = self._missed = 0.0

    def post_update(self, sim: Simulation) -> None:
        if (frame := self._eye.frame) is not None and frame is not self._last:
            self._last = frame
            self._remember(frame.to_world(frame.points))
        aims = self._aims()
        are_open = np.array([self._sees_leaves(x, y) for x, y, _ in aims])
        self._vehicle.nozzles.open = dict(zip(self._names, are_open.tolist(), strict=True))
        if self._tank.asked > 0.0:
            self._account(sim, aims, are_open)

    def _remember(self, points: np.ndarray) -> None:
        """Cells with a point that is high above the lowest within a metre or two: leaves."""
        blocks = np.floor(points[:, :2] / 2.0).astype(int)
        _, block = np.unique(blocks, axis=0, return_inverse=True)
        lowest = np.full(block.max(initial=0) + 1, np.inf)
        np.minimum.at(lowest, block.ravel(), points[:, 2])
        high = points[points[:, 2] > lowest[block.ravel()] + self.parameters.leaves]
        self._leaves.update(map(tuple, np.unique(np.floor(high[:, :2] / self.parameters.cell).astype(int), axis=0)))

    def _aims(self) -> np.ndarray:
        """Where each nozzle will be when what leaves it now reaches the leaves; world, m."""
        vehicle = self._vehicle
        turned = self._places @ matrix_from_quaternion(vehicle.estimate.attitude).T
        return vehicle.estimate.position + turned + self.parameters.lead * vehicle.estimate.velocity

    def _sees_leaves(self, x: float, y: float) -> bool:
        cell, margin = self.parameters.cell, self.parameters.margin
        east, north = (range(int((u - margin) // cell), int((u + margin) // cell) + 1) for u in (x, y))
        return any((i, j) in self._leaves for i in east for j in north)

    def _account(self, sim: Simulation, aims: np.ndarray, are_open: np.ndarray) -> None:
        """What was saved, and, by the world itself, what was missed; perception has no part in this."""
        period, land = 1.0 / (sim.scenario.systems[self.name].rate or self.rate), sim.fleet.land
        below = [aim[2] - land.hit(aim, DOWN, FARTHEST) - land.height(aim[0], aim[1]) for aim in aims]
        is_over = np.array(below) > self.parameters.leaves
        self._asked += period * self._tank.asked / 60.0
        self._given += period * self._tank.flow / 60.0
        self._over_leaves += float(is_over.sum())
        self._missed += float((is_over & ~are_open).sum())

    def conclude(self, sim: Simulation) -> None:
        if self._asked == 0.0:
            sim.fail(self.name, "nothing was asked of the tank, so nothing could be saved")
            return
        saved, missed = 1.0 - self._given / self._asked, self._missed / max(self._over_leaves, 1.0)
        text = f"{self._given:.2f} of {self._asked:.2f} L sprayed, {saved:.0%} saved; {missed:.1%} of the leaves missed"
        sim.succeed(self.name, text)
