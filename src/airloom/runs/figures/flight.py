"""One vehicle's flight: what was flown and what was wanted, in nine panels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.rotations import euler_from_quaternion
from airloom.runs.figures.style import (
    FLOWN,
    SERIES,
    WANTED,
    fit,
    logged_scenario,
    new_figure,
    put_title,
    say_instead,
)
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airloom.scenario.models import Vehicle

LEGEND_WIDTH, LINE_WIDTH = 58, 5  # of a panel and of a line in its legend, in letters
_MODE_CHANGE = re.compile(r"mode \w+ → (\w+)")


@dataclass
class _Panel:
    """One quantity over time: what was flown and what was wanted."""

    title: str
    unit: str
    smallest_span: float
    flown: tuple[np.ndarray, np.ndarray] | None = None
    wanted: tuple[np.ndarray, np.ndarray] | None = None


def flight_figure(log: LogReader, run: RunFolder, vehicle: str, topic: str) -> Figure:
    figure = new_figure()
    put_title(figure, log, run, vehicle)
    axes = figure.subplots(3, 3, sharex=True)
    panels, flown = _flight_panels(log, vehicle, topic), modes_flown(log, vehicle)
    for panel in panels:
        if not _is_steered(log, vehicle):
            panel.wanted = None
        elif panel.title.startswith(("Position", "Yaw")) and panel.title != "Yaw rate":
            panel.wanted = _while_in_force(panel.wanted, flown)
    for axis, panel in zip(axes.flat, panels, strict=False):
        _draw_panel(axis, panel)
    _draw_rotors(axes.flat[-1], log, vehicle)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    _explain_lines(figure, any(panel.wanted is not None for panel in panels), _shade_modes(figure, flown))
    return figure


def modes_flown(log: LogReader, vehicle: str) -> list[tuple[float, float, str]]:
    """Begin, end and name of each control mode that a vehicle was in, from the events."""
    changes = [(0.0, "idle")]
    for event in log.messages(["/events"]) if "/events" in log.topics else ():
        if event.message.source == vehicle and (change := _MODE_CHANGE.fullmatch(event.message.text)):
            changes.append((event.time_ns / 1e9, change[1]))
    ends = [*(begin for begin, _ in changes[1:]), log.duration]
    return [(begin, end, mode) for (begin, mode), end in zip(changes, ends, strict=True) if end > begin]


def _while_in_force(
    setpoint: tuple[np.ndarray, np.ndarray] | None, flown: list[tuple[float, float, str]]
) -> tuple[np.ndarray, np.ndarray] | None:
    """A position or yaw setpoint without the times at which the vehicle was steered otherwise, or no more."""
    if setpoint is None:
        return None
    times, values = setpoint[0], setpoint[1].astype(float)
    for k, (begin, end, mode) in enumerate(flown):
        if mode != "position_yaw" and (k > 0 or mode != "idle"):
            values[(times > begin) & (times <= end)] = np.nan
    return times, values


def _shade_modes(figure: Figure, flown: list[tuple[float, float, str]]) -> list[Any]:
    """A band for each mode, if there are others than waiting and holding a position; for the legend."""
    from matplotlib.patches import Patch

    if {mode for _, _, mode in flown} <= {"idle", "position_yaw"}:
        return []
    modes = list(dict.fromkeys(mode for _, _, mode in flown))
    colors = {mode: SERIES[k % len(SERIES)] if mode != "position_yaw" else "none" for k, mode in enumerate(modes)}
    for axis in figure.axes:
        for begin, end, mode in flown:
            axis.axvspan(begin, end, facecolor=colors[mode], alpha=0.14, linewidth=0, zorder=0)
    return [
        Patch(facecolor=colors[mode], edgecolor="#bbbbbb", alpha=0.3, label=mode.replace("_", ", ")) for mode in modes
    ]


def _flight_panels(log: LogReader, vehicle: str, topic: str) -> list[_Panel]:
    times, position = log.series(topic, "pose.pose.position")
    _, attitude = log.series(topic, "pose.pose.orientation")
    _, rates = log.series(topic, "twist.twist.angular")
    roll, pitch, yaw = np.degrees(np.unwrap(euler_from_quaternion(attitude[:, [3, 0, 1, 2]]), axis=0)).T
    command, setpoint = f"/{vehicle}/command", f"/{vehicle}/setpoint"
    wanted_yaw = _near(_degrees(_optional(log, setpoint, "yaw")), yaw)
    return [
        *(
            _Panel(f"Position {axis}", "m", 0.2, (times, position[:, i]), _optional(log, setpoint, f"position.{axis}"))
            for i, axis in enumerate("xyz")
        ),
        _Panel("Roll", "°", 2.0, (times, roll), _degrees(_optional(log, command, "roll"))),
        _Panel("Pitch (+ nose down)", "°", 2.0, (times, pitch), _degrees(_optional(log, command, "pitch"))),
        _Panel("Yaw", "°", 2.0, (times, yaw), wanted_yaw),
        _thrust_or_speed(log, vehicle, command, topic),
        _Panel("Yaw rate", "°/s", 2.0, _degrees((times, rates[:, 2])), _degrees(_optional(log, command, "yaw_rate"))),
    ]


def _thrust_or_speed(log: LogReader, vehicle: str, command: str, topic: str) -> _Panel:
    """A vehicle with an autopilot, or with nobody who steers it, has no command of ours."""
    if command in log.topics and _is_steered(log, vehicle):
        return _Panel("Thrust command", _thrust_unit(log, vehicle), 0.0, None, _optional(log, command, "thrust"))
    times, velocity = log.series(topic, "twist.twist.linear")
    return _Panel("Speed", "m/s", 0.2, (times, np.linalg.norm(velocity, axis=1)), None)


def _optional(log: LogReader, topic: str, field: str) -> tuple[np.ndarray, np.ndarray] | None:
    return log.series(topic, field) if topic in log.topics else None


def _degrees(series: tuple[np.ndarray, np.ndarray] | None) -> tuple[np.ndarray, np.ndarray] | None:
    return None if series is None else (series[0], np.degrees(series[1]))


def _near(series: tuple[np.ndarray, np.ndarray] | None, flown: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Angles without jumps, on the same turn as those flown."""
    if series is None or not np.isfinite(series[1]).all():
        return series
    angles = np.unwrap(series[1], period=360.0)
    return series[0], angles + 360.0 * np.round((flown[0] - angles[0]) / 360.0)


