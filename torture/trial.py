"""What a trial is: something that is done to Airloom many times, and what came of it.

A new one is a function in a module of `torture/trials`, of its own if it tries something new:

    @trial("mission files", "a mission in YAML with lines, values and bytes changed", full=10**6, reduced=10**4)
    def missions(count: int, seed: int) -> Tally:
        return feed(read, Mutations(seed).of_texts([MISSION], count), (ScenarioError,))

`feed` counts, times and catches; a trial of another kind fills a `Tally` itself. Memory and duration are measured
around it. Where it cannot run (no permission, a program that is missing) it raises `CannotRun` with the reason.
"""

from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 5.0  # s for one input of a parser
MOST_SURPRISES_KEPT = 20


@dataclass
class Tally:
    """What came of a trial. A surprise is whatever should never happen: another exception, a hang, a wrong answer."""

    inputs: int = 0
    refused: int = 0
    """Inputs that were answered with the error that is meant for them."""
    slowest: float = 0.0
    """s for one input"""
    surprises: list[str] = field(default_factory=list)
    surprise_count: int = 0
    note: str = ""
    """What else was seen."""
    took: float = 0.0
    """s, all together"""
    memory: float = 0.0
    """MB, the most of the trial's process or of one that it started"""

    def surprise(self, what: str) -> None:
        self.surprise_count += 1
        if len(self.surprises) < MOST_SURPRISES_KEPT:
            self.surprises.append(what)

    def expect(self, fact: Any, what: str) -> None:
        """Count one input, and a surprise unless the fact holds."""
        self.inputs += 1
        if not fact:
            self.surprise(what)


class CannotRun(Exception):
    """Raised by a trial for which something is missing on this machine; the text says what."""


Run = Callable[[int, int], Tally]
"""Called with the number of inputs and the seed."""


@dataclass(frozen=True)
class Trial:
    name: str
    about: str
    full: int
    """How many inputs."""
    reduced: int
    """How many for a look of some seconds."""
    alone: bool
    """It takes all cores itself."""
    run: Run


TRIALS: dict[str, Trial] = {}


def trial(name: str, about: str, full: int, reduced: int, alone: bool = False) -> Callable[[Run], Run]:
    """Enters a function into the list of trials."""

    def enter(run: Run) -> Run:
        if name in TRIALS:
            raise ValueError(f"there are two trials called {name!r}")
        TRIALS[name] = Trial(name, about, full, reduced, alone, run)
        return run

    return enter


class TooLong(BaseException):
    """An input took longer than anybody would wait."""


def feed(
    take: Callable[[Any], Any],
    inputs: Iterable[Any],
    refusals: tuple[type[Exception], ...],
    patience: float = PATIENCE,
) -> Tally:
    """Give every input to a function that may refuse it with these exceptions and no others."""
    tally = Tally()
    signal.signal(signal.SIGALRM, _too_long)
    for one in inputs:
        began = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, patience)
        try:
            take(one)
        except refusals:
            tally.refused += 1
        except (Exception, TooLong) as error:
            tally.surprise(f"{type(error).__name__}: {error} of {one!r:.300}\n{traceback.format_exc(limit=-4)}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        tally.inputs += 1
        tally.slowest = max(tally.slowest, time.perf_counter() - began)
    return tally


def _too_long(*_: object) -> None:
    raise TooLong("longer than anybody would wait")
