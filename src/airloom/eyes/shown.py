"""What eyes saw, for people: pictures and points as texts that go through a line of JSON."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

from airloom.eyes.eye import Eye, Frame
from airloom.plugin import PluginError, find
from airloom.scenario.models import Vehicle

WIDEST = 640  # pixels of a picture
MOST_POINTS = 10_000
NOTHING = (60, 64, 70)
NEAR, MIDDLE, FAR = (253, 231, 37), (33, 145, 140), (68, 1, 84)


def eyes_of(vehicle: Vehicle) -> list[str]:
    """Names of those of a vehicle's sensors that see."""
    return [name for name, choice in vehicle.sensors.items() if _sees(choice.kind)]


def _sees(kind: str) -> bool:
    try:
        return issubclass(find("sensor", kind), Eye)
    except PluginError:  # a recorded run's may be gone by now
        return False


def shown(frame: Frame | None) -> dict[str, Any]:
    """When, a picture if there is one, and points in the world if there are any."""
    if frame is None:
        return as_texts(None, None, None)
    depth, pixels, points = (getattr(frame, name, None) for name in ("depth", "pixels", "points"))
    picture = pixels if depth is None else depth_picture(depth)
    return as_texts(frame.time_ns * 1e-9, picture, None if points is None else frame.to_world(thinned(points)))


def thinned(points: np.ndarray) -> np.ndarray:
    return points[:: -(-len(points) // MOST_POINTS) or 1]


def depth_picture(depth: np.ndarray) -> np.ndarray:
    """uint8 [row, column, 3], from yellow for the nearest to violet for the farthest; grey where there is no depth."""
    seen = np.isfinite(depth)
    low, high = (float(depth[seen].min()), float(depth[seen].max())) if seen.any() else (0.0, 1.0)
    share = (np.where(seen, depth, low) - low) / max(high - low, 1e-6)
    stops = np.array([NEAR, MIDDLE, FAR], dtype=float)
    colours = np.stack([np.interp(share, [0.0, 0.5, 1.0], stops[:, k]) for k in range(3)], axis=-1)
    return np.where(seen[..., None], colours, NOTHING).astype(np.uint8)


def as_texts(time: float | None, picture: np.ndarray | None, points: np.ndarray | None) -> dict[str, Any]:
    return {
        "time": time,
        "picture": None if picture is None else base64.b64encode(_jpeg(picture)).decode(),
        "points": None if points is None else base64.b64encode(points.astype("<f4").tobytes()).decode(),
    }


def _jpeg(picture: np.ndarray) -> bytes:
    from PIL import Image

    file, image = io.BytesIO(), Image.fromarray(np.ascontiguousarray(picture))
    image.thumbnail((WIDEST, WIDEST))
    image.save(file, "JPEG", quality=85)
    return file.getvalue()


def picture_in(reply: dict[str, Any]) -> np.ndarray | None:
    from PIL import Image

    text = reply["picture"]
    return None if text is None else np.asarray(Image.open(io.BytesIO(base64.b64decode(text))).convert("RGB"))


def points_in(reply: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(reply["points"] or ""), dtype="<f4").reshape(-1, 3)
