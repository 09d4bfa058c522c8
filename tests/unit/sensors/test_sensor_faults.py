"""Sensors that fail: what is published, what is read, and when, for every fault and every sensor."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from airloom.sensors.faults import Fault, together
from airloom.sensors.sensor_errors import CHANNELS
from airloom.simulation import Simulation

ENGINES = ["batch", "mujoco"]
SENSORS = {
    "odometry": {"kind": "odometry", "rate": 250},
    "imu": {"kind": "imu", "rate": 500},
    "gnss": {"kind": "gnss", "rate": 10},
    "barometer": {"kind": "barometer", "rate": 50},
    "magnetometer": {"kind": "magnetometer", "rate": 100},
    "range": {"kind": "rangefinder", "rate": 50},
}
NORTH, EAST = 111_188.0, 75_496.0  # m in a degree on WGS-84 at 47.4° north, 490 m up


def flying(faults: dict[str, Any], engine: str = "batch", **changes: Any) -> Simulation:
    """A multirotor with a sensor of each kind climbs and turns, so that no reading stays as it is."""
    drone = {"extends": "multirotor", "pose": {"position": [0, 0, 1]}, "sensors": SENSORS}
    systems = {
        "up": {"kind": "waypoints", "points": [{"at": 0, "position": [3, 2, 30], "yaw": 2.0}]},
        **{name: {"kind": "sensor_fault", **fault} for name, fault in faults.items()},
    }
    overrides = {"vehicles": {"drone": drone}, "systems": systems, "engine": engine, "world": "empty", **changes}
    return Simulation.load("hover", overrides=overrides)


def readings(sim: Simulation, sensor: str, until: float, vehicle: str = "drone") -> dict[float, np.ndarray]:
    """Time of publication → reading."""
    found = {}

    def take(topic: Any, message: Any, time_ns: int) -> None:
        found[time_ns / 1e9] = sim.vehicles[vehicle].readings[sensor]

    subscription = sim.bus.subscribe(f"/{vehicle}/{sensor}", take)
    sim.run(until=until)
    subscription.cancel()
    return found


def events(sim: Simulation) -> list[tuple[float, str, str]]:
    found: list[tuple[float, str, str]] = []
    sim.bus.subscribe("/events", lambda topic, m, time_ns: found.append((time_ns / 1e9, m.source, m.text)))
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sensor", SENSORS)
def test_an_outage_is_silence(sensor: str, engine: str) -> None:
    sim = flying({"out": {"sensor": sensor, "fault": "outage", "at": 0.5, "duration": 0.7}}, engine)
    s = sim.fleet.sensor_index["drone", sensor]
    before = readings(sim, sensor, 0.5)
    stamp, last = int(sim.fleet.sensing.stamps[s]), sim.vehicles["drone"].readings[sensor]
    assert stamp == 500
    assert readings(sim, sensor, 1.2) == {}
    assert sim.fleet.sensing.stamps[s] == stamp
    assert np.array_equal(sim.vehicles["drone"].readings[sensor], last)
    after = readings(sim, sensor, 2.0)
    period = 1 / SENSORS[sensor]["rate"]
    assert min(after) == pytest.approx(1.2 + period)
    assert len(before) == round(0.5 / period) + 1
    assert len(after) == round(0.8 / period)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sensor", SENSORS)
def test_a_frozen_sensor_says_the_same_again_and_again_as_if_it_were_fresh(sensor: str, engine: str) -> None:
    sim = flying({"stuck": {"sensor": sensor, "fault": "frozen", "at": 0.5, "duration": 0.5}}, engine)
    before = readings(sim, sensor, 0.5)
    frozen, after = readings(sim, sensor, 1.0), readings(sim, sensor, 1.5)
    period = 1 / SENSORS[sensor]["rate"]
    assert len(frozen) == len(after) == round(0.5 / period)
    assert all(np.array_equal(reading, before[0.5]) for reading in frozen.values())
    assert sim.fleet.sensing.stamps[sim.fleet.sensor_index["drone", sensor]] == 1500
    assert not any(np.array_equal(reading, before[0.5]) for reading in after.values())


def channel_errors(sim: Simulation, honest: Simulation, sensor: str, until: float) -> dict[float, np.ndarray]:
    """By how much a sensor that no flight stack reads differs from one that is well, in the unit of its errors."""
    wrong, right = readings(sim, sensor, until), readings(honest, sensor, until)
    assert wrong.keys() == right.keys()
    errors = {time: wrong[time] - right[time] for time in wrong}
    if sensor == "gnss":
        for error in errors.values():
            error[:2] = error[1] * EAST, error[0] * NORTH
    return errors


@pytest.mark.parametrize(
    ("sensor", "quantity", "offset", "at"),
    [
        ("gnss", None, [50.0, -20.0, 5.0], 0),
        ("gnss", "velocity_errors", [2.5, 0.0, -1.0], 3),
        ("barometer", None, [120.0], 0),
        ("magnetometer", None, [2e-5, 0.0, -1e-5], 0),
        ("range", None, [0.5], 0),
    ],
)
def test_an_offset_adds_to_one_quantity(sensor: str, quantity: str | None, offset: list[float], at: int) -> None:
    fault = {"sensor": sensor, "fault": "offset", "offset": offset, "at": 0.4, "duration": 0.4}
    fault |= {} if quantity is None else {"quantity": quantity}
    errors = channel_errors(flying({"wrong": fault}), flying({}), sensor, 1.2)
    for time, error in errors.items():
        expected = np.zeros(error.size)
        expected[at : at + len(offset)] = np.multiply(offset, 0.4 < time <= 0.8)
        assert error == pytest.approx(expected, rel=3e-4, abs=1e-12 + 1e-5 * max(map(abs, offset)))


def test_one_number_is_for_all_axes() -> None:
    fault = {"sensor": "gnss", "fault": "offset", "offset": 7.0, "at": 0}
    errors = channel_errors(flying({"wrong": fault}), flying({}), "gnss", 0.3)
    assert [*errors.values()] == [pytest.approx([7, 7, 7, 0, 0, 0], rel=3e-4, abs=1e-9)] * 4


def test_a_spoofer_drags_gnss_away() -> None:
    """50 m in 20 s: 2.5 m/s, sample by sample, however the sensor's period and the beginning lie."""
    fault = {"sensor": "gnss", "fault": "offset", "offset": [50, 0, 0], "ramp": 20, "at": 1.05, "duration": 22}
    errors = channel_errors(flying({"spoof": fault}), flying({}), "gnss", 24.0)
    for time, error in errors.items():
        away = 50.0 * np.clip((time - 1.05) / 20, 0, 1) if time <= 23.05 else 0.0
        assert error[:3] == pytest.approx([away, 0, 0], rel=3e-4, abs=1e-3)


