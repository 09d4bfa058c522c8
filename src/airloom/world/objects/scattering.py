"""From a rule to places: rows, grids, and at random in a polygon. The same rule gives the same places, always."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from airloom.scenario.objects import Along, ObjectError, Placed
from airloom.scenario.scatter import MOST, AtRandom, InGrid, InRows
from airloom.world.noise import key_of, uniform
from airloom.world.objects.place import Place, Run

TRIES = 30  # for each that is to stand at random, before the polygon counts as full
X, Y, SHIFT_X, SHIFT_Y, TURN, SIZE, LOOKS = range(7)
"""Channels of the random numbers of a rule."""


class Spot(NamedTuple):
    """East and north, the yaw, and the row that it fills if it fills one."""

    x: float
    y: float
    yaw: float
    run: Run | None = None


def places_of(name: str, placed: Placed) -> list[Place]:
    """Where an object of a world file stands: in one place, or in all that its rule gives."""
    x, y, *up = placed.position
    z, rule = up[0] if up else None, placed.scatter
    if rule is None:
        return [Place(x, y, z, placed.yaw, seed=key_of(name))]
    spots = list(_spots(placed))
    if not spots:
        raise ObjectError("scatter: nothing fits into the polygon; choose a smaller spacing")
    if len(spots) > MOST:
        raise ObjectError(f"scatter: gives {len(spots)} places; {MOST} are the most")
    seed = key_of(rule.seed, name)
    chance = [uniform(seed, np.arange(len(spots)), channel) for channel in (SHIFT_X, SHIFT_Y, TURN, SIZE)]
    aside, beside, turn = (2.0 * share - 1.0 for share in chance[:3])
    scale = rule.scale[0] + (rule.scale[1] - rule.scale[0]) * chance[3]
    return [
        Place(
            spot.x + rule.shift * aside[n], spot.y + rule.shift * beside[n], z, spot.yaw + rule.turn * turn[n],
            float(scale[n]), key_of(seed, n, LOOKS), spot.run,
        )
        for n, spot in enumerate(spots)
    ]  # fmt: skip


def _spots(placed: Placed) -> Iterator[Spot]:
    match placed.scatter:
        case InGrid() as rule:
            yield from _in_grid(rule, placed)
        case AtRandom() as rule:
            yield from _at_random(rule, placed)
        case InRows() as rule:
            for run in _rows(rule, placed):
                yield from _along(run, rule) if not isinstance(placed, Along) else [_filling(run, rule)]


def _in_grid(rule: InGrid, placed: Placed) -> Iterator[Spot]:
    across, along = rule.spacing
    c, s = np.cos(placed.yaw), np.sin(placed.yaw)
    for row in range(rule.rows):
        for column in range(rule.columns):
            u, v = (column - (rule.columns - 1) / 2) * across, (row - (rule.rows - 1) / 2) * along
            yield Spot(placed.position[0] + c * u - s * v, placed.position[1] + s * u + c * v, placed.yaw)


def _at_random(rule: AtRandom, placed: Placed) -> Iterator[Spot]:
    """Darts thrown at the polygon; those that come too close to an earlier one are thrown again."""
    corners = _corners(rule.polygon, placed)
    low, high = corners.min(axis=0), corners.max(axis=0)
    taken: dict[tuple[int, int], list[np.ndarray]] = {}
    width, standing = max(rule.apart, 1e-9), 0
    for throw in range(TRIES * rule.count):
        dart = low + (high - low) * [uniform(rule.seed, throw, X), uniform(rule.seed, throw, Y)]
        cell = int(dart[0] // width), int(dart[1] // width)
        if not is_inside(corners, *dart) or (rule.apart > 0.0 and _is_near(dart, cell, taken, rule.apart)):
            continue
        taken.setdefault(cell, []).append(dart)
        yield Spot(float(dart[0]), float(dart[1]), placed.yaw)
        standing += 1
        if standing == rule.count:
            return


def _is_near(dart: np.ndarray, cell: tuple[int, int], taken: dict, apart: float) -> bool:
    around = ((cell[0] + i, cell[1] + j) for i in (-1, 0, 1) for j in (-1, 0, 1))
    return any(np.hypot(*(dart - other)) < apart for one in around for other in taken.get(one, ()))


def _rows(rule: InRows, placed: Placed) -> Iterator[Run]:
    """The parts of parallel lines that lie in the polygon."""
    corners = _corners(rule.polygon, placed)
    c, s = np.cos(rule.heading), np.sin(rule.heading)
    turned = corners @ np.array([[c, -s], [s, c]])  # the rows run along its x
    low, high = turned[:, 1].min(), turned[:, 1].max()
    for level in np.arange(low + rule.between / 2, high, rule.between)[: MOST + 1]:
        for start, end in crossings(turned, float(level)):
            a, b = ((c * u - s * level, s * u + c * level) for u in (start, end))
            yield (float(a[0]), float(a[1])), (float(b[0]), float(b[1]))


def crossings(polygon: np.ndarray, level: float) -> Iterator[tuple[float, float]]:
    """Where a line along x enters and leaves a polygon."""
    ends = []
    for (x, y), (u, v) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        if (y <= level) != (v <= level):
            ends.append(x + (level - y) / (v - y) * (u - x))
    ends.sort()
    return zip(ends[::2], ends[1::2], strict=True)


def _along(run: Run, rule: InRows) -> Iterator[Spot]:
    (x, y), (u, v) = run
    count = int(np.hypot(u - x, v - y) / rule.spacing) + 1
    margin = 0.5 * (np.hypot(u - x, v - y) - (count - 1) * rule.spacing)
    for k in range(min(count, MOST + 1)):
        way = margin + k * rule.spacing
        yield Spot(x + way * np.cos(rule.heading), y + way * np.sin(rule.heading), rule.heading)


def _filling(run: Run, rule: InRows) -> Spot:
    (x, y), (u, v) = run
    return Spot((x + u) / 2, (y + v) / 2, rule.heading, run)


def _corners(polygon: list, placed: Placed) -> np.ndarray:
    return np.array(polygon, dtype=float) + placed.position[:2]


def is_inside(polygon: np.ndarray, x: float, y: float) -> bool:
    return any(start <= x < end for start, end in crossings(polygon, y))
