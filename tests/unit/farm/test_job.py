"""Jobs: heights over the ground, files, other origins, parts of lines, tanks, and plans for ground stations."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from tests.fields import HERE, RECTANGLE, point, polygon, position, write

from airloom.farm import FarmError, plan_field, plans_of, read_job, write_plan
from airloom.farm.estimate import litres_on, loads
from airloom.farm.job import job_text
from airloom.missions.files import read_mission
from airloom.missions.items import GoTo, Spray
from airloom.scenario import load_world
from airloom.scenario.models import Origin
from airloom.world.land import Land

VINEYARD = Origin(latitude=47.04, longitude=7.12, altitude=450)


@pytest.fixture
def field(tmp_path):
    return write(tmp_path / "field.geojson", polygon(RECTANGLE), point(-60, -30))


def test_lines_keep_their_height_above_the_canopy(tmp_path):
    file = write(tmp_path / "f.geojson", polygon(RECTANGLE, origin=VINEYARD))
    job = plan_field(file, world="vineyard", canopy=2.0, height=3.0).job
    land = Land(load_world("vineyard"))
    above = []
    for line in job.lines:
        for distance in np.linspace(0.0, line.length, 40):
            x, y, z = line.place(distance)
            above.append(z - land.height(x, y))
    assert np.mean(above) == pytest.approx(5.0, abs=0.02)
    assert np.ptp(above) < 0.3
    assert job.origin == VINEYARD
    assert np.ptp([line.height(0.0) for line in job.lines]) > 3.0


def test_a_survey_of_the_canopy_has_it_in_its_heights(tmp_path):
    """Of vines 2 m high in rows, with gaps between them: the flight keeps to the tops."""
    field, world = write(tmp_path / "f.geojson", polygon(RECTANGLE)), tmp_path / "vines.yaml"
    world.write_text("terrain: {kind: vineyard, size: [200, 200], cell: 0.5, slope: 0, field: [120, 60], canopy: 2}\n")
    land = Land(load_world(str(world)))

    def above_tops(**wishes):
        """The highest leaf across the swath."""
        job = plan_field(field, world=str(world), height=3.0, **wishes).job
        places = [line.place(s) for line in job.lines for s in np.linspace(20.0, line.length - 20.0, 10)]
        return np.array([z - max(land.height(x, y + a) for a in np.linspace(-2, 2, 41)) for x, y, z in places])

    assert above_tops(surface="top", canopy=2.0) == pytest.approx(3.0, abs=0.45)
    assert above_tops().min() < 2.0, "as if the rows were ground"


def test_a_job_is_read_as_it_was_written(field, tmp_path):
    job = plan_field(field).job
    (tmp_path / "job.json").write_text(job_text(job))
    assert read_job(tmp_path / "job.json") == job
    assert len((tmp_path / "job.json").read_text().splitlines()) < 60


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda job: job.pop("lines"), "lines: Field required"),
        (lambda job: job.update(speed=99), "speed: Input should be less than or equal to 12"),
        (lambda job: job["lines"][0].update(start=["a", 0]), "lines.0.start.0: Input should be a valid number"),
        (lambda job: job["lines"][1]["spray"][0].update(end=1e4), "lines.1: is sprayed up to 10000 m, but is"),
        (lambda job: job.update(colour="red"), "colour: Extra inputs are not permitted"),
    ],
)
def test_what_is_no_job_is_refused_with_its_key(field, tmp_path, change, message):
    content = json.loads(job_text(plan_field(field).job))
    change(content)
    (tmp_path / "job.json").write_text(json.dumps(content))
    with pytest.raises(FarmError) as error:
        read_job(tmp_path / "job.json")
    assert message in str(error.value)
    (tmp_path / "job.json").write_text("lines: 3")
    with pytest.raises(FarmError, match="is no job: the file: Invalid JSON"):
        read_job(tmp_path / "job.json")


def test_another_origin_leaves_places_where_they_are(field):
    job = plan_field(field).job
    moved = job.seen_from(HERE)
    assert sorted(np.array(moved.outline)[:, 0])[::3] == pytest.approx([-50, 50], abs=0.05)
    assert moved.lines[0].length == pytest.approx(job.lines[0].length, rel=1e-4)
    assert moved.refill.place == pytest.approx((-60, -30), abs=0.05)
    assert moved.lines[0].height(5.0) == pytest.approx(2.5, abs=0.1), "of a ground that nobody told"
    known = job.model_copy(update={"level": False}).seen_from(HERE)
    assert known.lines[0].height(5.0) == pytest.approx(2.5 - HERE.altitude, abs=0.1)
    part = known.lines[0].part((20.0, 40.0), 5.0)
    assert part.height(5.0) == pytest.approx(2.5 - HERE.altitude, abs=0.1)


def test_each_tank_goes_on_where_the_one_before_ended(field):
    job = plan_field(field, rate=60, tank=5.0).job
    tanks = loads(job.lines, job.swath, job.tank, job.headland)
    litres = [sum(litres_on(line, job.swath) for line in tank) for tank in tanks]
    assert litres[:-1] == pytest.approx([5.0] * (len(tanks) - 1))
    assert sum(litres) == pytest.approx(job.totals.litres, abs=0.01)
    assert job.totals.refills == len(tanks) - 1 == 4
    for before, after in pairwise(tanks):
        end = before[-1].place(before[-1].spray[-1].end)
        assert after[0].place(after[0].spray[0].start) == pytest.approx(end, abs=1e-6)
    assert all(line.height(0.0) == pytest.approx(2.5) for tank in tanks for line in tank)


@pytest.mark.parametrize(
    ("sprayer", "command", "on", "off"),
    [
        ("sprayer", 216, [1, 2.88], [0, 0.0]),
        ("servo", 183, [7, 1600], [7, 1000]),
        ("actuator", 187, [0.2, None], [-1, None]),
    ],
)
def test_plans_have_the_commands_of_each_autopilot(field, sprayer, command, on, off):
    job = plan_field(field, rate=30).job
    items = json.loads(plans_of(job, sprayer, servo=7, most=4.8)[0])["mission"]["items"]
    assert [item["doJumpId"] for item in items] == list(range(1, len(items) + 1))
    told = [item["params"][:2] for item in items if item["command"] == command]
    assert told[0] == pytest.approx(on)
    assert told[1] == pytest.approx(off)
    assert [item["command"] for item in items][:2] == [22, 178]
    assert items[-1]["command"] == 21
    assert items[-1]["params"][4:6] == pytest.approx(position(-60, -30)[::-1], abs=1e-6)


@pytest.mark.parametrize("sprayer", ["sprayer", "servo"])
def test_plans_hold_what_ardupilot_accepts(field, sprayer):
    """It refuses items with what is no number, but for the yaw of these (AP_Mission::sanity_check_params)."""
    with_yaw, place_above_home, no_place = (16, 21, 22), 3, 2
    for item in json.loads(plans_of(plan_field(field, rate=30).job, sprayer)[0])["mission"]["items"]:
        command, frame, numbers = item["command"], item["frame"], item["params"]
        missing = [k for k, number in enumerate(numbers) if number is None]
        assert missing == ([3] if command in with_yaw else [])
        assert frame == (place_above_home if command in with_yaw else no_place)
        if command in with_yaw:
            assert numbers[6] == item["Altitude"] >= 0.0


def test_our_own_reader_opens_the_plans(field, tmp_path):
    """And the nozzles are told as early as the lag wants it."""
    job = plan_field(field, rate=30, lag=0.5, tank=20).job.seen_from(HERE)
    (plan,) = plans_of(job)
    (tmp_path / "a.plan").write_text(plan)
    mission = read_mission(tmp_path / "a.plan", HERE)
    assert mission.warnings == []
    here, opened, shut = None, [], []
    for item in mission.items:
        if isinstance(item, GoTo):
            here = item.goto
        elif isinstance(item, Spray):
            (opened if item.spray else shut).append(here)
    assert [x for x, _, _ in opened] == pytest.approx([side * 52 for side in [-1, 1] * 5], abs=0.1)
    assert [x for x, _, _ in shut] == pytest.approx([side * 48 for side in [1, -1] * 5], abs=0.1)


def test_a_folder_is_made_whole_or_not_at_all(field, tmp_path):
    plan = plan_field(field, rate=60, tank=5.0)
    out = write_plan(plan, tmp_path / "f.job")
    assert {file.name for file in out.iterdir()} == {"job.json", "plan.png", *(f"tank-{k}.plan" for k in range(1, 6))}
    write_plan(plan_field(field, rate=10), out)
    assert {file.name for file in out.iterdir()} == {"job.json", "plan.png", "tank-1.plan"}
    (tmp_path / "other").mkdir()
    with pytest.raises(FarmError, match="is no job folder"):
        write_plan(plan, tmp_path / "other")
    with pytest.raises(FarmError, match="there is no folder"):
        write_plan(plan, tmp_path / "nowhere" / "f.job")
    assert {file.name for file in tmp_path.iterdir()} == {"field.geojson", "f.job", "other"}
