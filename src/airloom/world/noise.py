"""Noise for made-up land: a function of a seed and a place, the same on any machine.

Points of a lattice are hashed by the mixing function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
number generators", OOPSLA 2014). Gradient noise between them is Perlin's ("Improving noise", SIGGRAPH 2002).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np

_STEP, _A, _B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_TO_UNIT = 2.0**-53


def key_of(*parts: str | int) -> int:
    """A seed of 63 bits that belongs to some names and numbers."""
    text = "\0".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") >> 1


def hashed(seed: int, *places: np.ndarray | int) -> np.ndarray:
    """64 random bits for each place: whole numbers, one array a coordinate."""
    word = np.asarray(np.uint64(seed))
    with np.errstate(over="ignore"):
        for place in places:
            word = _mixed(word ^ np.asarray(place).astype(np.int64).view(np.uint64))
    return word


def _mixed(word: np.ndarray) -> np.ndarray:
    word = word + _STEP
    word = (word ^ (word >> np.uint64(30))) * _A
    word = (word ^ (word >> np.uint64(27))) * _B
    return word ^ (word >> np.uint64(31))


def uniform(seed: int, *places: np.ndarray | int) -> np.ndarray:
    """0 … 1 for each place."""
    return (hashed(seed, *places) >> np.uint64(11)).astype(float) * _TO_UNIT


def smooth_noise(seed: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """About −1 … 1, with hills about as large as 1."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    i, j = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    u, v = x - i, y - j
    s, t = (w * w * w * (w * (6.0 * w - 15.0) + 10.0) for w in (u, v))
    slopes = _slopes(seed, i, j)

    def corner(a: int, b: int) -> np.ndarray:
        east, north = slopes(i + a, j + b)
        return east * (u - a) + north * (v - b)

    south = corner(0, 0) * (1.0 - s) + corner(1, 0) * s
    north = corner(0, 1) * (1.0 - s) + corner(1, 1) * s
    return 1.5 * (south * (1.0 - t) + north * t)


def _slopes(seed: int, i: np.ndarray, j: np.ndarray) -> Callable[[np.ndarray, np.ndarray], tuple]:
    """A unit vector at each point of the lattice; all that may be needed are made at once."""
    west, south = (int(n.min(initial=0)) for n in (i, j))
    wide, high = int(i.max(initial=0)) - west + 2, int(j.max(initial=0)) - south + 2

    def vectors(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.cos(2.0 * np.pi * angle), np.sin(2.0 * np.pi * angle)

    if wide * high > 4 * i.size:
        return lambda i, j: vectors(uniform(seed, i, j))
    east, north = vectors(uniform(seed, west + np.arange(wide)[:, None], south + np.arange(high)[None, :]))
    east, north = east.ravel(), north.ravel()

    def look_up(i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        number = (i - west) * high + (j - south)
        return east[number], north[number]

    return look_up


def layered_noise(seed: int, x: np.ndarray, y: np.ndarray, layers: int, gain: float = 0.5) -> np.ndarray:
    """About −1 … 1: each layer has hills of half the width and `gain` of the height of the one before."""
    total, weight = np.zeros(np.broadcast(x, y).shape), 0.0
    for k in range(layers):
        total += gain**k * smooth_noise(key_of(seed, k), np.multiply(x, 2.0**k), np.multiply(y, 2.0**k))
        weight += gain**k
    return total / weight


def ridged_noise(seed: int, x: np.ndarray, y: np.ndarray, layers: int) -> np.ndarray:
    """0 … 1 with sharp ridges; finer layers show on the ridges of coarser ones (Musgrave's multifractal)."""
    total, weight, share = np.zeros(np.broadcast(x, y).shape), 0.0, 1.0
    above: np.ndarray | float = 1.0
    for k in range(layers):
        ridge = 1.0 - np.abs(smooth_noise(key_of(seed, k), np.multiply(x, 2.0**k), np.multiply(y, 2.0**k)))
        ridge = np.clip(ridge, 0.0, 1.0) ** 2 * above
        total += share * ridge
        weight, above, share = weight + share, np.clip(1.6 * ridge, 0.0, 1.0), 0.5 * share
    return total / weight
