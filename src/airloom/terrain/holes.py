"""Corners without a height get one from those around: as a membrane would span the hole (Laplace's equation)."""

from __future__ import annotations

import numpy as np

from airloom.compiled import compiled

SWEEPS = 30
"""At each of the resolutions, from coarse to fine, each beginning with what the coarser one has found."""

OVERSHOOT = 1.8  # successive over-relaxation: corrections go farther than they seem to have to, and so spread faster


def fill(heights: np.ndarray) -> int:
    """Fill what is NaN; the number of corners filled."""
    holes = int(np.count_nonzero(np.isnan(heights)))
    if 0 < holes < heights.size:
        _fill(heights)
    return holes


def _fill(heights: np.ndarray) -> None:
    is_hole = np.isnan(heights)
    if not is_hole.any():
        return
    coarse = np.empty(tuple((n + 1) // 2 for n in heights.shape), dtype=np.float32)
    _shrink(heights, coarse)
    _fill(coarse)
    _take_over(coarse, heights)
    for _ in range(SWEEPS):
        _relax(heights, is_hole)


@compiled
def _shrink(fine, coarse):
    """The mean of those of four corners that have a height."""
    for i in range(coarse.shape[0]):
        for j in range(coarse.shape[1]):
            total, known = 0.0, 0
            for r in range(2 * i, min(2 * i + 2, fine.shape[0])):
                for c in range(2 * j, min(2 * j + 2, fine.shape[1])):
                    if fine[r, c] == fine[r, c]:
                        total += fine[r, c]
                        known += 1
            coarse[i, j] = total / known if known else np.nan


@compiled
def _take_over(coarse, fine):
    """Bilinear, for corners without a height."""
    rows, columns = coarse.shape
    for i in range(fine.shape[0]):
        for j in range(fine.shape[1]):
            if fine[i, j] == fine[i, j]:
                continue
            r, c = min(max(0.5 * i - 0.25, 0.0), rows - 1.0), min(max(0.5 * j - 0.25, 0.0), columns - 1.0)
            k, m = int(r), int(c)
            k1, m1 = min(k + 1, rows - 1), min(m + 1, columns - 1)
            south = coarse[k, m] + (c - m) * (coarse[k, m1] - coarse[k, m])
            north = coarse[k1, m] + (c - m) * (coarse[k1, m1] - coarse[k1, m])
            fine[i, j] = south + (r - k) * (north - south)


@compiled
def _relax(heights, is_hole):
    """Each corner of a hole towards the mean of those beside it."""
    rows, columns = heights.shape
    for i in range(rows):
        for j in range(columns):
            if is_hole[i, j]:
                total, known = 0.0, 0
                if i > 0:
                    total, known = total + heights[i - 1, j], known + 1
                if i < rows - 1:
                    total, known = total + heights[i + 1, j], known + 1
                if j > 0:
                    total, known = total + heights[i, j - 1], known + 1
                if j < columns - 1:
                    total, known = total + heights[i, j + 1], known + 1
                heights[i, j] += OVERSHOOT * (total / known - heights[i, j])
