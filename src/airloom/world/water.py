"""The water of a world: its surface, its layers and how it flows, at any place and time.

Waves are Airy's on deep water: η = a cos φ, φ = k·x − ω t + φ₀, ω² = g k, with the velocity ω a e^{kz} (cos φ along the
wave, sin φ upwards) and the acceleration ω² a e^{kz} (sin φ, −cos φ), z from the level down.

A sea is a sum of such waves with the spectrum of JONSWAP (Hasselmann et al. 1973), in the form of DNV-RP-C205, 3.5.5:
S(ω) ∝ ω⁻⁵ exp(−5/4 (ω_p/ω)⁴) γ^r, r = exp(−(ω/ω_p − 1)²/(2σ²)), σ = 0.07 below the peak and 0.09 above. Each wave
stands for an equal part of the energy m₀ = H_s²/16, so that a few of them do.
"""

from __future__ import annotations

from math import cos, exp, pi, sin, sqrt

import numpy as np

from airloom.compiled import compiled, numbers_at
from airloom.scenario.water import MOST_LAYERS, Sea, Water
from airloom.world.ground import W_WATER, W_WATER_LENGTH

# Numbers of the water: level, current (velocity, where it has died away, period), how many rows follow of the current
# by depth, of that by time, of waves; layers (upper end, density). Then those rows.
LEVEL, CURRENT, DIES_AT, PERIOD, DEPTHS, TIMES, WAVES, LAYERS = 0, 1, 4, 5, 6, 7, 8, 9
FIRST = LAYERS + 2 * MOST_LAYERS
KNOT = 4  # depth or time, velocity
AMPLITUDE, NUMBER, OMEGA, EAST, NORTH, PHASE, WAVE = range(7)


def water_numbers(water: Water, gravity: float, key: int) -> np.ndarray:
    """What compiled code sees of the water; the phases of a sea are those of `key`."""
    current, layers = water.current, [(water.level, water.density), *((it.below, it.density) for it in water.layers)]
    layers += [(0.0, 0.0)] * (MOST_LAYERS - len(layers))
    waves = [[it.amplitude, 2 * pi / it.length, 0.0, it.direction, it.phase] for it in water.waves]
    waves += _waves_of(water.sea, gravity, key) if water.sea is not None else []
    counts = [len(current.by_depth), len(current.by_time), len(waves)]
    numbers = [water.level, *current.velocity, current.depth or 0.0, current.period or 0.0, *counts]
    for pair in layers:
        numbers += pair
    for knot in (*current.by_depth, *current.by_time):
        numbers += knot
    for amplitude, number, omega, direction, phase in waves:
        numbers += [amplitude, number, omega or sqrt(gravity * number), cos(direction), sin(direction), phase]
    return np.array(numbers, dtype=float)


def jonswap(omega: np.ndarray, peak: float, sharpness: float) -> np.ndarray:
    """The spectrum, but for a factor."""
    width = np.where(omega <= peak, 0.07, 0.09)
    narrow = np.exp(-0.5 * ((omega / peak - 1.0) / width) ** 2)
    return omega**-5.0 * np.exp(-1.25 * (peak / omega) ** 4) * sharpness**narrow


def _waves_of(sea: Sea, gravity: float, key: int) -> list[list[float]]:
    peak = 2 * pi / sea.peak_period
    grid = np.linspace(0.5 * peak, 4.0 * peak, 4000)
    energy = np.cumsum(jonswap(grid, peak, sea.sharpness))
    middles = (np.arange(sea.components) + 0.5) / sea.components
    omegas = np.interp(middles, energy / energy[-1], grid)
    draws = np.random.Generator(np.random.Philox(key=key))
    phases = draws.uniform(0.0, 2 * pi, sea.components)
    amplitude = 0.25 * sea.significant_height * sqrt(2.0 / sea.components)
    return [
        [amplitude, o * o / gravity, float(o), sea.direction, float(p)] for o, p in zip(omegas, phases, strict=True)
    ]


@compiled
def is_water(world):
    return world[W_WATER] != 0.0


@compiled
def surface_at(world, t, x, y):
    """Height of the surface, and its slope east and north."""
    water = numbers_at(int(world[W_WATER]), int(world[W_WATER_LENGTH]))
    rise = east = north = 0.0
    first = FIRST + KNOT * int(water[DEPTHS] + water[TIMES])
    for k in range(int(water[WAVES])):
        wave = water[first + k * WAVE : first + (k + 1) * WAVE]
        a, number = wave[AMPLITUDE], wave[NUMBER]
        phase = number * (wave[EAST] * x + wave[NORTH] * y) - wave[OMEGA] * t + wave[PHASE]
        rise += a * cos(phase)
        slope = -a * number * sin(phase)
        east += slope * wave[EAST]
        north += slope * wave[NORTH]
    return water[LEVEL] + rise, east, north


