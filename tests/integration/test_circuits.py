"""Aeroplanes in missions: off the ground, round corners, in wind and gusts, and down again; and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.plans import at, simple, write

import airloom as al
from airloom.errors import UserError
from airloom.watch.flight import FlightWatch

STALL = 9.67
"""m/s, of the bundled `plane`; what it is made of is in validation/wings.py."""
GROUND = """
name: t
engine: {kind: %s}
%s
vehicles: {p: {extends: plane, pose: {position: [0, 0, 0.21]}%s}}
systems: {m: {kind: mission, %s}}
"""
ALOFT = ", pose: {position: [0, 0, 50]}, motion: {velocity: [14, 0, 0]}"
GUSTS = """world: {weather: {layers: {mean: {kind: constant, velocity: [-4, 2, 0]},
  eddies: {kind: dryden, wind_at_20_feet: 8}}}}"""


def loaded(tmp_path, mission, world="", start="", engine="batch"):
    text = GROUND % (engine, world, start, mission)
    (tmp_path / "t.yaml").write_text(text.replace("pose: {position: [0, 0, 0.21]}, pose", "pose"))
    sim = al.Simulation.load(tmp_path / "t.yaml")
    return sim, sim.vehicles.get("p")


class Flight:
    """What is seen of an aeroplane ten times a second until its mission is over."""

    def __init__(self, sim, plane, most=260.0):
        seen = []
        while not sim.verdict.findings and sim.time < most:
            sim.run(until=sim.time + 0.1)
            reading = plane.reading("airspeed")
            seen.append([sim.time, *plane.position, *plane.velocity, reading.numbers[0], *plane.euler])
        self.table = np.array(seen)
        self.t, self.x, self.y, self.z, _, _, self.climb, self.airspeed, self.roll, *_ = self.table.T
        self.findings = [(finding.good, finding.text.split(";")[0]) for finding in sim.verdict.findings]

    def nearest(self, x, y):
        """Distance and height where it comes nearest to a place."""
        far = np.hypot(self.x - x, self.y - y)
        return far.min(), self.z[far.argmin()]

    @property
    def touch_down(self):
        """The first sample on the wheels after having been up."""
        up = np.flatnonzero(self.z > 5.0)[-1]
        return up + np.flatnonzero(self.z[up:] < 0.26)[0]


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_the_bundled_circuit_is_flown_as_it_says(engine):
    """In wind of 5 m/s and gusts: off the ground, past its places, around one, down on the runway, motor off."""
    sim = al.Simulation.load("plane", overrides={"engine": {"kind": engine}})
    plane = sim.vehicles["plane"]
    flight = Flight(sim, plane)
    assert flight.findings == [(True, "mission is done")]
    for x, y in ((260, 0), (260, 180), (0, 180)):
        far, height = flight.nearest(x, y)
        assert far < 5  # over it: to turn before it would pass it by more than the 10 m that are usual
        assert height == pytest.approx(45, abs=6)
    round_place = flight.table[(flight.t > 72) & (flight.t < 92)]
    assert np.abs(np.hypot(round_place[:, 1] + 60, round_place[:, 2] - 100) - 70).max() < 4
    in_flight = flight.table[(flight.z > 5)]
    assert in_flight[:, 7].min() > STALL
    assert np.abs(in_flight[:, 8]).max() < 0.9
    down = flight.touch_down
    assert flight.climb[down - 1] > -1.7
    assert abs(flight.y[down]) < 4
    assert np.abs(flight.y[-1]) < 1.5
    assert np.linalg.norm(plane.velocity) < 0.6
    assert not plane.armed


def test_twenty_land_in_twenty_different_gusts(tmp_path):
    """Side by side: each meets other eddies."""
    mission = "items: [{takeoff: 25}, {goto: [250, 60, 35]}, {land: }]"
    sim, _ = loaded(tmp_path, mission, GUSTS, ", copies: {count: 20, columns: 20, spacing: 70}")
    sim.run(until=260)
    assert [it.text.split(";")[0] for it in sim.verdict.findings if it.good] == ["m is done"] * 20
    for plane in sim.vehicles.values():
        begin = plane.description.pose.position
        assert abs(plane.position[1] - begin[1]) < 1.5
        assert plane.position[2] == pytest.approx(0.21, abs=0.02)
        assert abs(plane.euler[0]) < 0.05


def test_turns_begin_before_places_and_end_on_the_next_leg(tmp_path):
    mission = "acceptance: 20, items: [{goto: [300, 0, 50]}, {goto: [300, 300, 50]}, {goto: [300, 420, 50]}]"
    flight = Flight(*loaded(tmp_path, mission, "", ALOFT))
    assert flight.findings == [(True, "m is done")]
    before = flight.table[(flight.x < 260) & (flight.y < 50)]
    after = flight.table[(flight.y > 60) & (flight.y < 400)]
    assert np.abs(before[:, 2]).max() < 0.7
    assert np.abs(after[:, 1] - 300).max() < 2.0
    assert 5 < flight.nearest(300, 0)[0] < 20


TURNS = (30, 60, 75, 90, 120, 150, 165, 179)
COURSES = (0, 90, 180, 270)
LEG = 400.0


def corners(tmp_path, wind, acceptance=None):
    """An aeroplane for each turn and each course, in the same wind; by turn and course, how it passed its places."""
    vehicles, systems, places = {}, {}, {}
    for k, (turn, course) in enumerate((turn, course) for turn in TURNS for course in COURSES):
        ahead, then = (LEG * np.array([np.cos(a), np.sin(a)]) for a in np.radians([course, course + turn]))
        begin = np.array([3000.0 * (k % 8), 3000.0 * (k // 8)])
        ends = [begin + 0.6 * ahead, begin + 0.6 * ahead + then]
        vehicles[f"p{k}"] = {
            "extends": "plane",
            "pose": {"position": [*begin.tolist(), 50.0], "yaw": float(np.radians(course))},
            "motion": {"velocity": [*(14.0 / LEG * ahead + wind[:2]).tolist(), 0.0]},
        }
        items = [{"goto": [*end.tolist(), 50.0]} for end in ends]
        own = {} if acceptance is None else {"acceptance": acceptance}
        systems[f"m{k}"] = {"kind": "mission", "vehicle": f"p{k}", "items": items, **own}
        places[f"p{k}"] = (turn, course, *ends)
    scenario = {"name": "corners", "engine": "batch", "world": {"wind": wind}, "vehicles": vehicles, "systems": systems}
    (tmp_path / "corners.yaml").write_text(json.dumps(scenario))
    sim = al.Simulation.load(tmp_path / "corners.yaml")
    nearest = {name: [np.inf, np.inf] for name in places}
    beside, has_passed = dict.fromkeys(places, 0.0), dict.fromkeys(places, False)
    while len(sim.verdict.findings) < len(places) and sim.time < 200:
        sim.run(until=sim.time + 0.1)
        for name, (_, _, first, second) in places.items():
            here = sim.vehicles[name].position[:2]
            far = [float(np.hypot(*(here - it))) for it in (first, second)]
            nearest[name] = np.minimum(nearest[name], far).tolist()
            along, across = _along(here, first, second)
            has_passed[name] |= far[0] < 12
            if along > 0.5 * LEG and has_passed[name] and nearest[name][1] > 5:
                beside[name] = max(beside[name], abs(across))
    assert [it.good for it in sim.verdict.findings] == [True] * len(places), sim.verdict
    told = {it.source: [float(n) for n in it.text.split(" by ")[1][:-2].split(", ")] for it in sim.verdict.findings}
    return {places[name][:2]: (*nearest[name], beside[name], *told[name]) for name in places}, sim


def _along(here, first, second):
    way = (second - first) / np.hypot(*(second - first))
    return float((here - first) @ way), float(way[0] * (here - first)[1] - way[1] * (here - first)[0])


@pytest.mark.slow
@pytest.mark.parametrize("wind", [[0, 0, 0], [5, 0, 0]])
def test_no_corner_is_cut_by_more_than_is_allowed_whatever_turn_and_wind(tmp_path, wind):
    """Before, 11 m at 90°, 48 m at 135° and 142 m at 160° were left out."""
    flown, sim = corners(tmp_path, wind)
    for (turn, course), (first, second, beside, told_first, told_second) in flown.items():
        assert first < 12.0, (turn, course)
        assert second < 2.0, (turn, course)
        assert beside < 4.0, (turn, course, "it comes back onto the leg")
        assert (told_first, told_second) == (pytest.approx(first, abs=1.5), pytest.approx(second, abs=1.5))
    assert not [text for text in sim.warnings if "passed" in text]


def test_it_goes_on_circling_where_its_mission_ends_and_holds_in_circles(tmp_path):
    sim, plane = loaded(tmp_path, "items: [{goto: [150, 0, 60]}]", "world: {wind: [3, 0, 0]}", ALOFT)
    sim.run(until=50)
    far = []
    for _ in range(60):
        sim.run(until=sim.time + 0.5)
        far.append(np.hypot(plane.position[0] - 150, plane.position[1]))
    assert np.ptp(far) < 3
    sim.pilot("p").brake()
    sim.run(until=sim.time + 20)
    middle = np.array(plane.setpoint.position)
    far = []
    for _ in range(40):
        sim.run(until=sim.time + 0.5)
        far.append(np.hypot(*(plane.position - middle)[:2]))
    assert np.ptp(far) < 3
    assert plane.position[2] == pytest.approx(60, abs=1.5)


def test_loiters_have_a_side_a_radius_and_a_time(tmp_path):
    mission = "items: [{loiter: [0, 150, 60], radius: 60, clockwise: true, seconds: 20}]"
    sim, plane = loaded(tmp_path, mission, "", ALOFT)
    flight = Flight(sim, plane)
    assert flight.findings == [(True, "m is done")]
    last = flight.table[flight.t > flight.t[-1] - 18]
    x, y = last[:, 1], last[:, 2] - 150
    assert np.abs(np.hypot(x, y) - 60).max() < 2
    assert (x * last[:, 5] - y * last[:, 4] < 0).all()  # clockwise


def test_a_plan_for_aeroplanes_is_flown_with_its_loiters_and_its_landing(tmp_path):
    plan = write(
        tmp_path, at(22, altitude=30), simple(178, 0, 15, -1, 0), at(16, east=250, altitude=40),
        at(18, north=120, east=150, altitude=40, p1=1, p3=-60), at(31, north=100, altitude=25),
        {"type": "ComplexItem", "complexItemType": "fwLandingPattern",
         "landCoordinate": [at(16)["params"][4], at(16)["params"][5], 0],
         "landingApproachCoordinate": [at(16, east=-300)["params"][4], at(16, east=-300)["params"][5], 40]},
        vehicleType=1,
    )  # fmt: skip
    world = "world: {origin: {latitude: 47.397742, longitude: 8.545594, altitude: 488}}"
    flight = Flight(*loaded(tmp_path, f"file: {plan}", world))
    assert flight.findings == [(True, "m is done")]
    assert flight.nearest(250, 0)[0] < 25
    assert abs(flight.y[-1]) < 1
    assert flight.z[-1] < 0.25
    assert flight.x[flight.touch_down] == pytest.approx(15, abs=20)
    assert flight.airspeed[(flight.t > 16) & (flight.t < 22)].mean() == pytest.approx(15, abs=0.7)


def test_a_plan_is_flown_as_fast_as_its_vehicle_can(tmp_path):
    """QGroundControl knows nothing of the stall."""
    plan = write(tmp_path, simple(178, 0, 40, -1, 0), at(16, east=100, altitude=60), vehicleType=1)
    world = "world: {origin: {latitude: 47.397742, longitude: 8.545594, altitude: 488}}"
    sim, _ = loaded(tmp_path, f"file: {plan}", world, ALOFT)
    sim.run(until=0.1)
    told = "item 1: 40 m/s become 21.7: p flies at 11.1 to 21.7 m/s (it stalls at 9.67)"
    assert any(told in warning for warning in sim.warnings)


def test_it_returns_and_lands_against_the_wind(tmp_path):
    mission = "items: [{takeoff: 30}, {goto: [200, 50, 40]}, {return: }]"
    flight = Flight(*loaded(tmp_path, mission, "world: {wind: [4, 0, 0]}"))
    assert flight.findings == [(True, "m is done")]
    down = flight.touch_down
    assert flight.table[down, 4] < -5  # to the west, against a wind from there
    assert np.hypot(flight.x[-1], flight.y[-1]) < 100
    assert flight.z[-1] < 0.25


def test_thrown_by_hand_it_climbs_and_lands_on_its_belly(tmp_path):
    """Without wheels."""
    start = ", wheels: {nose: null, left: null, right: null}, motion: {velocity: [11, 0, 1]}"
    sim, plane = loaded(tmp_path, "items: [{takeoff: 20}, {land: , at: [150, 0], course: 0}]", "", start)
    plane.place([0, 0, 1.8], velocity=[11, 0, 1])
    flight = Flight(sim, plane)
    assert flight.findings == [(True, "m is done")]
    assert flight.z.max() > 18.5
    assert np.linalg.norm(plane.velocity) < 0.6


def test_what_it_cannot_do_is_said_when_the_scenario_is_loaded(tmp_path):
    with pytest.raises(UserError, match=r"item 1: p cannot turn on the spot"):
        loaded(tmp_path, "items: [{turn: 1.0}]")
    with pytest.raises(UserError, match=r"item 2: speed: p flies at 11.1 to 21.\d m/s \(it stalls at 9.67\), got 3"):
        loaded(tmp_path, "items: [{takeoff: 20}, {goto: [1, 2, 30], speed: 3}]")
    with pytest.raises(
        UserError,
        match=r"it starts 49.8 m above the ground at 0 m/s .* cannot fly below 9.67 m/s; give",
    ):
        loaded(tmp_path, "items: [{goto: [1, 2, 30]}]", "", ", pose: {position: [0, 0, 50]}")


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_equal_circuits_are_equal_in_any_chunks_and_after_a_reset(tmp_path, engine):
    sim, _ = loaded(tmp_path, "items: [{takeoff: 20}, {goto: [200, 50, 30]}]", GUSTS, engine=engine)
    sim.run(until=9)
    before = sim.state_hash()
    sim.reset()
    while sim.time < 9:
        sim.run(until=min(sim.time + 0.37, 9))
    assert sim.state_hash() == before


@pytest.mark.parametrize("place", ["climb", "cruise"])
def test_without_thrust_it_glides_and_comes_down_ahead(tmp_path, place):
    """Told, not stalled, not hard, wings level; and the mission is not done."""
    sim, plane = loaded(tmp_path, "items: [{takeoff: 25}, {goto: [200, 0, 40]}, {land: }]", "world: {wind: [-3, 0, 0]}")
    FlightWatch(sim)

    def is_there() -> bool:
        return plane.position[2] > 20 if place == "climb" else plane.position[0] > 180

    while not is_there():
        sim.run(until=sim.time + 0.1)
    plane.set_rotor_share("propeller", 0.0)
    flight = Flight(sim, plane)
    (good, text), *_ = flight.findings
    assert not good
    assert "it lost its thrust, and came down at" in text
    assert any("p: has lost its thrust: it glides" in warning for warning in sim.warnings)
    in_flight = flight.table[flight.z > 3]
    assert in_flight[:, 7].min() > 0.97 * STALL
    touch = np.flatnonzero(flight.z < 0.26)[0]
    assert flight.climb[touch - 1] > -2.0
    assert np.abs(flight.roll[touch:]).max() < 0.2
    assert not plane.armed


@pytest.mark.parametrize("seed", [40, 41, 42])
def test_severe_gusts_are_no_lost_thrust_but_a_dead_propeller_is(tmp_path, seed):
    eddies = "eddies: {kind: dryden, intensity: severe}}}}"
    severe = f"seed: {seed}\nworld: {{weather: {{layers: {{mean: {{kind: constant, velocity: [0, 8, 0]}}, {eddies}"
    sim, plane = loaded(tmp_path, "items: [{loiter: [0, 150, 60], seconds: 1000}]", severe, ALOFT)
    while sim.time < 60:
        sim.run(until=sim.time + 0.5)
        assert plane.alarm is None
    plane.set_rotor_share("propeller", 0.0)
    sim.run(until=65)
    assert plane.alarm == "has lost its thrust: it glides"
    plane.set_rotor_share("propeller", 1.0)
    sim.run(until=67)
    assert plane.alarm is None


def test_it_comes_ahead_against_a_wind_faster_than_its_cruise(tmp_path):
    start = ", pose: {position: [0, 0, 50]}, motion: {velocity: [2, 0, 0]}"
    flight = Flight(*loaded(tmp_path, "items: [{goto: [100, 0, 50]}]", "world: {wind: [-16, 0, 0]}", start))
    assert flight.findings == [(True, "m is done")]
    assert flight.airspeed[-1] == pytest.approx(16 + 0.25 * 1.4 * STALL, abs=1.0)


def aloft_with(tmp_path, more, system="kind: mission, items: [{loiter: [0, 0, 50]}]"):
    text = (
        "name: t\nengine: batch\nvehicles: {p: {extends: plane, pose: {position: [0, 0, 50]}, %s}}\nsystems: {m: {%s}}"
    )
    (tmp_path / "t.yaml").write_text(text % (more, system))
    return al.Simulation.load(tmp_path / "t.yaml")


AHEAD = "motion: {velocity: [14, 0, 0]}"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("motion: {velocity: [-14, 0, 0]}", r"starts tail first: at 14 m/s backwards .* along its pose.yaw"),
        ("motion: {velocity: [65, 0, 0]}", r"starts at 65 m/s through the air, and flies at 21.7 m/s at most"),
        (AHEAD + ", mass: 1900", r"its mass of 1.9e\+03 kg weighs 1.86e\+04 N, and its propellers pull with"),
        (AHEAD + ", rotors: {propeller: {axis: [-1, 0, 0]}}", r"its propeller propeller pulls it backwards"),
    ],
)
def test_aeroplanes_that_cannot_fly_so_are_refused_with_the_reason(tmp_path, more, told):
    with pytest.raises(UserError, match=told):
        aloft_with(tmp_path, more)


def test_one_that_is_unstable_in_pitch_is_told_by_how_much(tmp_path):
    assert not any("unstable" in text for text in aloft_with(tmp_path, AHEAD).warnings)
    behind = aloft_with(tmp_path, AHEAD + ", center_of_mass: [-0.2, 0, 0]")
    assert any(
        "p: is unstable in pitch: the air lifts it" in text and "static margin of -" in text for text in behind.warnings
    )


def test_a_lap_of_a_few_metres_is_nothing_for_an_aeroplane(tmp_path):
    with pytest.raises(UserError, match=r"p flies at 11.1 to 21.7 m/s, and this lap at .* on the average; give it"):
        aloft_with(tmp_path, AHEAD, "kind: trajectory, height: 50")
    aloft_with(tmp_path, AHEAD, "kind: trajectory, height: 50, shape: circle, size: [140, 140], period: 31")


def test_modes_that_make_no_sense_are_refused(tmp_path):
    _, plane = loaded(tmp_path, "items: [{takeoff: 20}]")
    with pytest.raises(al.CommandError, match=r"flies position_yaw, .* only, not thrust_torque$"):
        plane.switch_mode("thrust_torque")


def test_modes_without_a_command_fly_on(tmp_path):
    sim, plane = loaded(tmp_path, "start: 1000, items: [{takeoff: 20}]", "", ALOFT + ", command_timeout: null")
    for mode in ("velocity_yawrate", "thrust_attitude", "thrust_velocity", "position_yaw"):
        plane.switch_mode(mode)
        sim.run(until=sim.time + 5)
        assert plane.position[2] > 35
        assert plane.reading("airspeed").numbers[0] > STALL


AEROSONDE = """
name: aerosonde
engine: batch
world: {wind: [0, 6, 0]}
vehicles:
  p:
    mass: 13.5
    inertia: {xx: 0.8244, yy: 1.135, zz: 1.759, xz: 0.1204}
    body: {size: [1.7, 2.9, 0.2]}
    rotors:
      propeller:
        position: [-0.6, 0, 0]
        axis: [1, 0, 0]
        turns: ccw
        thrust_constant: 1.22e-4
        moment_constant: 0.01
        advance: {diameter: 0.508, thrust: [-0.2, -0.9], torque: [-0.1], last: 1.0}
        time_constant_up: 0.2
        time_constant_down: 0.2
        max_speed: 700
        radius: 0.254
    servos:
      elevator: {lowest: -0.5, highest: 0.5}
      aileron: {lowest: -0.5, highest: 0.5}
      rudder: {lowest: -0.5, highest: 0.5}
    aerodynamics:
      area: 0.55
      span: 2.8956
      chord: 0.18994
      efficiency: 0.9
      stall: 0.4712
      blend: 50
      drag: {zero: 0.03}
      side: {beta: -0.98, servos: {rudder: -0.17}}
      lift: {zero: 0.28, alpha: 3.45, servos: {elevator: -0.36}}
      roll: {beta: -0.12, p: -0.26, r: 0.14, servos: {aileron: 0.08, rudder: 0.105}}
      pitch: {zero: -0.02338, alpha: -0.38, q: -3.6, servos: {elevator: -0.5}}
      yaw: {beta: 0.25, p: 0.022, r: -0.35, servos: {aileron: 0.06, rudder: -0.032}}
    sensors: {odometry: {kind: odometry}, airspeed: {kind: airspeed, rate: 50}}
    controller: plane
    pose: {position: [0, 0, 100]}
    motion: {velocity: [24, 0, 0]}
systems:
  m: {kind: mission, acceptance: 60, items: [{goto: [400, 0, 120]}, {goto: [400, 500, 120]}, {goto: [0, 500, 120]}]}
"""


def test_quite_another_aeroplane_is_flown_by_the_same_stack(tmp_path):
    """An Aerosonde of 13.5 kg: Beard and McLain, Small Unmanned Aircraft (2012), table E.2; the engine is our own."""
    (tmp_path / "a.yaml").write_text(AEROSONDE)
    sim = al.Simulation.load(tmp_path / "a.yaml")
    plane = sim.vehicles["p"]
    flight = Flight(sim, plane)
    assert flight.findings == [(True, "m is done")]
    leg = flight.table[(flight.y > 150) & (flight.y < 350) & (flight.x > 200)]
    assert np.abs(leg[:, 1] - 400).max() < 3
    assert np.abs(leg[:, 3] - 120).max() < 3
    radius = plane.controller.radius
    sim.run(until=sim.time + 30)
    far = []
    for _ in range(60):
        sim.run(until=sim.time + 0.5)
        far.append(np.hypot(plane.position[0], plane.position[1] - 500))
    assert np.ptp(far) < 0.1 * radius
