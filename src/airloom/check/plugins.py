"""Checks for other people's plugins: does it load, does it repeat, does it keep its state to itself?

Every check flies the plugin in a scenario and compares all messages and the final state with a reference flight.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from airloom import plugin
from airloom.basics.clock import ticks_per_period
from airloom.basics.hints import closest
from airloom.check.trace import Recorder, Trace, difference
from airloom.control.flight_stack import Controller, Estimator
from airloom.plugin import Plugin, PluginError
from airloom.scenario import ScenarioError, load
from airloom.sensors.sensor import Sensor
from airloom.simulation import Simulation
from airloom.system import HOOKS, System
from airloom.watch.origin import find_origin

NAME = "checked"
TIMEOUT = 300.0
BASES = (System, Controller, Estimator, Sensor, Plugin, object)


class Check(NamedTuple):
    """One thing looked at; `passed` is None if it could not be tested."""

    name: str
    passed: bool | None
    detail: str = ""
    hint: str = ""


SMALL_PARTS = {
    "tank": {"capacity": 0.003, "size": [0.02, 0.02, 0.01]},
    "battery": {"capacity": 1.0, "cells": 3, "resistance": 0.02},
}
"""For sensors that measure one."""


@dataclass(frozen=True)
class Subject:
    """A plugin and how to fly it."""

    kind: str
    category: str
    scenario: str = "hover"
    settings: dict[str, Any] = field(default_factory=dict)
    """The plugin's parameters that are not left to their defaults."""
    overrides: dict[str, Any] = field(default_factory=dict)
    """Of the scenario."""
    longest: float = 10.0
    """Seconds to fly, unless the scenario ends before."""

    def place(self) -> str:
        """The key of the scenario where the plugin is put."""
        if self.category == "system":
            return f"systems.{NAME}"
        vehicle = next(iter(load(self.scenario).vehicles))
        return f"vehicles.{vehicle}.{f'sensors.{NAME}' if self.category == 'sensor' else self.category}"

    def simulation(self) -> Simulation:
        place = self.place()
        settings = {f"{place}.{key}": value for key, value in self.settings.items()}
        duration = min(load(self.scenario).duration, self.longest)
        chosen: dict[str, Any] = {"duration": duration, place: {"kind": self.kind}}
        if part := getattr(self.plugin(), "measures", None):
            chosen[f"{place.partition('.sensors.')[0]}.{part}"] = SMALL_PARTS[part]
        return Simulation.load(self.scenario, overrides={**self.overrides, **chosen, **settings})

    def plugin(self) -> type[Plugin]:
        return plugin.find(self.category, self.kind)


def subject_of(target: str, scenario: str | None = None, settings: dict[str, Any] | None = None) -> Subject:
    """The plugin in `file.py` or `file.py:Class`; raises PluginError if there is none."""
    file_name, _, class_name = target.partition(":")
    file = Path(file_name)
    if not file.is_file():
        raise PluginError(f"there is no file '{file}'")
    plugin.forget_files()
    classes = plugin.classes_in(file)
    if not classes:
        raise PluginError(f"'{file}' defines no plugin: derive a class from al.System, al.Controller or another")
    if not class_name and len(classes) > 1:
        raise PluginError(f"'{file}' defines several plugins: write {file}:{' or :'.join(classes)}")
    class_name = class_name or next(iter(classes))
    if class_name not in classes:
        raise PluginError(f"'{file}' defines no plugin '{class_name}', but {', '.join(classes)}")
    kind = f"{file.resolve()}:{class_name}"
    engine = {} if scenario else {"engine": "batch"}
    return Subject(kind, classes[class_name].category, scenario or "hover", settings or {}, engine)


def examine(subject: Subject) -> Iterator[Check]:
    """All checks, in an order in which the first failure explains most."""
    found = subject.plugin()
    yield _has_docstring(found)
    yield _does_something(found)
    parameters = _has_parameters(found, subject)
    yield parameters
    if not parameters.passed:
        return
    try:
        reference, again = _flown(subject), _flown(subject)
    except Exception as error:
        yield Check("flies", False, _told(error), "the flight must end without an exception")
        return
    yield Check("flies", True, f"{reference.duration:g} s of {subject.scenario}")
    elsewhere = _attempt(lambda: _flown_in_another_process(subject), reference)
    yield _repeats_elsewhere(elsewhere, _attempt(lambda: again, reference))
    yield _repeats_here(_attempt(lambda: again, reference), elsewhere)
    if elsewhere:
        for name in (RESTARTS, KEEPS_TO_ITSELF, TICK_BY_TICK):
            yield Check(name, None, "not tested, as no two flights are alike")
    else:
        yield _compared(RESTARTS, lambda: _flown_after_reset(subject), reference, RESET_HINT)
        yield _compared(KEEPS_TO_ITSELF, lambda: _flown_beside_another(subject), reference, MODULE_HINT)
        yield _compared(TICK_BY_TICK, lambda: _flown(subject, one_tick_at_a_time), reference, TICK_HINT)
    yield from _is_called_at_its_rate(subject, reference)


