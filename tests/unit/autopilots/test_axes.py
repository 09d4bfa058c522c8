"""Our axes and those of autopilots, compared with rotation matrices of another library."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from airloom.autopilots.axes import frd_from_flu, ned_frd_from_enu_flu, ned_from_enu

NED_FROM_ENU = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])
FRD_FROM_FLU = np.diag([1, -1, -1])


@pytest.mark.parametrize("rotation", list(Rotation.random(20, random_state=1)))
def test_rotations(rotation):
    x, y, z, w = rotation.as_quat()
    w, x, y, z = ned_frd_from_enu_flu(w, x, y, z)
    expected = NED_FROM_ENU @ rotation.as_matrix() @ FRD_FROM_FLU
    assert Rotation.from_quat([x, y, z, w]).as_matrix() == pytest.approx(expected, abs=1e-15)


def test_vectors():
    assert ned_from_enu(1.0, 2.0, 3.0) == tuple(NED_FROM_ENU @ [1, 2, 3])
    assert frd_from_flu(1.0, 2.0, 3.0) == tuple(FRD_FROM_FLU @ [1, 2, 3])


def test_a_nose_to_the_east_has_a_heading_of_90_degrees():
    w, x, y, z = ned_frd_from_enu_flu(1.0, 0.0, 0.0, 0.0)
    assert Rotation.from_quat([x, y, z, w]).as_euler("ZYX", degrees=True) == pytest.approx([90, 0, 0])
