"""Figures from a run's log: each vehicle's flight, the fleet as a whole, or any fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from pydantic import ValidationError

from airloom.basics.rotations import euler_from_quaternion
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogError, LogReader
from airloom.runs.seen import draw_seen, eye_topics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airloom.scenario.models import Vehicle

FLIGHT_FIGURES = 4
"""Up to this many vehicles get a figure each."""

_SIZE, _DPI = (16.0, 12.0), 100
_SEEN_HEIGHT = 8.0
_POSE_TOPIC = re.compile(r"/([^/]+)/(state|odometry)")
_MODE_CHANGE = re.compile(r"mode \w+ → (\w+)")
_FLOWN, _WANTED, _AHEAD = "#1f5fa8", "#e0641b", "#3a923a"
_SERIES = ["#1f5fa8", "#e0641b", "#3a923a", "#8e4bb0", "#c03d3e", "#7f6a52", "#3aa6a6", "#d4a017"]
_STYLE: dict[Any, Any] = {
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.prop_cycle": "cycler('color', " + repr(_SERIES) + ")",
    "grid.color": "#e4e4e4",
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "legend.fontsize": 11,
}


def plot(run: RunFolder | Path | str, out: Path | str | None = None) -> list[Path]:
    """Draw a flight figure for each of a few vehicles, a fleet figure for several, a pursuit figure, and what eyes saw.

    `out` is a folder, or a file name such as figure.pdf; the run's folder if left out. Returns the files.
    """
    run, log = _opened(run)
    topics = pose_topics(log)
    figures: dict[str, Figure] = {}
    with _style():
        if len(topics) <= FLIGHT_FIGURES:
            for vehicle, topic in topics.items():
                figures[f"flight-{vehicle}"] = _flight_figure(log, run, vehicle, topic)
        if len(topics) > 1:
            figures["fleet"] = _fleet_figure(log, run, topics)
        if pursuers := [vehicle for vehicle in topics if _target_topic(vehicle) in log.topics][:FLIGHT_FIGURES]:
            figures["pursuit"] = _pursuit_figure(log, run, {vehicle: topics[vehicle] for vehicle in pursuers})
        for name, topic in list(eye_topics(log).items())[:FLIGHT_FIGURES]:
            figures[name] = _new_figure(_SEEN_HEIGHT)
            draw_seen(figures[name], log, topic)
        return _save(figures, run, out)


def plot_fields(run: RunFolder | Path | str, fields: Sequence[str], out: Path | str | None = None) -> list[Path]:
    """Draw fields over time, such as /cf/odometry.pose.pose.position.z; fields of the same last name share a panel."""
    run, log = _opened(run)
    panels: dict[str, list[tuple[str, np.ndarray, np.ndarray]]] = {}
    for name in fields:
        topic, _, field = name.partition(".")
        if not field:
            raise LogError(
                f"'{name}' names no field: write the topic, a dot and the field, as in {_example(log, topic)}"
            )
        times, values = log.series(topic, field)
        panel = re.sub(r"\[\d+\]", "", field).rpartition(".")[2]
        panels.setdefault(panel, []).extend(_columns(log, name, topic, field, times, values))
    with _style():
        return _save({"fields": _fields_figure(log, run, panels)}, run, out)


def pose_topics(log: LogReader) -> dict[str, str]:
    """Vehicle → topic of its pose: its true state if the log has it, else its odometry."""
    found: dict[str, str] = {}
    for topic in sorted(log.topics, key=lambda topic: topic.endswith("/state")):
        if match := _POSE_TOPIC.fullmatch(topic):
            found[match[1]] = topic
    if not found:
        known = ", ".join(log.topics) or "nothing"
        raise LogError(f"{log.path} has no vehicle to draw, as there is no topic /<vehicle>/odometry; it has {known}")
    return {vehicle: found[vehicle] for vehicle in sorted(found, key=_natural)}


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts drone_2 before drone_10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _opened(run: RunFolder | Path | str) -> tuple[RunFolder, LogReader]:
    run = run if isinstance(run, RunFolder) else RunFolder.open(run)
    return run, LogReader(run.log)


def _style() -> Any:
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def _new_figure(height: float = _SIZE[1]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_SIZE[0], height), dpi=_DPI, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12, wspace=0.02, hspace=0.03)  # type: ignore[union-attr,call-arg]
    return figure


def _save(figures: dict[str, Figure], run: RunFolder, out: Path | str | None) -> list[Path]:
    paths = [_target(name, run, out, len(figures) == 1) for name in figures]
    for figure, path in zip(figures.values(), paths, strict=True):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path)
        except OSError as error:
            raise LogError(f"cannot write the figure {path}: {error.strerror}") from error
        except ValueError as error:
            raise LogError(f"cannot write the figure {path}: {error}") from error
    return paths


def _target(name: str, run: RunFolder, out: Path | str | None, alone: bool) -> Path:
    if out is None:
        return run.figure(name)
    path = Path(out)
    if not path.suffix or path.is_dir():
        return path / f"{name}.png"
    return path if alone else path.with_name(f"{path.stem}-{name}{path.suffix}")


def _title(figure: Figure, log: LogReader, run: RunFolder, what: str) -> None:
    scenario = log.metadata.get("scenario") or run.path.resolve().name
    seed = f"seed {log.metadata['seed']}" if "seed" in log.metadata else ""
    cut = "" if log.complete else "the log is cut off"
    details = ", ".join(part for part in (what, f"{log.duration:.4g} s", seed, cut) if part)
    figure.suptitle(f"{scenario}: {details}", fontsize=17, fontweight="bold")


# One vehicle


@dataclass
class _Panel:
    """One quantity over time: what was flown and what was wanted."""

    title: str
    unit: str
    smallest_span: float
    flown: tuple[np.ndarray, np.ndarray] | None = None
    wanted: tuple[np.ndarray, np.ndarray] | None = None


def _flight_figure(log: LogReader, run: RunFolder, vehicle: str, topic: str) -> Figure:
    figure = _new_figure()
    _title(figure, log, run, vehicle)
    axes = figure.subplots(3, 3, sharex=True)
    panels, flown = _flight_panels(log, vehicle, topic), modes_flown(log, vehicle)
    for panel in panels:
        if panel.title.startswith(("Position", "Yaw")) and panel.title != "Yaw rate":
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
    """A position or yaw setpoint without the times at which the vehicle was steered otherwise."""
    if setpoint is None:
        return None
    times, values = setpoint[0], setpoint[1].astype(float)
    for begin, end, mode in flown:
        if mode not in ("idle", "position_yaw"):
            values[(times > begin) & (times <= end)] = np.nan
    return times, values


def _shade_modes(figure: Figure, flown: list[tuple[float, float, str]]) -> list[Any]:
    """A band for each mode, if there are others than waiting and holding a position; for the legend."""
    from matplotlib.patches import Patch

    if {mode for _, _, mode in flown} <= {"idle", "position_yaw"}:
        return []
    modes = list(dict.fromkeys(mode for _, _, mode in flown))
    colors = {mode: _SERIES[k % len(_SERIES)] if mode != "position_yaw" else "none" for k, mode in enumerate(modes)}
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
        _Panel("Pitch", "°", 2.0, (times, pitch), _degrees(_optional(log, command, "pitch"))),
        _Panel("Yaw", "°", 2.0, (times, yaw), wanted_yaw),
        _thrust_or_speed(log, vehicle, command, topic),
        _Panel("Yaw rate", "°/s", 2.0, _degrees((times, rates[:, 2])), _degrees(_optional(log, command, "yaw_rate"))),
    ]


def _thrust_or_speed(log: LogReader, vehicle: str, command: str, topic: str) -> _Panel:
    """A vehicle with an autopilot has no command of ours."""
    if command in log.topics:
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
        axis.plot(*panel.flown, color=_FLOWN)
    if panel.wanted is not None:
        axis.plot(*panel.wanted, color=_WANTED, linestyle=(0, (5, 2)))
    if panel.flown is None and panel.wanted is None:
        _say_nothing_logged(axis)
    _fit(axis, panel.smallest_span)


def _thrust_unit(log: LogReader, vehicle: str) -> str:
    """What the controller calls thrust: newtons, unless it is one of those that command motors directly."""
    from airloom import plugin
    from airloom.control.flight_stack import Controller

    described = _described(log, vehicle)
    kind = described.controller.kind if described and described.controller else ""
    known = plugin.names("controller").get(kind)
    return known.load().thrust_unit if known else Controller.thrust_unit


def _described(log: LogReader, vehicle: str) -> Vehicle | None:
    """The vehicle, or what it is a copy of, in the scenario that the log may hold."""
    from airloom.scenario.models import Scenario

    try:
        vehicles = Scenario.model_validate(yaml.safe_load(log.scenario_text)).vehicles
    except (yaml.YAMLError, ValidationError):
        return None  # it is another's, or of another version
    return vehicles.get(vehicle) or vehicles.get(vehicle.rpartition("_")[0])


def _draw_rotors(axis: Axes, log: LogReader, vehicle: str) -> None:
    axis.set_title("Rotor speeds")
    axis.set_ylabel("[rad/s]")
    topic = f"/{vehicle}/rotors"
    if topic not in log.topics:
        _say_nothing_logged(axis)
        return
    times, speeds = log.series(topic, "velocity")
    for name, speed in zip(_rotor_names(log, vehicle, speeds.shape[1]), speeds.T, strict=True):
        axis.plot(times, speed, label=name, linewidth=1.2)
    _fit(axis, 20.0)
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.22 * (high - low))
    axis.legend(loc="upper center", ncols=min(4, max(1, speeds.shape[1])), columnspacing=1.2, handlelength=1.4)


def _rotor_names(log: LogReader, vehicle: str, count: int) -> list[str]:
    """As the vehicle's file has them, which are logged in its order."""
    described = _described(log, vehicle)
    names = list(described.rotors) if described else []
    return names if len(names) == count else [f"rotor {number}" for number in range(count)]


