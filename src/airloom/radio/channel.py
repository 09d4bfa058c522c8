"""The channel: how strongly everybody hears a sender, in the mean, and how strongly one frame.

Received power = transmitted power − path loss − shadowing − obstruction, in dB, times the fading of the frame.
"""

from __future__ import annotations

from math import log10, sqrt
from typing import NamedTuple

import numpy as np

from airloom.compiled import compiled
from airloom.radio.fading import NO_FADING, RICIAN, fill_uniforms, nakagami, nakagami_after_all, rician
from airloom.radio.obstruction import IGNORED, obstruction
from airloom.radio.path_loss import FREE_SPACE, LOG_DISTANCE, path_loss
from airloom.radio.shadowing import shadowing
from airloom.world.ground import ground

LOWEST_ANTENNA = 0.1
"""Above the ground, m: a radio does not fall silent because its vehicle has landed."""
FADING_MARGIN_DB = 10.0
"""A signal that is so much too weak to be followed in the mean is not drawn for each frame: it is only noise to others,
and there are many."""
SHADOWING_MARGIN = 3.0
"""Standard deviations of shadowing that may help."""


class Channel(NamedTuple):
    """Parameters of the laws. Lengths in m, losses in dB, powers in dBm unless a name says otherwise."""

    law: int
    exponent: float
    reference_distance: float
    reference_loss: float
    wavelength: float
    shadowing: float
    """Standard deviation; 0 is none."""
    shadowing_distance: float
    obstruction: int
    obstruction_loss: float
    fading: int
    shapes: tuple[float, float, float]
    """Nakagami's m below the first distance, below the second, and beyond; or Rice's K in the first place."""
    shape_distances: tuple[float, float]
    least_mw: float
    """Weaker frames do not count."""
    steady_mw: float
    """Signals with a lower mean do not fade."""


@compiled
def fill_antennas(world, positions, offset, antennas, heights):
    """Places of the antennas, which are never in the ground, and their heights above it."""
    for node in range(positions.shape[0]):
        x, y, z = positions[node, 0], positions[node, 1], positions[node, 2] + offset
        floor = ground(world, x, y)[0] if world.shape[0] > 0 and x == x and y == y else 0.0
        heights[node] = max(z - floor, LOWEST_ANTENNA)
        antennas[node, 0], antennas[node, 1], antennas[node, 2] = x, y, floor + heights[node]


@compiled
def fill_row(channel, e, sender):
    """Find out who can hear a sender, how strongly in the mean, and from how far; returns how many.

    `e.links` [sender, receiver] are those that exist; without any, all do.
    """
    count, x, y, z = 0, e.antennas[sender, 0], e.antennas[sender, 1], e.antennas[sender, 2]
    reach = e.reach[sender]
    for other in range(e.antennas.shape[0]):
        u, v, w = e.antennas[other, 0], e.antennas[other, 1], e.antennas[other, 2]
        square = (u - x) ** 2 + (v - y) ** 2 + (w - z) ** 2
        if other == sender or not square <= reach * reach or (e.links.shape[0] > 0 and not e.links[sender, other]):
            continue
        apart = sqrt(square)
        level = e.transmitted[sender] - path_loss(
            channel.law, apart, e.heights[sender], e.heights[other], channel.exponent, channel.reference_distance,
            channel.reference_loss, channel.wavelength,
        )  # fmt: skip
        if channel.shadowing > 0.0:
            level -= shadowing(e.phases, sender, other, apart, channel.shadowing, channel.shadowing_distance)
        if channel.obstruction != IGNORED:
            level -= obstruction(
                e.world, channel.obstruction, channel.obstruction_loss, channel.wavelength, x, y, z, u, v, w
            )
        mean = 10.0 ** (0.1 * level)
        if mean >= channel.least_mw:
            e.who[sender, count], e.mean[sender, count], e.distance[sender, count] = other, mean, apart
            count += 1
    return count


@compiled
def add_jamming(channel, e, place, power, noise):
    """Add what a jammer at a place, which transmits so many dBm, is at each node, mW: path loss alone."""
    floor = ground(e.world, place[0], place[1])[0] if e.world.shape[0] > 0 else 0.0
    height = max(place[2] - floor, LOWEST_ANTENNA)
    for node in range(e.antennas.shape[0]):
        u, v, w = e.antennas[node, 0], e.antennas[node, 1], e.antennas[node, 2]
        apart = sqrt((u - place[0]) ** 2 + (v - place[1]) ** 2 + (w - floor - height) ** 2)
        if apart == apart:
            loss = path_loss(
                channel.law, apart, height, e.heights[node], channel.exponent, channel.reference_distance,
                channel.reference_loss, channel.wavelength,
            )  # fmt: skip
            noise[node] += 10.0 ** (0.1 * (power - loss))


@compiled
def fade_row(channel, e, sender, key, number, attempt, purpose):
    """The power, mW, with which one frame arrives at each who may hear its sender; 0 where it does not count."""
    count = e.nodes[sender].row
    if channel.fading != NO_FADING:
        fill_uniforms(key, number, attempt, e.who[sender], count, purpose, e.words, e.uniform)
    for k in range(count):
        power = e.mean[sender, k]
        if channel.fading != NO_FADING and power >= channel.steady_mw:
            power *= fading(channel, e, sender, k, key, number, attempt, purpose)
        e.power[sender, k] = power if power >= channel.least_mw else 0.0


@compiled
def fading(channel, e, sender, k, key, number, attempt, purpose):
    """By how much a frame arrives stronger than in the mean."""
    if channel.fading == RICIAN:
        return rician(channel.shapes[0], e.uniform[0, k], e.uniform[1, k])
    shape, apart = channel.shapes[2], e.distance[sender, k]
    if apart < channel.shape_distances[0]:
        shape = channel.shapes[0]
    elif apart < channel.shape_distances[1]:
        shape = channel.shapes[1]
    gain = nakagami(shape, e.uniform[0, k], e.uniform[1, k], e.uniform[2, k], e.uniform[3, k])
    return gain if gain >= 0.0 else nakagami_after_all(shape, key, number, attempt, e.who[sender, k], purpose)


def reach_of(channel: Channel, power: np.ndarray) -> np.ndarray:
    """How far a signal counts at best, m: two-ray is never better than free space."""
    law = channel.law if channel.law == LOG_DISTANCE else FREE_SPACE
    decade = 10.0 * channel.exponent if law == LOG_DISTANCE else 20.0
    nearest = path_loss(
        law, channel.reference_distance, 1.0, 1.0, channel.exponent, channel.reference_distance,
        channel.reference_loss, channel.wavelength,
    )  # fmt: skip
    spare = power - nearest - 10.0 * log10(channel.least_mw) + SHADOWING_MARGIN * channel.shadowing
    return channel.reference_distance * 10.0 ** (spare / decade)
