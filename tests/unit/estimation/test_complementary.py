"""The complementary filter against the same filter written in plain Python, and its good and bad habits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from validation.case import body, simulate, the_body

import airloom as al
from airloom.basics.rotations import euler_from_quaternion
from airloom.simulation import Simulation

NOISY = {
    "gyroscope": {"noise": 0.02, "bias": [0.03, -0.02, 0.05]},
    "accelerometer": {"noise": 0.1},
}


def parked(imu: dict[str, Any], **changes: Any) -> Simulation:
    """On the ground with an IMU at 250 Hz and the filter."""
    sensors = {"odometry": {"kind": "odometry", "rate": 250}, "imu": {"kind": "imu", "rate": 250, **imu}}
    start = {"pose": {"position": (0, 0, 0.05)}, "estimator": {"kind": "complementary", "rate": 250}}
    return simulate(body(**(start | changes), sensors=sensors), step=0.004)


class Mahony:
    """Proportional and integral correction by the accelerometer (Mahony et al. 2008), 2Kp 0.8, 2Ki 0.002."""

    def __init__(self, attitude: np.ndarray) -> None:
        self.q, self.integral, self.bias, self.count = attitude.copy(), np.zeros(3), np.zeros(3), 0

    def take(self, gyro: np.ndarray, force: np.ndarray, armed: bool, dt: float = 0.004) -> None:
        if not armed:
            self.count += 1
            self.bias += (gyro - self.bias) / self.count
        w, x, y, z = self.q
        up = np.array([x * z - w * y, w * x + y * z, w * w - 0.5 + z * z])  # half of gravity's direction in the body
        error = np.cross(force / np.linalg.norm(force), up)
        self.integral += 0.002 * error * dt
        p, q, r = gyro - self.bias + 0.8 * error + self.integral
        turn = np.array([[0, -p, -q, -r], [p, 0, r, -q], [q, -r, 0, p], [r, q, -p, 0]])
        self.q = self.q + 0.5 * dt * turn @ self.q
        self.q /= np.linalg.norm(self.q)


@pytest.mark.parametrize("armed", [False, True])
def test_it_is_mahonys_filter(armed: bool) -> None:
    sim = parked(NOISY)
    vehicle = the_body(sim)
    plain, estimates, expected = Mahony(vehicle.attitude), [], []

    def take(topic: Any, message: Any, time_ns: int) -> None:
        a, g = message.linear_acceleration, message.angular_velocity
        plain.take(np.array([g.x, g.y, g.z]), np.array([a.x, a.y, a.z]), armed)
        expected.append(plain.q.copy())
        estimates.append(vehicle.estimate.attitude)

    sim.bus.subscribe("/body/imu", take)
    if armed:
        vehicle.command(al.PositionYaw((0, 0, 0)))
    sim.step(1000)
    assert len(expected) == 1001
    assert np.array(estimates) == pytest.approx(np.array(expected), abs=1e-12)


def test_the_gyroscopes_bias_is_found_while_unarmed() -> None:
    sim = parked(NOISY)
    sim.run(until=20.0)
    rates = the_body(sim).estimate.rates - the_body(sim).readings["imu"][:3]
    assert rates == pytest.approx([-0.03, 0.02, -0.05], abs=2e-3)


def test_roll_and_pitch_are_held_and_yaw_drifts() -> None:
    """Armed at once the bias is not known: 0.05 rad/s turn the estimate by 1 rad in 20 s about z, not about x and y."""
    sim = parked({"gyroscope": {"bias": [0.03, -0.02, 0.05]}})
    the_body(sim).command(al.PositionYaw((0, 0, 0)))
    sim.run(until=20.0)
    roll, pitch, yaw = euler_from_quaternion(the_body(sim).estimate.attitude)
    assert yaw == pytest.approx(1.0, abs=0.15)
    assert np.hypot(roll, pitch) < 0.15


def test_position_and_velocity_come_from_odometry() -> None:
    sim = parked({}, pose={"position": (1, 2, 300)}, motion={"velocity": (1, 0, 2)})
    sim.run(until=1.0)
    vehicle = the_body(sim)
    assert vehicle.estimate.position == pytest.approx(vehicle.position)
    assert vehicle.estimate.velocity == pytest.approx(vehicle.velocity)
