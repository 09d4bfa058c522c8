"""Each sensor by hand: what it must read, where it sits, how it is turned."""

from __future__ import annotations

from math import inf, pi, radians
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from validation.case import ENGINES, body, simulate, the_body

from airloom.plugin import find
from airloom.simulation import Simulation
from airloom.world.atmosphere import air_pressure, air_temperature
from airloom.world.geodesy import local_to_geodetic, sphere_to_geodetic

ANGLES = {"roll": 0.2, "pitch": -0.3, "yaw": 0.7}
MOUNT = {"position": (0.1, -0.2, 0.3), "roll": 0.5, "pitch": 0.4, "yaw": -0.6}
VELOCITY, RATES = np.array([1.0, -2.0, 0.5]), np.array([0.3, -0.2, 0.9])
POSITION = np.array([10.0, 20.0, 30.0])
TURN = Rotation.from_euler("ZYX", [0.7, -0.3, 0.2])
MOUNTED = Rotation.from_euler("ZYX", [-0.6, 0.4, 0.5])


def reading(sensor: dict[str, Any], world: dict[str, Any] | None = None, **changes: Any) -> np.ndarray:
    """The first reading of a sensor on a moving, turned vehicle."""
    start = {
        "pose": {"position": tuple(POSITION), **ANGLES},
        "motion": {"velocity": tuple(VELOCITY), "rates": tuple(RATES)},
    }
    sensors = {"odometry": {"kind": "odometry", "rate": 125}, "probe": {"rate": 125, **sensor}}
    sim = simulate(body(**(start | changes), sensors=sensors), world=world)
    sim.state_hash()
    return the_body(sim).readings["probe"]


def test_odometry_is_that_of_its_own_place_and_axes() -> None:
    found = reading({"kind": "odometry", **MOUNT})
    arm = np.array(MOUNT["position"])
    velocity = VELOCITY + TURN.apply(np.cross(RATES, arm))
    assert found[:3] == pytest.approx(POSITION + TURN.apply(arm))
    assert abs(found[3:7] @ (TURN * MOUNTED).as_quat(scalar_first=True)) == pytest.approx(1.0)
    assert found[7:10] == pytest.approx((TURN * MOUNTED).inv().apply(velocity))
    assert found[10:13] == pytest.approx(MOUNTED.inv().apply(RATES))


def test_odometry_attitude_error_is_a_small_rotation() -> None:
    found = reading({"kind": "odometry", "attitude_errors": {"bias": [0.01, -0.02, 0.03]}})
    error = TURN.inv() * Rotation.from_quat(found[3:7], scalar_first=True)
    assert error.as_rotvec() == pytest.approx([0.01, -0.02, 0.03])
    assert np.linalg.norm(found[3:7]) == pytest.approx(1.0)


def test_gnss_on_wgs84_and_on_a_sphere() -> None:
    world = {"origin": {"latitude": 10.0, "longitude": 20.0, "altitude": 100.0}}
    where = POSITION + TURN.apply((0.1, 0.0, 0.0))
    for earth, convert in (("wgs84", local_to_geodetic), ("sphere", sphere_to_geodetic)):
        found = reading({"kind": "gnss", "earth": earth, "position": (0.1, 0, 0)}, world)
        latitude, longitude, altitude = convert(*where, radians(10.0), radians(20.0), 100.0)
        assert found[:3] == pytest.approx([np.degrees(latitude), np.degrees(longitude), altitude], abs=1e-12)
        assert found[3:6] == pytest.approx(VELOCITY + TURN.apply(np.cross(RATES, (0.1, 0, 0))))


def test_gnss_errors_are_in_metres() -> None:
    world = {"origin": {"latitude": 60.0, "longitude": 20.0, "altitude": 0.0}}
    level = {"pose": {"position": (0, 0, 0)}, "motion": {}}
    true = reading({"kind": "gnss"}, world, **level)
    off = reading({"kind": "gnss", "position_errors": {"bias": [10.0, 0.0, 3.0]}}, world, **level)
    east = radians(off[1] - true[1]) * 6378137.0 * np.cos(radians(60.0))
    assert east == pytest.approx(10.0, rel=4e-3)
    assert off[0] == pytest.approx(true[0], abs=1e-9)
    assert off[2] - true[2] == pytest.approx(3.0, abs=1e-4)


