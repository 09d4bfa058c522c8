"""How all figures look, and where they are saved."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.drawing import SERIES
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogError, LogReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airloom.scenario.models import Scenario

_SIZE, _DPI = (16.0, 12.0), 100
FLOWN, WANTED, AHEAD = SERIES[:3]
KEPT_OFF = "#9aa3ad"


def new_figure(height: float = _SIZE[1]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_SIZE[0], height), dpi=_DPI, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12, wspace=0.02, hspace=0.03)  # type: ignore[union-attr,call-arg]
    return figure


def save(figures: dict[str, Figure], run: RunFolder, out: Path | str | None) -> list[Path]:
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


def put_title(figure: Figure, log: LogReader, run: RunFolder, what: str) -> None:
    scenario = log.metadata.get("scenario") or run.path.resolve().name
    seed = f"seed {log.metadata['seed']}" if "seed" in log.metadata else ""
    cut = "" if log.complete else "the log is cut off"
    details = ", ".join(part for part in (what if what != scenario else "", f"{log.duration:.4g} s", seed, cut) if part)
    figure.suptitle(f"{scenario}: {details}", fontsize=17, fontweight="bold")


def fit(axis: Axes, smallest_span: float) -> None:
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


def thinned(times: np.ndarray, values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    every = -(-len(times) // most)
    return times[::every], values[::every]


def say_instead(axis: Axes, text: str) -> None:
    """Words in the place of a curve that cannot be drawn."""
    axis.text(0.5, 0.5, text, transform=axis.transAxes, ha="center", va="center", color="#999999", wrap=True)
    axis.set_yticks([])


def logged_scenario(log: LogReader) -> Scenario | None:
    """The scenario that the log may hold; None if it is another's, or of another version."""
    return _scenario_of(log.scenario_text, f"the scenario in {log.path}")


@lru_cache(maxsize=1)
def _scenario_of(text: str, place: str) -> Scenario | None:
    """All panels of a figure ask for it, and to read it takes longer than to draw one of them."""
    from airloom.scenario import ScenarioError
    from airloom.scenario.text import scenario_of_run

    try:
        return scenario_of_run(text, place)
    except ScenarioError:
        return None
