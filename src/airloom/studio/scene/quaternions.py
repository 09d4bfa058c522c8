"""Many rotations at once, w, x, y, z in the last axis; other axes broadcast."""

from __future__ import annotations

import numpy as np


def multiplied(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def rotated(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    w, u = q[..., :1], q[..., 1:]
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


def about_z(angle: np.ndarray) -> np.ndarray:
    zero = np.zeros_like(angle)
    return np.stack([np.cos(angle / 2), zero, zero, np.sin(angle / 2)], axis=-1)


def yaws(q: np.ndarray) -> np.ndarray:
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def shortest_from_z(axes: np.ndarray) -> np.ndarray:
    """The shortest rotations that take z to unit vectors; about x where z is turned over."""
    x, y, z = np.moveaxis(axes, -1, 0)
    over = z < -0.999999
    q = np.stack([1.0 + z, np.where(over, 1.0, -y), np.where(over, 0.0, x), np.zeros_like(z)], axis=-1)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)