def test_barometer_reads_the_air_where_it_sits() -> None:
    world = {"pressure": 100_000.0, "temperature": 300.0, "origin": {"altitude": 500.0}}
    altitude = 500.0 + (POSITION + TURN.apply((0, 0, 2.0)))[2]
    found = reading({"kind": "barometer", "position": (0, 0, 2.0)}, world)
    assert found == pytest.approx([air_pressure(altitude, 100_000.0, 300.0), air_temperature(altitude, 300.0)])


def test_magnetometer_reads_the_field_in_its_axes() -> None:
    field = (1e-5, -2e-5, 4e-5)
    found = reading({"kind": "magnetometer", **MOUNT}, {"magnetic_field": field})
    assert found == pytest.approx((TURN * MOUNTED).inv().apply(field))


@pytest.mark.parametrize("on", ENGINES)
def test_imu_at_rest_reads_gravity_upwards(on: str) -> None:
    sensors = {"odometry": {"kind": "odometry", "rate": 125}, "imu": {"kind": "imu", "rate": 125, **MOUNT}}
    sim = simulate(body(pose={"position": (0, 0, 0.05)}, sensors=sensors), on)
    sim.run(until=3.0)
    found = the_body(sim).readings["imu"]
    assert found[:3] == pytest.approx([0, 0, 0], abs=1e-6)
    assert found[3:] == pytest.approx(MOUNTED.inv().apply((0, 0, 9.80665)), abs=2e-3)


@pytest.mark.parametrize("on", ENGINES)
def test_imu_in_free_fall_reads_nothing_and_under_a_push_the_push(on: str) -> None:
    sensors = {"odometry": {"kind": "odometry", "rate": 125}, "imu": {"kind": "imu", "rate": 125}}
    sim = simulate(body(mass=2.0, sensors=sensors), on)
    sim.run(until=0.08)
    assert the_body(sim).readings["imu"] == pytest.approx(np.zeros(6), abs=1e-6)
    the_body(sim).push(force=(1.0, -2.0, 3.0))
    sim.run(until=0.16)
    assert the_body(sim).readings["imu"][3:] == pytest.approx([0.5, -1.0, 1.5], abs=1e-6)


def rangefinder(height: float, world: dict[str, Any] | None = None, **mount: Any) -> float:
    level = {"pose": {"position": (0, 0, height)}, "motion": {}}
    return float(reading({"kind": "rangefinder", "max_distance": 20.0, **mount}, world, **level)[0])


def test_rangefinder_looks_down_unless_turned() -> None:
    assert rangefinder(7.0) == pytest.approx(7.0)
    assert rangefinder(7.0, position=(0, 0, -0.5)) == pytest.approx(6.5)
    assert rangefinder(7.0, {"terrain": {"kind": "plane", "height": 2.0}}) == pytest.approx(5.0)
    assert rangefinder(7.0, pitch=pi / 4) == pytest.approx(7.0 * np.sqrt(2))


@pytest.mark.parametrize(("height", "found"), [(0.04, -inf), (0.06, 0.06), (19.9, 19.9), (20.1, inf), (500.0, inf)])
def test_rangefinder_out_of_range_is_infinite(height: float, found: float) -> None:
    assert rangefinder(height) == pytest.approx(found)


def test_rangefinder_sees_nothing_above() -> None:
    assert rangefinder(7.0, pitch=-pi / 2) == inf


def test_rangefinder_sees_the_nearest_obstacle() -> None:
    boxes = {
        "near": {"shape": "box", "size": (1, 1, 1), "position": (0, 0, 2.5)},
        "far": {"shape": "sphere", "size": (2, 2, 2), "position": (0, 0, 1.0)},
    }
    assert rangefinder(7.0, {"obstacles": boxes}) == pytest.approx(4.0)
    del boxes["near"]
    assert rangefinder(7.0, {"obstacles": boxes}) == pytest.approx(5.0)


