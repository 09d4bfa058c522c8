"""QGroundControl's plans as they are flown, in wind and far from home; looked at is the path, not the list of items."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plans import at, disc, polygon, simple, structure, survey, write

from airloom.simulation import Simulation

UP = at(22, altitude=20)
SCENARIO = """
name: t
engine: batch
world: {{wind: [3, -2, 0]{terrain}}}
vehicles:
  drone:
    extends: multirotor
    sensors: {{imu: null, gnss: null, barometer: null, magnetometer: null}}
    pose: {{position: [0, 0, {z}]}}
systems: {{m: {{kind: mission, file: m.plan}}}}
"""
RIDGES = (
    """, terrain: {kind: heightfield, size: [400, 400], heights: [[0, 0, 12, 0, 9, 0, 0], [0, 0, 12, 0, 9, 0, 0]]}"""
)


class Flight:
    """Times, states (position, attitude, velocity) and yaws every 0.1 s until the mission is over."""

    def __init__(self, folder, *items, seconds=600, terrain="", z=0.05, gust=None, **others):
        write(folder, *items, **others)
        (folder / "s.yaml").write_text(SCENARIO.format(terrain=terrain, z=z))
        self.sim = Simulation.load(folder / "s.yaml")
        drone = self.sim.vehicles["drone"]
        if gust:
            self.sim.call_at(gust, lambda: drone.push(force=(9.0, 0.0, 0.0)))
        ticks = round(0.1e9 / self.sim.step_ns)
        times, places, speeds, yaws = [], [], [], []
        while not self.sim.verdict.findings and self.sim.time < seconds:
            self.sim.step(ticks)
            times.append(self.sim.time)
            places.append(drone.position)
            speeds.append(float(np.linalg.norm(drone.velocity)))
            yaws.append(drone.euler[2])
        self.times, self.places, self.speeds, self.yaws = map(np.array, (times, places, speeds, yaws))
        self.drone, self.findings = drone, [finding.text for finding in self.sim.verdict.findings]

    @property
    def is_done(self):
        return self.findings == ["m is done"]

    def near(self, *place, within=1.0):
        """Which of the moments were spent near a place."""
        return np.linalg.norm(self.places - place, axis=1) < within

    def gap_to(self, *place):
        return np.linalg.norm(self.places - place, axis=1).min()

    def gap_to_leg(self, a, b):
        """How close it came to the least visited point of a straight leg."""
        shares = np.linspace(0, 1, 41)[:, None]
        points = np.array(a) + shares * (np.array(b) - np.array(a))
        return np.linalg.norm(self.places[:, None] - points[None], axis=2).min(axis=0).max()


def test_a_round_with_holds_yaws_and_speeds(tmp_path):
    flight = Flight(
        tmp_path,
        UP,
        at(16, 0, 200, 30, p1=6, p4=90),
        simple(178, 1, 10, -1),
        at(16, 250, 200, 25),
        simple(93, 5),
        simple(115, 180, 40, 1, 0),
        at(19, 250, 100, 25, p1=8),
        simple(189),
        at(21, 20, 10, 0),
    )
    assert flight.is_done
    assert flight.drone.position == pytest.approx([20, 10, 0.05], abs=0.3)
    assert not flight.drone.armed
    north, east, south = flight.near(0, 200, 30), flight.near(250, 200, 25), flight.near(250, 100, 25)
    assert np.ptp(flight.times[north]) > 6
    assert np.ptp(flight.times[east]) > 5
    assert np.ptp(flight.times[south]) > 8
    assert flight.yaws[north][-1] == pytest.approx(0.0, abs=0.05)
    assert flight.yaws[east][-1] == pytest.approx(-np.pi / 2, abs=0.05)
    there = flight.times < flight.times[north][0]
    assert flight.speeds[there].max() == pytest.approx(5.0, abs=0.4)
    across = (flight.times > flight.times[north][-1]) & (flight.times < flight.times[east][0])
    assert flight.speeds[across].max() == pytest.approx(10.0, abs=0.7)
    assert np.median(flight.speeds[across]) > 9.0
    assert flight.gap_to_leg((0, 200, 30), (250, 200, 25)) < 0.8


@pytest.mark.parametrize(("radius", "side"), [(30, -1), (-12, 1)])
def test_circles_have_their_radius_their_turns_and_their_side(tmp_path, radius, side):
    flight = Flight(tmp_path, UP, at(18, 80, 40, 25, p1=2.5, p3=radius), hoverSpeed=4)
    assert flight.is_done
    away = flight.places - [80, 40, 25]
    bearings = np.unwrap(np.arctan2(away[:, 1], away[:, 0]))
    distances = np.linalg.norm(away, axis=1)
    begin = int(np.argmax(distances < abs(radius) + 0.5))
    assert abs(distances[begin:] - abs(radius)).max() < 0.8
    assert bearings[-1] - bearings[begin] == pytest.approx(side * 2.5 * 2 * np.pi, abs=0.15)
    on_circle = slice(begin + 80, -80)
    looks = np.cos(flight.yaws[on_circle] - bearings[on_circle] - np.pi)
    assert looks.min() > 0.97
    assert np.median(flight.speeds[on_circle]) == pytest.approx(4.0, abs=0.3)


def test_jumps_go_round_and_round(tmp_path):
    flight = Flight(tmp_path, UP, at(16, 60, 0, 20), at(16, 60, 60, 20), simple(177, 2, 2), simple(20))
    assert flight.is_done
    assert np.sum(np.diff(flight.near(60, 60, 20).astype(int)) == 1) == 3
    assert flight.drone.position == pytest.approx([0, 0, 0.05], abs=0.3)


def test_an_endless_jump_flies_until_the_end(tmp_path):
    flight = Flight(tmp_path, UP, at(16, 20, 0, 20), at(16, 20, 20, 20), simple(177, 2, -1), seconds=120)
    assert flight.findings == []
    assert np.sum(np.diff(flight.near(20, 20, 20).astype(int)) == 1) >= 4


def test_splines_pass_their_points_without_a_stop(tmp_path):
    points = [(40, 20, 20), (80, -20, 25), (120, 20, 20), (160, 0, 20)]
    flight = Flight(tmp_path, UP, *(at(82, *point) for point in points))
    assert flight.is_done
    for point in points:
        assert flight.gap_to(*point) < 1.0
    begin, end = np.argmax(flight.near(*points[0])), np.argmax(flight.near(*points[2]))
    assert flight.speeds[begin:end].min() > 0.8


@pytest.mark.parametrize("kind", ["survey", "CorridorScan"])
def test_a_survey_covers_its_lines(tmp_path, kind):
    corners = [(x, y, 30) for k, y in enumerate((0, 25, 50)) for x in ((20, 140) if k % 2 == 0 else (140, 20))]
    items = [item for corner in corners for item in (at(16, *corner), simple(206, 25, 0, 1))]
    speed = {"survey": 5, "CorridorScan": 8}[kind]  # 8 m/s against the wind are more than this vehicle can
    flight = Flight(tmp_path, UP, survey(items, kind), simple(20), hoverSpeed=speed)
    assert flight.is_done
    for a, b in zip(corners[::2], corners[1::2], strict=True):
        assert flight.gap_to_leg(a, b) < 1.3
    assert flight.drone.position == pytest.approx([0, 0, 0.05], abs=0.3)


def test_a_structure_is_circled_layer_by_layer(tmp_path):
    flight = Flight(tmp_path, UP, structure([(40, 0), (60, 0), (60, 20), (40, 20)], height=12, layer=6), simple(20))
    assert flight.is_done
    for height in (3, 9):
        assert flight.gap_to_leg((35, -5, height), (65, -5, height)) < 0.8
        assert flight.gap_to_leg((65, 25, height), (35, 25, height)) < 0.8


def test_the_terrain_frame_follows_the_ground(tmp_path):
    def height(x):
        return np.interp(x, np.linspace(-200, 200, 7), [0, 0, 12, 0, 9, 0, 0])

    flight = Flight(
        tmp_path,
        at(22, 0, 0, 15, frame=10),
        at(16, 180, 0, 15, frame=10),
        at(16, -180, 0, 15, frame=10),
        terrain=RIDGES,
        z=0.06,
    )
    assert flight.is_done
    above = flight.places[:, 2] - height(flight.places[:, 0])
    cruising = flight.times > 25
    assert abs(above[cruising] - 15).max() < 2.5
    assert np.ptp(flight.places[cruising, 2]) > 8


def test_a_breach_in_flight_fails_the_mission_and_holds(tmp_path):
    fence = {"polygons": [polygon((-30, -30), (200, -30), (200, 12), (-30, 12))], "circles": [disc(0, -200, 5, False)]}
    flight = Flight(tmp_path, UP, at(16, 150, 0, 20), simple(20), **fence)
    assert flight.is_done
    pushed = Flight(
        tmp_path, UP, at(16, 0, 0, 20, p1=60), polygons=[polygon((-9, -9), (9, -9), (9, 9), (-9, 9))], gust=20
    )
    (text,) = pushed.findings
    assert "drone has left the fence at (9" in text
    assert pushed.drone.armed
    pushed.drone.push()
    pushed.sim.run(until=pushed.sim.time + 20)
    assert np.linalg.norm(pushed.drone.velocity) < 0.2
    assert pushed.drone.position[2] > 15