# -- without a flight ----------------------------------------------------------------------------------------------


def _has_docstring(found: type[Plugin]) -> Check:
    summary = found.summary() if "__doc__" in vars(found) and vars(found)["__doc__"] else ""
    hint = "begin the class with a line that says what it does; `airloom list` and editors show it"
    return Check("has a docstring", bool(summary), summary or f"class {found.__name__} has none", hint)


def _does_something(found: type[Plugin]) -> Check:
    missing = _missing_parts(found)
    parts = [name for name in (*HOOKS, "configure", "reset", "effect", "control", "kernel") if _is_own(found, name)]
    return Check("has all its parts", not missing, missing or ", ".join(parts), _misspelt(found))


def _missing_parts(found: type[Plugin]) -> str:
    needed: dict[type, tuple[str, ...]] = {Sensor: ("kernel", "width", "template"), Estimator: ("kernel",)}
    for base, names in needed.items():
        missing = [name for name in names if issubclass(found, base) and not _is_own(found, name)]
        if missing:
            return f"{', '.join(missing)} must be defined in a class derived from {base.__name__}"
    if issubclass(found, Controller) and not (found.kernel or _is_own(found, "control")):
        return "a controller needs a compiled kernel or a method control(vehicle)"
    if issubclass(found, System) and not any(_is_own(found, name) for name in (*HOOKS, "configure", "reset", "effect")):
        return f"none of the hooks {', '.join(HOOKS)}, configure or reset is there, and no effect: it does nothing"
    return ""


def _is_own(found: type[Plugin], name: str) -> bool:
    """Whether the class, or a plugin it is derived from, defines this."""
    return any(name in vars(parent) for parent in found.__mro__ if parent not in BASES)


def _misspelt(found: type[Plugin]) -> str:
    hooks = [*HOOKS, "configure", "reset", "control"]
    wrong = {name: right for name in vars(found) if name not in hooks and (right := closest(name, hooks, like=0.8))}
    return "; ".join(f"did you mean {right} where it says {name}?" for name, right in wrong.items())


def _has_parameters(found: type[Plugin], subject: Subject) -> Check:
    fields = found.Parameters.model_fields
    given = {key.split(".")[0] for key in subject.settings}
    missing = [name for name, one in fields.items() if one.is_required() and name not in given]
    hint = f"give a default in the class Parameters, or a value here: --set {missing[0]}=…" if missing else ""
    detail = f"no value for {', '.join(missing)}" if missing else ", ".join(fields) or "takes none"
    return Check("parameters have values", not missing, detail, hint)


# -- flights -------------------------------------------------------------------------------------------------------


def in_one_go(sim: Simulation) -> None:
    sim.run()


def one_tick_at_a_time(sim: Simulation) -> None:
    while sim.time < sim.scenario.duration:
        sim.step()


def _flown(subject: Subject, fly: Callable[[Simulation], None] = in_one_go) -> Trace:
    sim = subject.simulation()
    return _traced(sim, Recorder(sim), fly)


def _traced(sim: Simulation, recorder: Recorder, fly: Callable[[Simulation], None] = in_one_go) -> Trace:
    fly(sim)
    return Trace(sim.state_hash(), sim.time, recorder.topics)


def _flown_after_reset(subject: Subject) -> Trace:
    sim = subject.simulation()
    recorder = Recorder(sim)
    sim.run(0.7 * sim.scenario.duration)
    recorder.topics.clear()
    sim.reset()
    return _traced(sim, recorder)


def _flown_beside_another(subject: Subject) -> Trace:
    sim, other = subject.simulation(), subject.simulation()
    recorder = Recorder(sim)
    while sim.time < sim.scenario.duration:
        sim.step(100)
        other.step(130)
    return _traced(sim, recorder)


