"""Fields treated in flight: nozzles at the right place, refills, faults, and the plans of ground stations."""

from __future__ import annotations

import json
from itertools import pairwise
from math import exp

import numpy as np
import pytest
import shapely
from rasterio.transform import from_origin
from tests.fields import HERE, point, polygon, position, write
from tests.surveys import raster

import airloom as al
from airloom.farm import plan_field, plans_of
from airloom.farm.job import job_text
from airloom.terrain.build import build_terrain

SMALL = [(-30, -6), (30, -6), (30, 6), (-30, 6)]
SCENARIO = """
name: work
duration: 1000
engine: batch
vehicles: {drone: {extends: sprayer, pose: {position: [-36, -12, 0.42]}}}
systems: {job: {kind: spray_job, vehicle: drone, file: job.json}}
"""


@pytest.fixture
def work(tmp_path):
    """A simulation of a job on a small field, and the job."""

    def make(tank=10.0, lag=0.3, setting=None, shut=(), **wishes):
        field = write(tmp_path / "f.geojson", polygon(SMALL), point(-36, -12), *shut)
        job = plan_field(field, **{"tank": tank, "lag": lag, "height": 3.0, "rate": 30.0} | wishes).job
        (tmp_path / "job.json").write_text(job_text(job))
        (tmp_path / "work.yaml").write_text(SCENARIO)
        own = {"vehicles.drone.tank.capacity": tank, "vehicles.drone.tank.lag": lag}
        return al.Simulation.load(tmp_path / "work.yaml", overrides=own | (setting or {})), job.seen_from(HERE)

    return make


