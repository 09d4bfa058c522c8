"""Propellers by their advance ratio, and what they blow over surfaces, beside the definitions and momentum theory."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

import airloom as al
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

DENSITY, DIAMETER = 1.225, 0.3
TABLE = "J CT CP eta\n0.20 0.100 0.0450 0.44\n0.40 0.080 0.0420 0.76\n0.60 0.050 0.0350 0.86\n0.80 0.010 0.0150 0.53\n"
THRUST_AT_REST, POWER_AT_REST = 0.11, 0.046
K = THRUST_AT_REST * DENSITY * DIAMETER**4 / (2 * pi) ** 2
K_M = POWER_AT_REST / THRUST_AT_REST * DIAMETER / (2 * pi)
SCENARIO = """
name: stand
engine: {{kind: {engine}, integrator: euler}}
world: {{gravity: 0.0}}
vehicles:
  body:
    mass: 1.0e6
    inertia: {{xx: 1.0e6, yy: 1.0e6, zz: 1.0e6}}
    body: {{size: [0.3, 0.3, 0.3]}}
    controller: null
    sensors: {{odometry: {{kind: odometry}}}}
    rotors:
      only: {{position: [0.2, 0.1, 0.0], axis: {axis}, turns: cw, thrust_constant: {k}, moment_constant: {k_m},
              time_constant_up: 1.0e-6, max_speed: 1000, radius: {radius}, {advance}}}
    {more}
    pose: {{position: [0, 0, 100]}}
    motion: {{velocity: {velocity}}}
"""


def wrench(tmp_path, omega, velocity, engine="batch", axis=(1, 0, 0), advance=None, more="", k_m=K_M):
    """Force and torque about the origin on a body too heavy to be moved, body axes."""
    (tmp_path / "apc.txt").write_text(TABLE)
    advance = advance or f"advance: {{diameter: {DIAMETER}, file: apc.txt}}"
    file = tmp_path / "stand.yaml"
    file.write_text(
        SCENARIO.format(
            engine=engine, axis=list(axis), k=K, k_m=k_m, radius=DIAMETER / 2, advance=advance, more=more,
            velocity=list(map(float, velocity)),
        )
    )  # fmt: skip
    sim = al.Simulation.load(file)
    sim.fleet.rotor_column(sim.fleet.crafts[0], row.TARGET)[:] = omega
    sim.step(4)
    return sim.fleet.flight.blocks[0][row.FX : row.FX + 6 * LANES : LANES].copy()


def coefficients(found, omega):
    turns = omega / (2 * pi)
    return found[0] / (DENSITY * turns**2 * DIAMETER**4), found[3] / (DENSITY * turns**2 * DIAMETER**5) * 2 * pi


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
@pytest.mark.parametrize("j", [0.0, 0.1, 0.2, 0.5, 0.6, 0.8])
def test_a_propeller_pulls_as_its_table_says(tmp_path, engine, j):
    omega = 600.0
    found = wrench(tmp_path, omega, [j * omega / (2 * pi) * DIAMETER, 0, 0], engine)
    knots, thrust, power = np.array(
        [
            [0.0, THRUST_AT_REST, POWER_AT_REST],
            [0.2, 0.1, 0.045],
            [0.4, 0.08, 0.042],
            [0.6, 0.05, 0.035],
            [0.8, 0.01, 0.015],
        ]
    ).T
    expected = np.interp(j, knots, thrust), np.interp(j, knots, power)
    assert coefficients(found, omega) == pytest.approx(expected, rel=1e-6)


def test_beyond_its_table_it_stays_and_backwards_it_is_at_rest(tmp_path):
    assert coefficients(wrench(tmp_path, 100.0, [50, 0, 0]), 100.0)[0] == pytest.approx(0.01, rel=1e-6)
    assert coefficients(wrench(tmp_path, 100.0, [-5, 0, 0]), 100.0)[0] == pytest.approx(THRUST_AT_REST, rel=1e-6)


def test_it_pulls_along_any_axis(tmp_path):
    """Turned about z by 90°, with the air, everything turns along."""
    straight = wrench(tmp_path, 600.0, [10, 0, 0])
    aside = wrench(tmp_path, 600.0, [0, 10, 0], axis=(0, 2, 0))
    assert aside[1] == pytest.approx(straight[0])
    assert aside[4] == pytest.approx(straight[3])
    assert aside[5] == pytest.approx(0.2 * straight[0])


TAIL = """surfaces:
      tail: {position: [-%g, 0.1, 0.0], area: 0.02, lift: 0.0, lift_stalled: 0.0, drag: 0.0, drag_stalled: 0.0,
             drag_0: 0.5, slipstream: {rotor: only, share: %g}}"""


@pytest.mark.parametrize("speed", [0.0, 8.0])
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_a_slipstream_blows_with_the_speed_of_momentum_theory(tmp_path, speed, share):
    """A plate far behind feels V + 2v over the share that is blown over, V over the rest; 2v = √(V² + 2T/(ρA)) − V."""
    omega, disc = 600.0, pi / 4 * DIAMETER**2
    bare = wrench(tmp_path, omega, [speed, 0, 0])
    found = wrench(tmp_path, omega, [speed, 0, 0], more=TAIL % (100.0, share))
    wake = sqrt(speed**2 + 2 * bare[0] / (DENSITY * disc))
    drag = 0.5 * DENSITY * 0.02 * 0.5 * (share * wake**2 + (1 - share) * speed**2)
    assert bare[0] - found[0] == pytest.approx(drag, rel=1e-4)


def test_close_behind_the_disc_the_stream_is_half_as_much_faster(tmp_path):
    omega, disc = 600.0, pi / 4 * DIAMETER**2
    bare = wrench(tmp_path, omega, [0, 0, 0])
    more = TAIL.replace("[-%g,", "[0.%g,") % (2, 1.0)
    found = wrench(tmp_path, omega, [0, 0, 0], more=more)
    speed = sqrt(bare[0] / (2 * DENSITY * disc))
    assert bare[0] - found[0] == pytest.approx(0.5 * DENSITY * 0.02 * 0.5 * speed**2, rel=1e-4)


@pytest.mark.parametrize(
    ("advance", "more", "told"),
    [
        ("advance: {diameter: 0.3, file: gone.txt}", "", "rotors.only.advance.file: there is no file 'gone.txt'"),
        ("advance: {diameter: 0.3, file: apc.txt, last: 1.0}", "", "leave out last"),
        ("advance: {diameter: 0.3, thrust: [0.1]}", "", "give thrust and torque, or a file"),
        ("advance: {diameter: 0.6, file: apc.txt}", "", "times what thrust_constant says at rest"),
        ("drag_coefficient: 0.0", TAIL.replace("rotor: only", "rotor: onyl") % (1.0, 1.0), "no rotor 'onyl'"),
    ],
)
def test_propellers_that_cannot_be_are_refused(tmp_path, advance, more, told):
    with pytest.raises(al.ScenarioError) as caught:
        wrench(tmp_path, 100.0, [0, 0, 0], advance=advance, more=more)
    assert told in str(caught.value)
    assert "stand.yaml, line" in str(caught.value)
