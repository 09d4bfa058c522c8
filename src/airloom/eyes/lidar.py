"""Lidar: distances along many beams at once, as points. Beams stand in rows that spin, or draw a rosette."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from airloom.bus import arrays
from airloom.eyes.eye import Eye, EyeErrors, Frame
from airloom.plugin import Parameters
from airloom.scenario.models import NonNegative, Number, Positive, Whole
from airloom.sensors.sensor import Mounted

if TYPE_CHECKING:
    from airloom.eyes.sight import Sight

MOST_BEAMS, MOST_POINTS = 256, 2_000_000


class Spinning(Parameters):
    """Beams one above the other that turn around z; a frame is a whole turn."""

    kind: Literal["spinning"] = Field("spinning", description="the pattern")
    beams: Whole = Field(16, ge=1, le=MOST_BEAMS, description="one above the other")
    lowest: float = Field(-0.2618, ge=-pi / 2, le=pi / 2, description="elevation of the lowest beam, rad")
    highest: float = Field(0.2618, ge=-pi / 2, le=pi / 2, description="elevation of the highest beam, rad")
    columns: Whole = Field(1800, ge=1, le=100_000, description="points of a beam in a frame")
    field_of_view: float = Field(2 * pi, gt=0, le=2 * pi + 1e-9, description="around z, x in the middle, rad")

    @model_validator(mode="after")
    def _fits(self) -> Spinning:
        if self.lowest > self.highest:
            raise ValueError("lowest must not be above highest")
        if self.beams * self.columns > MOST_POINTS:
            raise ValueError(f"beams × columns must be at most {MOST_POINTS}, got {self.beams * self.columns}")
        return self

    def directions(self, time: float, rate: float) -> np.ndarray:
        """Column by column from the left, in each from the lowest beam."""
        up = np.linspace(self.lowest, self.highest, self.beams)
        around = self.field_of_view * (0.5 - (np.arange(self.columns) + 0.5) / self.columns)
        a, e = (m.ravel() for m in np.meshgrid(around, up, indexing="ij"))
        return np.column_stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])


class Rosette(Parameters):
    """One beam through two prisms that turn (Risley): petals in a round view, others in every frame.

    The beam leaves at the angle α (cos ω₁t + cos ω₂t), α (sin ω₁t + sin ω₂t) from x, α being a quarter of the view.
    """

    kind: Literal["rosette"] = Field(description="the pattern")
    points: Whole = Field(10_000, ge=1, le=MOST_POINTS, description="in a frame")
    field_of_view: float = Field(1.229, gt=0, lt=pi, description="from edge to edge, rad")
    speeds: tuple[Number, Number] = Field((763.8, -488.4), description="of the two prisms, rad/s")

    def directions(self, time: float, rate: float) -> np.ndarray:
        """Those of the frame that ends now."""
        t = time - (np.arange(self.points, 0, -1) - 0.5) / (self.points * rate)
        turned = np.exp(1j * self.speeds[0] * t) + np.exp(1j * self.speeds[1] * t)
        angle = np.abs(turned) * self.field_of_view / 4
        side = np.sinc(angle / pi) * self.field_of_view / 4 * turned  # sin(angle) along `turned`
        return np.column_stack([np.cos(angle), side.real, side.imag])


class LidarParameters(Mounted):
    axes: ClassVar[dict[str, int]] = {"distance_errors": 1}
    distance_errors: EyeErrors = EyeErrors()
    min_distance: NonNegative = Field(0.5, description="m")
    max_distance: Positive = Field(100.0, le=1e5, description="m")
    pattern: Annotated[Spinning | Rosette, Field(discriminator="kind")] = Spinning()

    @model_validator(mode="after")
    def _has_a_range(self) -> LidarParameters:
        if self.min_distance >= self.max_distance:
            raise ValueError("min_distance must be below max_distance")
        return self


@dataclass(frozen=True)
class Scan(Frame):
    """One turn of a lidar."""

    directions: np.ndarray
    """float32 [beam, 3], unit, in the lidar's axes."""
    distances: np.ndarray
    """float32 [beam], m; −∞ too near, +∞ too far, NaN no answer (REP 117)."""

    @cached_property
    def points(self) -> np.ndarray:
        """float32 [n, 3]: what answered, in the lidar's axes, m."""
        seen = np.isfinite(self.distances)
        return self.directions[seen] * self.distances[seen, None]


class Lidar(Eye):
    """Points on all around: beams that spin, or a rosette as solid-state lidars draw it."""

    Parameters = LidarParameters
    parameters: LidarParameters
    frame: Scan | None

    @classmethod
    def message_types(cls) -> dict[str, str]:
        return {"points": arrays.POINT_CLOUD}

    @cached_property
    def _template(self) -> arrays.CloudTemplate:
        return arrays.CloudTemplate(self.frame_id)

    def look(self, sight: Sight, position: np.ndarray, rotation: np.ndarray, tick: int) -> Scan:
        p, time_ns = self.parameters, tick * sight.step_ns
        directions = self._directions(time_ns)
        distances = sight.distances(
            self.vehicle, position, rotation, directions, self._ones, (p.min_distance, p.max_distance),
            p.distance_errors, self.fault, self.key, tick,
        )  # fmt: skip
        return Scan(time_ns, position, rotation, directions, distances)

    def _directions(self, time_ns: int) -> np.ndarray:
        return self._fixed if isinstance(self.parameters.pattern, Spinning) else self._at(time_ns)

    def _at(self, time_ns: int) -> np.ndarray:
        return self.parameters.pattern.directions(time_ns * 1e-9, self.rate).astype(np.float32)

    @cached_property
    def _fixed(self) -> np.ndarray:
        return self._at(0)

    @cached_property
    def _ones(self) -> np.ndarray:
        return np.ones(len(self._at(0)), dtype=np.float32)

    def publish(self, frame: Scan, time_ns: int) -> None:  # type: ignore[override]
        if (topic := self.topics["points"]).wanted:
            topic.publish_bytes(self._template.cloud(frame.time_ns, frame.points), time_ns)
