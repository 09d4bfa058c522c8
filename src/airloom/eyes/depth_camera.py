"""Depth camera: how far away along its axis everything is, for each pixel of a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import tan
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field, model_validator

from airloom.bus import arrays
from airloom.eyes.eye import Eye, EyeErrors, Frame
from airloom.scenario.models import NonNegative, Positive, Whole
from airloom.sensors.sensor import Mounted

if TYPE_CHECKING:
    from airloom.eyes.sight import Sight

MOST_PIXELS = 4096  # each way


class PictureParameters(Mounted):
    """What all cameras have. x looks forward, a positive pitch downwards."""

    width: Whole = Field(640, ge=1, le=MOST_PIXELS, description="pixels")
    height: Whole = Field(480, ge=1, le=MOST_PIXELS, description="pixels")
    field_of_view: float = Field(1.5, gt=0, le=3.0, description="from the left edge to the right, rad")

    @property
    def focal(self) -> float:
        """Focal length in pixels."""
        return self.width / 2 / tan(self.field_of_view / 2)


class DepthCameraParameters(PictureParameters):
    axes: ClassVar[dict[str, int]] = {"distance_errors": 1}
    distance_errors: EyeErrors = EyeErrors()
    min_distance: NonNegative = Field(0.1, description="along the camera's axis, m")
    max_distance: Positive = Field(10.0, le=1e5, description="along the camera's axis, m")

    @model_validator(mode="after")
    def _has_a_range(self) -> DepthCameraParameters:
        if self.min_distance >= self.max_distance:
            raise ValueError("min_distance must be below max_distance")
        return self


def pixel_rays(p: PictureParameters) -> tuple[np.ndarray, np.ndarray]:
    """Unit directions of the pixels, row by row, in the camera's axes, and their cosines to its axis; float32."""
    right = (np.arange(p.width) - (p.width - 1) / 2) / p.focal
    down = (np.arange(p.height) - (p.height - 1) / 2) / p.focal
    x, y = np.meshgrid(right, down)
    cosines = 1.0 / np.sqrt(1.0 + x * x + y * y)
    directions = np.stack([cosines, -x * cosines, -y * cosines], axis=-1).reshape(-1, 3)
    return directions.astype(np.float32), cosines.ravel().astype(np.float32)


@dataclass(frozen=True)
class DepthFrame(Frame):
    """A depth picture."""

    depth: np.ndarray
    """float32 [row, column], m along the camera's axis; −∞ too near, +∞ too far, NaN no answer (REP 117)."""
    _rays: tuple[np.ndarray, np.ndarray] = field(repr=False)

    @cached_property
    def points(self) -> np.ndarray:
        """float32 [n, 3]: the pixels with a depth as points in the camera's axes, x forward, m."""
        directions, cosines = self._rays
        depth = self.depth.ravel()
        seen = np.isfinite(depth)
        return directions[seen] * (depth[seen] / cosines[seen])[:, None]


class DepthCamera(Eye):
    """Depth for each pixel of a picture, and the points that it is made of."""

    Parameters = DepthCameraParameters
    parameters: DepthCameraParameters
    frame: DepthFrame | None

    def __init__(self, name: str, vehicle: str, rate: float, parameters: DepthCameraParameters) -> None:
        super().__init__(name, vehicle, rate, parameters)

    @classmethod
    def message_types(cls) -> dict[str, str]:
        return {"image": arrays.IMAGE, "camera_info": arrays.CAMERA_INFO, "points": arrays.POINT_CLOUD}

    @property
    def frame_id(self) -> str:
        """Optical axes: z forward, x right, y down (REP 103)."""
        return f"{super().frame_id}_optical"

    @cached_property
    def _rays(self) -> tuple[np.ndarray, np.ndarray]:
        return pixel_rays(self.parameters)

    @cached_property
    def _templates(self):
        p = self.parameters
        return (
            arrays.image(self.frame_id, p.width, p.height, "32FC1", 4),
            arrays.camera_info(self.frame_id, p.width, p.height, p.focal),
            arrays.CloudTemplate(self.frame_id),
        )

    def look(self, sight: Sight, position: np.ndarray, rotation: np.ndarray, tick: int) -> DepthFrame:
        p = self.parameters
        limits = p.min_distance, p.max_distance
        depth = sight.distances(
            self.vehicle, position, rotation, *self._rays, limits, p.distance_errors, self.fault, self.key, tick
        ).reshape(p.height, p.width)
        return DepthFrame(tick * sight.step_ns, position, rotation, depth, self._rays)

    def publish(self, frame: DepthFrame, time_ns: int) -> None:  # type: ignore[override]
        picture, info, cloud = self._templates
        if (topic := self.topics["image"]).wanted:
            topic.publish_bytes(picture.encode(frame.time_ns, frame.depth), time_ns)
        if (topic := self.topics["camera_info"]).wanted:
            topic.publish_bytes(info.encode(frame.time_ns, []), time_ns)
        if (topic := self.topics["points"]).wanted:
            topic.publish_bytes(cloud.cloud(frame.time_ns, optical(frame.points)), time_ns)


def optical(points: np.ndarray) -> np.ndarray:
    """From x forward, y left, z up to z forward, x right, y down."""
    return np.column_stack([-points[:, 1], -points[:, 2], points[:, 0]])