def test_noise_can_differ_between_axes() -> None:
    imu = {"kind": "imu", "rate": 500, "accelerometer": {"noise": [0.1, 0.2, 0.3]}}
    sensors = {"odometry": {"kind": "odometry", "rate": 125}, "imu": imu}
    sim = simulate(body(sensors=sensors), step=0.002, world={"gravity": 0.0})
    found: list[list[float]] = []

    def take(topic: Any, message: Any, time_ns: int) -> None:
        a = message.linear_acceleration
        found.append([a.x, a.y, a.z])

    sim.bus.subscribe("/body/imu", take)
    sim.step(5000)
    assert np.std(found, axis=0) == pytest.approx([0.1, 0.2, 0.3], rel=0.05)


def test_the_kernel_in_the_loop_is_the_kernel_called_by_hand() -> None:
    """The long records of the validation are taken by calling the kernel; the loop must read the same."""
    from validation.sensors import mpu9250, parked_record

    imu = mpu9250()
    sim: Simulation = simulate(
        body(pose={"position": (0, 0, 0.05)}, sensors={"odometry": {"kind": "odometry"}, "imu": imu})
    )
    sim.reset(1)
    found: list[float] = []
    sim.bus.subscribe("/body/imu", lambda topic, message, time_ns: found.append(message.angular_velocity.x))
    sim.step(200)
    assert found == pytest.approx(parked_record(imu, 0.5)[: len(found), 0], abs=1e-12)
    assert len(found) == 101


def told(kind: str, **parameters: Any) -> Any:
    """A message of a sensor at 100 Hz."""
    sensor = find("sensor", kind)
    made = sensor("probe", "cf", 100.0, sensor.Parameters(**parameters))
    return made.template().message(0, np.zeros(made.template().width))


WHITE = {"noise_density": [0.1, 0.2, 0.3]}
OF_WHITE = np.diag([1.0, 4.0, 9.0])
"""(n √f)²"""


def test_messages_tell_the_variances_of_their_errors() -> None:
    found = told("imu", gyroscope=WHITE, accelerometer={"noise": 0.5, "turn_on_bias": 1.0})
    assert found.orientation_covariance[0] == -1.0
    assert found.angular_velocity_covariance.reshape(3, 3) == pytest.approx(OF_WHITE)
    assert found.linear_acceleration_covariance.reshape(3, 3) == pytest.approx(1.25 * np.eye(3))
    found = told("gnss", position_errors=WHITE)
    assert found.position_covariance.reshape(3, 3) == pytest.approx(OF_WHITE)
    assert found.position_covariance_type == found.COVARIANCE_TYPE_DIAGONAL_KNOWN
    found = told("magnetometer", field_errors=WHITE)
    assert found.magnetic_field_covariance.reshape(3, 3) == pytest.approx(OF_WHITE)
    assert told("barometer", pressure_errors={"noise": 3.0}).variance == 9.0
    assert told("rangefinder", distance_errors={"noise": 0.5}).variance == 0.25


def test_odometry_tells_the_variances_of_pose_and_motion() -> None:
    quantities = ("position", "attitude", "velocity", "rate")
    found = told("odometry", **{f"{key}_errors": {"noise": k} for k, key in enumerate(quantities, 1)})
    pose, twist = found.pose.covariance.reshape(6, 6), found.twist.covariance.reshape(6, 6)
    assert pose == pytest.approx(np.diag([1.0] * 3 + [4.0] * 3))
    assert twist == pytest.approx(np.diag([9.0] * 3 + [16.0] * 3))


def test_odometry_is_of_the_base_unless_it_is_mounted_elsewhere() -> None:
    found = told("odometry")
    assert (found.header.frame_id, found.child_frame_id) == ("world", "cf/base_link")
    assert told("odometry", **MOUNT).child_frame_id == "cf/probe"