def test_noise_has_the_deviation_that_is_asked_for_beside_that_of_the_sensor() -> None:
    noise_of = "vehicles.drone.sensors.barometer.pressure_errors.noise"
    fault = {"sensor": "barometer", "fault": "noise", "noise": 4.0, "at": 20}
    sim, honest = flying({"rough": fault}, **{noise_of: 3.0}), flying({}, **{noise_of: 0.0})
    errors = channel_errors(sim, honest, "barometer", 60.0)
    before = np.array([error[0] for time, error in errors.items() if time <= 20])
    after = np.array([error[0] for time, error in errors.items() if time > 20])
    assert before.std() == pytest.approx(3.0, rel=0.1)
    assert after.std() == pytest.approx(5.0, rel=0.1)
    assert abs(np.corrcoef(after[1:], after[:-1])[0, 1]) < 0.1


def test_jamming_is_noise_that_grows_until_there_is_no_fix() -> None:
    faults = {
        "jam": {"sensor": "gnss", "fault": "noise", "noise": 30, "ramp": 10, "at": 0, "duration": 10},
        "jammed": {"sensor": "gnss", "fault": "outage", "at": 10},
    }
    found = readings(flying(faults), "gnss", 12.0)
    spread = [np.ptp([r[2] for t, r in found.items() if lo < t <= lo + 2]) for lo in (0, 8)]
    assert max(found) == pytest.approx(10.0)
    assert spread[1] > 2 * spread[0]


def test_several_faults_act_together() -> None:
    faults = {
        "one": {"sensor": "gnss", "fault": "offset", "offset": [0, 0, 10], "at": 0.15, "duration": 0.6},
        "two": {"sensor": "gnss", "fault": "offset", "offset": [0, 0, 5], "at": 0.35, "duration": 1.0},
        "stuck": {"sensor": "gnss", "fault": "frozen", "at": 1.45, "duration": 0.4},
        "silent": {"sensor": "gnss", "fault": "outage", "at": 1.65, "duration": 0.4},
    }
    sim, honest = flying(faults), flying({})
    wrong, right = readings(sim, "gnss", 2.5), readings(honest, "gnss", 2.5)
    off = [round(float(wrong[time][2] - right[time][2]), 6) for time in sorted(wrong) if time < 1.45]
    assert off == [0.0] * 2 + [10.0] * 2 + [15.0] * 4 + [5.0] * 6 + [0.0]
    late = {time: reading for time, reading in wrong.items() if time > 1.41}
    assert [round(time, 1) for time in late] == [1.5, 1.6, 2.1, 2.2, 2.3, 2.4, 2.5]
    assert np.array_equal(late[1.5], wrong[1.4])
    assert np.array_equal(late[1.6], wrong[1.4])


