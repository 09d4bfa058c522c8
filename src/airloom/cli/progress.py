"""What moves on the screen while a run is under way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.status import Status

from airloom.cli.screen import out, say

if TYPE_CHECKING:
    from airloom.runs.recorded import RecordedRun
    from airloom.scenario import Scenario

REFRESH = 0.1
"""Seconds between two looks of the progress bar."""


MANY = 2000
"""Vehicles that take more than about a second to be made."""


class Display:
    """First what is compiled, if anything really is; then a bar with how far the run has come."""

    def __init__(self, engine: str) -> None:
        self._notice = f"Compiling for the {engine} engine, the first time for this kind of run …"
        self._status = Status(self._notice, console=out)
        self._bar = Progress(
            TextColumn("[bold]{task.description}"), BarColumn(None), TextColumn("{task.fields[news]}"),
            console=out, transient=True, auto_refresh=False, expand=True,
        )  # fmt: skip
        self._compiling_since = self._last_look = 0.0
        self._compiled_once = False
        """What comes later is little, and seen by who sits there."""

    def compiling(self, function: str) -> None:
        if not self._compiling_since:
            self._compiling_since = time.perf_counter()
            if out.is_terminal:
                self._status.start()
            elif not self._compiled_once:
                out.print(self._notice)
        self._status.update(f"{self._notice} [dim]{function.strip('_')}[/dim]")

    def compiled(self) -> None:
        if self._compiling_since:
            self._status.stop()
            if not self._compiled_once:
                out.print(f"[dim]Compiled in {time.perf_counter() - self._compiling_since:.1f} s.[/dim]")
            self._compiling_since, self._compiled_once = 0.0, True

    def look(self, run: RecordedRun) -> None:
        if not out.is_terminal or time.perf_counter() - self._last_look < REFRESH:
            return
        self._last_look = time.perf_counter()
        if not self._bar.task_ids:
            self._bar.add_task(run.sim.scenario.name, total=run.target, news="")
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=run.sim.tick, news=_news(run), refresh=True)

    def close(self) -> None:
        self._status.stop()
        if self._bar.task_ids:
            self._bar.stop()


@contextmanager
def displayed(engine: str, quiet: bool) -> Iterator[Display | None]:
    """The display of a run, from its first compiled function to its end; None if it is to be quiet."""
    from airloom.compiled.notice import noticing_compilation

    if quiet:
        yield None
        return
    display = Display(engine)
    try:
        with noticing_compilation(display.compiling):
            yield display
    finally:
        display.close()


@contextmanager
def working() -> Iterator[Callable[[str, float], None]]:
    """What is being done and how far it has come, on a terminal."""
    columns = TextColumn("[bold]{task.description}"), BarColumn(None), TimeElapsedColumn()
    with Progress(*columns, console=out, transient=True, expand=True, disable=not out.is_terminal) as bar:
        task = bar.add_task("Opening", total=1.0)
        yield lambda what, part: bar.update(task, description=what, completed=part)


def tell_of_many(scenario: Scenario) -> None:
    """Vehicles by the thousand take a while to be made, and there is nothing to be seen of it."""
    count = sum(len(vehicle.names(name)) for name, vehicle in scenario.vehicles.items())
    if count >= MANY:
        say(f"Making {count:,} vehicles …", "dim")


def _news(run: RecordedRun) -> str:
    sim, factor = run.sim, run.real_time_factor
    end = run.target * sim.step_ns / 1e9
    left = (end - sim.time) / factor if factor else 0.0
    first = next(iter(sim.vehicles.values()))
    x, y, z = first.position.round(2) + 0.0
    return (
        f"{sim.time:.1f}/{end:g} s  [cyan]{factor:.3g} ×[/cyan]  {_minutes(left)} left  "
        f"[dim]{first.name}[/dim] {x:.2f} {y:.2f} {z:.2f} m"
    )


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
