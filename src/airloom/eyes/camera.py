"""Camera: a picture in colours, drawn by MuJoCo's renderer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import atan
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from airloom.bus import arrays
from airloom.eyes.depth_camera import PictureParameters
from airloom.eyes.eye import Eye, Frame
from airloom.plugin import Parameters
from airloom.scenario.models import NonNegative

if TYPE_CHECKING:
    from airloom.eyes.sight import Sight


class BrightnessErrors(Parameters):
    """Of each colour of each pixel, from 0 to 255."""

    noise: NonNegative = Field(0.0, le=255, description="standard deviation")
    bias: float = Field(0.0, ge=-255, le=255, description="constant bias")


class CameraParameters(PictureParameters):
    axes: ClassVar[dict[str, int]] = {"brightness_errors": 1}
    brightness_errors: BrightnessErrors = BrightnessErrors()


@dataclass(frozen=True)
class Picture(Frame):
    """What a camera saw."""

    pixels: np.ndarray
    """uint8 [row, column, 3]: red, green, blue."""


class Camera(Eye):
    """A picture in colours, where the machine has OpenGL."""

    Parameters = CameraParameters
    parameters: CameraParameters
    frame: Picture | None

    @classmethod
    def message_types(cls) -> dict[str, str]:
        return {"image": arrays.IMAGE, "camera_info": arrays.CAMERA_INFO}

    @property
    def frame_id(self) -> str:
        """Optical axes: z forward, x right, y down (REP 103)."""
        return f"{super().frame_id}_optical"

    @cached_property
    def _templates(self):
        p = self.parameters
        return (
            arrays.image(self.frame_id, p.width, p.height, "rgb8", 3),
            arrays.camera_info(self.frame_id, p.width, p.height, p.focal),
        )

    def look(self, sight: Sight, position: np.ndarray, rotation: np.ndarray, tick: int) -> Picture:
        p = self.parameters
        if sight.is_buried(position):
            pixels = np.zeros((p.height, p.width, 3), dtype=np.uint8)
        else:
            upright = 2 * atan(p.height / 2 / p.focal)
            pixels = sight.stage(p.width, p.height).picture(self.vehicle, position, rotation, upright)
        return Picture(tick * sight.step_ns, position, rotation, self._with_errors(pixels, tick))

    def _with_errors(self, pixels: np.ndarray, tick: int) -> np.ndarray:
        errors = self.parameters.brightness_errors
        noise, bias = float(np.hypot(errors.noise, self.fault.noise[0])), errors.bias + self.fault.offset[0]
        if noise == 0.0 and bias == 0.0:
            return pixels
        draws = np.random.Generator(np.random.Philox(key=[self.key, tick]))
        white = draws.standard_normal(pixels.shape, dtype=np.float32)
        return np.clip(pixels + bias + noise * white + 0.5, 0, 255).astype(np.uint8)

    def publish(self, frame: Picture, time_ns: int) -> None:  # type: ignore[override]
        picture, info = self._templates
        if (topic := self.topics["image"]).wanted:
            topic.publish_bytes(picture.encode(frame.time_ns, frame.pixels), time_ns)
        if (topic := self.topics["camera_info"]).wanted:
            topic.publish_bytes(info.encode(frame.time_ns, []), time_ns)
