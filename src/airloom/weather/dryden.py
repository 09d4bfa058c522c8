"""Dryden turbulence as a frozen field: eddies that stand in the air and are carried along by the mean wind.

By Taylor's hypothesis turbulence is a function of the place in the moving air, r − ∫V dt. Along the mean wind it is a
line of `eddies.py`; whoever moves along it with airspeed V meets the standard's spectrum with that V. Across the wind
and by height there is a lattice of lines, each with its own beginning, and between them neighbours are blended
with weights whose squares add up to 1, so that the variance is the same everywhere. It has no state: vehicles and drops
at one place meet the same eddy, and it does not matter who asks, how often, and in which order.

What it is not: lattice and blending give turbulence across the wind a plausible size, of the scale L, not Dryden's
exact cross-correlation; and there are no rotational gusts, which act on wings.
"""

from __future__ import annotations

from math import floor, log, sqrt

import numpy as np

from airloom.compiled import compiled, singles_at
from airloom.scenario import weather as models
from airloom.weather.air import wind_law
from airloom.weather.eddies import LENGTH, LINES, SAMPLES, lines_of
from airloom.weather.law import Law, Surroundings

FOOT = 0.3048
KNOT = 1852.0 / 3600.0
INTENSITIES = {"light": 15.0 * KNOT, "moderate": 30.0 * KNOT, "severe": 45.0 * KNOT}
LOWEST, LOW, HIGH = 10.0 * FOOT, 1000.0 * FOOT, 2000.0 * FOOT  # below the first, L and σ are those there
SCALE_ALOFT = 1750.0 * FOOT  # above HIGH
SLOWEST = 1.0  # m/s that carry the eddies if there is no mean wind, eastward
LEVEL_RATIO = 1.5  # of the heights of two levels of the lattice
LEVELS = 15  # the highest is above HIGH
LATTICE = 0.6  # of L, from line to line: the integral of the correlation across the wind is then about L/2

# Numbers of the layer: axis of the mean wind; where the air has moved by the time SINCE, and its velocity; σ of w; the
# lattice's key; where the lines are. Then for each level: samples per metre of u and v, and of w, lines per metre
# across the wind of both, σ of u and v.
AXIS_X, AXIS_Y, MOVED_X, MOVED_Y, SINCE, AIR_X, AIR_Y, SIGMA_W, KEY, PAIRS, SINGLES, FIRST_LEVEL = range(12)
RATE_UV, RATE_W, ACROSS_UV, ACROSS_W, SIGMA_UV, LEVEL_WIDTH = range(6)

_A, _B, _C = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _BITS = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(17)
_OFFSET, _LINE = np.uint64(LENGTH - 1), np.uint64(LINES - 1)
LEVEL_STEP = log(LEVEL_RATIO)


@compiled
def _hash(cell, level, key):
    """A whole number for a line of the lattice, by the finish of SplitMix64 (Steele et al., OOPSLA 2014)."""
    mixed = np.uint64(key) + _A * np.uint64(cell) + _B * np.uint64(level + 1)
    mixed = (mixed ^ (mixed >> _30)) * _B
    mixed = (mixed ^ (mixed >> _27)) * _C
    return mixed ^ (mixed >> _31)


@compiled
def _weights(share):
    """Of two neighbours: their squares add up to 1, and they change smoothly."""
    g = share * share * (3.0 - 2.0 * share)
    scale = 1.0 / sqrt((1.0 - g) * (1.0 - g) + g * g)
    return scale * (1.0 - g), scale * g


@compiled
def _start(cell, level, key, along):
    """The line of a cell, and where on it a place is that is `along` the wind, in samples: before it, and the rest."""
    number = _hash(cell, level, key)
    line = int((number >> _BITS) & _LINE)
    whole = floor(along)
    return line * (LENGTH + 1) + int((np.uint64(int(whole)) + number) & _OFFSET), along - whole


@compiled
def _pair(pairs, cell, level, key, along):
    at, rest = _start(cell, level, key, along)
    at *= 2
    return (1.0 - rest) * pairs[at] + rest * pairs[at + 2], (1.0 - rest) * pairs[at + 1] + rest * pairs[at + 3]


@compiled
def _single(singles, cell, level, key, along):
    at, rest = _start(cell, level, key, along)
    return (1.0 - rest) * singles[at] + rest * singles[at + 1]


@compiled
def _on_level(p, level, along, across, pairs, singles):
    """u, v and w at a level of the lattice, with σ = 1."""
    at = FIRST_LEVEL + level * LEVEL_WIDTH
    key = int(p[KEY])
    place = across * p[at + ACROSS_UV]
    cell = floor(place)
    left, right = _weights(place - cell)
    cell, along_uv = int(cell), along * p[at + RATE_UV]
    u, v = _pair(pairs, cell, 2 * level, key, along_uv)
    u_right, v_right = _pair(pairs, cell + 1, 2 * level, key, along_uv)
    u, v = left * u + right * u_right, left * v + right * v_right
    place = across * p[at + ACROSS_W]
    cell = floor(place)
    left, right = _weights(place - cell)
    cell, along_w = int(cell), along * p[at + RATE_W]
    w = left * _single(singles, cell, 2 * level + 1, key, along_w)
    return u, v, w + right * _single(singles, cell + 1, 2 * level + 1, key, along_w)