def test_what_together_means() -> None:
    ones = np.ones(CHANNELS)
    both = together([Fault(outage=True, offset=3 * ones, noise=3 * ones), Fault(offset=-ones, noise=4 * ones)])
    assert both.outage
    assert not both.frozen
    assert np.array_equal(both.offset, 2 * ones)
    assert np.array_equal(both.noise, 5 * ones)


def test_of_a_delayed_sensor_nothing_measured_in_an_outage_arrives_after_it() -> None:
    late = {"vehicles.drone.sensors.gnss.delay": 0.25}
    sim = flying({"out": {"sensor": "gnss", "fault": "outage", "at": 1.0, "duration": 1.0}}, **late)
    stamps = {}
    sim.bus.subscribe(
        "/drone/gnss",
        lambda topic, m, now: stamps.update({now / 1e9: m.header.stamp.sec + m.header.stamp.nanosec / 1e9}),
    )
    sim.run(until=3.0)
    assert max(time for time in stamps if time < 1.5) <= 1.0
    after = [(time, measured) for time, measured in stamps.items() if time > 1.0]
    assert after[0] == (pytest.approx(2.35), pytest.approx(2.1))
    assert all(time - measured == pytest.approx(0.25) for time, measured in stamps.items())


def test_a_frozen_sensor_with_a_delay_freezes_what_was_measured_last() -> None:
    late = {"vehicles.drone.sensors.gnss.delay": 0.25}
    faulty = flying({"stuck": {"sensor": "gnss", "fault": "frozen", "at": 1.0}}, **late)
    found, right = readings(faulty, "gnss", 2.0), readings(flying({}, **late), "gnss", 2.0)
    times = sorted(found)
    assert times == sorted(right)
    for time in times:
        assert np.array_equal(found[time], right[min(time, 1.25)])


@pytest.mark.parametrize("fault", ["outage", "frozen"])
def test_a_fault_from_the_start(fault: str) -> None:
    """An outage leaves nothing at all; what freezes needs a first reading."""
    sim = flying({"dead": {"sensor": "gnss", "fault": fault, "at": 0}})
    found = readings(sim, "gnss", 1.0)
    assert len(found) == (0 if fault == "outage" else 11)
    assert all(np.array_equal(one, other) for one, other in pairwise(found.values()))


def test_without_odometry_from_the_start_nothing_crashes() -> None:
    sim = flying({"blind": {"sensor": "odometry", "fault": "outage", "at": 0}})
    sim.run(until=3.0)
    assert np.isfinite(sim.vehicles["drone"].state).all()


def test_events_tell_of_beginning_and_end() -> None:
    faults = {
        "jam": {"vehicle": "drone", "sensor": "gnss", "fault": "outage", "at": 0, "duration": 0.5},
        "spoof": {"sensor": "gnss", "fault": "offset", "offset": [50, 0, 0], "ramp": 20, "at": 0.25},
    }
    sim = flying(faults)
    found = events(sim)
    sim.run(until=1.0)
    assert [event for event in found if "mode" not in event[2]] == [
        (0.0, "drone", "jam begins: gnss outage"),
        (0.25, "drone", "spoof begins: gnss offset [50.0, 0.0, 0.0], growing for 20 s"),
        (0.5, "drone", "jam ends"),
    ]


