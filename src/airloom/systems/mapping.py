"""A survey: what an eye sees on a flight becomes a point cloud in a file, compared with the ground that is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field, field_validator

from airloom.compiled import compiled
from airloom.errors import UserError
from airloom.plugin import Parameters, find
from airloom.scenario import ScenarioError
from airloom.scenario.errors import hint
from airloom.scenario.models import NonNegative, Positive, Whole
from airloom.system import System
from airloom.systems.selection import described
from airloom.world.ground import ground

if TYPE_CHECKING:
    from airloom.eyes.eye import Frame
    from airloom.scenario import models
    from airloom.simulation import Simulation

KINDS = {".laz", ".las"}
MILLIMETRE = 1e-3


class MappingError(UserError):
    """The points cannot be written; the message is meant for the user."""


class MappingParameters(Parameters):
    vehicle: str = Field(description="its name")
    sensor: str = Field("lidar", description="name of its lidar or depth camera")
    start: NonNegative = Field(0.0, description="s")
    every: Whole = Field(1, ge=1, description="only every so many points are kept")
    cloud: str = Field("points.laz", description="name of the file in the folder of the run; .laz or .las")
    apart: Positive = Field(1.0, description="points farther from the ground stand on it, and are not compared, m")
    allowed: Positive | None = Field(None, description="root mean square error above which the run has failed, m")

    @field_validator("cloud")
    @classmethod
    def _is_a_file_name(cls, name: str) -> str:
        if Path(name).suffix.lower() not in KINDS or Path(name).name != name:
            raise ValueError("must be a name that ends in .laz or .las, without a folder")
        return name


class Mapping(System):
    """Survey with a lidar or depth camera: the points become a LAZ file, and are compared with the ground."""

    Parameters = MappingParameters

    @classmethod
    def mistakes(cls, parameters: MappingParameters, scenario: models.Scenario) -> Iterator[tuple[str, str]]:
        vehicles = described(scenario, parameters.vehicle)
        if not vehicles:
            known = [name for name, vehicle in scenario.vehicles.items() if vehicle.copies is None]
            yield "vehicle", f"no vehicle is called '{parameters.vehicle}'{hint(parameters.vehicle, known, 'Vehicles')}"
        for vehicle in vehicles:
            eyes = [name for name, choice in vehicle.sensors.items() if _sees_points(choice.kind)]
            if parameters.sensor not in eyes:
                what = f"no lidar or depth camera is called '{parameters.sensor}'"
                yield "sensor", what + hint(parameters.sensor, eyes, "It has")

    def configure(self, sim: Simulation) -> None:
        _laspy()  # whoever lacks it should know before the flight
        if self.parameters.vehicle not in sim.vehicles:
            text = f"{sim.scenario.name}: systems.{self.name}.vehicle: name one vehicle, not several"
            raise ScenarioError(text)
        self._eye = sim.vehicles[self.parameters.vehicle].eye(self.parameters.sensor)

    def reset(self, sim: Simulation) -> None:
        self._points: list[np.ndarray] = []
        self._last: Frame | None = None

    def post_update(self, sim: Simulation) -> None:
        frame = self._eye.frame
        if frame is not None and frame is not self._last and frame.time_ns >= self.parameters.start * 1e9:
            self._points.append(frame.to_world(frame.points[:: self.parameters.every]))
        self._last = frame

    @property
    def points(self) -> np.ndarray:
        """What was seen so far [n, 3], world, m."""
        return np.concatenate([np.empty((0, 3)), *self._points])

    def keep(self, sim: Simulation) -> None:
        if len(points := self.points):
            write_cloud((sim.member_logs or Path()) / self.parameters.cloud, points)

    def conclude(self, sim: Simulation) -> None:
        if not len(points := self.points):
            eye, start = self._eye, self.parameters.start
            sim.fail(self.name, f"{eye.name} of {eye.vehicle} has seen nothing since {start:g} s")
            return
        errors = np.empty(len(points))
        heights_above(sim.fleet.flight.world, points, errors)
        near = np.abs(errors) <= self.parameters.apart
        square = float(np.sqrt(np.mean(errors[near] ** 2))) if near.any() else np.inf
        text = f"{len(points)} points in {self.parameters.cloud}, {near.mean():.1%} of them on the ground: "
        text += f"error {square:.3f} m (root mean square), mean {errors[near].mean():+.3f} m"
        allowed = self.parameters.allowed
        if allowed is not None and square > allowed:
            sim.fail(self.name, f"{text}; {allowed:g} m are allowed")
        else:
            sim.succeed(self.name, text)


def _sees_points(kind: str) -> bool:
    from airloom.bus.arrays import POINT_CLOUD

    types = getattr(find("sensor", kind), "message_types", dict)
    return POINT_CLOUD in types().values()


@compiled
def heights_above(world, points, out):
    """Of each point, how high it is above the ground."""
    for k in range(points.shape[0]):
        out[k] = points[k, 2] - ground(world, points[k, 0], points[k, 1])[0]


def _laspy() -> Any:
    try:
        import laspy
    except ImportError:
        raise MappingError("point clouds as files need laspy: pip install 'airloom[mapping]'") from None
    return laspy


def write_cloud(file: Path, points: np.ndarray) -> None:
    """Points [n, 3] of the world, m, as LAS or LAZ; the whole file or none."""
    laspy = _laspy()
    header = laspy.LasHeader(point_format=0, version="1.2")
    header.scales, header.offsets = [MILLIMETRE] * 3, np.floor(points.min(axis=0))
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = points.T
    unfinished = file.with_name(f".unfinished-{file.name}")
    try:
        cloud.write(str(unfinished))
        unfinished.replace(file)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise MappingError(f"cannot write {file}: {error.strerror}") from None
