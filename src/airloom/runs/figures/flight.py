"""One vehicle's flight: the way seen from above, and what was flown and wanted over time, of all that moved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.drawing import SERIES
from airloom.basics.rotations import euler_from_quaternion
from airloom.runs.figures.ground_plan import draw_ground_plan, draw_points, square_around
from airloom.runs.figures.moments import Moment, listed, mark, moments_of
from airloom.runs.figures.panels import WANTED_DASHES, Panel, Series, those_that_move
from airloom.runs.figures.style import FLOWN, WANTED, logged_scenario, new_figure, put_title, thinned
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader
from airloom.scenario.models import Plane
from airloom.scenario.terrain import TerrainError
from airloom.world.land import Land

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airloom.scenario.models import Vehicle

FIRST_MAP = 0.5  # m: a way that leads farther is seen from above, too
PANEL_HEIGHT, LOW_PANEL_HEIGHT, LEAST_HEIGHT = 3.1, 2.4, 7.0  # inches
MOST_PLACES = 4000  # of a way that is drawn
_MODE_CHANGE = re.compile(r"mode \w+ → (\w+)")


def flight_figure(log: LogReader, run: RunFolder, vehicle: str, topic: str) -> Figure:
    shown, still = those_that_move(_panels(log, vehicle, topic))
    _, position = thinned(*log.series(topic, "pose.pose.position"), MOST_PLACES)
    has_map = float(np.ptp(position[:, :2], axis=0).max()) >= FIRST_MAP
    columns = 2 if has_map or len(shown) <= 4 else 3
    rows = max(ceil(len(shown) / columns), 1)
    figure = new_figure(height=max(LEAST_HEIGHT, (PANEL_HEIGHT if rows < 4 else LOW_PANEL_HEIGHT) * rows + 1.5))
    put_title(figure, log, run, vehicle)
    chart, panels = _divided(figure, has_map)
    axes = list(panels.subplots(rows, columns, sharex=True, squeeze=False).flat)
    for axis, panel in zip(axes, shown, strict=False):
        panel.draw(axis)
    for axis in axes[len(shown) :]:
        axis.set_visible(False)
    for axis in axes[max(len(shown) - columns, 0) : len(shown)]:
        axis.set_xlabel("time [s]")
        axis.xaxis.set_tick_params(labelbottom=True)
    used, flown = axes[: len(shown)], modes_flown(log, vehicle)
    moments = moments_of(log, logged_scenario(log), vehicle)
    mark(used, moments)
    with_wanted = any(panel.wanted is not None for panel in shown)
    if chart is not None:
        axis = chart.subplots()
        draw_points(axis, run.path)
        with_wanted |= _draw_map(axis, log, vehicle, position, _wanted_way(log, vehicle, flown))
    _explain(figure, with_wanted, _shade_modes(used, flown), still, moments)
    return figure


def _divided(figure: Figure, has_map: bool) -> tuple[Any, Any]:
    """Where the map goes, if there is one, and where the panels go."""
    if not has_map:
        return None, figure.subfigures(1, 1)
    chart, panels = figure.subfigures(1, 2, width_ratios=[0.85, 1.15])  # type: ignore[misc]
    return chart, panels


def modes_flown(log: LogReader, vehicle: str) -> list[tuple[float, float, str]]:
    """Begin, end and name of each control mode that a vehicle was in, from the events."""
    changes = [(0.0, "idle")]
    for event in log.messages(["/events"]) if "/events" in log.topics else ():
        if event.message.source == vehicle and (change := _MODE_CHANGE.fullmatch(event.message.text)):
            changes.append((event.time_ns / 1e9, change[1]))
    ends = [*(begin for begin, _ in changes[1:]), log.duration]
    return [(begin, end, mode) for (begin, mode), end in zip(changes, ends, strict=True) if end > begin]


def _while_in_force(setpoint: Series | None, flown: list[tuple[float, float, str]]) -> Series | None:
    """A position or yaw setpoint without the times at which the vehicle was steered otherwise, or no more."""
    if setpoint is None:
        return None
    times, values = setpoint[0], setpoint[1].astype(float)
    for k, (begin, end, mode) in enumerate(flown):
        if mode != "position_yaw" and (k > 0 or mode != "idle"):
            values[(times > begin) & (times <= end)] = np.nan
    return times, values


def _shade_modes(axes: Sequence[Axes], flown: list[tuple[float, float, str]]) -> list[Any]:
    """A band for each mode, if there are others than waiting and holding a position; for the legend."""
    from matplotlib.patches import Patch

    if {mode for _, _, mode in flown} <= {"idle", "position_yaw"}:
        return []
    modes = [mode for mode in dict.fromkeys(mode for _, _, mode in flown) if mode != "position_yaw"]
    colors = {mode: SERIES[(k + 2) % len(SERIES)] for k, mode in enumerate(modes)}
    for axis in axes:
        for begin, end, mode in flown:
            if mode in colors:
                axis.axvspan(begin, end, facecolor=colors[mode], alpha=0.14, linewidth=0, zorder=0)
    return [Patch(facecolor=colors[mode], alpha=0.3, label=mode.replace("_", ", ")) for mode in modes]


def _panels(log: LogReader, vehicle: str, topic: str) -> Iterator[Panel]:
    """All that may be of interest, in the order in which they are drawn."""
    times, position = log.series(topic, "pose.pose.position")
    _, attitude = log.series(topic, "pose.pose.orientation")
    _, rates = log.series(topic, "twist.twist.angular")
    _, velocity = log.series(topic, "twist.twist.linear")
    flown = modes_flown(log, vehicle)
    roll, pitch, yaw = np.degrees(np.unwrap(euler_from_quaternion(attitude[:, [3, 0, 1, 2]]), axis=0)).T

    def wanted(name: str, field: str) -> Series | None:
        return _optional(log, f"/{vehicle}/{name}", field) if _is_steered(log, vehicle) else None

    for i, axis in enumerate("xyz"):
        aim = _while_in_force(wanted("setpoint", f"position.{axis}"), flown)
        ground = _ground_below(log, times, position) if axis == "z" else None
        yield Panel(f"Position {axis}", "m", 0.2, (times, position[:, i]), aim, ground)
    yield Panel("Speed", "m/s", 0.2, (times, np.linalg.norm(velocity, axis=1)))
    yield Panel("Roll", "°", 2.0, (times, roll), _degrees(wanted("command", "roll")))
    yield Panel("Pitch (+ nose down)", "°", 2.0, (times, pitch), _degrees(wanted("command", "pitch")))
    aim = _while_in_force(_near(_degrees(wanted("setpoint", "yaw")), times, yaw), flown)
    yield Panel("Yaw", "°", 2.0, (times, yaw), aim)
    yield Panel("Yaw rate", "°/s", 2.0, _degrees((times, rates[:, 2])), _degrees(wanted("command", "yaw_rate")))
    if (thrust := wanted("command", "thrust")) is not None:
        yield Panel("Thrust command", _thrust_unit(log, vehicle), 0.0, None, thrust)
    yield from _rotor_panel(log, vehicle)


def _ground_below(log: LogReader, times: np.ndarray, position: np.ndarray) -> Series | None:
    """Its height along the way, unless it is flat or not to be had."""
    scenario = logged_scenario(log)
    if scenario is None or isinstance(scenario.world.terrain, Plane):
        return None
    try:
        land = Land(scenario.world)
        return times, np.array([land.height(float(x), float(y)) for x, y in position[:, :2]])
    except TerrainError:
        return None


def _rotor_panel(log: LogReader, vehicle: str) -> Iterator[Panel]:
    topic = f"/{vehicle}/rotors"
    if topic not in log.topics:
        return
    times, speeds = log.series(topic, "velocity")
    names = _rotor_names(log, vehicle, speeds.shape[1])
    if names:
        lines = {name: (times, speed) for name, speed in zip(names, speeds.T, strict=True)}
        yield Panel("Rotor speeds", "rad/s", 20.0, others=lines)


# -- the map -----------------------------------------------------------------------------------------------------------


def _wanted_way(log: LogReader, vehicle: str, flown: list[tuple[float, float, str]]) -> np.ndarray | None:
    """Where it was told to be, seen from above; not a number while it was not told a place."""
    topic = f"/{vehicle}/setpoint"
    if topic not in log.topics or not _is_steered(log, vehicle):
        return None
    columns = [_while_in_force(_optional(log, topic, f"position.{axis}"), flown) for axis in "xy"]
    return np.column_stack([values for _, values in filter(None, columns)])


def _draw_map(axis: Axes, log: LogReader, vehicle: str, position: np.ndarray, wanted: np.ndarray | None) -> bool:
    """Whether there is a way that was wanted."""
    way = position[:, :2]
    if (scenario := logged_scenario(log)) is not None:
        draw_ground_plan(axis, scenario, way)
    has_wanted = wanted is not None and bool(np.isfinite(wanted).all(axis=1).any())
    if wanted is not None and has_wanted:
        axis.plot(*wanted.T, color=WANTED, linestyle=WANTED_DASHES, marker=".", markersize=3, linewidth=1.2, zorder=3)
    axis.plot(*way.T, color=FLOWN, zorder=4)
    axis.plot(*way[0], "o", color=FLOWN, markerfacecolor="white", markersize=8, zorder=5)
    axis.plot(*way[-1], "o", color=FLOWN, markersize=8, zorder=5)
    axis.set(title="Seen from above  (○ start, ● end)", xlabel="east x [m]", ylabel="north y [m]")
    low, high = square_around(way)
    axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", anchor="N")
    return has_wanted


# -- what the log has --------------------------------------------------------------------------------------------------


def _optional(log: LogReader, topic: str, field: str) -> Series | None:
    return log.series(topic, field) if topic in log.topics else None


def _degrees(series: Series | None) -> Series | None:
    return None if series is None else (series[0], np.degrees(series[1]))


def _near(series: Series | None, times: np.ndarray, flown: np.ndarray) -> Series | None:
    """Angles on the same turn as those flown at the same time: who has turned once has not missed by 360°."""
    if series is None:
        return None
    moments, angles = series
    turns = np.round((np.interp(moments, times, flown) - angles) / 360.0)
    ends = np.append(np.flatnonzero(np.diff(angles)), len(angles) - 1)
    last_of_each = ends[np.searchsorted(ends, np.arange(len(angles)))]  # while it stays, it stays on one turn
    return moments, angles + 360.0 * turns[last_of_each]


def _thrust_unit(log: LogReader, vehicle: str) -> str:
    """What the controller calls thrust: newtons, unless it is one of those that command motors directly."""
    from airloom import plugin
    from airloom.control.flight_stack import Controller

    described = _described(log, vehicle)
    kind = described.controller.kind if described and described.controller else ""
    known = plugin.names("controller").get(kind)
    return known.load().thrust_unit if known else Controller.thrust_unit


def _is_steered(log: LogReader, vehicle: str) -> bool:
    """Whether setpoints mean something: a buoy has some, too, which nobody follows."""
    described = _described(log, vehicle)
    return described is None or described.controller is not None or described.autopilot is not None


def _described(log: LogReader, vehicle: str) -> Vehicle | None:
    """The vehicle, or what it is a copy of, in the scenario that the log may hold."""
    if (scenario := logged_scenario(log)) is None:
        return None
    vehicles = scenario.vehicles
    return vehicles.get(vehicle) or vehicles.get(vehicle.rpartition("_")[0])


def _rotor_names(log: LogReader, vehicle: str, count: int) -> list[str]:
    """As the vehicle's file has them, which are logged in its order."""
    described = _described(log, vehicle)
    names = list(described.rotors) if described else []
    return names if len(names) == count else [f"rotor {number}" for number in range(count)]


def _explain(
    figure: Figure, with_wanted: bool, modes: Sequence[Any], still: Sequence[str], moments: Sequence[Moment]
) -> None:
    """Below everything: what the lines are, what happened when, and what is not drawn because nothing did."""
    from matplotlib.lines import Line2D

    lines: list[Any] = [Line2D([], [], color=FLOWN, label="flown")]
    if with_wanted:
        lines.append(Line2D([], [], color=WANTED, linestyle=WANTED_DASHES, label="setpoint or command"))
    notes = [listed(moments)] if moments else []
    if still:
        notes.append(f"Still, and so not drawn: {', '.join(title.lower() for title in still)}.")
    figure.legend(
        handles=[*lines, *modes], loc="outside lower center", ncols=max(len(lines) + len(modes), 1), fontsize=13,
        title="\n".join(notes) or None, title_fontsize=11, alignment="left",
    )  # fmt: skip
