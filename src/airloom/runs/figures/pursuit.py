"""Pure pursuit: the target's way and the vehicle's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.runs.figures.style import AHEAD, FLOWN, WANTED, new_figure, put_title, thinned
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass
class _Chase:
    """A pursuit: the target and, at the same times, the vehicle."""

    times: np.ndarray
    target: np.ndarray
    vehicle: np.ndarray

    def lookahead_lines(self, count: int) -> np.ndarray:
        """Lines from vehicle to target: count × 2 ends × 3."""
        some = np.linspace(0, len(self.times) - 1, min(count, len(self.times))).astype(int)
        return np.stack([self.vehicle[some], self.target[some]], axis=1)

    def gaps(self) -> np.ndarray:
        """How far the vehicle is from the path, which is what the target has passed over and will."""
        path = np.vstack([self.vehicle[:1], self.target])
        starts, legs = path[:-1], np.diff(path, axis=0)
        squares = np.maximum((legs**2).sum(axis=1), 1e-12)
        return np.array([_gap_to_legs(place, starts, legs, squares) for place in self.vehicle])


def _gap_to_legs(place: np.ndarray, starts: np.ndarray, legs: np.ndarray, squares: np.ndarray) -> float:
    along = np.clip(((place - starts) * legs).sum(axis=1) / squares, 0.0, 1.0)
    return float(np.linalg.norm(starts + along[:, None] * legs - place, axis=1).min())


def target_topic(vehicle: str) -> str:
    return f"/{vehicle}/pursuit_target"


def pursuit_figure(log: LogReader, run: RunFolder, topics: dict[str, str]) -> Figure:
    chases = {vehicle: _chase(log, vehicle, topic) for vehicle, topic in topics.items()}
    figure = new_figure(height=9.5)
    put_title(figure, log, run, f"{', '.join(chases)} in pursuit")
    grid = figure.add_gridspec(2, 2, width_ratios=[1.25, 1.0], height_ratios=[1.5, 1.0])
    space = figure.add_subplot(grid[:, 0], projection="3d")
    above, gaps = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    for chase in chases.values():
        _draw_in_space(space, chase)
        _draw_from_above(above, chase)
    _draw_gaps(gaps, chases)
    _set_up_space(space)
    above.set(title="Seen from above", xlabel="east x [m]", ylabel="north y [m]")
    above.set_aspect("equal", adjustable="datalim")
    figure.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=13)
    return figure


def _set_up_space(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_xlabel("east x [m]", labelpad=10)
    axis.set_ylabel("north y [m]", labelpad=10)
    axis.set_zlabel("z [m]")
    axis.set_zlim(bottom=min(0.0, axis.get_zlim()[0]))
    axis.set_aspect("equal", adjustable="box")
    axis.zaxis.set_major_locator(MaxNLocator(4))
    axis.view_init(elev=35, azim=-60)


def _chase(log: LogReader, vehicle: str, topic: str) -> _Chase:
    times, target = thinned(*log.series(target_topic(vehicle), "pose.position"), 2000)
    moments, flown = log.series(topic, "pose.pose.position")
    return _Chase(times, target, np.column_stack([np.interp(times, moments, axis) for axis in flown.T]))


def _draw_in_space(axis: Any, chase: _Chase) -> None:
    from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

    axis.plot(*chase.target.T, color=WANTED, linewidth=1.2)
    axis.plot(*chase.vehicle.T, color=FLOWN, linewidth=2.0)
    axis.add_collection(Line3DCollection(chase.lookahead_lines(40), colors=AHEAD, linewidths=0.9))


def _draw_from_above(axis: Axes, chase: _Chase) -> None:
    first = not axis.lines
    axis.plot(*chase.target[:, :2].T, color=WANTED, label="path, as the target ran along it" if first else None)
    axis.plot(*chase.vehicle[:, :2].T, color=FLOWN, linewidth=2.0, label="flown" if first else None)
    for number, line in enumerate(chase.lookahead_lines(40)):
        label = "lookahead at some times" if first and number == 0 else None
        axis.plot(*line[:, :2].T, color=AHEAD, linewidth=0.9, marker="o", markevery=[1], markersize=3, label=label)


def _draw_gaps(axis: Axes, chases: dict[str, _Chase]) -> None:
    axis.set(title="Distance to the path", xlabel="time [s]", ylabel="[m]")
    for vehicle, chase in chases.items():
        axis.plot(chase.times, chase.gaps(), label=vehicle)
    axis.set_ylim(bottom=0.0)
    axis.margins(x=0.01)
    if len(chases) > 1:
        axis.legend(loc="best", ncols=2)
