"""Wheels against closed forms, on both engines."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

import airloom as al
from airloom.errors import UserError

CART = """
name: cart
engine: {kind: %s}
world: {gravity: 9.80665}
vehicles:
  cart:
    mass: 2.0
    inertia: {xx: 0.1, yy: 0.1, zz: 0.2}
    body: {size: [1, 0.5, 0.2]}
    rotors: {m: {position: [0, 0, 0], turns: ccw, thrust_constant: 1.0e-9, moment_constant: 0.01, max_speed: 1.0}}
    servos: {steer: {lag: 0.0, rate: 100}}
    sensors: {odometry: {kind: odometry}}
    controller: null
    wheels:
      front: {position: [0.4, 0, -0.3], rolling: %g, servo: steer, sinks: 0.02, grip: 0.2}
      left: {position: [-0.4, 0.25, -0.3], rolling: %g, sinks: 0.02, grip: 0.2}
      right: {position: [-0.4, -0.25, -0.3], rolling: %g, sinks: 0.02, grip: 0.2}
    pose: {position: [0, 0, %g]}
    motion: {velocity: [%g, %g, 0]}
"""
both_engines = pytest.mark.parametrize("engine", ["batch", "mujoco"])


def cart(tmp_path, engine, rolling=0.0, height=0.285, velocity=(0.0, 0.0)):
    (tmp_path / "cart.yaml").write_text(CART % (engine, rolling, rolling, rolling, height, *velocity))
    sim = al.Simulation.load(tmp_path / "cart.yaml")
    return sim, sim.vehicles["cart"]


@both_engines
def test_it_sinks_under_its_weight_as_its_file_says(tmp_path, engine):
    """Each wheel is a spring of m ω²/3, ω² = g/0.02. Leaning by s = sin θ moves the feet back, so the front wheel has
    (0.4 + 0.3 s)/0.8 of the weight; it sinks 0.06 m times that, those behind 0.03 m times the rest, and s follows.
    """
    lean = 0.015 / (0.8 - 0.09 * 0.3 / 0.8)
    sim, vehicle = cart(tmp_path, engine)
    sim.run(until=3)
    pitch = vehicle.euler[1]
    assert np.sin(pitch) == pytest.approx(lean, abs=2e-5)
    assert vehicle.position[2] == pytest.approx(0.3 - 0.5 * (0.045 + 0.015 * 0.3 * lean / 0.4), abs=3e-4)


@both_engines
def test_it_rolls_out_as_far_as_its_rolling_resistance_lets_it(tmp_path, engine):
    """v²/(2 μ g)."""
    sim, vehicle = cart(tmp_path, engine, rolling=0.1, velocity=(4.0, 0.0))
    sim.run(until=8)
    assert np.linalg.norm(vehicle.velocity) < 1e-3
    assert vehicle.position[0] == pytest.approx(4.0**2 / (2 * 0.1 * 9.80665), rel=0.01)
    assert abs(vehicle.position[1]) < 1e-3


@both_engines
def test_it_holds_against_the_side(tmp_path, engine):
    """Coulomb: v²/(2 μ g) with a grip of 0.2."""
    sim, vehicle = cart(tmp_path, engine, velocity=(0.0, 1.5))
    sim.run(until=3)
    assert vehicle.position[1] == pytest.approx(1.5**2 / (2 * 0.2 * 9.80665), rel=0.05)


def test_a_steered_cart_goes_round_in_ackermanns_circle(tmp_path):
    """R = wheelbase/tan δ of the rear axle, at a crawl, where tyres hardly slip."""
    sim, vehicle = cart(tmp_path, "batch", velocity=(0.5, 0.0))
    vehicle.servos.command(steer=0.4)
    sim.run(until=1)
    rate, (vx, vy, _) = vehicle.rates[2], vehicle.velocity
    across = sqrt((0.8 / np.tan(0.2)) ** 2 + 0.4**2)
    assert np.hypot(vx, vy) / rate == pytest.approx(across, rel=0.05)


def test_a_wheel_names_a_servo_that_is_there(tmp_path):
    (tmp_path / "cart.yaml").write_text(CART.replace("servo: steer", "servo: stear") % ("batch", 0, 0, 0, 1, 0, 0))
    with pytest.raises(UserError, match=r"wheels.front: there is no servo 'stear'.*did you mean 'steer'"):
        al.Simulation.load(tmp_path / "cart.yaml")
