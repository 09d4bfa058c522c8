"""The bundled aeroplane: how it trims and swings against its makers' numbers, and that it goes where it is told."""

from __future__ import annotations

import numpy as np
import pytest

import airloom as al
from airloom.errors import UserError
from airloom.scenario import load
from airloom.vehicles.aeroplane import Aeroplane
from airloom.vehicles.airframe import Airframe

WIND = "world: {weather: {layers: {mean: {kind: constant, velocity: [0, 6, 0]}, eddies: {kind: dryden, %s}}}}"
SCENARIO = """
name: plane
engine: {kind: %s}
%s
vehicles: {p: {extends: plane, pose: {position: [0, 0, 50]}, motion: {velocity: [14, 0, 0]}}}
"""


def flown(tmp_path, engine="batch", world=""):
    (tmp_path / "plane.yaml").write_text(SCENARIO % (engine, world))
    sim = al.Simulation.load(tmp_path / "plane.yaml")
    return sim, sim.vehicles["p"]


def aeroplane(tmp_path):
    (tmp_path / "plane.yaml").write_text(SCENARIO % ("batch", ""))
    return Aeroplane(Airframe(load(tmp_path / "plane.yaml").vehicles["p"], 9.80665, 0.001))


def test_it_trims_as_its_makers_say(tmp_path):
    """University of Minnesota, Ultra Stick 25e at 17 m/s: α 0.0551 rad, 827 rad/s; another version of their data."""
    trim = aeroplane(tmp_path).trim(17.0)
    assert trim.remainder < 0.05
    assert trim.alpha == pytest.approx(0.0551, abs=0.006)
    assert trim.speeds[0] == pytest.approx(827, rel=0.03)


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_it_circles_a_place_at_its_height(tmp_path, engine):
    sim, plane = flown(tmp_path, engine)
    plane.command(al.PositionYaw([100, 0, 60]))
    sim.run(until=40)
    far, height = [], []
    for _ in range(20):
        sim.run(until=sim.time + 1)
        far.append(np.hypot(*(plane.position[:2] - [100, 0])))
        height.append(plane.position[2])
    assert np.ptp(far) < 0.5
    assert 25 < np.mean(far) < 40
    assert np.abs(np.array(height) - 60).max() < 0.3


def test_it_follows_a_line_across_wind_and_turbulence(tmp_path):
    sim, plane = flown(tmp_path, world=WIND % "wind_at_20_feet: 10")
    aside, height = [], []
    for k in range(600):
        at = 0.1 * k
        plane.command(al.PositionYaw([14 * at, 20, 60], velocity=[14, 0, 0]))
        sim.run(until=at + 0.1)
        if at > 25:
            aside.append(plane.position[1] - 20)
            height.append(plane.position[2] - 60)
    assert np.abs(aside).max() < 2.0
    assert np.abs(height).max() < 6.0


def test_it_flies_as_fast_and_steep_as_it_is_told(tmp_path):
    sim, plane = flown(tmp_path)
    for _ in range(300):
        plane.command(al.VelocityYawRate([0, 16, 1.0], 0.0))
        sim.run(until=sim.time + 0.1)
    assert plane.velocity == pytest.approx([0, 16, 1.0], abs=0.3)


def test_equal_runs_are_equal(tmp_path):
    hashes = set()
    for chunk in (10.0, 0.37):
        sim, plane = flown(tmp_path, world=WIND % "wind_at_20_feet: 10")
        plane.command(al.PositionYaw([100, 0, 60]))
        while sim.time < 10.0:
            sim.run(until=min(sim.time + chunk, 10.0))
        hashes.add(sim.state_hash())
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("controller: {kind: plane, cruise_speed: 60}", "no level flight at 60 m/s"),
        ("servos: {rudder: {lowest: 0, highest: 0}}", "it does not move"),
    ],
)
def test_what_cannot_fly_is_told(tmp_path, change, told):
    (tmp_path / "p.yaml").write_text(f"name: p\nvehicles: {{p: {{extends: plane, {change}}}}}\n")
    with pytest.raises(UserError, match=told):
        al.Simulation.load(tmp_path / "p.yaml")
