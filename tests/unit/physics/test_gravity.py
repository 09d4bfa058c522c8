"""Gravity of a round Earth: a circular orbit stays one, and whoever falls freely weighs nothing."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

import airloom as al
from airloom.world.geodesy import EARTH_RADIUS

GRAVITY, ALTITUDE, ORIGIN = 9.82, 400e3, 488.0
SPEED = sqrt(GRAVITY * EARTH_RADIUS**2 / (EARTH_RADIUS + ALTITUDE + ORIGIN))
SCENARIO = """
name: orbit
step: 0.01
engine: {kind: %s}
world: {gravity: 9.82, gravity_field: %s}
vehicles:
  ball:
    mass: 2.0
    inertia: {xx: 0.1, yy: 0.1, zz: 0.1}
    center_of_mass: [0.1, 0, 0]
    body: {size: [0.3, 0.3, 0.3]}
    controller: null
    estimator: {kind: ideal, rate: 10}
    sensors: {odometry: {kind: odometry, rate: 10}, imu: {kind: imu, rate: 100}}
    rotors: {only: {position: [0, 0, 0], turns: cw, thrust_constant: 1.0e-9, moment_constant: 0.01, max_speed: 1}}
    pose: {position: [-0.1, 0, 400.0e3]}
    motion: {velocity: [%r, 0, 0]}
"""


def flown(tmp_path, engine, field, seconds):
    (tmp_path / "orbit.yaml").write_text(SCENARIO % (engine, field, SPEED))
    sim = al.Simulation.load(tmp_path / "orbit.yaml")
    sim.run(until=seconds)
    return sim.vehicles["ball"]


def distance(ball):
    x, y, z = np.add(ball.position, [0.1, 0.0, 0.0])
    return np.linalg.norm([x, y, z + EARTH_RADIUS + ORIGIN]) - EARTH_RADIUS


@pytest.mark.parametrize(("engine", "within"), [("batch", 1e-3), ("mujoco", 5.0)])
def test_a_circular_orbit_stays_one(tmp_path, engine, within):
    """Over 20 s, in which it would fall by 1.7 km on a flat Earth without speed to spare."""
    ball = flown(tmp_path, engine, "spherical", 20.0)
    assert distance(ball) == pytest.approx(ALTITUDE + ORIGIN, abs=within)


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_an_accelerometer_in_free_fall_reads_nothing(tmp_path, engine):
    ball = flown(tmp_path, engine, "spherical", 20.0)
    assert np.abs(ball.readings["imu"][3:]).max() < 1e-4


def test_even_gravity_is_the_same_everywhere(tmp_path):
    ball = flown(tmp_path, "batch", "even", 20.0)
    assert ball.velocity[2] == pytest.approx(-GRAVITY * 20.0)
