"""Fly along a path at a constant height above the ground, which the vehicle knows from its rangefinder alone."""

from __future__ import annotations

from math import atan2, cos, inf, isfinite, remainder, sqrt, tau

import numpy as np
from pydantic import Field

from airloom.basics.rotations import euler_from_quaternion
from airloom.commands import PositionYaw
from airloom.plugin import Parameters
from airloom.scenario.models import Bounded, Name
from airloom.system import System

CLIMB = 2.0  # m/s at lift-off, and where the ground is nearer than the rangefinder can tell
BRISKNESS, TURN = 1.0, 0.6  # m/s² along the path, rad/s at its corners: who leans sees ground aside
UPRIGHT = cos(0.52)  # a beam that leans this far, 30°, tells nothing of the ground below
ARRIVED = 0.01  # m from a corner
STEEPEST_CLIMB = 4.0  # m/s
LOWEST, FARTHEST = 0.3, 0.25  # of the wanted height: its least, and how far the mean may be off
LOST_AFTER = 2.0  # s without a reading


class FollowGroundParameters(Parameters):
    vehicle: Name = Field(description="its name")
    sensor: Name = Field("rangefinder", description="the rangefinder that looks down")
    start: float = Field(1.0, ge=0, description="lift-off, s")
    height: float = Field(8.0, gt=0, description="above the ground, m")
    speed: float = Field(5.0, gt=0, description="along the path, m/s")
    path: list[tuple[Bounded, Bounded]] = Field(min_length=1, description="points to fly over, x and y, m")
    lead: float = Field(0.15, ge=0, description="how far ahead the slope is believed to go on, s")
    smoothing: float = Field(0.3, gt=0, description="time constant of the ground's height as it is believed to be, s")


class FollowGround(System):
    """The ground's height and slope are followed by an α-β filter of what the rangefinder says."""

    Parameters = FollowGroundParameters
    parameters: FollowGroundParameters
    rate = 50.0

    @classmethod
    def mistakes(cls, parameters, scenario):
        vehicle = scenario.vehicles.get(parameters.vehicle)
        if vehicle is None:
            yield "vehicle", f"no vehicle is called '{parameters.vehicle}'; there are {', '.join(scenario.vehicles)}"
        elif parameters.sensor not in vehicle.sensors or vehicle.sensors[parameters.sensor].kind != "rangefinder":
            what = f"'{parameters.vehicle}' has no rangefinder called '{parameters.sensor}'; add one to its sensors"
            yield "sensor", what

    def configure(self, sim) -> None:
        self._vehicle = sim.vehicles[self.parameters.vehicle]

    def reset(self, sim) -> None:
        self._place = self._vehicle.position[:2].copy()
        self._left = [np.array(point) for point in self.parameters.path]
        self._yaw = float(self._vehicle.euler[2])
        self._ground, self._slope = float(self._vehicle.position[2]), 0.0
        self._risen, self._speed = 0.0, 0.0
        self._heard, self._flown, self._is_over = 0.0, 0.0, False
        self._heights: list[float] = []

    def pre_update(self, sim) -> None:
        p = self.parameters
        if sim.time < p.start:
            return
        self._believe(sim)
        climb = CLIMB if self._risen < p.height else 0.0
        self._risen = min(self._risen + climb / self.rate, p.height)
        height = self._ground + self._slope * p.lead + self._risen
        velocity = np.array([0.0, 0.0, np.clip(self._slope + climb, -STEEPEST_CLIMB, STEEPEST_CLIMB)])
        is_up = self._risen == p.height and abs(self._vehicle.position[2] - height) < 0.25 * p.height
        if self._left and (is_up or self._flown > 0.0):
            velocity[:2] = self._move_on(sim)
        self._vehicle.command(PositionYaw((*self._place, height), self._yaw, velocity))
        if not self._left and not self._is_over:
            self._finish(sim)

    def _believe(self, sim) -> None:
        """Where the ground is, and how fast it rises under the vehicle."""
        distance, period = float(self._vehicle.readings[self.parameters.sensor][0]), 1.0 / self.rate
        self._ground += self._slope * period
        if distance == -inf:
            self._ground += CLIMB * period
        elif isfinite(distance):
            believed = self._vehicle.estimate
            roll, pitch, _ = euler_from_quaternion(believed.attitude)
            upright = cos(roll) * cos(pitch)
            seen = float(believed.position[2]) - distance * upright
            share = period / self.parameters.smoothing * max(0.0, (upright - UPRIGHT) / (1.0 - UPRIGHT))
            off = seen - self._ground
            self._ground += share * off
            self._slope += 0.5 * share * share / period * off
            self._heard = sim.time
        elif sim.time - self._heard > LOST_AFTER:
            self._slope = 0.0
            self._warn(sim)

    def _warn(self, sim) -> None:
        text = f"no ground within the reach of {self.parameters.sensor}: the height is held"
        sim.event(self.name, text, level="warning")
        self._heard = inf

    def _move_on(self, sim) -> np.ndarray:
        """Along the path by one period, slower before its corners; the velocity there."""
        to = self._left[0] - self._place
        distance = float(np.linalg.norm(to))
        land = sim.fleet.land
        x, y, z = self._vehicle.position
        self._heights.append(z - land.height(x, y))
        faster = self._speed + BRISKNESS / self.rate
        self._speed = min(self.parameters.speed, faster, sqrt(2.0 * BRISKNESS * distance))
        stride = self._speed / self.rate
        self._flown += min(stride, distance)
        if distance <= max(stride, ARRIVED):
            self._place, self._speed = self._left.pop(0), 0.0
            return np.zeros(2)
        self._yaw += np.clip(remainder(atan2(to[1], to[0]) - self._yaw, tau), -TURN / self.rate, TURN / self.rate)
        self._place = self._place + to * (stride / distance)
        return to * (self._speed / distance)

    def conclude(self, sim) -> None:
        if not self._is_over:
            whole = self._flown + sum(map(float, np.linalg.norm(np.diff([self._place, *self._left], axis=0), axis=1)))
            sim.fail(self.name, f"the run is over after {self._flown:.0f} of {whole:.0f} m")

    def _finish(self, sim) -> None:
        heights, self._is_over = np.array(self._heights), True
        told = (
            f"{self._flown:.0f} m flown at {heights.mean():.2f} ± {heights.std():.2f} m above the ground "
            f"({heights.min():.2f} to {heights.max():.2f} m)"
        )
        wanted = self.parameters.height
        if heights.min() < LOWEST * wanted or abs(heights.mean() - wanted) > FARTHEST * wanted:
            sim.fail(self.name, f"{told}: not the {wanted:g} m that were asked for")
        else:
            sim.succeed(self.name, told)
