"""Fields of a log over time: those somebody asks for, or those that the scenario's figures show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.rotations import euler_from_quaternion
from airloom.runs.figures.style import fit, logged_scenario, new_figure, put_title, say_instead
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogError, LogReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airloom.scenario.figures import Figure as Wanted


_ANGLES = ("roll", "pitch", "yaw")


def series(log: LogReader, topic: str, field: str) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and values of a field. An orientation has also roll, pitch and yaw, in degrees, as a command."""
    group, _, last = field.rpartition(".")
    if not _is_in_degrees(topic, field):
        return log.series(topic, field)
    if not group.endswith("orientation"):
        times, angles = log.series(topic, field)
        return times, np.degrees(angles)
    times, quaternions = log.series(topic, group)
    angles = np.unwrap(euler_from_quaternion(quaternions[:, [3, 0, 1, 2]]), axis=0)
    return times, np.degrees(angles[:, _ANGLES.index(last)])


def _is_in_degrees(topic: str, field: str) -> bool:
    """As `series` gives it: messages have radians."""
    group, _, last = field.rpartition(".")
    return last in _ANGLES and (group.endswith("orientation") or topic.endswith(("/command", "/setpoint")))


def columns(
    log: LogReader, name: str, topic: str, field: str, times: np.ndarray, values: np.ndarray
) -> Iterable[tuple[str, np.ndarray, np.ndarray]]:
    if values.ndim == 1:
        return [(name, times, values)]
    parts = [path.removeprefix(f"{field}.") for path in log.fields(topic) if path.startswith(f"{field}.")]
    labels = [f"{name}.{part}" for part in parts]
    if len(labels) != values.shape[1]:
        labels = [f"{name}[{number}]" for number in range(values.shape[1])]
    return [(label, times, column) for label, column in zip(labels, values.T, strict=True)]


def fields_figure(
    log: LogReader, run: RunFolder, panels: dict[str, list[tuple[str, np.ndarray, np.ndarray]]]
) -> Figure:
    figure = new_figure(height=min(40.0, max(7.0, 3.2 * len(panels) + 1.0)))
    put_title(figure, log, run, "")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (name, lines) in zip(axes, panels.items(), strict=True):
        axis.set_ylabel(f"{name} [°]" if name in _ANGLES else name)
        for label, times, values in lines:
            axis.plot(times, values, label=label)
        fit(axis, 0.0)
        columns = 1 if max(len(label) for label, *_ in lines) > 50 else 2 if len(lines) < 9 else 4
        axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0.2)
    axes[-1].set_xlabel("time [s]")
    return figure


def scenario_figures(log: LogReader, run: RunFolder) -> dict[str, Figure]:
    """Those that the scenario in the log asks for, by name."""
    scenario = logged_scenario(log)
    return {name: _chosen_figure(log, run, wanted) for name, wanted in (scenario.figures if scenario else {}).items()}


def _chosen_figure(log: LogReader, run: RunFolder, wanted: Wanted) -> Figure:
    figure = new_figure(height=min(40.0, max(5.0, 3.2 * len(wanted.panels) + 1.0)))
    put_title(figure, log, run, wanted.title)
    axes = figure.subplots(len(wanted.panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, panel in zip(axes, wanted.panels, strict=True):
        axis.set_title(panel.title)
        axis.set_ylabel(f"[{panel.unit}]" if panel.unit else "")
        for label, line in panel.lines.items():
            _draw_line(axis, log, label, line, wanted, panel.unit)
        fit(axis, 0.0)
        if len(panel.lines) > 1:
            axis.legend(loc="best", ncols=min(len(panel.lines), 4))
    axes[-1].set_xlabel("time [s]")
    return figure


def _draw_line(axis: Axes, log: LogReader, label: str, line: str, wanted: Wanted, unit: str) -> None:
    topic, _, field = line.removeprefix("-").partition(".")
    if topic not in log.topics:
        say_instead(axis, "not in the log")
        return
    try:
        times, values = series(log, topic, field)
        if unit.startswith("°") and not _is_in_degrees(topic, field):
            values = np.degrees(values)
    except LogError as error:
        say_instead(axis, str(error))
        return
    shown = (times >= wanted.start) & (times <= (wanted.end or np.inf))
    axis.plot(times[shown], (-values if line.startswith("-") else values)[shown], label=label)


def example(log: LogReader, topic: str) -> str:
    topic = topic if topic in log.topics else next(iter(log.topics), "/cf/odometry")
    fields = [name for name in log.fields(topic) if "stamp" not in name] if topic in log.topics else []
    return f"{topic}.{fields[0] if fields else 'pose.pose.position.z'}"
