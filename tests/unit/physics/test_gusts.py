"""Surfaces meet the wind at their own place: in a wind that grows with height, on both engines."""

from __future__ import annotations

import numpy as np
import pytest

import airloom as al
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

DENSITY, AREA, DRAG, MAST, HEIGHT, EXPONENT = 1.225, 0.3, 0.8, 4.0, 10.0, 0.3
SCENARIO = """
name: shear
engine: {{kind: {engine}, integrator: euler}}
world: {{gravity: 0.0, wind: {wind}, weather: {{layers: {{grass: {{kind: profile, law: power, exponent: 0.3}}}}}}}}
vehicles:
  body:
    mass: 1.0e6
    inertia: {{xx: 1.0e6, yy: 1.0e6, zz: 1.0e6}}
    body: {{size: [0.3, 0.3, 0.3]}}
    controller: null
    sensors: {{odometry: {{kind: odometry}}}}
    rotors: {{only: {{position: [0, 0, 0], turns: cw, thrust_constant: 1.0e-9, moment_constant: 0.01, max_speed: 1}}}}
    {wings}
    pose: {{position: [0, 0, 10], roll: {roll}}}
"""
FLAT = "area: 0.3, lift: 0.0, lift_stalled: 0.0, drag: 0.0, drag_stalled: 0.0, drag_0: 0.8"
MAST_OF_TWO = f"""surfaces:
      top: {{position: [0, 0, 4], {FLAT}}}
      foot: {{position: [0, 0, -4], {FLAT}}}"""
WING = """aerodynamics: {area: 0.5, span: 8.0, chord: 0.1, roll: {p: -0.5}, yaw: {r: -0.3}}"""


def loaded(tmp_path, engine, wings, roll=0.0, wind=(-6, 0, 0)):
    file = tmp_path / "shear.yaml"
    file.write_text(SCENARIO.format(engine=engine, wings=wings, roll=roll, wind=list(map(float, wind))))
    return al.Simulation.load(file)


def wrench(sim):
    sim.step(1)
    return sim.fleet.flight.blocks[0][row.FX : row.FX + 6 * LANES : LANES].copy()


def wind(height):
    return 6.0 * (height / 10.0) ** EXPONENT


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_a_mast_feels_more_wind_at_its_top(tmp_path, engine):
    found = wrench(loaded(tmp_path, engine, MAST_OF_TWO))
    top, foot = (0.5 * DENSITY * AREA * DRAG * wind(HEIGHT + at) ** 2 for at in (MAST, -MAST))
    assert found[0] == pytest.approx(-(top + foot), rel=1e-9)
    assert found[4] == pytest.approx(-MAST * (top - foot), rel=1e-9)


def test_a_mast_that_lies_on_its_side_feels_the_same_wind_everywhere(tmp_path):
    found = wrench(loaded(tmp_path, "batch", MAST_OF_TWO, roll=np.pi / 2))
    assert found[0] == pytest.approx(-DENSITY * AREA * DRAG * 36.0, rel=1e-9)
    assert found[4] == pytest.approx(0.0, abs=1e-9)


def test_a_wing_on_its_side_is_yawed_by_shear(tmp_path):
    """With the left tip up and wind from ahead, the air turns about the wing: what C_nr makes of it, at 85 % of b."""
    found = wrench(loaded(tmp_path, "batch", WING, roll=np.pi / 2))
    reach, span = 0.425 * 8.0, 8.0
    turn = (wind(HEIGHT + reach) - wind(HEIGHT - reach)) / (2 * reach)
    yaw = -0.3 * turn * span / (2 * 6.0)
    assert abs(found[5]) == pytest.approx(abs(0.5 * DENSITY * 36.0 * 0.5 * span * yaw), rel=1e-6)
    assert found[5] > 0.0  # the left tip, which is up, is blown back more
    assert found[3] == pytest.approx(0.0, abs=1e-9)


def test_a_wind_of_its_own_is_the_same_at_all_surfaces(tmp_path):
    sim = loaded(tmp_path, "batch", MAST_OF_TWO)
    sim.step(20)
    sim.vehicles["body"].set_wind([-6.0, 0.0, 0.0])
    sim.step(20)
    found = wrench(sim)
    assert found[4] == pytest.approx(0.0, abs=1e-3)
    assert found[0] == pytest.approx(-DENSITY * AREA * DRAG * 36.0, rel=1e-6)


def test_the_air_at_surfaces_does_not_depend_on_chunks_and_comes_back_after_a_reset(tmp_path):
    sim = loaded(tmp_path, "batch", MAST_OF_TWO)
    sim.step(100)
    whole = sim.state_hash()
    sim.reset()
    for _ in range(50):
        sim.step(2)
    assert sim.state_hash() == whole