def _flown_in_another_process(subject: Subject) -> Trace:
    """With other hash seeds, another process id and a later clock."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "trace.json"
        seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
        command = [sys.executable, "-m", "airloom.check.plugins", json.dumps(asdict(subject)), str(result)]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, timeout=TIMEOUT
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise RuntimeError(f"the other process failed: {last[0]}")
        return Trace(*json.loads(result.read_text()))


# -- comparisons ---------------------------------------------------------------------------------------------------

ELSEWHERE, HERE = "repeats in another process", "repeats in the same process"
RESTARTS, KEEPS_TO_ITSELF, TICK_BY_TICK = "starts afresh after a reset", "keeps to itself", "does not mind single ticks"

RANDOM_HINT = (
    "use sim.time, never the wall clock; make random numbers with numpy.random.default_rng(sim.seed) in reset()"
)
ORDER_HINT = "do not rely on hash() or on the order of a set, the environment or the process: sort first"
MODULE_HINT = "keep everything that changes in self, not in variables of the module or of the class"
RESET_HINT = "put everything back in reset(), which is called before the first tick and at every restart"
TICK_HINT = "depend on sim.time only; subscribe without raw=True to act on messages, as raw ones come in batches"


def _attempt(fly: Callable[[], Trace], reference: Trace) -> str:
    """How the flight differs from the reference, or why there was none."""
    try:
        return difference(reference, fly())
    except Exception as error:
        return _told(error)


def _compared(name: str, fly: Callable[[], Trace], reference: Trace, hint: str) -> Check:
    """Variables of the plugin's module are as new, so that each check sees only what it is for."""
    plugin.forget_files()
    problem = _attempt(fly, reference)
    return Check(name, not problem, problem, hint)


def _repeats_elsewhere(elsewhere: str, here: str) -> Check:
    return Check(ELSEWHERE, not elsewhere, elsewhere, RANDOM_HINT if here else ORDER_HINT)


def _repeats_here(here: str, elsewhere: str) -> Check:
    return Check(HERE, not here, here, RANDOM_HINT if elsewhere else MODULE_HINT)


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, ScenarioError | PluginError) else str(find_origin(error))


# -- rates ---------------------------------------------------------------------------------------------------------


def _is_called_at_its_rate(subject: Subject, reference: Trace) -> Iterator[Check]:
    plugin.forget_files()
    found = subject.plugin()
    if issubclass(found, Sensor):
        yield _publishes_at_its_rate(subject, reference)
    hooks = [name for name in (*HOOKS, "control") if _is_own(found, name) and not getattr(found, "kernel", None)]
    for hook in hooks:
        yield _hook_is_called_at_its_rate(subject, found, hook)


def _publishes_at_its_rate(subject: Subject, reference: Trace) -> Check:
    times = next((entries for topic, entries in reference.topics.items() if topic.endswith(f"/{NAME}")), [])
    gaps = {later[0] - earlier[0] for earlier, later in pairwise(times)}
    regular = len(gaps) == 1
    detail = f"{len(times)} messages, {1e9 / gaps.pop():g} Hz" if regular else f"{len(times)} messages at uneven times"
    return Check("publishes at its rate", regular, detail)


def _hook_is_called_at_its_rate(subject: Subject, found: type[Plugin], hook: str) -> Check:
    flying: list[Simulation] = []
    with _calls_counted(found, hook, lambda: flying[0].tick if flying else 0) as ticks:
        flying.append(subject.simulation())
        in_one_go(flying[0])
    sim = flying[0]
    rate = _rate(sim, subject)
    period = ticks_per_period(rate, sim.step_ns)
    name = f"{hook} comes at its rate"
    if hook == "control" and not ticks:
        return Check(name, None, "not tested, as the vehicle was never armed")
    first = 0 if hook in HOOKS else ticks[0]
    expected = list(range(first, sim.tick + (hook != "pre_update"), period))
    if ticks == expected:
        return Check(name, True, f"{len(ticks)} calls, {rate:g} Hz")
    return Check(
        name, False, f"{len(ticks)} calls instead of {len(expected)} at {rate:g} Hz", "do not call hooks yourself"
    )


def _rate(sim: Simulation, subject: Subject) -> float:
    if subject.category == "system":
        return sim.scenario.systems[NAME].rate or sim.systems[NAME].rate
    return next(iter(sim.vehicles.values())).gains["rate"]


@contextmanager
def _calls_counted(found: type[Plugin], hook: str, now: Callable[[], int]) -> Iterator[list[int]]:
    """The ticks at which a hook is called meanwhile."""
    ticks: list[int] = []
    original = getattr(found, hook)

    def counted(*args: Any) -> Any:
        ticks.append(now())
        return original(*args)

    setattr(found, hook, counted)
    try:
        yield ticks
    finally:
        setattr(found, hook, original)


if __name__ == "__main__":
    trace = _flown(Subject(**json.loads(sys.argv[1])))
    Path(sys.argv[2]).write_text(json.dumps(trace))
