"""Surfaces with a table of coefficients: what the file says, a plate beyond it, a clear sentence if it is wrong."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest

from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.wings import add_wings, move_wings
from airloom.scenario.coefficients import CoefficientsError, read_polar, read_propeller
from airloom.scenario.surfaces import Servo, Surface
from airloom.vehicles.wings import wing_numbers

XFOIL = """
       XFOIL         Version 6.99

 Calculated polar for: NACA 2412

 1 1 Reynolds number fixed          Mach number fixed

 xtrf =   1.000 (top)        1.000 (bottom)
 Mach =   0.000     Re =     0.300 e 6     Ncrit =   9.000

   alpha    CL        CD       CDp       CM     Top_Xtr  Bot_Xtr
  ------ -------- --------- --------- -------- -------- --------
   0.000   0.2500   0.00800   0.00300  -0.0500   0.6000   1.0000
   5.000   0.8000   0.01000   0.00400  -0.0520   0.4000   1.0000
  10.000   1.2000   0.01800   0.00900  -0.0300   0.1000   1.0000
  14.000   1.3500   0.04000   0.03000  -0.0200   0.0500   1.0000
  -8.000  -0.6000   0.02000   0.01000  -0.0480   0.9000   0.1000
"""
ROWS = np.array(
    [
        [-8.0, -0.6, 0.02, -0.048],
        [0.0, 0.25, 0.008, -0.05],
        [5.0, 0.8, 0.01, -0.052],
        [10.0, 1.2, 0.018, -0.03],
        [14.0, 1.35, 0.04, -0.02],
    ]
)
AREA, CHORD, SPEED, ASPECT = 0.5, 0.25, 12.0, 8.0


class Winged:
    aerodynamics, rotors, blowing, servos = None, {}, [], {"flap": Servo()}

    def __init__(self, surface: Surface) -> None:
        self.surfaces = {"wing": surface}


@pytest.fixture
def polar(tmp_path):
    file = tmp_path / "naca2412.txt"
    file.write_text(XFOIL)
    return str(file)


def coefficients(surface, alphas):
    """Lift, drag and moment (over the chord) at each angle of attack, rad."""
    p = np.repeat(wing_numbers(Winged(surface), 0.001), LANES)
    found = []
    for alpha in alphas:
        w = np.zeros(row.WIDTH)
        w[row.DENSITY] = 1.0
        w[row.UX], w[row.UZ] = SPEED * cos(alpha), -SPEED * sin(alpha)
        move_wings(w, p)
        add_wings(w, p)
        fx, fz, turn = w[row.FX], w[row.FZ], w[row.TY]
        push = 0.5 * 1.225 * SPEED**2 * AREA
        lift, drag = fx * sin(alpha) + fz * cos(alpha), fz * sin(alpha) - fx * cos(alpha)
        found.append([lift / push, drag / push, -turn / push / CHORD])
    return np.array(found)


def wing(polar, **more):
    return Surface(position=(0.0, 0.0, 0.0), area=AREA, chord=CHORD, polar=polar, **more)


def test_a_polar_of_xfoil_is_read_and_sorted(polar):
    assert read_polar(polar) == pytest.approx(ROWS * [pi / 180, 1, 1, 1])


def test_at_its_rows_and_between_them_a_surface_has_the_polars_coefficients(polar):
    alphas = np.array([-8.0, -3.0, 0.0, 2.5, 5.0, 9.0, 14.0])
    expected = np.array([np.interp(alphas, ROWS[:, 0], ROWS[:, k]) for k in (1, 2, 3)]).T
    assert coefficients(wing(polar), np.radians(alphas)) == pytest.approx(expected, abs=1e-12)


def test_beyond_the_polar_it_is_the_plate_of_viterna_and_corrigan(polar):
    most = 1.11 + 0.018 * ASPECT
    a_s, lift_s, drag_s = np.radians(14.0), 1.35, 0.04
    alphas = np.radians([14.001, 20.0, 45.0, 70.0, 90.0])
    a_2 = (lift_s - most * np.sin(a_s) * np.cos(a_s)) * np.sin(a_s) / np.cos(a_s) ** 2
    b_2 = (drag_s - most * np.sin(a_s) ** 2) / np.cos(a_s)
    lift = most / 2 * np.sin(2 * alphas) + a_2 * np.cos(alphas) ** 2 / np.sin(alphas)
    drag = most * np.sin(alphas) ** 2 + b_2 * np.cos(alphas)
    found = coefficients(wing(polar), alphas)
    assert found[:, 0] == pytest.approx(lift, abs=1e-12)
    assert found[:, 1] == pytest.approx(drag, abs=1e-12)
    assert found[-1] == pytest.approx([0.0, most, -most / 4], abs=1e-12)


def test_all_around_it_is_continuous_and_never_pushes(polar):
    found = coefficients(wing(polar), np.radians(np.arange(-180.0, 180.05, 0.05)))
    assert np.abs(np.diff(found, axis=0)).max() < 0.02
    assert found[0] == pytest.approx(found[-1], abs=1e-9)
    assert found[:, 1].min() > 0.0


def test_a_servo_and_a_drag_of_its_own_are_added(polar):
    plain = coefficients(wing(polar), [0.05])
    p = coefficients(wing(polar, drag_0=0.03), [0.05])
    assert p[0] - plain[0] == pytest.approx([0.0, 0.03, 0.0], abs=1e-12)


def test_columns_of_other_programs_are_read(tmp_path):
    file = tmp_path / "avl.csv"
    file.write_text("# run 3\nAlpha,CLtot,CDtot,Cmtot\n-4,-0.2,0.02,0.01\n8;0.9;0.05;-0.04\n")
    assert read_polar(str(file)) == pytest.approx(
        np.array([[-4, -0.2, 0.02, 0.01], [8, 0.9, 0.05, -0.04]]) * [pi / 180, 1, 1, 1]
    )
    file.write_text("alpha CL CD\n-4 -0.2 0.02\n8 0.9 0.05\n")
    assert not read_polar(str(file))[:, 3].any()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no line names the columns; one must have alpha, CL, CD, CM"),
        ("1 2 3 4\n", "no line names the columns"),
        ("alpha,CL,CD,CM\n-1,0,0.1,0\n", "there are 1 rows below line 1"),
        ("alpha,CL,CD,CM\n-1,0,0.1,0\n2,x,0.1,0\n", "line 3: CL must be a number, got 'x'"),
        ("alpha,CL,CD,CM\n-1,0,0.1,0\n2,0.1\n", "line 3: CD is missing; there are 2 columns"),
        ("alpha,CL,CD,CM\n-1,0,0.1,0\n2,nan,0.1,0\n", "line 3: CL must be finite"),
        ("alpha,CL,CD,CM\n-1,0,0.1,0\n2,0.2,-0.1,0\n", "line 3: a drag below 0 would push"),
        ("alpha,CL,CD,CM\n-1,0,0.1,0\n2,0.2,0.1,0\n\n-1,0.3,0.1,0\n", "line 5: alpha -1 stands in line 2 as well"),
        ("alpha,CL,CD,CM\n1,0,0.1,0\n2,0.2,0.1,0\n", "must begin below 0 and end above"),
        ("alpha,CL,CD,CM\n-190,0,0.1,0\n2,0.2,0.1,0\n", "line 2: alpha is in degrees, from -180 to 180"),
        ("alpha,CL,CD,CM\n-1,0,0.1,0\n2,200,0.1,0\n", "line 3: no profile has a coefficient beyond 10"),
    ],
)  # fmt: skip
def test_a_polar_that_cannot_be_is_refused_with_its_line(tmp_path, text, told):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(CoefficientsError, match=r"bad\.csv") as caught:
        read_polar(str(file))
    assert told in str(caught.value)


def test_a_polar_and_a_law_do_not_go_together(polar):
    with pytest.raises(ValueError, match="leave out lift, stall"):
        wing(polar, lift=5.0, stall=0.2)
    with pytest.raises(ValueError, match="chord is missing"):
        Surface(position=(0.0, 0.0, 0.0), area=AREA, polar=polar)


def test_a_propellers_table_needs_its_columns(tmp_path):
    file = tmp_path / "apc.txt"
    file.write_text("J CT CP eta\n0.1 0.1 0.05 0.2\n0.5 0.06 0.04 0.7\n")
    assert read_propeller(str(file)) == pytest.approx(np.array([[0.1, 0.1, 0.05], [0.5, 0.06, 0.04]]))
    file.write_text("J CT CP eta\n0.1 0.1 0.05 0.2\n-0.5 0.06 0.04 0.7\n")
    with pytest.raises(CoefficientsError, match="line 3: the advance ratio J goes from 0 to 10"):
        read_propeller(str(file))
    with pytest.raises(CoefficientsError, match=r"gone\.txt: no such file"):
        read_propeller(str(tmp_path / "gone.txt"))