@compiled
def _add_by_table(water, first, count, at, out):
    """A velocity by straight lines between knots; beyond the ends it stays as it is there."""
    if count == 0:
        return
    k = 0
    while k < count - 1 and water[first + (k + 1) * KNOT] < at:
        k += 1
    low, high = first + k * KNOT, first + min(k + 1, count - 1) * KNOT
    gap = water[high] - water[low]
    share = min(max((at - water[low]) / gap, 0.0), 1.0) if gap > 0.0 else 0.0
    for n in range(3):
        out[n] += water[low + 1 + n] + share * (water[high + 1 + n] - water[low + 1 + n])


@compiled
def flow_at(world, t, x, y, z, out):
    """Velocity of the water at a place and time, and the acceleration that waves give it: six numbers, world.

    Currents that change in time do so slowly: their acceleration is left out.
    """
    water = numbers_at(int(world[W_WATER]), int(world[W_WATER_LENGTH]))
    share, dies_at, period, depth = 1.0, water[DIES_AT], water[PERIOD], water[LEVEL] - z
    if dies_at > 0.0:
        share = min(max(1.0 - depth / dies_at, 0.0), 1.0)
    if period > 0.0:
        share *= sin(2.0 * pi * t / period)
    for n in range(3):
        out[n], out[3 + n] = share * water[CURRENT + n], 0.0
    depths, times = int(water[DEPTHS]), int(water[TIMES])
    _add_by_table(water, FIRST, depths, depth, out)
    _add_by_table(water, FIRST + KNOT * depths, times, t, out)
    first = FIRST + KNOT * (depths + times)
    for k in range(int(water[WAVES])):
        wave = water[first + k * WAVE : first + (k + 1) * WAVE]
        omega = wave[OMEGA]
        phase = wave[NUMBER] * (wave[EAST] * x + wave[NORTH] * y) - omega * t + wave[PHASE]
        c, s = cos(phase), sin(phase)
        speed = omega * wave[AMPLITUDE] * exp(-wave[NUMBER] * max(depth, 0.0))
        out[0] += speed * c * wave[EAST]
        out[1] += speed * c * wave[NORTH]
        out[2] += speed * s
        out[3] += omega * speed * s * wave[EAST]
        out[4] += omega * speed * s * wave[NORTH]
        out[5] -= omega * speed * c


@compiled
def density_at(world, z):
    """Of the layer at a height below the surface, kg/m³."""
    water = numbers_at(int(world[W_WATER]), int(world[W_WATER_LENGTH]))
    density = water[LAYERS + 1]
    for k in range(1, MOST_LAYERS):
        if water[LAYERS + 2 * k + 1] > 0.0 and z < water[LAYERS + 2 * k]:
            density = water[LAYERS + 2 * k + 1]
    return density


@compiled
def pressure_at(world, gravity, t, x, y, z):
    """Of the water at a place, without that of the air above, Pa: ρ g (−z + Σ a e^{kz} cos φ), layer by layer."""
    water = numbers_at(int(world[W_WATER]), int(world[W_WATER_LENGTH]))
    depth = water[LEVEL] - z
    pressure, top = water[LAYERS + 1] * gravity * min(depth, 0.0), water[LEVEL]
    for k in range(MOST_LAYERS):
        density = water[LAYERS + 2 * k + 1]
        if density == 0.0 or z >= top:
            break
        bottom = water[LAYERS + 2 * k + 2] if k + 1 < MOST_LAYERS and water[LAYERS + 2 * k + 3] > 0.0 else -1e9
        pressure += density * gravity * (top - max(z, bottom))
        top = bottom
    first = FIRST + KNOT * int(water[DEPTHS] + water[TIMES])
    for k in range(int(water[WAVES])):
        wave = water[first + k * WAVE : first + (k + 1) * WAVE]
        phase = wave[NUMBER] * (wave[EAST] * x + wave[NORTH] * y) - wave[OMEGA] * t + wave[PHASE]
        rise = wave[AMPLITUDE] * exp(-wave[NUMBER] * max(depth, 0.0)) * cos(phase)
        pressure += water[LAYERS + 1] * gravity * rise
    return max(pressure, 0.0)
