"""A fleet as a whole: seen from above, its heights, how far it is spread."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.drawing import SERIES
from airloom.runs.figures.ground_plan import draw_ground_plan
from airloom.runs.figures.style import FLOWN, fit, logged_scenario, new_figure, put_title, thinned
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def fleet_figure(log: LogReader, run: RunFolder, topics: dict[str, str]) -> Figure:
    paths = {v: thinned(*log_series, 1500) for v, log_series in _positions(log, topics).items()}
    times, positions = _resampled(paths.values(), 400)
    figure = new_figure(height=9.5)
    put_title(figure, log, run, f"{len(paths)} vehicles")
    is_crowd = len(paths) > len(SERIES)
    right = ["height", "each", "spread"] if is_crowd else ["height", "spread"]
    axes = figure.subplot_mosaic([["top", name] for name in right], width_ratios=[1.2, 1.0])
    top, height, spread = axes["top"], axes["height"], axes["spread"]
    if is_crowd:
        _draw_each_height(axes["each"], times, positions[..., 2])
    colors = _colors(len(paths))
    if (scenario := logged_scenario(log)) is not None:
        draw_ground_plan(top, scenario, np.concatenate([values[:, :2] for _, values in paths.values()]))
    _draw_top_view(top, paths, colors)
    _draw_heights(height, paths, times, positions[..., 2], colors)
    _draw_spread(spread, times, positions)
    return figure


def _positions(log: LogReader, topics: dict[str, str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    found = log.series_of(topics.values(), "pose.pose.position")
    return {vehicle: found[topic] for vehicle, topic in topics.items()}


def _resampled(paths: Iterable[tuple[np.ndarray, np.ndarray]], count: int) -> tuple[np.ndarray, np.ndarray]:
    """All paths at common times: times[count], positions[count, vehicle, 3]."""
    paths = list(paths)
    start, end = max(times[0] for times, _ in paths), min(times[-1] for times, _ in paths)
    common = np.linspace(start, max(start, end), count)
    columns = [[np.interp(common, times, axis) for axis in values.T] for times, values in paths]
    return common, np.moveaxis(np.array(columns), -1, 0)


def _colors(count: int) -> list[Any]:
    if count <= len(SERIES):
        return list(SERIES[:count])
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0.0, 0.92, count)))


def _draw_top_view(axis: Axes, paths: dict[str, tuple[np.ndarray, np.ndarray]], colors: list[Any]) -> None:
    from matplotlib.collections import LineCollection

    lines = [values[:, :2] for _, values in paths.values()]
    crowd = min(1.0, 40.0 / len(lines))
    axis.add_collection(LineCollection(lines, colors=colors, linewidths=0.7 + 0.7 * crowd, alpha=0.35 + 0.5 * crowd))
    starts, ends = (np.array([line[at] for line in lines]) for at in (0, -1))
    size = 14 + 30 * crowd
    axis.scatter(starts[:, 0], starts[:, 1], s=size, facecolors="none", edgecolors=colors, linewidths=1.0, zorder=3)
    axis.scatter(ends[:, 0], ends[:, 1], s=size, c=colors, linewidths=0, zorder=4)
    axis.set(title="Seen from above  (○ start, ● end)", xlabel="east x [m]", ylabel="north y [m]")
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.06)
    axis.autoscale_view()


def _draw_heights(
    axis: Axes,
    paths: dict[str, tuple[np.ndarray, np.ndarray]],
    times: np.ndarray,
    heights: np.ndarray,
    colors: list[Any],
) -> None:
    axis.set(title="Altitude", ylabel="z [m]")
    if len(paths) <= len(SERIES):
        for (vehicle, (moments, values)), color in zip(paths.items(), colors, strict=True):
            axis.plot(moments, values[:, 2], color=color, label=vehicle)
        fit(axis, 0.2)
        axis.legend(loc="best", ncols=2)
        return
    lowest, low, middle, high, highest = np.percentile(heights, [0, 10, 50, 90, 100], axis=1)
    axis.fill_between(times, lowest, highest, color=FLOWN, alpha=0.12, linewidth=0, label="all")
    axis.fill_between(times, low, high, color=FLOWN, alpha=0.28, linewidth=0, label="80 %")
    axis.plot(times, middle, color=FLOWN, label="median")
    axis.margins(x=0.01)
    axis.legend(loc="best", ncols=3)


def _draw_each_height(axis: Axes, times: np.ndarray, heights: np.ndarray) -> None:
    """A line a vehicle, coloured by its height: waves, and whoever falls, which a crowd of curves would hide."""
    axis.grid(visible=False)
    edges = np.arange(heights.shape[1] + 1) - 0.5
    drawn = axis.pcolormesh(times, edges, heights[:-1].T, cmap="viridis", rasterized=True)
    axis.set(title="Altitude of each", ylabel="vehicle, in order")
    axis.figure.colorbar(drawn, ax=axis, label="z [m]", pad=0.01, aspect=12)


def _draw_spread(axis: Axes, times: np.ndarray, positions: np.ndarray) -> None:
    axis.set(title="Spread", xlabel="time [s]", ylabel="distance [m]")
    from_center = np.linalg.norm(positions - positions.mean(axis=1, keepdims=True), axis=2)
    axis.plot(times, from_center.max(axis=1), color=SERIES[0], label="farthest from the centre")
    axis.plot(times, from_center.mean(axis=1), color=SERIES[2], label="mean from the centre")
    affordable = max(20, 20_000_000 // positions.shape[1] ** 2)
    some_times, some_positions = thinned(times, positions, affordable)
    closest = [_closest_pair(moment) for moment in some_positions]
    axis.plot(some_times, closest, color=SERIES[4], label="closest pair")
    fit(axis, 0.2)
    low, high = axis.get_ylim()
    axis.set_ylim(min(0.0, low), high + 0.28 * (high - low))
    axis.legend(loc="upper center", ncols=3, columnspacing=1.0, handlelength=1.4)


def _closest_pair(points: np.ndarray) -> float:
    squares = (points**2).sum(axis=1)
    distances = squares[:, None] + squares - 2.0 * (points @ points.T)
    np.fill_diagonal(distances, np.inf)
    return float(np.sqrt(max(distances.min(), 0.0)))
