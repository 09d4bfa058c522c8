"""Wanted thrust and torque → rotor speeds → the same thrust and torque."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.control.mixer import WANT_THRUST, WANT_X, WANT_Y, WANT_Z, mix
from airloom.simulation import Simulation

VEHICLES = ["x500", "iris", "hexarotor", "quad_plus", "multirotor"]


def mixed(vehicle: str, thrust: float, torque: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Body thrust and torques that the mixer's speeds give, and the speeds."""
    sim = Simulation.load("waypoints", overrides={"vehicles.drone": {"extends": vehicle}})
    frame, lane = sim.vehicles["drone"].airframe, sim.vehicles["drone"].place_in_blocks[1]
    w, rotors = sim.fleet.flight.blocks[0], sim.fleet.flight.rotors[0]
    for first, value in zip((WANT_THRUST, WANT_X, WANT_Y, WANT_Z), (thrust, *torque), strict=True):
        w[first : first + LANES] = value
    mix(w, rotors)
    speeds = rotors.reshape(-1, row.ROTOR_WIDTH)[: len(frame.rotors), row.TARGET + lane]
    limited = np.minimum(speeds, [r.max_speed for r in frame.rotors])
    return frame.allocation @ ([r.thrust_constant for r in frame.rotors] * limited**2), speeds


@pytest.mark.parametrize("vehicle", VEHICLES)
@pytest.mark.parametrize("torque", [(0.0, 0.0, 0.0), (0.2, -0.1, 0.02), (-0.3, 0.3, -0.03)])
def test_what_is_wanted_is_what_comes_out(vehicle: str, torque: tuple[float, float, float]) -> None:
    wrench, _ = mixed(vehicle, 15.0, torque)
    assert wrench == pytest.approx([15.0, *torque], abs=1e-9)


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_yaw_is_given_up_before_roll_and_pitch(vehicle: str) -> None:
    wrench, _ = mixed(vehicle, 15.0, (0.2, -0.1, 50.0))
    assert wrench[:3] == pytest.approx([15.0, 0.2, -0.1], abs=1e-9)
    assert 0.0 < wrench[3] < 50.0


def test_rotors_never_turn_backwards() -> None:
    _, speeds = mixed("x500", 0.1, (5.0, 5.0, 1.0))
    assert np.all(speeds >= 0.0)
    assert np.isfinite(speeds).all()


def most_torque(vehicle: str, axis: int) -> float:
    """About one axis, with whatever thrust."""
    sim = Simulation.load("waypoints", overrides={"vehicles.drone": {"extends": vehicle}})
    frame = sim.vehicles["drone"].airframe
    ratios = frame.mixer[:, axis] / frame.mixer[:, 0]
    return float(np.min((frame.max_thrusts / frame.mixer[:, 0]) / np.maximum(ratios - ratios.min(), 1e-12)))


@pytest.mark.parametrize("vehicle", VEHICLES)
@pytest.mark.parametrize("thrust", [0.0, 0.3, 30.0, 1000.0])
def test_thrust_makes_room_for_roll_and_pitch(vehicle: str, thrust: float) -> None:
    """Too little or too much thrust for these torques: they come whole, with the thrust that is nearest."""
    torque = (0.45 * most_torque(vehicle, 1), -0.3 * most_torque(vehicle, 2))
    wrench, speeds = mixed(vehicle, thrust, (*torque, 0.0))
    assert wrench[1:3] == pytest.approx(torque, rel=1e-9)
    frame = Simulation.load("waypoints", overrides={"vehicles.drone": {"extends": vehicle}}).vehicles["drone"].airframe
    thrusts = np.array([r.thrust_constant for r in frame.rotors]) * speeds**2
    least = -np.min((frame.mixer[:, 1] * torque[0] + frame.mixer[:, 2] * torque[1]) / frame.mixer[:, 0])
    if thrust < least:
        assert wrench[0] == pytest.approx(least)
        assert thrusts.min() == pytest.approx(0.0, abs=1e-9)
    elif wrench[0] < thrust - 1e-9:
        assert np.max(thrusts / frame.max_thrusts) == pytest.approx(1.0)
    assert np.all(thrusts <= frame.max_thrusts * (1 + 1e-12))


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_roll_and_pitch_that_no_thrust_allows_shrink_together(vehicle: str) -> None:
    wrench, _ = mixed(vehicle, 15.0, (500.0, -200.0, 3.0))
    assert wrench[1] / wrench[2] == pytest.approx(-2.5)
    assert 0.3 * most_torque(vehicle, 1) < wrench[1] < 500.0


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_yaw_has_what_is_left_where_thrust_gives_way(vehicle: str) -> None:
    roll = 0.6 * most_torque(vehicle, 1)
    without, _ = mixed(vehicle, 1000.0, (roll, 0.0, 0.0))
    wrench, _ = mixed(vehicle, 1000.0, (roll, 0.0, 5.0))
    assert wrench[:3] == pytest.approx(without[:3], rel=1e-9)
    assert wrench[3] < 5.0
