"""What is under water, against solid geometry and against counting points."""

from __future__ import annotations

from math import pi, sin

import numpy as np
import pytest

from airloom.physics.submersion import add_mesh, add_revolved
from airloom.vehicles.hull import box_triangles


def unit(*v):
    return np.array(v) / np.linalg.norm(v)


def wet_mesh(triangles, n, d):
    sums = np.zeros(4)
    add_mesh(sums, triangles.ravel(), 0, len(triangles), 1, *n, d)
    return sums[0], sums[1:] / sums[0]


def wet_revolved(radius, half, cap, n, d):
    sums = np.zeros(4)
    add_revolved(sums, radius, half, cap, *n, d, np.zeros(12))
    return sums[0], sums[1:] / sums[0]


def counted(is_inside, reach, n, d, count=4_000_000):
    """By points in a box, of a sequence that fills it evenly."""
    ratio = 1.2207440846057596  # of Roberts' sequence in three dimensions
    numbers = np.arange(1, count + 1)[:, None] * ratio ** -np.arange(1.0, 4.0)
    points = (2 * (numbers % 1.0) - 1) * reach
    wet = points[is_inside(points) & (points @ n < d)]
    return len(wet) / count * np.prod(2 * np.array(reach)), wet.mean(axis=0)


def test_a_box_that_floats_level():
    volume, middle = wet_mesh(box_triangles((2.0, 1.0, 0.5)), (0.0, 0.0, 1.0), -0.1)
    assert volume == pytest.approx(2.0 * 1.0 * 0.15, rel=1e-12)
    assert middle == pytest.approx([0, 0, -0.175], abs=1e-12)


def test_a_box_cut_through_its_middle_by_any_plane_is_half_wet():
    rng = np.random.default_rng(3)
    for n in rng.standard_normal((20, 3)):
        assert wet_mesh(box_triangles((2.0, 1.0, 0.5)), unit(*n), 0.0)[0] == pytest.approx(0.5, rel=1e-12)


def test_a_corner_of_a_box():
    """The plane at distance d from a corner of a cube cuts off a tetrahedron of three legs √3 d."""
    depth = 0.2
    volume, middle = wet_mesh(box_triangles((1.0, 1.0, 1.0)), unit(1, 1, 1), -0.5 * 3**0.5 + depth)
    leg = 3**0.5 * depth
    assert volume == pytest.approx(leg**3 / 6, rel=1e-12)
    assert middle == pytest.approx([-0.5 + leg / 4] * 3, rel=1e-12)


@pytest.mark.parametrize("d", [-0.99, -0.7, -0.2, 0.0, 0.3, 0.9, 2.0])
def test_a_ball(d):
    """Caps of balls are Archimedes'."""
    h = min(d + 1.0, 2.0)
    n = unit(0.3, -0.5, 0.7)
    volume, middle = wet_revolved(1.0, 0.0, 1.0, n, d)
    expected = pi * h * h * (3 - h) / 3
    assert volume == pytest.approx(expected, rel=1e-6)
    away = -0.75 * (2 - h) ** 2 / (3 - h)
    assert middle == pytest.approx(away * n, abs=1e-6)


@pytest.mark.parametrize("d", [-0.8, 0.0, 0.5])
def test_a_cylinder_that_lies(d):
    volume, middle = wet_revolved(1.0, 2.0, 0.0, (1.0, 0.0, 0.0), d)
    angle = 2 * np.arccos(-d)
    area = 0.5 * (angle - sin(angle))
    assert volume == pytest.approx(4.0 * area, rel=1e-9)
    assert middle == pytest.approx([-4 * sin(angle / 2) ** 3 / 3 / (angle - sin(angle)), 0, 0], abs=1e-9)


def test_a_cylinder_that_stands():
    volume, middle = wet_revolved(0.5, 1.0, 0.0, (0.0, 0.0, 1.0), 0.25)
    assert volume == pytest.approx(pi * 0.25 * 1.25, rel=1e-9)
    assert middle == pytest.approx([0, 0, -0.375], abs=1e-9)


def test_a_hoof():
    """The plane through the middle of a cylinder's foot at 45° cuts off a hoof of volume 2/3 R³: Archimedes again."""
    n = unit(-1, 0, 1)
    volume, middle = wet_revolved(1.0, 1.0, 0.0, n, -1.0 / 2**0.5)
    assert volume == pytest.approx(2 / 3, rel=1e-6)
    assert middle == pytest.approx([3 * pi / 16, 0, -1 + 3 * pi / 32], abs=1e-6)


@pytest.mark.parametrize("n", [unit(0.2, 0.1, 1), unit(1, 1, 0.3), unit(-0.7, 0.2, -0.6)])
@pytest.mark.parametrize("d", [-0.4, 0.1])
def test_a_capsule_against_counting(n, d):
    def is_inside(points):
        beyond = np.maximum(np.abs(points[:, 2]) - 0.6, 0)
        return points[:, 0] ** 2 + points[:, 1] ** 2 + beyond**2 < 0.25

    volume, middle = wet_revolved(0.5, 0.6, 1.0, n, d)
    counted_volume, counted_middle = counted(is_inside, (0.5, 0.5, 1.1), n, d, 1_000_000)
    assert volume == pytest.approx(counted_volume, rel=3e-3)
    assert middle == pytest.approx(counted_middle, abs=3e-3)
