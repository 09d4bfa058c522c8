"""The rotor model, summed into one push and one damping matrix, against the equations rotor by rotor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from validation.case import ENGINES, body, rotor, simulate, the_body

from airloom.physics.rotor import cross_matrix, damping_per_speed, push_per_speed_squared
from airloom.scenario.models import Rotor

CENTER = np.array([0.01, -0.02, 0.03])


def random_rotor(random: np.random.Generator, turns: str) -> dict:
    return rotor(
        position=tuple(random.uniform(-0.3, 0.3, 3)), axis=tuple(random.normal(size=3)), turns=turns,
        drag_coefficient=random.uniform(0, 1e-3), rolling_moment_coefficient=random.uniform(0, 1e-4),
    )  # fmt: skip


def wrench(r: Rotor, speed: float, velocity: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """RotorS' equations: force and moment about the centre of mass, in the body."""
    axis = np.array(r.axis) / np.linalg.norm(r.axis)
    arm = np.array(r.position) - CENTER
    hub = velocity + np.cross(rates, arm)
    across = hub - hub @ axis * axis
    thrust = r.thrust_constant * speed**2 * axis
    force = thrust - speed * r.drag_coefficient * across
    turn = 1.0 if r.turns == "ccw" else -1.0
    moment = np.cross(arm, force) - turn * r.moment_constant * thrust - speed * r.rolling_moment_coefficient * across
    return np.concatenate([force, moment])


@pytest.mark.parametrize("turns", ["ccw", "cw"])
@pytest.mark.parametrize("seed", range(5))
def test_push_and_damping_are_the_rotor_model(seed: int, turns: str) -> None:
    random = np.random.default_rng(seed)
    r = Rotor.model_validate(random_rotor(random, turns))
    velocity, rates, speed = random.normal(0, 5, 3), random.normal(0, 3, 3), 700.0
    ours = speed**2 * push_per_speed_squared(r, CENTER)
    ours = ours - speed * damping_per_speed(r, CENTER) @ np.concatenate([velocity, rates])
    assert ours == pytest.approx(wrench(r, speed, velocity, rates))


def test_cross_matrix() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 3))
    assert cross_matrix(a) @ b == pytest.approx(np.cross(a, b))


@pytest.mark.parametrize("on", ENGINES)
def test_five_rotors_in_flight_add_up(on: str) -> None:
    """More than four rotors and not a multiple of four: the idle ones in the table must add nothing."""
    random = np.random.default_rng(11)
    rotors = {f"r{k}": random_rotor(random, "ccw" if k % 2 else "cw") for k in range(5)}
    velocity, rates, speeds = random.normal(0, 5, 3), random.normal(0, 3, 3), random.uniform(100, 900, 5)
    turn = Rotation.from_euler("ZYX", [0.4, -0.3, 0.2])
    vehicle = body(
        mass=2.0, rotors=rotors, center_of_mass=tuple(CENTER),
        pose={"position": (0, 0, 100), "roll": 0.2, "pitch": -0.3, "yaw": 0.4},
        motion={"velocity": tuple(velocity), "rates": tuple(rates)},
    )  # fmt: skip
    sim = simulate(vehicle, on, 1e-5 if on == "rk4" else 1e-6, {"gravity": 0.0})
    sim.state_hash()
    flying = the_body(sim)
    flying._speeds[:] = speeds
    flying.set_rotor_speeds(speeds)
    through_air = turn.inv().apply(velocity) + np.cross(rates, CENTER)
    total = sum(
        wrench(Rotor.model_validate(r), s, through_air, rates) for r, s in zip(rotors.values(), speeds, strict=True)
    )
    sim.step(1)
    angular = (flying.rates - rates) / (sim.step_ns * 1e-9)
    inertia = np.array([0.01, 0.02, 0.025])
    expected = (total[3:] - np.cross(rates, inertia * rates)) / inertia
    assert angular == pytest.approx(expected, rel=2e-3, abs=2e-3 * np.abs(expected).max())
    center = turn.apply(total[:3] / 2.0)
    origin = center - turn.apply(np.cross(expected, CENTER) + np.cross(rates, np.cross(rates, CENTER)))
    assert (flying.velocity - velocity) / (sim.step_ns * 1e-9) == pytest.approx(origin, rel=2e-3, abs=2e-2)


@pytest.mark.parametrize("on", ["rk4", "mujoco"])
@pytest.mark.parametrize(("command", "settled"), [(500.0, 500.0), (5000.0, 1000.0), (-300.0, 0.0)])
def test_speed_stays_within_its_limits(on: str, command: float, settled: float) -> None:
    sim = simulate(body(), on)
    the_body(sim).set_rotor_speeds([command])
    sim.run(until=2.0)
    assert the_body(sim).rotor_speeds[0] == pytest.approx(settled, abs=1e-9)


@pytest.mark.parametrize("turns", ["ccw", "cw"])
def test_a_ccw_rotor_turns_the_body_clockwise(turns: str) -> None:
    sim = simulate(body(rotors={"only": rotor(0.0, 0.0, turns)}), world={"gravity": 0.0})
    the_body(sim).set_rotor_speeds([600.0])
    sim.run(until=0.1)
    assert np.sign(the_body(sim).rates[2]) == (-1.0 if turns == "ccw" else 1.0)
    assert the_body(sim).velocity[2] > 0.0
