"""A picture of a plan: field, lines in their order, turns, where nozzles open and shut, the place of refilling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.farm.estimate import loads
from airloom.farm.planning import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE, DPI = 11.0, 120
LEAST, MOST = 0.35, 1.6  # height by width of the map
FIELD, SHUT, NO_FLY, TURN, OPENS, CLOSES, REFILL = (
    "#eef3e4", "#ffffff", "#d9534f", "#8a8a8a", "#2e7d32", "#c62828", "#1f5fa8",
)  # fmt: skip
MANY = 60  # lines that leave no room for numbers and marks


def draw_plan(plan: Plan, file: Path) -> None:
    from matplotlib.figure import Figure

    west, south, east, north = _extent(plan)
    ratio = min(max((north - south) / (east - west), LEAST), MOST)
    figure = Figure(figsize=(SIZE, SIZE * ratio * 0.86 + 1.2), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    _draw_field(axes, plan)
    lines = _draw_lines(axes, plan)
    _draw_ways(axes, plan)
    rates = {stretch.rate for line in plan.job.lines for stretch in line.spray}
    if len(rates) > 1:
        figure.colorbar(lines, ax=axes, label="litres per hectare", shrink=0.8, pad=0.01)
    sums = plan.job.totals
    axes.set(xlabel="east, m", ylabel="north, m", aspect="equal", xlim=(west, east), ylim=(south, north))
    axes.set_title(f"{plan.job.name}: {sums.lines} lines, {sums.hectares:.2f} ha, {sums.litres:.1f} L", loc="left")
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(file, metadata={"Software": None})


def _extent(plan: Plan) -> tuple[float, float, float, float]:
    job = plan.job
    points = np.array([*job.outline, job.refill.place, *(end for line in job.lines for end in (line.start, line.end))])
    (west, south), (east, north) = points.min(axis=0), points.max(axis=0)
    edge = 0.04 * max(east - west, north - south)
    return west - edge, south - edge, east + edge, north + edge


def _draw_field(axes: Axes, plan: Plan) -> None:
    from matplotlib.patches import PathPatch

    field = plan.field
    for geometry, look in (
        (field.outline, {"facecolor": SHUT, "edgecolor": "#555555", "hatch": "///", "linewidth": 0}),
        (field.area, {"facecolor": FIELD, "edgecolor": "#7a8f5a", "linewidth": 1.0}),
        (field.no_fly, {"facecolor": NO_FLY, "alpha": 0.35, "edgecolor": NO_FLY}),
    ):
        if not geometry.is_empty:
            axes.add_patch(PathPatch(_path_of(geometry), **look))
    axes.add_patch(PathPatch(_path_of(field.outline), facecolor="none", edgecolor="#445533", linewidth=1.4))


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
    middle, ahead = line.place(0.47 * line.length)[:2], line.place(0.53 * line.length)[:2]
    axes.annotate("", ahead, middle, arrowprops={"arrowstyle": "-|>", "color": "#222222", "lw": 0.8})
    axes.annotate(
        f"{number}", line.start, ha="center", va="center", fontsize=6.5, color="#222222", zorder=5,
        bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": "#999999", "lw": 0.5},
    )  # fmt: skip


def _draw_ways(axes: Axes, plan: Plan) -> None:
    """Ends of lines and turns, and where tanks are used up."""
    job = plan.job
    for k, line in enumerate(job.lines):
        label = "turns and ends in the headland" if k == 0 else None
        before = [job.lines[k - 1].end, *line.by_way_of] if k else []
        points = np.array([*before, line.start, line.end])
        axes.plot(*points.T, color=TURN, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1, label=label)
    x, y = job.refill.place
    axes.scatter([x], [y], s=90, color=REFILL, marker="^", zorder=6, label="place of refilling")
    breaks = np.array([load[-1].end for load in loads(job.lines, job.swath, job.tank)[:-1]])
    if breaks.size:
        axes.scatter(breaks[:, 0], breaks[:, 1], s=40, color=REFILL, marker="x", zorder=6, label="tank used up")