def _draw_panel(axis: Axes, panel: _Panel) -> None:
    axis.set_title(panel.title)
    axis.set_ylabel(f"[{panel.unit}]")
    if panel.flown is not None:
        axis.plot(*panel.flown, color=FLOWN)
    if panel.wanted is not None:
        axis.plot(*panel.wanted, color=WANTED, linestyle=(0, (5, 2)))
    if panel.flown is None and panel.wanted is None:
        say_instead(axis, "not in the log")
    fit(axis, panel.smallest_span)


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


def _draw_rotors(axis: Axes, log: LogReader, vehicle: str) -> None:
    axis.set_title("Rotor speeds")
    axis.set_ylabel("[rad/s]")
    topic = f"/{vehicle}/rotors"
    if topic not in log.topics:
        say_instead(axis, "not in the log")
        return
    times, speeds = log.series(topic, "velocity")
    if not speeds.shape[1]:
        say_instead(axis, "it has none")
        return
    names = _rotor_names(log, vehicle, speeds.shape[1])
    for name, speed in zip(names, speeds.T, strict=True):
        axis.plot(times, speed, label=name, linewidth=1.2)
    fit(axis, 20.0)
    rows = ceil(len(names) / max(LEGEND_WIDTH // (max(map(len, names)) + LINE_WIDTH), 1))
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.11 * max(2, rows) * (high - low))
    axis.legend(loc="upper center", ncols=ceil(len(names) / rows), columnspacing=1.2, handlelength=1.4)


def _rotor_names(log: LogReader, vehicle: str, count: int) -> list[str]:
    """As the vehicle's file has them, which are logged in its order."""
    described = _described(log, vehicle)
    names = list(described.rotors) if described else []
    return names if len(names) == count else [f"rotor {number}" for number in range(count)]


def _explain_lines(figure: Figure, with_wanted: bool, others: Sequence[Any] = ()) -> None:
    from matplotlib.lines import Line2D

    lines: list[Any] = [Line2D([], [], color=FLOWN, label="flown")]
    if with_wanted:
        lines.append(Line2D([], [], color=WANTED, linestyle=(0, (5, 2)), label="setpoint or command"))
    figure.legend(handles=[*lines, *others], loc="outside lower center", ncols=4 if others else 2, fontsize=13)
