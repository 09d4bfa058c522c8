"""Any fields of a log over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from airloom.runs.figures.style import fit, new_figure, put_title
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        axis.set_ylabel(name)
        for label, times, values in lines:
            axis.plot(times, values, label=label)
        fit(axis, 0.0)
        columns = 1 if max(len(label) for label, *_ in lines) > 50 else 2 if len(lines) < 9 else 4
        axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0.2)
    axes[-1].set_xlabel("time [s]")
    return figure


def example(log: LogReader, topic: str) -> str:
    topic = topic if topic in log.topics else next(iter(log.topics), "/cf/odometry")
    fields = [name for name in log.fields(topic) if "stamp" not in name] if topic in log.topics else []
    return f"{topic}.{fields[0] if fields else 'pose.pose.position.z'}"
