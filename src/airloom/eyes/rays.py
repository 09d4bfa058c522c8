"""Rays in packets of eight, what they meet, and what an instrument makes of the distance."""

from __future__ import annotations

from math import cos, inf, log, nan, pi, sin, sqrt

import numpy as np

from airloom.compiled import compiled
from airloom.eyes.embree import arguments, intersect8
from airloom.sensors.noise import philox

PACKET = 8
# A packet as Embree has it (RTCRayHit8): rows of eight. Mask and numbers are whole numbers in the same place.
(
    ORIGIN_X, ORIGIN_Y, ORIGIN_Z, NEAR, TO_X, TO_Y, TO_Z, TIME, FAR, MASK, NUMBER, FLAGS,
    NORMAL_X, NORMAL_Y, NORMAL_Z, U, V, TRIANGLE, SHAPE, INSTANCE, INSTANCE_TRIANGLE, ROWS,
) = (PACKET * row for row in range(22))  # fmt: skip
# What the compiled function is told, in one array of numbers.
(
    PLACE_X, PLACE_Y, PLACE_Z, ROTATION, BASE, REACH, NEAREST, FARTHEST, SIGMA, GROWTH, OFFSET, DROPOUT, GRAZING,
    NUMBERS,
) = (0, 1, 2, 3, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21)  # fmt: skip

_2_32 = 2.0**-32


class Packet:
    """Memory for eight rays, where Embree wants it: on lines of 32 bytes."""

    def __init__(self) -> None:
        self._memory = np.zeros(ROWS + 2 * PACKET, dtype=np.float32)
        first = -self._memory.ctypes.data % 32 // 4
        self.rays = self._memory[first : first + ROWS + PACKET]
        self.whole = self.rays.view(np.int32)
        self.whole[ROWS:] = -1  # all rays of a packet are valid
        self.rays_at = self.rays.ctypes.data
        self.addresses = np.array([self.rays_at, self.rays_at + 4 * ROWS, arguments.ctypes.data])


@compiled
def _fill(rays, whole, numbers, directions, first, count):
    """Eight rays from the place of the eye, no longer than to the plane around all else."""
    r = numbers[ROTATION : ROTATION + 9]
    for j in range(PACKET):
        k = min(first + j, count - 1)
        x, y, z = directions[k, 0], directions[k, 1], directions[k, 2]
        dx, dy, dz = r[0] * x + r[1] * y + r[2] * z, r[3] * x + r[4] * y + r[5] * z, r[6] * x + r[7] * y + r[8] * z
        rays[ORIGIN_X + j], rays[ORIGIN_Y + j], rays[ORIGIN_Z + j] = numbers[0], numbers[1], numbers[2]
        rays[NEAR + j], rays[TIME + j] = 0.0, 0.0
        rays[TO_X + j], rays[TO_Y + j], rays[TO_Z + j] = dx, dy, dz
        plane = (numbers[BASE] - numbers[PLACE_Z]) / dz if dz != 0.0 else inf
        rays[FAR + j] = plane if 0.0 <= plane < numbers[REACH] else numbers[REACH]
        rays[NORMAL_X + j], rays[NORMAL_Y + j], rays[NORMAL_Z + j] = 0.0, 0.0, 1.0
        whole[MASK + j], whole[FLAGS + j] = -1, 0
        whole[SHAPE + j], whole[INSTANCE + j] = -1, -1


@compiled
def _sine_of_incidence(rays, j):
    """Of the angle between a ray and the surface that it meets."""
    x, y, z = rays[NORMAL_X + j], rays[NORMAL_Y + j], rays[NORMAL_Z + j]
    along = x * rays[TO_X + j] + y * rays[TO_Y + j] + z * rays[TO_Z + j]
    return abs(along) / sqrt(x * x + y * y + z * z)


@compiled
def _reading(distance, numbers, white, chance):
    """What the instrument says: σ = a + b d², too near is −∞, too far +∞, no answer not a number (REP 117 of ROS)."""
    if chance < numbers[DROPOUT]:
        return nan
    sigma = numbers[SIGMA] + numbers[GROWTH] * distance * distance
    measured = distance + numbers[OFFSET] + sigma * white
    if measured < numbers[NEAREST]:
        return -inf
    return measured if measured <= numbers[FARTHEST] else inf


@compiled
def measure(scenes, packet, rays, whole, numbers, directions, scale, key, tick, out):
    """Readings along unit `directions` of the eye; `scale` is what each metre along a ray counts.

    Draws are those of pairs of rays: two uniform numbers become two normal ones (Box and Muller), two decide
    whether an answer comes.
    """
    count = directions.shape[0]
    is_random = numbers[SIGMA] > 0.0 or numbers[GROWTH] > 0.0 or numbers[DROPOUT] > 0.0
    low, high = np.uint64(tick) & np.uint64(0xFFFFFFFF), np.uint64(tick) >> np.uint64(32)
    for first in range(0, count, PACKET):
        _fill(rays, whole, numbers, directions, first, count)
        for s in range(scenes.shape[0]):
            if scenes[s] != 0:
                intersect8(packet[1], scenes[s], packet[0], packet[2])
        white_0, white_1, chance_0, chance_1 = 0.0, 0.0, 1.0, 1.0
        for j in range(min(PACKET, count - first)):
            if is_random and j % 2 == 0:
                a, b, c, d = philox(low, high, np.uint64((first + j) // 2), np.uint64(1), key)
                radius = sqrt(-2.0 * log((np.float64(a) + 0.5) * _2_32))
                angle = 2.0 * pi * np.float64(b) * _2_32
                white_0, white_1 = radius * cos(angle), radius * sin(angle)
                chance_0, chance_1 = np.float64(c) * _2_32, np.float64(d) * _2_32
            far = np.float64(rays[FAR + j])
            if far >= np.float32(numbers[REACH]):
                out[first + j] = inf
            elif _sine_of_incidence(rays, j) < numbers[GRAZING]:
                out[first + j] = nan
            else:
                white, chance = (white_0, chance_0) if j % 2 == 0 else (white_1, chance_1)
                out[first + j] = _reading(far * scale[first + j], numbers, white, chance)
