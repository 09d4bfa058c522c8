"""What eyes saw, drawn: some pictures of each camera, some scans of each lidar, from a run's log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.bus.arrays import IMAGE, POINT_CLOUD
from airloom.runs.mcap import LogReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 6
MOST_POINTS = 20_000  # of a scan, drawn


def eye_topics(log: LogReader) -> dict[str, str]:
    """Name of a figure → topic: the pictures of cameras, and the clouds of those eyes that have none."""
    found = {}
    for kind in (POINT_CLOUD, IMAGE):
        for topic, info in log.topics.items():
            if info.msgtype == kind and topic.count("/") == 3:
                _, vehicle, eye, _ = topic.split("/")
                found[f"seen-{vehicle}-{eye}"] = topic
    return found


def draw_seen(figure: Figure, log: LogReader, topic: str) -> None:
    """A few frames side by side, spread over the run, in one scale of colours."""
    from matplotlib.colors import Normalize

    times = np.linspace(0.0, log.duration, SHOWN, endpoint=False)
    found = [next(log.messages(topic, start=float(time)), None) for time in times]
    frames = {one.time_ns: _values(one.message) for one in found if one is not None}
    is_cloud = log.topics[topic].msgtype == POINT_CLOUD
    axes = figure.subplots(2, SHOWN // 2, squeeze=False).ravel()
    figure.suptitle(topic)
    shades = [frame[:, 2] if is_cloud else frame for frame in frames.values() if frame.ndim == 2]
    finite = np.concatenate([np.empty(0), *(np.ravel(shade[np.isfinite(shade)]) for shade in shades)])
    scale = Normalize(finite.min(initial=np.inf), finite.max(initial=-np.inf)) if len(finite) else None
    shown: Any = None
    for panel, (time_ns, frame) in zip(axes, frames.items(), strict=False):
        panel.set_title(f"{time_ns * 1e-9:.2f} s")
        panel.grid(visible=False)
        shown = _show_cloud(panel, frame, scale) if is_cloud else _show_picture(panel, frame, scale)
    for panel in axes[len(frames) :]:
        panel.set_axis_off()
    if scale is not None:
        figure.colorbar(shown, ax=list(axes), label="z, m" if is_cloud else "depth, m", shrink=0.6)


def _values(message: Any) -> np.ndarray:
    """Points [n, 3], depths [row, column] or colours [row, column, 3]."""
    if hasattr(message, "fields"):
        return message.data.view("<f4").reshape(-1, message.point_step // 4)[:, :3]
    if message.encoding == "rgb8":
        return message.data.reshape(message.height, message.width, 3)
    return message.data.view("<f4").reshape(message.height, message.width)


def _show_picture(panel: Axes, picture: np.ndarray, scale: Any) -> Any:
    """A picture in colours, or depths; what gives no depth is grey."""
    panel.set_xticks([])
    panel.set_yticks([])
    panel.set_facecolor("#d0d0d0")
    shown = picture if picture.ndim == 3 else np.ma.masked_invalid(picture)
    return panel.imshow(shown, cmap="viridis_r", norm=scale)


def _show_cloud(panel: Axes, points: np.ndarray, scale: Any) -> Any:
    """From above, in the eye's axes."""
    x, y, z = points[:: max(len(points) // MOST_POINTS, 1)].T
    panel.set_aspect("equal")
    return panel.scatter(x, y, c=z, s=1.0, cmap="viridis", norm=scale, linewidths=0)
