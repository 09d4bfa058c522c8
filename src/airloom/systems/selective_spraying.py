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
BESIDE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
LEAST_SHARE = 0.3
"""Of the points in a cell that must be high for it to be leaves: noise lifts some of those on the soil."""
MOST_MISSED = 0.5
"""Share of the leaves beyond which the job was not done."""


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
        self._seen: dict[tuple[int, int], list[int]] = {}
        """Points that were high and all points, of each cell."""
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
        is_high = points[:, 2] > soil_below(points) + self.parameters.leaves
        cells, which = np.unique(
            np.floor(points[:, :2] / self.parameters.cell).astype(int), axis=0, return_inverse=True
        )
        high, every = np.bincount(which.ravel(), is_high, len(cells)), np.bincount(which.ravel(), minlength=len(cells))
        for cell, *counts in zip(map(tuple, cells.tolist()), high.astype(int).tolist(), every.tolist(), strict=True):
            before = self._seen.get(cell, (0, 0))
            self._seen[cell] = [before[0] + counts[0], before[1] + counts[1]]

    def _aims(self) -> np.ndarray:
        """Where each nozzle will be when what leaves it now reaches the leaves; world, m."""
        vehicle = self._vehicle
        turned = self._places @ matrix_from_quaternion(vehicle.estimate.attitude).T
        return vehicle.estimate.position + turned + self.parameters.lead * vehicle.estimate.velocity

    def _sees_leaves(self, x: float, y: float) -> bool:
        cell, margin = self.parameters.cell, self.parameters.margin
        east, north = (range(int((u - margin) // cell), int((u + margin) // cell) + 1) for u in (x, y))
        return any(self._is_leaves(self._seen.get((i, j))) for i in east for j in north)

    @staticmethod
    def _is_leaves(seen: list[int] | None) -> bool:
        return seen is not None and seen[0] >= LEAST_SHARE * seen[1]

    def _account(self, sim: Simulation, aims: np.ndarray, are_open: np.ndarray) -> None:
        """What was saved, and, by the world itself, what was missed; perception has no part in this."""
        period = 1.0 / (sim.scenario.systems[self.name].rate or self.rate)
        is_over = np.array([self._is_beside_leaves(sim, aim) for aim in aims])
        self._asked += period * self._tank.asked / 60.0
        self._given += period * self._tank.flow / 60.0
        self._over_leaves += float(is_over.sum())
        self._missed += float((is_over & ~are_open).sum())

    def _is_beside_leaves(self, sim: Simulation, aim: np.ndarray) -> bool:
        """Whether there really are leaves below, or as far beside as a nozzle is to be open for."""
        land, margin = sim.fleet.land, self.parameters.margin
        for offset in margin * BESIDE if margin else BESIDE[:1]:
            above = aim + offset
            top = above[2] - land.hit(above, DOWN, FARTHEST)
            if top - land.height(above[0], above[1]) > self.parameters.leaves:
                return True
        return False

    def hash_into(self, digest: Any) -> None:
        digest.update(repr(sorted(self._seen.items())).encode())

    def report(self, sim: Simulation) -> dict[str, Any]:
        """Litres asked for and given; of what was asked for, the share saved; of the leaves, the share missed."""
        return {
            "asked": self._asked,
            "given": self._given,
            "saved": 1.0 - self._given / self._asked if self._asked else None,
            "missed": self._missed / self._over_leaves if self._over_leaves else None,
        }

    def conclude(self, sim: Simulation) -> None:
        found = self.report(sim)
        if found["saved"] is None:
            sim.fail(self.name, "nothing was asked of the tank, so nothing could be saved")
        elif found["missed"] is None:
            sim.fail(self.name, "no nozzle came over leaves while spraying: let the lines lie over the rows")
        else:
            text = f"{self._given:.2f} of {self._asked:.2f} L sprayed, {found['saved']:.0%} saved"
            conclude = sim.fail if found["missed"] > MOST_MISSED else sim.succeed
            conclude(self.name, f"{text}; {found['missed']:.1%} of the leaves missed")


def soil_below(points: np.ndarray) -> np.ndarray:
    """For each point, how high the ground is near by: the lower tenth of what is seen in its square of 2 m.

    Not the lowest of all, which with a noisy camera lies far below the ground.
    """
    _, square = np.unique(np.floor(points[:, :2] / 2.0).astype(int), axis=0, return_inverse=True)
    order = np.lexsort((points[:, 2], square.ravel()))
    count = np.bincount(square.ravel())
    low = order[np.cumsum(count) - count + count // 10]
    return points[low, 2][square.ravel()]
