"""Newton and Euler against a momentum balance, the drag, the pushes, and the order of the integrators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from validation.case import ENGINES, body, simulate, the_body
from validation.rigid_body import NO_GRAVITY, spinning

from airloom.simulation import Simulation

INERTIA = {"xx": 0.02, "yy": 0.03, "zz": 0.04, "xy": 0.003, "xz": -0.002, "yz": 0.004}
MATRIX = np.array([[0.02, 0.003, -0.002], [0.003, 0.03, 0.004], [-0.002, 0.004, 0.04]])
CENTER = np.array([0.05, -0.03, 0.02])


def lopsided(**changes: Any) -> dict[str, Any]:
    """Its centre of mass is off the origin and its axes are not the principal ones."""
    return body(inertia=INERTIA, mass=2.0, center_of_mass=tuple(CENTER), **changes)


def rate_of_change(sim: Simulation, dt: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of origin (world) and rates (body) over the first ticks."""
    before = the_body(sim).state
    sim.step(1)
    change = (the_body(sim).state - before) / dt
    return change[7:10], change[10:13]


@pytest.mark.parametrize("on", ENGINES)
def test_force_and_torque_accelerate_an_offset_body(on: str) -> None:
    """The centre accelerates with F/m − g; ω̇ = J⁻¹ (τ − ω × J ω); the origin follows from both."""
    rates, turn = np.array([1.0, -2.0, 1.5]), Rotation.from_euler("ZYX", [0.4, -0.3, 0.2])
    force, torque = np.array([1.0, -2.0, 3.0]), np.array([0.02, 0.01, -0.03])
    pose = {"position": (0, 0, 100), "roll": 0.2, "pitch": -0.3, "yaw": 0.4}
    sim = simulate(lopsided(pose=pose, motion={"rates": tuple(rates)}), on, 1e-4)
    sim.state_hash()
    the_body(sim).push(force, torque)
    acceleration, angular = rate_of_change(sim)
    exact_angular = np.linalg.solve(MATRIX, torque - np.cross(rates, MATRIX @ rates))
    offset = np.cross(exact_angular, CENTER) + np.cross(rates, np.cross(rates, CENTER))
    exact = force / 2.0 - (0, 0, 9.80665) - turn.apply(offset)
    assert angular == pytest.approx(exact_angular, abs=2e-3)
    assert acceleration == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize("on", ENGINES)
def test_the_centre_of_mass_of_a_tumbling_body_falls_straight(on: str) -> None:
    sim = simulate(lopsided(motion={"rates": (1.0, 2.0, -1.0)}), on, 0.001)
    start, velocity = the_body(sim).position + CENTER, np.cross((1.0, 2.0, -1.0), CENTER)
    sim.run(until=2.0)
    state = the_body(sim).state
    center = state[:3] + Rotation.from_quat(state[3:7], scalar_first=True).apply(CENTER)
    expected = start + 2.0 * velocity - np.array([0, 0, 0.5 * 9.80665 * 4.0])
    assert center == pytest.approx(expected, abs=1e-8 if on == "rk4" else 0.02)


@pytest.mark.parametrize("on", ENGINES)
def test_a_push_is_in_the_world_and_a_twist_in_the_body(on: str) -> None:
    sim = simulate(body(mass=2.0, pose={"position": (0, 0, 100), "yaw": np.pi / 2}), on, world=NO_GRAVITY)
    vehicle = the_body(sim)
    vehicle.push(force=(2.0, 0, 0))
    sim.run(until=1.0)
    assert vehicle.velocity == pytest.approx([1.0, 0, 0], abs=1e-9)
    vehicle.push(torque=(0.001, 0, 0))
    sim.run(until=2.0)
    assert vehicle.rates == pytest.approx([0.1, 0, 0], abs=1e-9)
    vehicle.push()
    sim.run(until=3.0)
    assert vehicle.velocity == pytest.approx([1.0, 0, 0], abs=1e-9)


@pytest.mark.parametrize("on", ENGINES)
def test_wind_drags_a_body_along(on: str) -> None:
    """ẋ = U − 1/(1/U + c t/m) for a body that starts at rest in a wind U."""
    sim = simulate(body(mass=1.0, drag=0.1), on, world={**NO_GRAVITY, "wind": (3.0, 4.0, 0.0)})
    sim.run(until=5.0)
    speed = 5.0 - 1.0 / (1.0 / 5.0 + 0.1 * 5.0)
    assert the_body(sim).velocity == pytest.approx([0.6 * speed, 0.8 * speed, 0.0], abs=1e-9 if on == "rk4" else 2e-3)


@pytest.mark.parametrize("on", ENGINES)
def test_the_wind_can_change_in_flight(on: str) -> None:
    sim = simulate(body(drag=0.1), on, world=NO_GRAVITY)
    the_body(sim).set_wind((0, 0, 5.0))
    sim.run(until=1.0)
    assert the_body(sim).velocity[2] > 0.4


def spin_error(on: str, step: float) -> float:
    """Of the rates after 8 s, against a run with a step so fine that it counts as exact."""
    fast = spinning((0.01, 0.02, 0.025), (20.0, 1.0, 15.0))
    ends = []
    for h in (step, 0.00025):
        sim = simulate(fast, on, h, NO_GRAVITY)
        sim.run(until=0.8)
        ends.append(the_body(sim).rates)
    return float(np.linalg.norm(ends[0] - ends[1]))


def test_rk4_is_of_fourth_order() -> None:
    assert np.log2(spin_error("rk4", 0.008) / spin_error("rk4", 0.004)) == pytest.approx(4.0, abs=0.3)


def test_euler_is_of_first_order() -> None:
    ratio = spin_error("euler", 0.004) / spin_error("euler", 0.002)
    assert np.log2(ratio) == pytest.approx(1.0, abs=0.35)


@pytest.mark.parametrize("on", ENGINES)
def test_a_vehicle_can_be_placed_elsewhere(on: str) -> None:
    sim = simulate(body(), on)
    sim.step(10)
    the_body(sim).place((1, 2, 300), yaw=0.5, velocity=(1, 0, 0))
    sim.step(1)
    assert the_body(sim).position == pytest.approx([1.001, 2, 300], abs=1e-4)
    assert the_body(sim).euler == pytest.approx([0, 0, 0.5])


@pytest.mark.parametrize("on", ENGINES)
def test_quaternions_stay_of_length_one(on: str) -> None:
    sim = simulate(spinning((0.01, 0.02, 0.025), (20.0, 1.0, 15.0)), on, world=NO_GRAVITY)
    sim.run(until=5.0)
    assert np.linalg.norm(the_body(sim).attitude) == pytest.approx(1.0, abs=1e-14)
