"""Figures from a run's log: each vehicle's flight, the fleet as a whole, what eyes saw, or any fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.drawing import drawing_style
from airloom.runs.figures.fields import columns, example, fields_figure, scenario_figures, series
from airloom.runs.figures.fleet import fleet_figure
from airloom.runs.figures.flight import flight_figure, modes_flown
from airloom.runs.figures.links import link_figures
from airloom.runs.figures.pursuit import pursuit_figure, target_topic
from airloom.runs.figures.seen import draw_seen, eye_topics
from airloom.runs.figures.style import new_figure, save
from airloom.runs.figures.swarm import swarm_figures
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogError, LogReader

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FLIGHT_FIGURES", "modes_flown", "plot", "plot_fields", "pose_topics"]

FLIGHT_FIGURES = 4
"""Up to this many vehicles get a figure each."""

_SEEN_HEIGHT = 8.0
_POSE_TOPIC = re.compile(r"/([^/]+)/(state|odometry)")


def plot(run: RunFolder | Path | str, out: Path | str | None = None) -> list[Path]:
    """Draw a flight figure for each of a few vehicles, a fleet figure for several, a pursuit figure, what eyes
    saw, how swarms held together, links of the radio, and the figures that the scenario asks for.

    `out` is a folder, or a file name such as figure.pdf; the run's folder if left out. Returns the files.
    """
    run, log = _opened(run)
    topics = pose_topics(log)
    figures: dict[str, Figure] = {}
    with drawing_style():
        if len(topics) <= FLIGHT_FIGURES:
            for vehicle, topic in topics.items():
                figures[f"flight-{vehicle}"] = flight_figure(log, run, vehicle, topic)
        if len(topics) > 1:
            figures["fleet"] = fleet_figure(log, run, topics)
        if pursuers := [vehicle for vehicle in topics if target_topic(vehicle) in log.topics][:FLIGHT_FIGURES]:
            figures["pursuit"] = pursuit_figure(log, run, {vehicle: topics[vehicle] for vehicle in pursuers})
        for name, topic in list(eye_topics(log).items())[:FLIGHT_FIGURES]:
            figures[name] = new_figure(_SEEN_HEIGHT)
            draw_seen(figures[name], log, topic)
        figures |= swarm_figures(log, run) | link_figures(log, run) | scenario_figures(log, run)
        return save(figures, run, out)


def plot_fields(run: RunFolder | Path | str, fields: Sequence[str], out: Path | str | None = None) -> list[Path]:
    """Draw fields over time, such as /cf/odometry.pose.pose.position.z; fields of the same last name share a panel."""
    run, log = _opened(run)
    panels: dict[str, list[tuple[str, np.ndarray, np.ndarray]]] = {}
    for name in fields:
        topic, _, field = name.partition(".")
        if not field:
            raise LogError(
                f"'{name}' names no field: write the topic, a dot and the field, as in {example(log, topic)}"
            )
        times, values = series(log, topic, field)
        panel = re.sub(r"\[\d+\]", "", field).rpartition(".")[2]
        panels.setdefault(panel, []).extend(columns(log, name, topic, field, times, values))
    with drawing_style():
        return save({"fields": fields_figure(log, run, panels)}, run, out)


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