def _say_nothing_logged(axis: Axes) -> None:
    axis.text(0.5, 0.5, "not in the log", transform=axis.transAxes, ha="center", va="center", color="#999999")
    axis.set_yticks([])


def _fit(axis: Axes, smallest_span: float) -> None:
    """Show all, but do not blow up noise."""
    values = np.concatenate([np.empty(0), *(np.asarray(line.get_ydata(), float) for line in axis.lines)])
    values = values[np.isfinite(values)]
    if not len(values):
        return
    low, high = float(values.min()), float(values.max())
    half = max(0.5 * (high - low), 0.5 * smallest_span, 1e-9 * max(abs(low), abs(high), 1.0))
    middle = 0.5 * (low + high)
    axis.set_ylim(middle - 1.08 * half, middle + 1.08 * half)
    axis.margins(x=0.01)


def _explain_lines(figure: Figure, with_wanted: bool, others: Sequence[Any] = ()) -> None:
    from matplotlib.lines import Line2D

    lines: list[Any] = [Line2D([], [], color=_FLOWN, label="flown")]
    if with_wanted:
        lines.append(Line2D([], [], color=_WANTED, linestyle=(0, (5, 2)), label="setpoint or command"))
    figure.legend(handles=[*lines, *others], loc="outside lower center", ncols=4 if others else 2, fontsize=13)


