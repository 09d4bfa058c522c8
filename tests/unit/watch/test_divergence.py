"""A state that is no longer a number ends any run, and says whose it is, when, and what it was before."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import numpy as np
import pytest

import airloom as al
from airloom.net.json_lines import RequestError
from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.serve.requests import parse
from airloom.serve.session import Session

ENGINES = ["mujoco", "batch"]


def doomed(engine: str, **changes: object) -> al.Simulation:
    """Flies up at 2 m/s and is torn away at 0.5 s."""
    start = {"vehicles.cf.motion.velocity": [0, 0, 2], "vehicles.cf.pose.position": [1, 2, 50], "systems": {}}
    sim = al.Simulation.load("hover", overrides={**start, "engine": engine, **changes})
    sim.call_at(0.5, lambda: sim.vehicles["cf"].push((0, 0, 1e300)))
    return sim


def tick_by_tick(sim: al.Simulation) -> None:
    for _ in range(1000):
        sim.step()


WAYS: dict[str, Callable[[al.Simulation], None]] = {
    "run": lambda sim: sim.run(until=1.0),
    "steps": lambda sim: sim.step(1000),
    "tick by tick": tick_by_tick,
    "watched": lambda sim: sim.run(until=1.0, watch=lambda _: None, glance=lambda _: None),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("way", WAYS)
def test_divergence_ends_a_run_from_python(engine: str, way: str) -> None:
    sim = doomed(engine)
    with pytest.raises(al.Diverged, match="the state of vehicle 'cf' became infinite, no number or absurd") as caught:
        WAYS[way](sim)
    told = re.search(r"soon after t = (\S+) s, when it was at \(1, 2, (\S+)\) m, moved at", str(caught.value))
    assert told
    assert 0.48 <= float(told[1]) <= 0.5
    assert float(told[2]) == pytest.approx(50 + 2 * 0.49 - 0.5 * 9.8 * 0.49**2, abs=0.05)
    if way == "tick by tick":
        assert sim.time == pytest.approx(0.501)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_stays_over_until_it_begins_anew(engine: str, tmp_path, monkeypatch, capfd) -> None:
    monkeypatch.chdir(tmp_path)
    sim = doomed(engine)
    for _ in range(2):
        with pytest.raises(al.Diverged):
            sim.run(until=1.0)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
    sim.reset()
    sim.run(until=1.0)
    assert np.isfinite(sim.vehicles["cf"].state).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_vehicle_that_is_absurdly_fast_counts_before_it_is_no_number(engine: str) -> None:
    sim = doomed(engine)
    sim.call_at(0.2, lambda: sim.vehicles["cf"].push((0, 0, 0.027 * 1e8)))
    with pytest.raises(al.Diverged):
        sim.run(until=0.4)
    assert np.isfinite(sim.vehicles["cf"].state).all()


def test_the_one_of_many_is_named() -> None:
    sim = al.Simulation.load("fleet", overrides={"engine": "batch", "systems": {}})
    name = list(sim.vehicles)[42]
    sim.vehicles[name].push((1e300, 0, 0))
    with pytest.raises(al.Diverged, match=f"vehicle '{name}'"):
        sim.run(until=1.0)


def test_a_client_of_serve_is_told_and_may_begin_anew() -> None:
    def ask(**request: object) -> dict:
        return parse(json.dumps(request).encode()).carry_out(session)

    session = Session(doomed("mujoco"))
    with pytest.raises(RequestError, match=r"vehicle 'cf' became infinite.*after t = .* reset to go on"):
        ask(method="step", ticks=1000)
    ask(method="reset")
    ask(method="step", ticks=100)


def test_a_recorded_run_keeps_what_it_has(tmp_path) -> None:
    run = RecordedRun(doomed("batch"), RunFolder.create("hover", tmp_path / "run"))
    outcome = run.fly()
    assert outcome.status == "failed"
    assert isinstance(outcome.error, al.Diverged)
    with al.LogReader(tmp_path / "run" / "log.mcap") as log:
        assert log.complete
    assert run.folder.path.joinpath("summary.json").exists()
