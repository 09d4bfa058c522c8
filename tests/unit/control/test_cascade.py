"""The controller for any multirotor: limits, large errors, tuning in flight, airframes it cannot fly."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest
from validation.case import body, rotor, simulate

import airloom as al
from airloom.commands import CommandError
from airloom.scenario import ScenarioError
from airloom.simulation import Simulation


def drone(vehicle: str = "x500", height: float = 20.0, **changes: Any) -> Simulation:
    start = {"extends": vehicle, "pose": {"position": [0, 0, height]}}
    calm = {"world.wind": [0, 0, 0], "world.obstacles": {}, "systems": {}, "engine": "batch"}
    return Simulation.load("waypoints", overrides={"vehicles.drone": start, **calm, **changes})


def fly(sim: Simulation, until: float, every: int = 10) -> np.ndarray:
    """States, every few ticks."""
    states = []
    while sim.time < until - 1e-9:
        sim.step(every)
        states.append(sim.vehicles["drone"].state)
    return np.array(states)


def tilts(states: np.ndarray) -> np.ndarray:
    """Angle between body z and the vertical."""
    return np.arccos(np.clip(1.0 - 2.0 * (states[:, 4] ** 2 + states[:, 5] ** 2), -1.0, 1.0))


def test_rotors_stand_still_until_the_first_command() -> None:
    sim = drone(height=0.05)
    sim.run(until=1.0)
    assert not sim.vehicles["drone"].armed
    assert np.all(sim.vehicles["drone"].rotor_speeds == 0.0)


def test_a_far_setpoint_is_approached_with_limited_speed_and_tilt() -> None:
    sim = drone(**{"vehicles.drone.controller": {"kind": "cascade", "max_speed": 3.0, "max_tilt": 0.3}})
    sim.vehicles["drone"].command(al.PositionYaw((60, 0, 20)))
    states = fly(sim, 40.0)
    assert 2.5 < np.linalg.norm(states[:, 7:10], axis=1).max() < 3.6
    assert tilts(states).max() < 0.36
    assert states[-1, :3] == pytest.approx([60, 0, 20], abs=0.1)


def test_overshoot_is_small() -> None:
    sim = drone()
    sim.vehicles["drone"].command(al.PositionYaw((2, 0, 20)))
    assert fly(sim, 15.0)[:, 0].max() < 2.3


@pytest.mark.parametrize("yaw", [0.5, 3.0, -3.0, 4.0, 10.0])
def test_yaw_turns_the_short_way(yaw: float) -> None:
    sim = drone()
    sim.vehicles["drone"].command(al.PositionYaw((0, 0, 20), yaw))
    angles = []
    while sim.time < 10.0:
        sim.step(20)
        angles.append(sim.vehicles["drone"].euler[2])
    turned = np.unwrap(angles)
    short = np.angle(np.exp(1j * yaw))
    assert turned[-1] == pytest.approx(short, abs=1e-3)
    assert np.abs(turned).max() < abs(short) + 0.3


@pytest.mark.parametrize("turned", [{"roll": 3.0}, {"pitch": 1.4}, {"roll": -2.0, "pitch": 1.0, "yaw": 2.0}])
@pytest.mark.parametrize("vehicle", ["x500", "hexarotor"])
def test_it_recovers_from_any_attitude(vehicle: str, turned: dict[str, float]) -> None:
    start = {"extends": vehicle, "pose": {"position": [0, 0, 60], **turned}}
    sim = drone(**{"vehicles.drone": start})
    sim.vehicles["drone"].command(al.PositionYaw((0, 0, 60)))
    states = fly(sim, 30.0)
    assert states[:, 2].min() > 20.0
    assert states[-1, :3] == pytest.approx([0, 0, 60], abs=0.1)


def test_velocity_and_acceleration_are_fed_forward() -> None:
    """A moving setpoint with its derivatives is followed closely; without them it is chased."""
    errors = []
    for known in (True, False):
        sim = drone()
        flying, distance = sim.vehicles["drone"], []
        for k in range(1000):
            t = 0.02 * k
            velocity = (2 * np.cos(t), 0, 0) if known else (0, 0, 0)
            acceleration = (-2 * np.sin(t), 0, 0) if known else (0, 0, 0)
            flying.command(al.PositionYaw((2 * np.sin(t), 0, 20), 0.0, velocity, acceleration))
            sim.step(20)
            distance.append(abs(flying.position[0] - 2 * np.sin(sim.time)))
        errors.append(max(distance[300:]))
    assert errors[0] < 0.25 * errors[1]


def test_the_position_loop_has_the_frequency_it_is_given() -> None:
    """Critically damped with ω and an integral of 0, a metre is half gone when (1 + ωt) e^(−ωt) = ½."""
    sim = drone(**{"vehicles.drone.controller": {"kind": "cascade", "position_frequency": 0.8, "integral": 0.0}})
    sim.vehicles["drone"].command(al.PositionYaw((1, 0, 20)))
    states = fly(sim, 10.0)
    half = 0.01 * (1 + np.argmax(states[:, 0] > 0.5))
    assert half == pytest.approx(1.6783 / 0.8, rel=0.12)


def test_gains_change_in_flight() -> None:
    sim = drone()
    flying = sim.vehicles["drone"]
    flying.command(al.PositionYaw((5, 0, 20)))
    flying.tune(max_tilt=0.05)
    assert flying.gains["max_tilt"] == 0.05
    assert tilts(fly(sim, 5.0)).max() < 0.08


@pytest.mark.parametrize(
    "changes", [{"max_tilt": 2.0}, {"max_tild": 0.1}, {"rate": 100.0}, {"position_frequency": -1.0}]
)
def test_nonsense_gains_are_refused(changes: dict[str, float]) -> None:
    sim = drone()
    before = sim.vehicles["drone"].gains
    with pytest.raises(CommandError):
        sim.vehicles["drone"].tune(**changes)
    assert sim.vehicles["drone"].gains == before


def with_rotors(rotors: dict[str, Any], mass: float = 1.0) -> dict[str, Any]:
    return body(rotors=rotors, mass=mass, controller={"kind": "cascade", "rate": 125})


def test_a_vehicle_without_authority_is_refused() -> None:
    same_way = {f"r{k}": rotor(x, y, "ccw", moment_constant=0.0) for k, (x, y) in enumerate([(1, 1), (-1, 1), (0, -1)])}
    with pytest.raises(ScenarioError, match="all three torques"):
        simulate(with_rotors(same_way))


def test_a_vehicle_too_heavy_to_fly_is_refused() -> None:
    quad = {
        f"r{k}": rotor(x, y, turns)
        for k, (x, y, turns) in enumerate([(1, 1, "cw"), (-1, 1, "ccw"), (-1, -1, "cw"), (1, -1, "ccw")])
    }
    with pytest.raises(ScenarioError, match="cannot fly"):
        simulate(with_rotors(quad, mass=10.0))


@pytest.mark.parametrize("controller", ["cascade", "modes"])
def test_a_vehicle_that_could_only_just_hover_is_told_how_much_it_lacks(controller: str) -> None:
    heavy = {"vehicles.drone.mass": 3.2, "vehicles.drone.controller": controller}
    with pytest.raises(ScenarioError, match=r"lift 34.2 N, .* weighs 31.4 N: to be steered it needs 34.5 N, 10 % more"):
        drone("multirotor", **heavy)


def test_hover_speed_is_that_of_the_weight() -> None:
    frame = drone().vehicles["drone"].airframe
    assert frame.hover_speed == pytest.approx(sqrt(2.0643076 * 9.80665 / (4 * 8.54858e-6)))
    assert frame.mixer.shape == (4, 4)
    assert frame.allocation @ frame.mixer == pytest.approx(np.eye(4), abs=1e-9)