# A fleet


def _fleet_figure(log: LogReader, run: RunFolder, topics: dict[str, str]) -> Figure:
    paths = {v: _thinned(*log_series, 1500) for v, log_series in _positions(log, topics).items()}
    times, positions = _resampled(paths.values(), 400)
    figure = _new_figure(height=9.5)
    _title(figure, log, run, f"{len(paths)} vehicles")
    top, height, spread = figure.subplot_mosaic(
        [["top", "height"], ["top", "spread"]], width_ratios=[1.2, 1.0]
    ).values()
    colors = _colors(len(paths))
    _draw_top_view(top, paths, colors)
    _draw_heights(height, paths, times, positions[..., 2], colors)
    _draw_spread(spread, times, positions)
    return figure


def _positions(log: LogReader, topics: dict[str, str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    found = log.series_of(topics.values(), "pose.pose.position")
    return {vehicle: found[topic] for vehicle, topic in topics.items()}


def _thinned(times: np.ndarray, values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    every = -(-len(times) // most)
    return times[::every], values[::every]


def _resampled(paths: Iterable[tuple[np.ndarray, np.ndarray]], count: int) -> tuple[np.ndarray, np.ndarray]:
    """All paths at common times: times[count], positions[count, vehicle, 3]."""
    paths = list(paths)
    start, end = max(times[0] for times, _ in paths), min(times[-1] for times, _ in paths)
    common = np.linspace(start, max(start, end), count)
    columns = [[np.interp(common, times, axis) for axis in values.T] for times, values in paths]
    return common, np.moveaxis(np.array(columns), -1, 0)


def _colors(count: int) -> list[Any]:
    if count <= len(_SERIES):
        return list(_SERIES[:count])
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
    if len(paths) <= len(_SERIES):
        for (vehicle, (moments, values)), color in zip(paths.items(), colors, strict=True):
            axis.plot(moments, values[:, 2], color=color, label=vehicle)
        _fit(axis, 0.2)
        axis.legend(loc="best", ncols=2)
        return
    lowest, low, middle, high, highest = np.percentile(heights, [0, 10, 50, 90, 100], axis=1)
    axis.fill_between(times, lowest, highest, color=_FLOWN, alpha=0.12, linewidth=0, label="all")
    axis.fill_between(times, low, high, color=_FLOWN, alpha=0.28, linewidth=0, label="80 %")
    axis.plot(times, middle, color=_FLOWN, label="median")
    axis.margins(x=0.01)
    axis.legend(loc="best", ncols=3)


def _draw_spread(axis: Axes, times: np.ndarray, positions: np.ndarray) -> None:
    axis.set(title="Spread", xlabel="time [s]", ylabel="distance [m]")
    from_center = np.linalg.norm(positions - positions.mean(axis=1, keepdims=True), axis=2)
    axis.plot(times, from_center.max(axis=1), color=_SERIES[0], label="farthest from the centre")
    axis.plot(times, from_center.mean(axis=1), color=_SERIES[2], label="mean from the centre")
    affordable = max(20, 20_000_000 // positions.shape[1] ** 2)
    some_times, some_positions = _thinned(times, positions, affordable)
    closest = [_closest_pair(moment) for moment in some_positions]
    axis.plot(some_times, closest, color=_SERIES[4], label="closest pair")
    _fit(axis, 0.2)
    low, high = axis.get_ylim()
    axis.set_ylim(min(0.0, low), high + 0.28 * (high - low))
    axis.legend(loc="upper center", ncols=3, columnspacing=1.0, handlelength=1.4)


def _closest_pair(points: np.ndarray) -> float:
    squares = (points**2).sum(axis=1)
    distances = squares[:, None] + squares - 2.0 * (points @ points.T)
    np.fill_diagonal(distances, np.inf)
    return float(np.sqrt(max(distances.min(), 0.0)))


# Pure pursuit


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


def _target_topic(vehicle: str) -> str:
    return f"/{vehicle}/pursuit_target"


def _pursuit_figure(log: LogReader, run: RunFolder, topics: dict[str, str]) -> Figure:
    chases = {vehicle: _chase(log, vehicle, topic) for vehicle, topic in topics.items()}
    figure = _new_figure(height=9.5)
    _title(figure, log, run, f"{', '.join(chases)} in pursuit")
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
    times, target = _thinned(*log.series(_target_topic(vehicle), "pose.position"), 2000)
    moments, flown = log.series(topic, "pose.pose.position")
    return _Chase(times, target, np.column_stack([np.interp(times, moments, axis) for axis in flown.T]))


def _draw_in_space(axis: Any, chase: _Chase) -> None:
    from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

    axis.plot(*chase.target.T, color=_WANTED, linewidth=1.2)
    axis.plot(*chase.vehicle.T, color=_FLOWN, linewidth=2.0)
    axis.add_collection(Line3DCollection(chase.lookahead_lines(40), colors=_AHEAD, linewidths=0.9))


def _draw_from_above(axis: Axes, chase: _Chase) -> None:
    first = not axis.lines
    axis.plot(*chase.target[:, :2].T, color=_WANTED, label="path, as the target ran along it" if first else None)
    axis.plot(*chase.vehicle[:, :2].T, color=_FLOWN, linewidth=2.0, label="flown" if first else None)
    for number, line in enumerate(chase.lookahead_lines(40)):
        label = "lookahead at some times" if first and number == 0 else None
        axis.plot(*line[:, :2].T, color=_AHEAD, linewidth=0.9, marker="o", markevery=[1], markersize=3, label=label)


def _draw_gaps(axis: Axes, chases: dict[str, _Chase]) -> None:
    axis.set(title="Distance to the path", xlabel="time [s]", ylabel="[m]")
    for vehicle, chase in chases.items():
        axis.plot(chase.times, chase.gaps(), label=vehicle)
    axis.set_ylim(bottom=0.0)
    axis.margins(x=0.01)
    if len(chases) > 1:
        axis.legend(loc="best", ncols=2)


# Any fields


def _columns(
    log: LogReader, name: str, topic: str, field: str, times: np.ndarray, values: np.ndarray
) -> Iterable[tuple[str, np.ndarray, np.ndarray]]:
    if values.ndim == 1:
        return [(name, times, values)]
    parts = [path.removeprefix(f"{field}.") for path in log.fields(topic) if path.startswith(f"{field}.")]
    labels = [f"{name}.{part}" for part in parts]
    if len(labels) != values.shape[1]:
        labels = [f"{name}[{number}]" for number in range(values.shape[1])]
    return [(label, times, column) for label, column in zip(labels, values.T, strict=True)]


def _fields_figure(
    log: LogReader, run: RunFolder, panels: dict[str, list[tuple[str, np.ndarray, np.ndarray]]]
) -> Figure:
    figure = _new_figure(height=min(40.0, max(7.0, 3.2 * len(panels) + 1.0)))
    _title(figure, log, run, "")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (name, lines) in zip(axes, panels.items(), strict=True):
        axis.set_ylabel(name)
        for label, times, values in lines:
            axis.plot(times, values, label=label)
        _fit(axis, 0.0)
        columns = 1 if max(len(label) for label, *_ in lines) > 50 else 2 if len(lines) < 9 else 4
        axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0.2)
    axes[-1].set_xlabel("time [s]")
    return figure


def _example(log: LogReader, topic: str) -> str:
    topic = topic if topic in log.topics else next(iter(log.topics), "/cf/odometry")
    fields = [name for name in log.fields(topic) if "stamp" not in name] if topic in log.topics else []
    return f"{topic}.{fields[0] if fields else 'pose.pose.position.z'}"