class Edges:
    """Where the vehicle was a lag after its nozzles were told to open (True) or shut, and what flowed there."""

    def __init__(self, sim, lag=0.3):
        self.sim, self.lag, self.drone = sim, lag, sim.vehicles["drone"]
        self.found = []
        self._command, self._asked = self.drone.tank.command, 0.0
        self.drone.tank.command = self._told

    def _told(self, flow):
        if (flow > 0.0) != (self._asked > 0.0):
            before = flow or self._asked
            self.sim.call_at(self.sim.time + self.lag, lambda: self._note(flow > 0.0, before))
        self._asked = flow
        self._command(flow)

    def _note(self, opens, flow):
        self.found.append((opens, self.drone.position.copy(), self.drone.tank.flow / flow))

    @property
    def spans(self):
        """Pairs of places."""
        places = [place for _, place, _ in self.found]
        assert [opens for opens, _, _ in self.found] == [True, False] * (len(self.found) // 2)
        return list(zip(places[::2], places[1::2], strict=True))


def flown(sim, until=1000.0):
    """Until somebody has something to say."""
    while sim.time < until and not sim.verdict.findings:
        sim.run(min(sim.time + 5.0, until))
    return sim.verdict.findings


def test_liquid_comes_from_edge_to_edge(work):
    """To what the controller is off at 4 m/s: there the pump, a lag of first order, has come to 1 − 1/e of its flow."""
    sim, job = work(lag=0.4)
    edges = Edges(sim, 0.4)
    (found,) = flown(sim)
    assert found.good
    assert found.text.startswith("3 of 3 lines, 0.072 of 0.072 ha, 2.1")
    wanted = [(line.place(s.start), line.place(s.end)) for line in job.lines for s in line.spray]
    assert len(wanted) == 3
    for places, wants in zip(edges.spans, wanted, strict=True):
        for place, want in zip(places, wants, strict=True):
            assert place[0] == pytest.approx(want[0], abs=0.03)
            assert place == pytest.approx(want, abs=0.15)
    for opens, _, share in edges.found:
        assert share == pytest.approx(1 - exp(-1) if opens else exp(-1), abs=0.02)
    assert not sim.vehicles["drone"].armed
    assert sim.vehicles["drone"].position[:2] == pytest.approx((-36, -12), abs=0.3)


def test_it_returns_to_refill_and_goes_on_where_it_stopped(work):
    sim, job = work(tank=1.0, setting={"systems.job.refill_time": 5, "systems.job.reserve": 0.1})
    edges = Edges(sim)
    (found,) = flown(sim)
    assert found.good, found.text
    assert found.text.endswith("2 refills")
    stops = [k for k, (_, end) in enumerate(edges.spans) if abs(end[0]) < 29]
    assert len(stops) == 2
    for k in stops:
        assert edges.spans[k + 1][0] == pytest.approx(edges.spans[k][1], abs=0.1)
    length = sum(np.hypot(*(b - a)[:2]) for a, b in edges.spans)
    assert length == pytest.approx(job.totals.sprayed_metres, abs=0.3)
    assert sim.vehicles["drone"].tank.given == pytest.approx(job.totals.litres, rel=0.02)
    assert not any("empty" in text for text in sim.warnings)


EDDIES = {"world.wind": [5, 3, 0], "world.weather.layers": {"eddies": {"kind": "dryden", "wind_at_20_feet": 8}}}


def test_eddies_delay_a_job_little_and_do_not_end_it(work):
    """Where somebody waited until the vehicle was within 0.2 m, this took minutes longer or came to no end."""
    calm, _ = work()
    (found,) = flown(calm)
    assert found.good
    tossed, _ = work(setting=EDDIES)
    (found,) = flown(tossed)
    assert found.good, found.text
    assert tossed.time < 1.3 * calm.time


WALL = [(-60, -11), (30, -11), (30, -8.5), (-60, -8.5)]


def test_flights_to_refill_go_around_what_is_not_flown_over(work):
    """To the first line, to refill twice, and home; the wall is between the field and the place of refilling."""
    setting = {"systems.job.refill_time": 1, "vehicles.drone.pose.position": [-36, -14, 0.42]}
    sim, _ = work(tank=1.0, setting=setting, shut=[polygon(WALL, no_fly=True)], refill=tuple(position(-36, -14)))
    drone, track = sim.vehicles["drone"], []
    while not sim.verdict.findings:
        sim.run(sim.time + 0.5)
        track.append(drone.position[:2])
    (found,) = sim.verdict.findings
    assert found.good, found.text
    assert found.text.endswith("2 refills")
    assert shapely.Polygon(WALL).distance(shapely.LineString(track)) > 0.5
    assert sum(a[1] < -9.75 <= b[1] for a, b in pairwise(track)) == 3, "there, and after each refill"
    assert drone.position[:2] == pytest.approx((-36, -14), abs=0.5)


def test_a_refill_is_as_much_as_was_planned(work):
    sim, _ = work(tank=1.0, setting={"systems.job.refill_time": 1, "vehicles.drone.tank.capacity": 10,
                                     "vehicles.drone.tank.litres": 1.0})  # fmt: skip
    (found,) = flown(sim)
    assert found.text.endswith("2 refills")


def test_a_prescription_changes_the_flow_on_the_way(work, tmp_path):
    west, east = ([(side * 40, -20), (0, -20), (0, 20), (side * 40, 20)] for side in (-1, 1))
    zones = write(tmp_path / "zones.geojson", polygon(west, rate=20), polygon(east, rate=40))
    sim, job = work(prescription=zones, rate=0.0)
    tank, asked = sim.vehicles["drone"].tank, []
    command = tank.command
    tank.command = lambda flow: (asked.append(flow), command(flow))
    (found,) = flown(sim)
    assert found.good
    assert tank.given == pytest.approx(job.totals.litres, rel=0.02)
    assert job.totals.litres == pytest.approx(0.072 * 30, rel=0.01)
    assert np.percentile([flow for flow in asked if flow], [10, 90]) == pytest.approx([1.92, 3.84], rel=0.03)


def test_a_narrow_headland_gives_less_where_it_is_slower(work):
    """What a metre gets is the same: the flow follows the speed."""
    sim, job = work(headland=0.5)
    (found,) = flown(sim)
    assert found.good
    assert sim.vehicles["drone"].tank.given == pytest.approx(job.totals.litres, rel=0.04)


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
    while sim.vehicles["drone"].tank.asked == 0.0:
        sim.run(sim.time + 1.0)
    sim.vehicles["drone"].kill()
    (found,) = flown(sim, sim.time + 60)
    assert not found.good
    assert "0 of 3 lines" in found.text
    assert "was switched to idle" in found.text
    assert sim.vehicles["drone"].tank.asked == 0.0


def test_a_large_vehicle_lands_on_a_slope(tmp_path):
    """Of 14 %, where its body stands on one edge."""
    where = {"vehicles.drone.pose.position": [-60, -54, -7.4], "vehicles.drone.tank.litres": 0.1, "world": "vineyard"}
    (tmp_path / "work.yaml").write_text(SCENARIO.partition("systems")[0])
    sim = al.Simulation.load(tmp_path / "work.yaml", overrides=where)
    pilot = sim.pilot("drone")

    async def up_and_down():
        await pilot.takeoff(1.0)
        await pilot.land()

    task = sim.start(up_and_down())
    sim.run(40)
    assert task.done
    assert task.error is None
    assert not pilot.vehicle.armed


def test_a_run_again_is_the_same(work):
    sim, _ = work()
    sim.run(30)
    first = sim.state_hash()
    sim.reset()
    for _ in range(30):
        sim.run(sim.time + 1.0)
    assert sim.state_hash() == first


def test_jobs_that_cannot_be_flown_are_refused(work, tmp_path):
    for setting, message in (
        ({"systems.job.vehicle": "nobody"}, "no vehicle is called 'nobody'"),
        ({"systems.job.file": str(tmp_path / "nothing.json")}, "there is no file|no such file"),
        ({"world.origin": {"latitude": 0.0, "longitude": 0.0}}, "km from the world's origin; set world.origin="),
        ({"world.terrain": {"kind": "plane", "height": 5.0}}, "line 1 of the job leads into the ground at"),
        ({"vehicles.drone.pose.position": [0, -10, 0.42]}, r"drone starts in a no-fly area of the job, or within 1 m"),
        ({"vehicles.drone.tank.max_flow": 2}, "asks for 2.88 L/min, and drone's pump gives 2; plan it slower"),
    ):
        with pytest.raises(al.ScenarioError, match=message):
            work(setting=setting, shut=[polygon([(-5, -12), (5, -12), (5, -9), (-5, -9)], no_fly=True)])
    with pytest.raises(al.ScenarioError, match=r"drone has no tank to spray from; choose .* or set dry: true"):
        al.Simulation.load(tmp_path / "work.yaml", overrides={"vehicles.drone": "multirotor"})


def test_a_dry_run_needs_no_tank(work, tmp_path):
    work()
    lighter = {"vehicles.drone": "multirotor", "systems.job.dry": True, "vehicles.drone.pose.position": [-36, -12, 0.1]}
    (found,) = flown(al.Simulation.load(tmp_path / "work.yaml", overrides=lighter))
    assert found.good
    assert found.text == "3 of 3 lines, 0.072 of 0.072 ha, dry"


def test_a_plan_of_a_ground_station_sprays_as_much(work, tmp_path):
    """By our own reader, in proportion to the speed, as an autopilot's sprayer does."""
    _, job = work()
    (text,) = plans_of(job)
    (tmp_path / "a.plan").write_text(text)
    plan = {"systems.job": {"kind": "mission", "file": str(tmp_path / "a.plan")}}
    sim = al.Simulation.load(tmp_path / "work.yaml", overrides=plan)
    edges = Edges(sim)
    (found,) = flown(sim)
    assert found.good, found.text
    assert sim.vehicles["drone"].tank.given == pytest.approx(job.totals.litres, rel=0.05)
    assert all(abs(place[0]) < 32 for _, place, _ in edges.found)


@pytest.fixture
def wood(tmp_path):
    """A meadow with three trees of 15 m: in the field, where lines are changed, and on the way to be refilled."""
    x, y = np.arange(-60.5, 60.5), np.arange(29.5, -30.5, -1.0)[:, None]
    trees = [np.hypot(x - at_x, y - at_y) < 1.6 for at_x, at_y in ((5, 1), (39, 2), (-34, -9))]
    file = raster(tmp_path / "wood.tif", 15.0 * np.any(trees, axis=0), transform=from_origin(-61, 30, 1, 1), crs=None)
    origin = HERE.latitude, HERE.longitude, HERE.altitude
    return build_terrain(file, crs="local", origin=origin, out=tmp_path / "wood")


@pytest.mark.parametrize("by", ["job", "plan"])
def test_trees_that_the_survey_shows_are_flown_over(work, wood, tmp_path, by):
    where = {"world.terrain": str(wood)}
    field = write(tmp_path / "f.geojson", polygon(SMALL), point(-36, -12))
    planned = plan_field(field, terrain=wood, surface="top", height=3.0, rate=30.0)
    (tmp_path / "job.json").write_text(job_text(planned.job))
    (tmp_path / "work.yaml").write_text(SCENARIO)
    if by == "plan":
        (text,) = plans_of(planned.job, highest=planned.clearance.highest)
        (tmp_path / "a.plan").write_text(text)
        where["systems.job"] = {"kind": "mission", "file": str(tmp_path / "a.plan")}
    sim = al.Simulation.load(tmp_path / "work.yaml", overrides=where)
    pilot, gaps = sim.pilot("drone"), []
    while sim.time < 1000.0 and not sim.verdict.findings:
        sim.run(sim.time + 0.1)
        x, y, z = pilot.vehicle.position
        if pilot.vehicle.armed and np.hypot(x + 36, y + 12) > 2.0:
            gaps.append(z - pilot.highest((x, y), (x + 0.1, y)))
    assert sim.verdict.findings[0].good, sim.verdict.findings[0].text
    assert min(gaps) > 1.0


def test_a_plan_over_trees_without_knowing_of_them_is_warned_of(wood, tmp_path, airloom):
    field = write(tmp_path / "f.geojson", polygon(SMALL), point(-36, -12))
    for surface, is_told in (("ground", True), ("top", False)):
        told = airloom(f"plan {field} --terrain {wood} --surface {surface} --out {tmp_path / 'x.job'}")
        assert ("plan with --surface top" in told) == is_told


def test_a_vehicle_without_a_tank_tells_what_it_would_spray(tmp_path):
    items = [{"takeoff": 2}, {"spray": 1.5}, {"sleep": 0.5}, {"spray": 0}, {"land": None}]
    (tmp_path / "m.yaml").write_text(f"mission: {json.dumps(items)}\n")
    mission = {"kind": "mission", "file": str(tmp_path / "m.yaml")}
    sim = al.Simulation.load("hover", overrides={"engine.kind": "batch", "systems": {"m": mission}})
    heard = []
    sim.bus.subscribe("/events", lambda topic, message, time: heard.append(str(message)))
    flown(sim, 30)
    assert any("would spray 1.5 L/min, had it a tank" in text for text in heard)
