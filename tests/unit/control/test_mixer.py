"""Wanted thrust and torque → rotor speeds → the same thrust and torque."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.control.mixer import WANT_THRUST, WANT_X, WANT_Y, WANT_Z, mix
from airloom.physics.rows import LANES, ROTOR_WIDTH, TARGET
from airloom.simulation import Simulation

VEHICLES = ["x500", "iris", "hexarotor", "quad_plus", "multirotor"]


def mixed(vehicle: str, thrust: float, torque: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Body thrust and torques that the mixer's speeds give, and the speeds."""
    sim = Simulation.load("waypoints", overrides={"vehicles.drone": {"extends": vehicle}})
    frame, lane = sim.vehicles["drone"].airframe, sim.vehicles["drone"].place_in_blocks[1]
    w, rotors = sim.fleet.flight.blocks[0], sim.fleet.flight.rotors[0]
    for row, value in zip((WANT_THRUST, WANT_X, WANT_Y, WANT_Z), (thrust, *torque), strict=True):
        w[row : row + LANES] = value
    mix(w, rotors)
    speeds = rotors.reshape(-1, ROTOR_WIDTH)[: len(frame.rotors), TARGET + lane]
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
