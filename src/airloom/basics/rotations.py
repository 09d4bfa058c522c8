"""Rotations outside the compiled loop. Quaternions are w, x, y, z, body→world; Euler angles roll, pitch, yaw (ZYX)."""

from __future__ import annotations

from math import atan2, cos, sin

import numpy as np


def quaternion_from_euler(roll: float, pitch: float, yaw: float) -> np.ndarray:
    cr, sr, cp, sp, cy, sy = cos(roll / 2), sin(roll / 2), cos(pitch / 2), sin(pitch / 2), cos(yaw / 2), sin(yaw / 2)
    return np.array(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
    )


def matrix_from_quaternion(q: np.ndarray) -> np.ndarray:
    """Matrices (… × 3 × 3) of quaternions in the last axis."""
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    matrix = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.moveaxis(matrix, (0, 1), (-2, -1))


def matrix_from_euler(roll: float, pitch: float, yaw: float) -> np.ndarray:
    return matrix_from_quaternion(quaternion_from_euler(roll, pitch, yaw))


def yaw_from_quaternion(q: np.ndarray) -> float:
    w, x, y, z = map(float, q)
    return atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def euler_from_quaternion(q: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw of quaternions in the last axis."""
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1.0, 1.0))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.stack([roll, pitch, yaw], axis=-1)