@wind_law
def blow_turbulently(t, x, y, z, h, p, v):
    """The field at a place; the numbers are named above."""
    pairs = singles_at(int(p[PAIRS]), 2 * LINES * (LENGTH + 1))
    singles = singles_at(int(p[SINGLES]), LINES * (LENGTH + 1))
    dx, dy = x - p[MOVED_X] - p[AIR_X] * (t - p[SINCE]), y - p[MOVED_Y] - p[AIR_Y] * (t - p[SINCE])
    along, across = dx * p[AXIS_X] + dy * p[AXIS_Y], dy * p[AXIS_X] - dx * p[AXIS_Y]
    height = log(min(max(h, LOWEST), HIGH) / LOWEST) / LEVEL_STEP
    level = int(height)
    share = height - level
    lower, upper = _weights(share)
    u, side, w = _on_level(p, level, along, across, pairs, singles)
    u_upper, side_upper, w_upper = _on_level(p, level + 1, along, across, pairs, singles)
    at = FIRST_LEVEL + level * LEVEL_WIDTH + SIGMA_UV
    sigma = p[at] + share * (p[at + LEVEL_WIDTH] - p[at])
    u, side = sigma * (lower * u + upper * u_upper), sigma * (lower * side + upper * side_upper)
    v[0] += u * p[AXIS_X] - side * p[AXIS_Y]
    v[1] += u * p[AXIS_Y] + side * p[AXIS_X]
    v[2] += p[SIGMA_W] * (lower * w + upper * w_upper)


def scales(height: float) -> tuple[float, float]:
    """L_u = L_v and L_w at a height above the ground, m, in the sense of MIL-F-8785C.

    Up to 1000 feet L_w = h and L_u = h/(0.177 + 0.000823 h)^1.2, h in feet; above 2000 feet 1750 feet; in between
    even. MIL-HDBK-1797 halves L_v and L_w, and doubles them where they stand in its spectra: both standards give
    v and w the same spectrum. They differ in rotational gusts only.
    """
    feet = min(max(height, LOWEST), LOW) / FOOT
    along, up = feet / (0.177 + 0.000823 * feet) ** 1.2 * FOOT, feet * FOOT
    aloft = min(max((height - LOW) / (HIGH - LOW), 0.0), 1.0)
    return along + aloft * (SCALE_ALOFT - along), up + aloft * (SCALE_ALOFT - up)


def intensities(height: float, wind_at_20_feet: float) -> tuple[float, float]:
    """σ_u = σ_v and σ_w at a height above the ground (m, m/s): σ_w = 0.1 W₂₀, σ_u = σ_w/(0.177 + 0.000823 h)^0.4.

    Above 1000 feet both are those there, which are equal; the standards have tables for that.
    """
    feet = min(max(height, LOWEST), LOW) / FOOT
    return 0.1 * wind_at_20_feet / (0.177 + 0.000823 * feet) ** 0.4, 0.1 * wind_at_20_feet


class DrydenLaw(Law):
    kernel = blow_turbulently

    def __init__(self, layer: models.Dryden, around: Surroundings) -> None:
        given = layer.wind_at_20_feet
        self._wind_at_20_feet = INTENSITIES[layer.intensity or "light"] if given is None else given
        self._is_carried_by_all = layer.carried_by is None
        self._mean = np.array(around.mean_wind if layer.carried_by is None else layer.carried_by, dtype=float)
        self.numbers = np.zeros(FIRST_LEVEL + LEVELS * LEVEL_WIDTH)
        self._lines: tuple[np.ndarray, ...] = ()

    def begin(self, key: int) -> None:
        p = self.numbers
        p[[AIR_X, AIR_Y]] = _carrier(self._mean)
        p[[AXIS_X, AXIS_Y]] = p[[AIR_X, AIR_Y]] / np.hypot(*p[[AIR_X, AIR_Y]])
        p[[MOVED_X, MOVED_Y, SINCE]] = 0.0
        p[KEY] = key & (2**52 - 1)
        self._lines = lines_of(key)
        p[[PAIRS, SINGLES]] = [lines.ctypes.data for lines in self._lines]
        for level, numbers in enumerate(p[FIRST_LEVEL:].reshape(LEVELS, LEVEL_WIDTH)):
            height = LOWEST * LEVEL_RATIO**level
            along, up = scales(height)
            numbers[[RATE_UV, RATE_W]] = SAMPLES / along, SAMPLES / up
            numbers[[ACROSS_UV, ACROSS_W]] = 1.0 / (LATTICE * along), 1.0 / (LATTICE * up)
            numbers[SIGMA_UV], p[SIGMA_W] = intensities(height, self._wind_at_20_feet)

    def state(self) -> np.ndarray:
        """How far the air has moved, and how it moves."""
        return self.numbers[MOVED_X : AIR_Y + 1]

    def change_mean(self, wind: np.ndarray, time: float) -> None:
        """The eddies go on from where they are; along and across stay what they were."""
        if self._is_carried_by_all:
            p = self.numbers
            p[[MOVED_X, MOVED_Y]] += p[[AIR_X, AIR_Y]] * (time - p[SINCE])
            p[SINCE], p[[AIR_X, AIR_Y]] = time, _carrier(wind)


def _carrier(mean: np.ndarray) -> np.ndarray:
    """The horizontal velocity that carries eddies."""
    speed = float(np.hypot(*mean[:2]))
    if speed >= SLOWEST:
        return mean[:2]
    return mean[:2] * (SLOWEST / speed) if speed > 0.0 else np.array([SLOWEST, 0.0])
