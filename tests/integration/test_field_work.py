"""Fields treated in flight: nozzles at the right place, refills, faults, and the plans of ground stations."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.fields import HERE, give_tanks, point, polygon, write

import airloom as al
from airloom.farm import plan_field, plans_of
from airloom.farm.job import job_text

SMALL = [(-30, -6), (30, -6), (30, 6), (-30, 6)]
SCENARIO = """
name: work
duration: 1000
engine: batch
vehicles: {drone: {extends: multirotor, pose: {position: [-36, -12, 0.05]}}}
systems: {job: {kind: spray_job, vehicle: drone, file: job.json}}
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A simulation of a job on a small field; what it wants, what the system is told, and its tank."""

    def make(tank=10.0, lag=0.3, setting=None, **wishes):
        give_tanks(monkeypatch, tank, lag)
        field = write(tmp_path / "f.geojson", polygon(SMALL), point(-36, -12))
        job = plan_field(field, **{"tank": tank, "lag": lag, "height": 3.0, "rate": 30.0} | wishes).job
        (tmp_path / "job.json").write_text(job_text(job))
        (tmp_path / "work.yaml").write_text(SCENARIO)
        return al.Simulation.load(tmp_path / "work.yaml", overrides=setting), job.seen_from(HERE)

    return make


def flown(sim, until=1000.0):
    """Until somebody has something to say."""
    while sim.time < until and not sim.verdict.findings:
        sim.run(min(sim.time + 5.0, until))
    return sim.verdict.findings


def test_liquid_comes_from_edge_to_edge(work):
    """Within a step of the engine, and what a controller at 4 m/s is off."""
    sim, job = work(lag=0.4)
    (found,) = flown(sim)
    assert found.good
    assert found.text.startswith("3 of 3 lines, 0.072 of 0.072 ha, 2.1")
    edges = sim.vehicles["drone"].tank.edges
    wanted = [line.place(end) for line in job.lines for s in line.spray for end in (s.start, s.end)]
    assert [flow > 0 for _, flow in edges] == [True, False] * 3
    off = [abs(place[0] - want[0]) for (place, _), want in zip(edges, wanted, strict=True)]
    assert max(off) < 0.03
    across = [np.hypot(*(place - want)[1:]) for (place, _), want in zip(edges, wanted, strict=True)]
    assert max(across) < 0.1
    assert sim.vehicles["drone"].armed is False
    assert sim.vehicles["drone"].position[:2] == pytest.approx((-36, -12), abs=0.3)


def test_it_returns_to_refill_and_goes_on_where_it_stopped(work):
    sim, job = work(tank=1.0, setting={"systems.job.refill_time": 5, "systems.job.reserve": 0.1})
    (found,) = flown(sim)
    assert found.good, found.text
    assert found.text.endswith("2 refills")
    edges = sim.vehicles["drone"].tank.edges
    starts, ends = [p for p, q in edges if q > 0], [p for p, q in edges if q == 0]
    breaks = [k for k, end in enumerate(ends) if abs(end[0]) < 29]
    assert len(breaks) == 2
    for k in breaks:
        assert starts[k + 1] == pytest.approx(ends[k], abs=0.05)
    length = sum(np.hypot(*(b - a)[:2]) for a, b in zip(starts, ends, strict=True))
    assert length == pytest.approx(job.totals.sprayed_metres, abs=0.5)


def test_a_prescription_changes_the_flow_on_the_way(work, tmp_path):
    west, east = ([(side * 40, -20), (0, -20), (0, 20), (side * 40, 20)] for side in (-1, 1))
    zones = write(tmp_path / "zones.geojson", polygon(west, rate=20), polygon(east, rate=40))
    sim, job = work(prescription=zones, rate=0.0)
    (found,) = flown(sim)
    assert found.good
    assert f"{job.totals.litres:.1f}" == "2.2"
    told = np.array(sim.vehicles["drone"].tank.told)
    at_speed = told[(told[:, 1] > 0)]
    assert np.percentile(at_speed[:, 1], [10, 90]) == pytest.approx([1.92, 3.84], rel=0.03)


def test_a_narrow_headland_gives_less_where_it_is_slower(work):
    """What a metre gets is the same: the flow follows the speed."""
    sim, job = work(headland=0.5)
    (found,) = flown(sim)
    assert found.good
    used = float(found.text.split(" ha, ")[1].split(" L")[0])
    assert used == pytest.approx(job.totals.litres, rel=0.04)


def test_what_is_not_finished_is_a_failed_run(work):
    sim, _ = work(setting={"duration": 30})
    sim.run(30)
    for system in sim.systems.values():
        system.conclude(sim)
    (found,) = sim.verdict.findings
    assert not found.good
    assert found.text.startswith("the run is over after 0 of 3 lines")


def test_a_vehicle_that_falls_is_told(work):
    sim, _ = work()
    while sim.vehicles["drone"].tank.told[-1][1] == 0.0:
        sim.run(sim.time + 1.0)
    sim.vehicles["drone"].kill()
    (found,) = flown(sim, sim.time + 60)
    assert not found.good
    assert "0 of 3 lines" in found.text
    assert "was switched to idle" in found.text
    assert sim.vehicles["drone"].tank.told[-1][1] == 0.0


def test_a_run_again_is_the_same(work):
    sim, _ = work()
    sim.run(30)
    first = sim.state_hash()
    sim.reset()
    for _ in range(30):
        sim.run(sim.time + 1.0)
    assert sim.state_hash() == first


def test_jobs_that_cannot_be_flown_are_refused(work, tmp_path, monkeypatch):
    from airloom.vehicle import Vehicle

    for setting, message in (
        ({"systems.job.vehicle": "nobody"}, "no vehicle is called 'nobody'"),
        ({"systems.job.file": str(tmp_path / "nothing.json")}, "there is no file"),
        ({"world.origin": {"latitude": 0.0, "longitude": 0.0}}, "km from the world's origin; set world.origin="),
        ({"world.terrain": {"kind": "plane", "height": 5.0}}, "line 1 of the job leads into the ground at"),
    ):
        with pytest.raises(al.ScenarioError, match=message):
            work(setting=setting)
    monkeypatch.delattr(Vehicle, "tank")
    with pytest.raises(al.ScenarioError, match=r"drone has no tank to spray from; choose .* or set dry: true"):
        al.Simulation.load(tmp_path / "work.yaml")


def test_a_plan_of_a_ground_station_sprays_as_much(work, tmp_path):
    """By our own reader, in proportion to the speed, as an autopilot's sprayer does."""
    sim, job = work()
    (text,) = plans_of(job)
    (tmp_path / "a.plan").write_text(text)
    plan = {"systems.job": {"kind": "mission", "file": str(tmp_path / "a.plan")}}
    sim = al.Simulation.load(tmp_path / "work.yaml", overrides=plan)
    (found,) = flown(sim)
    assert found.good, found.text
    tank = sim.vehicles["drone"].tank
    assert tank.capacity - tank.litres == pytest.approx(job.totals.litres, rel=0.05)
    assert len([place for place, flow in tank.edges if flow > 0]) >= 3
    assert all(abs(place[0]) < 32 for place, flow in tank.edges)


def test_a_vehicle_without_a_tank_tells_what_it_would_spray(tmp_path):
    items = [{"takeoff": 2}, {"spray": 1.5}, {"sleep": 0.5}, {"spray": 0}, {"land": None}]
    (tmp_path / "m.yaml").write_text(f"mission: {json.dumps(items)}\n")
    mission = {"kind": "mission", "file": str(tmp_path / "m.yaml")}
    sim = al.Simulation.load("hover", overrides={"engine.kind": "batch", "systems": {"m": mission}})
    heard = []
    sim.bus.subscribe("/events", lambda topic, message, time: heard.append(str(message)))
    flown(sim, 30)
    assert any("would spray 1.5 L/min, had it a tank" in text for text in heard)