def all_kinds() -> dict[str, Any]:
    return {
        "drift": {"sensor": "odometry", "fault": "offset", "offset": [0.5, 0, 0], "ramp": 0.7, "at": 0.3},
        "rough": {"sensor": "odometry", "fault": "noise", "noise": 0.02, "at": 0.5, "duration": 1.0},
        "stuck": {"sensor": "odometry", "fault": "frozen", "at": 1.1, "duration": 0.05},
        "gone": {"sensor": "gnss", "fault": "outage", "at": 0.2},
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_runs_with_faults_are_equal_however_they_are_cut(engine: str) -> None:
    hashes = []
    for chunk in (2000, 1, 37):
        sim = flying(all_kinds(), engine)
        while sim.tick < 2000:
            sim.step(min(chunk, 2000 - sim.tick))
        hashes.append(sim.state_hash())
    sim.reset()
    sim.step(2000)
    assert {*hashes, sim.state_hash()} == {hashes[0]}
    assert flown_hash(flying({}, engine)) != hashes[0]


def flown_hash(sim: Simulation) -> str:
    sim.step(2000)
    return sim.state_hash()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fault_that_is_over_or_still_to_come_leaves_no_trace_of_its_own(engine: str) -> None:
    """Of a sensor that the flight stack does not read, so that the flight is the same."""
    faults = {
        "past": {"sensor": "gnss", "fault": "offset", "offset": 9.0, "at": 0.3, "duration": 0.2},
        "noisy": {"sensor": "gnss", "fault": "noise", "noise": 9.0, "at": 0.3, "duration": 0.2},
        "to_come": {"sensor": "imu", "fault": "frozen", "at": 3},
    }
    assert flown_hash(flying(faults, engine)) == flown_hash(flying({}, engine))


def test_reset_ends_faults() -> None:
    sim = flying({"gone": {"sensor": "gnss", "fault": "outage", "at": 0.5}})
    assert len(readings(sim, "gnss", 1.0)) == 6
    sim.reset()
    assert len(readings(sim, "gnss", 1.0)) == 6


@pytest.mark.parametrize("changes", [{}, {"mass": 1.1}], ids=["another vehicle comes", "this one changes too"])
def test_faults_survive_an_edit(changes: dict[str, Any]) -> None:
    faults = {
        "gone": {"sensor": "gnss", "fault": "outage", "at": 0.2, "duration": 1.0},
        "stuck": {"sensor": "barometer", "fault": "frozen", "at": 0.2},
        "high": {"sensor": "range", "fault": "offset", "offset": 2.0, "at": 0.2},
    }
    sim = flying(faults)
    sim.run(until=0.5)
    drone = sim.scenario.vehicles["drone"]
    other = drone.model_copy(update={"pose": drone.pose.model_copy(update={"position": (9.0, 9.0, 1.0)})})
    vehicles = {"other": other, "drone": drone.model_copy(update=changes)}
    sim.change(sim.scenario.model_copy(update={"vehicles": vehicles}))
    assert readings(sim, "gnss", 1.0) == {}
    pressures = readings(sim, "barometer", 1.2)
    assert len({tuple(reading) for reading in pressures.values()}) == 1
    vehicle = sim.vehicles["drone"]
    assert vehicle.readings["range"][0] > vehicle.position[2] + 1.5
    assert len(readings(sim, "gnss", 2.0)) == 8


def test_what_an_edit_takes_away_takes_its_faults_along() -> None:
    fault = {"vehicle": "*", "sensor": "range", "fault": "offset", "offset": [3], "ramp": 2, "at": 1.0, "duration": 3.0}
    sim = flying({"wrong": fault})
    found = events(sim)
    drone = sim.scenario.vehicles["drone"]
    without = drone.model_copy(update={"sensors": {"odometry": drone.sensors["odometry"]}})
    for until, vehicle in ((1.5, without), (4.5, drone)):
        sim.run(until=until)
        sim.change(sim.scenario.model_copy(update={"vehicles": {"drone": vehicle}}))
    sim.run(until=5.0)
    assert sim.vehicles["drone"].faulty == []
    sim.reset()
    sim.run(until=0.5)
    sim.change(sim.scenario.model_copy(update={"vehicles": {"other": drone}}))
    sim.run(until=5.0)
    assert [text for _, _, text in found if "wrong" in text] == ["wrong begins: range offset [3.0], growing for 2 s"]


def test_a_pattern_hits_those_who_have_the_sensor() -> None:
    vehicles = {
        "a": {"extends": "multirotor", "copies": {"count": 3, "spacing": 5}},
        "b": {"extends": "multirotor", "pose": {"position": [0, 9, 1]}},
        "ab": {"extends": "crazyflie2", "pose": {"position": [0, -9, 1]}},
    }
    sim = flying({"out": {"vehicle": "a*", "sensor": "gnss", "fault": "outage", "at": 0.55}}, vehicles=vehicles)
    found = events(sim)
    counts = dict.fromkeys(["a_0", "a_1", "a_2", "b"], 0)
    for name in counts:
        sim.bus.subscribe(f"/{name}/gnss", lambda topic, m, t, name=name: counts.update({name: counts[name] + 1}))
    sim.run(until=2.0)
    assert [source for _, source, text in found if "begins" in text] == ["a_0", "a_1", "a_2"]
    assert len({counts[name] for name in ("a_0", "a_1", "a_2")}) == 1
    assert counts["b"] > 3 * counts["a_0"]
