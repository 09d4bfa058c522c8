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
    """A few frames side by side, spread over the run."""
    times = np.linspace(0.0, log.duration, SHOWN, endpoint=False)
    messages = [next(log.messages(topic, start=float(time)), None) for time in times]
    frames = {message.time_ns: message.message for message in messages if message is not None}
    axes = figure.subplots(2, SHOWN // 2, squeeze=False).ravel()
    figure.suptitle(topic)
    for panel in axes[len(frames) :]:
        panel.set_axis_off()
    shown: Any = None
    for panel, (time_ns, message) in zip(axes, frames.items(), strict=False):
        panel.set_title(f"{time_ns * 1e-9:.2f} s")
        panel.grid(visible=False)
        shown = _show_cloud(panel, message) if hasattr(message, "fields") else _show_picture(panel, message)
    if shown is not None:
        what = "height, m" if hasattr(message, "fields") else "depth, m"
        figure.colorbar(shown, ax=list(axes), label=what, shrink=0.6)


def _show_picture(panel: Axes, message: Any) -> Any:
    """A picture in colours, or depths from blue to yellow; what gives no depth is grey."""
    panel.set_xticks([])
    panel.set_yticks([])
    if message.encoding == "rgb8":
        panel.imshow(message.data.reshape(message.height, message.width, 3))
        return None
    depth = message.data.view("<f4").reshape(message.height, message.width)
    panel.set_facecolor("#d0d0d0")
    return panel.imshow(np.ma.masked_invalid(depth), cmap="viridis_r")


def _show_cloud(panel: Axes, message: Any) -> Any:
    """From above, in the eye's axes."""
    points = message.data.view("<f4").reshape(-1, message.point_step // 4)
    x, y, z = points[:: max(len(points) // MOST_POINTS, 1), :3].T
    panel.set_aspect("equal")
    return panel.scatter(x, y, c=z, s=1.0, cmap="viridis", linewidths=0)
