"""A picture of a plan: field, lines in their order, turns, where nozzles open and shut, the place of refilling."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.drawing import in_style
from airloom.farm.estimate import loads
from airloom.farm.job import Job
from airloom.farm.planning import Plan
from airloom.farm.routes import Routes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE, DPI = 11.0, 120
LEAST, MOST = 0.35, 1.6  # height by width of the map
FIELD, SHUT, NO_FLY, TURN, OPENS, CLOSES, REFILL = (
    "#eef3e4", "#ffffff", "#d9534f", "#8a8a8a", "#2e7d32", "#c62828", "#1f5fa8",
)  # fmt: skip
Way = np.ndarray  # places [n, 2]
MANY = 60  # lines that leave no room for numbers and marks


@in_style
def draw_plan(plan: Plan, file: Path) -> None:
    from matplotlib.figure import Figure

    job, routes = plan.job, Routes(plan.job.no_fly)
    turns, refills = _turns(job, routes), _refills(job, routes)
    west, south, east, north = _extent(job, [*turns, *refills])
    ratio = min(max((north - south) / (east - west), LEAST), MOST)
    figure = Figure(figsize=(SIZE, SIZE * ratio * 0.86 + 1.2), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    _draw_field(axes, plan)
    lines = _draw_lines(axes, plan)
    _draw_ways(axes, job, turns, refills)
    rates = {stretch.rate for line in job.lines for stretch in line.spray}
    if len(rates) > 1:
        figure.colorbar(lines, ax=axes, label="litres per hectare", shrink=0.8, pad=0.01)
    sums = job.totals
    axes.set(xlabel="east x [m]", ylabel="north y [m]", aspect="equal", xlim=(west, east), ylim=(south, north))
    axes.set_title(f"{job.name}: {sums.lines} lines, {sums.hectares:.2f} ha, {sums.litres:.1f} L", loc="left")
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(file, metadata={"Software": None})


def _extent(job: Job, ways: list[Way]) -> tuple[float, float, float, float]:
    points = np.vstack([job.outline, *ways])
    (west, south), (east, north) = points.min(axis=0), points.max(axis=0)
    edge = 0.04 * max(east - west, north - south)
    return west - edge, south - edge, east + edge, north + edge


def _draw_field(axes: Axes, plan: Plan) -> None:
    from matplotlib.patches import PathPatch

    field = plan.field
    for geometry, look in (
        (field.outline, {"facecolor": SHUT, "edgecolor": "#999999", "hatch": "///", "linewidth": 0, **_shut(field)}),
        (field.area, {"facecolor": FIELD, "edgecolor": "#7a8f5a", "linewidth": 1.0}),
        (field.no_fly, {"facecolor": NO_FLY, "alpha": 0.35, "edgecolor": NO_FLY, "label": "not flown over"}),
    ):
        if not geometry.is_empty:
            axes.add_patch(PathPatch(_path_of(geometry), **look))
    axes.add_patch(PathPatch(_path_of(field.outline), facecolor="none", edgecolor="#445533", linewidth=1.4))


def _shut(field: Any) -> dict[str, str]:
    return {"label": "not sprayed"} if field.outline.area - field.area.area > 1.0 else {}


def _path_of(geometry: Any) -> Any:
    from matplotlib.path import Path as Outline

    polygons = getattr(geometry, "geoms", [geometry])
    rings = [ring for polygon in polygons for ring in (polygon.exterior, *polygon.interiors)]
    return Outline.make_compound_path(*(Outline(np.array(ring.coords), closed=True) for ring in rings))


def _draw_lines(axes: Axes, plan: Plan) -> Any:
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize

    job = plan.job
    sprayed = [(line, stretch) for line in job.lines for stretch in line.spray]
    rates = np.array([stretch.rate for _, stretch in sprayed])
    parts = [[line.place(stretch.start)[:2], line.place(stretch.end)[:2]] for line, stretch in sprayed]
    drawn = LineCollection(parts, cmap="viridis_r", norm=Normalize(0.0, rates.max() or 1.0), linewidths=1.8)
    drawn.set_array(rates)
    axes.add_collection(drawn)
    if len(job.lines) <= MANY:
        for number, line in enumerate(job.lines, start=1):
            _number_line(axes, line, number)
    opens = np.array([line.place(a)[:2] for line in job.lines for a, _ in _open_spans(line)])
    closes = np.array([line.place(b)[:2] for line in job.lines for _, b in _open_spans(line)])
    look: dict[str, Any] = {"s": 16 if len(job.lines) <= MANY else 3, "zorder": 4, "linewidths": 0}
    axes.scatter(opens[:, 0], opens[:, 1], color=OPENS, marker="o", label="nozzles open", **look)
    axes.scatter(closes[:, 0], closes[:, 1], color=CLOSES, marker="s", label="nozzles shut", **look)
    return drawn


def _open_spans(line: Any) -> list[tuple[float, float]]:
    """Stretches that follow each other without a gap, as one."""
    spans: list[tuple[float, float]] = []
    for stretch in line.spray:
        if spans and stretch.start - spans[-1][1] < 1e-2:
            spans[-1] = spans[-1][0], stretch.end
        else:
            spans.append((stretch.start, stretch.end))
    return spans


def _number_line(axes: Axes, line: Any, number: int) -> None:
    a, b = max(_open_spans(line), key=lambda span: span[1] - span[0])
    middle, ahead = line.place(0.5 * (a + b) - 0.1)[:2], line.place(0.5 * (a + b))[:2]
    axes.annotate("", ahead, middle, arrowprops={"arrowstyle": "-|>", "color": "#222222", "lw": 0.8}, zorder=3)
    axes.annotate(
        f"{number}", line.start, ha="center", va="center", fontsize=6.5, color="#222222", zorder=5,
        bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": "#999999", "lw": 0.5},
    )  # fmt: skip


def _draw_ways(axes: Axes, job: Job, turns: list[Way], refills: list[Way]) -> None:
    """Ends of lines and turns, and where tanks are used up."""
    ends = [np.array([line.start, line.end]) for line in job.lines]
    for k, way in enumerate([*ends, *turns]):
        label = "turns and ends in the headland" if k == 0 else None
        axes.plot(*way.T, color=TURN, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1, label=label)
    axes.scatter(
        [job.refill.place[0]],
        [job.refill.place[1]],
        s=90,
        color=REFILL,
        marker="^",
        zorder=6,
        label="place of refilling",
    )
    used_up = np.array([way[0] for way in refills[1:-1]])
    if used_up.size:
        axes.scatter(used_up[:, 0], used_up[:, 1], s=40, color=REFILL, marker="x", zorder=6, label="tank used up")
    for k, way in enumerate(refills if len(refills) <= MANY else []):
        label = "to and from the place of refilling" if k == 0 else None
        axes.plot(*way.T, color=REFILL, linewidth=0.8, linestyle=":", zorder=1, label=label)


def _turns(job: Job, routes: Routes) -> list[Way]:
    return [np.array(routes.whole(line.end, after.start)) for line, after in pairwise(job.lines)]


def _refills(job: Job, routes: Routes) -> list[Way]:
    """From the first line, from where tanks are used up, and from the last line."""
    used_up = [load[-1].end for load in loads(job.lines, job.swath, job.tank)[:-1]]
    places = [job.lines[0].start, *used_up, job.lines[-1].end]
    return [np.array(routes.whole(place, job.refill.place)) for place in places]
