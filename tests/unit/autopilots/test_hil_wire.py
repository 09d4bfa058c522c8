"""Roll, pitch, yaw and throttle of a board, inverted to the speeds of rotors."""

from __future__ import annotations

import numpy as np
import pytest

import airloom as al
from airloom.autopilots.hil_wire import mix_of_controls, turn_by_controls
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

LANE = 3


@pytest.fixture(params=["iris", "x500", "hexarotor", "quad_plus"])
def airframe(request):
    sim = al.Simulation.load("hover", overrides={"vehicles": {"drone": request.param}, "systems": {}})
    return sim.vehicles["drone"].airframe


def turned(airframe, roll=0.0, pitch=0.0, yaw=0.0, throttle=0.5):
    """The thrusts of the rotors."""
    rotors = np.zeros((len(airframe.rotors), row.ROTOR_WIDTH))
    rotors[:, row.MAX_SPEED + LANE] = [rotor.max_speed for rotor in airframe.rotors]
    mix = mix_of_controls(airframe)
    turn_by_controls(np.array([roll, pitch, yaw, throttle]), mix.ravel(), rotors.reshape(-1), LANE)
    others = np.delete(rotors[:, row.TARGET : row.TARGET + LANES], LANE, axis=1)
    assert not others.any(), "neighbours in the block are left alone"
    return np.array([rotor.thrust_constant for rotor in airframe.rotors]) * rotors[:, row.TARGET + LANE] ** 2


def test_thrust_and_torque_are_as_wanted(airframe):
    thrust, *torques = airframe.allocation @ turned(airframe, roll=0.2, pitch=0.1, yaw=-0.3, throttle=0.6)
    most = airframe.max_thrusts
    full = 0.5 * abs(airframe.allocation[1:]) @ most
    assert thrust == pytest.approx(0.6 * most.sum())
    assert torques == pytest.approx([0.2 * full[0], -0.1 * full[1], 0.3 * full[2]]), "nose up, nose to the left"


def test_rotors_keep_their_limits(airframe):
    assert turned(airframe, throttle=3.0) == pytest.approx(airframe.max_thrusts)
    assert turned(airframe, roll=9.0, throttle=0.0).min() == 0.0
    assert not turned(airframe, throttle=float("nan")).any()
