"""A raster's heights at the corners of a grid in local metres.

A corner is given by x and y, but where it lies in the raster depends a little on its height too, since the vertical of
the origin is not that of the corner: 0.3 mm for each metre of height, 2 km away. So its height is looked up, then
looked up again at the place where a point of that height is.
"""

from __future__ import annotations

import numpy as np

from airloom.compiled import compiled

STEP = 64
"""Cells between the corners whose places in the raster are found exactly. Between them they change evenly: the Earth's
curvature makes less than 0.1 mm of 64 cells of 0.5 m, and a pixel's hundredth of any raster."""
BILINEAR, MEAN, MAX = range(3)
ROW, COLUMN, ALTITUDE = range(3)


@compiled
def _bilinear(raster, r, c):
    """Between four pixels. Where some have no height, by those that have, if they are the nearer half."""
    rows, columns = raster.shape
    r, c = min(max(r, 0.0), rows - 1.0), min(max(c, 0.0), columns - 1.0)
    i, j = min(int(r), rows - 2), min(int(c), columns - 2)
    total, weight = 0.0, 0.0
    for k in range(2):
        for m in range(2):
            share = abs(1 - k - (r - i)) * abs(1 - m - (c - j))
            height = raster[i + k, j + m]
            if share > 0.0 and height == height:
                total += share * height
                weight += share
    return total / weight if weight >= 0.5 else np.nan


@compiled
def _of_square(raster, r, c, half, is_max):
    """Mean or maximum of the pixels whose middles lie in a square around a place."""
    rows, columns = raster.shape
    count, known, total, highest = 0, 0, 0.0, -np.inf
    for i in range(max(int(np.ceil(r - half)), 0), min(int(np.ceil(r + half)), rows)):
        for j in range(max(int(np.ceil(c - half)), 0), min(int(np.ceil(c + half)), columns)):
            count += 1
            height = raster[i, j]
            if height == height:
                known += 1
                total += height
                highest = max(highest, height)
    if known == 0:
        return np.nan
    if is_max:
        return highest
    return total / known if 2 * known >= count else np.nan


@compiled
def _sampled(raster, r, c, how, half):
    rows, columns = raster.shape
    if not (-0.5 <= r <= rows - 0.5 and -0.5 <= c <= columns - 0.5):
        return np.nan
    if how == BILINEAR:
        return _bilinear(raster, r, c)
    return _of_square(raster, r, c, half, how == MAX)


@compiled
def resample(raster, places, how, half, heights):
    """Fill `heights`, z at the corners of a block of the grid, NaN where the raster has none.

    `places` [2, n, m, 3] has row, column and altitude of every STEP-th corner at z = 0 and what a metre of z adds.
    """
    for i in range(heights.shape[0]):
        for j in range(heights.shape[1]):
            k, m = i // STEP, j // STEP
            v, u = i / STEP - k, j / STEP - m
            row, column = between(places[0], k, m, v, u, ROW), between(places[0], k, m, v, u, COLUMN)
            down, across = between(places[1], k, m, v, u, ROW), between(places[1], k, m, v, u, COLUMN)
            level, rise = between(places[0], k, m, v, u, ALTITUDE), between(places[1], k, m, v, u, ALTITUDE)
            z = 0.0
            for _ in range(2):
                z = (_sampled(raster, row + z * down, column + z * across, how, half) - level) / rise
                if z != z:
                    break
            heights[i, j] = z


@compiled
def between(places, k, m, v, u, n):
    south = (1 - u) * places[k, m, n] + u * places[k, m + 1, n]
    north = (1 - u) * places[k + 1, m, n] + u * places[k + 1, m + 1, n]
    return (1 - v) * south + v * north
