"""Rotations in the compiled loop against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from airloom.basics.rotations import (
    euler_from_quaternion,
    matrix_from_euler,
    matrix_from_quaternion,
    quaternion_from_euler,
)
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.attitude import multiply, normalize, orient, rotate, rotate_back, rotate_by_rates, rotation


def rows(w: np.ndarray, first: int, count: int) -> np.ndarray:
    """[lane, number], a view."""
    return w[first : first + count * LANES].reshape(count, LANES).T


def block(random: np.random.Generator) -> tuple[np.ndarray, Rotation]:
    """Eight vehicles with attitudes and rates at random."""
    w = np.zeros(row.WIDTH)
    attitudes = Rotation.random(LANES, rng=random)
    rows(w, row.QW, 4)[:] = attitudes.as_quat(scalar_first=True)
    rows(w, row.WX, 3)[:] = random.normal(size=(LANES, 3))
    return w, attitudes


def test_orient_gives_the_rotation_matrix_and_the_velocity_through_the_air() -> None:
    random = np.random.default_rng(1)
    w, attitudes = block(random)
    rows(w, row.VX, 3)[:], rows(w, row.WINDX, 3)[:] = random.normal(size=(2, LANES, 3))
    rows(w, row.CX, 3)[:] = random.normal(size=(LANES, 3))
    orient(w)
    assert rows(w, row.R00, 9).reshape(LANES, 3, 3) == pytest.approx(attitudes.as_matrix())
    through_air = attitudes.inv().apply(rows(w, row.VX, 3) - rows(w, row.WINDX, 3)) + np.cross(
        rows(w, row.WX, 3), rows(w, row.CX, 3)
    )
    assert rows(w, row.UX, 3) == pytest.approx(through_air)


def test_vectors_are_rotated_and_back() -> None:
    attitude, vector = Rotation.random(rng=np.random.default_rng(5)), np.array([1.0, -2.0, 3.0])
    quaternion = attitude.as_quat(scalar_first=True)
    assert rotation(*quaternion) == pytest.approx(attitude.as_matrix().ravel())
    assert rotate(*quaternion, *vector) == pytest.approx(attitude.apply(vector))
    assert rotate_back(*quaternion, *vector) == pytest.approx(attitude.inv().apply(vector))


def test_many_matrices_at_once_are_those_of_the_compiled_loop_to_the_bit() -> None:
    quaternions = Rotation.random(6, rng=np.random.default_rng(6)).as_quat(scalar_first=True)
    matrices = matrix_from_quaternion(quaternions.reshape(2, 3, 4))
    assert matrices.shape == (2, 3, 3, 3)
    assert matrices.reshape(6, 9).tolist() == [list(rotation(*quaternion)) for quaternion in quaternions]


def test_product_of_quaternions() -> None:
    a, b = Rotation.random(2, rng=np.random.default_rng(2))
    product = multiply(*a.as_quat(scalar_first=True), *b.as_quat(scalar_first=True))
    assert np.abs(np.dot(product, (a * b).as_quat(scalar_first=True))) == pytest.approx(1.0)


def test_rotate_by_rates_is_the_exponential_map() -> None:
    w, attitudes = block(np.random.default_rng(3))
    turned = attitudes * Rotation.from_rotvec(0.3 * rows(w, row.WX, 3))
    rotate_by_rates(w, 0.3)
    assert (turned.inv() * Rotation.from_quat(rows(w, row.QW, 4), scalar_first=True)).magnitude() == pytest.approx(
        0.0, abs=1e-12
    )


def test_rotate_by_rates_stands_still_without_rates() -> None:
    w, _ = block(np.random.default_rng(4))
    rows(w, row.WX, 3)[:] = 0.0
    before = rows(w, row.QW, 4).copy()
    rotate_by_rates(w, 0.1)
    assert rows(w, row.QW, 4) == pytest.approx(before, abs=1e-15)


def test_normalize() -> None:
    w, _ = block(np.random.default_rng(5))
    rows(w, row.QW, 4)[:] *= 1.7
    normalize(w)
    assert np.linalg.norm(rows(w, row.QW, 4), axis=1) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("angles", [(0.3, -0.4, 2.0), (0.0, 0.0, 0.0), (-3.0, 1.5, -3.1)])
def test_euler_angles_are_roll_pitch_yaw_about_z_y_x(angles: tuple[float, float, float]) -> None:
    expected = Rotation.from_euler("ZYX", angles[::-1])
    quaternion = quaternion_from_euler(*angles)
    assert np.abs(np.dot(quaternion, expected.as_quat(scalar_first=True))) == pytest.approx(1.0)
    assert matrix_from_euler(*angles) == pytest.approx(expected.as_matrix())
    assert euler_from_quaternion(quaternion) == pytest.approx(angles, abs=1e-9)
