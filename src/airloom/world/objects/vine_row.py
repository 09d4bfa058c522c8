"""Rows of vines: stems, a wall of leaves that follows the ground, and the posts of its trellis."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from airloom.scenario.objects import VineRow
from airloom.world.meshes import Colour, Mesh, joined, lathe, painted
from airloom.world.noise import uniform
from airloom.world.objects.place import Ground, Place
from airloom.world.objects.stations import Station, panel, stations
from airloom.world.things import Solid

LEAVES: Colour = (92, 109, 54)
STEM: Colour = (84, 66, 50)
POST: Colour = (150, 136, 116)
STEP = 1.5  # m along a row, between two shapes of its leaves
FREE = 0.38  # of the height, below the leaves
GAP, BOARD = 2, 3  # steps along the row: of a gap, and of a solid in a row with gaps
SOLID_HEIGHT, SOLID_WIDTH = 0.92, 0.55  # of the height and width of the leaves: what is touched is within what is seen
RING = np.array([[-0.3, 0.0], [-0.5, 0.35], [-0.42, 0.75], [0.0, 1.0], [0.42, 0.75], [0.5, 0.35], [0.3, 0.0]])
"""Across the leaves: shares of the width and of their height."""


def build_vine_row(vines: VineRow, place: Place, ground: Ground) -> tuple[Mesh, tuple[Solid, ...]]:
    path, height, width = place.path(vines.path), vines.height * place.scale, vines.width * place.scale
    posts = stations(path, vines.spacing, place, ground)
    plants = stations(path, STEP, place, ground)
    feet = np.array([plant.foot for plant in plants])
    stretches = _stretches(len(feet), place.seed, vines.missing)
    parts = [_leaves(feet[first:end], first, height, width, place.seed) for first, end in stretches]
    parts += [
        lathe([[0.025, -0.1], [0.02, FREE * height + 0.15]], 3, STEM).moved((feet[k] + feet[k + 1]) / 2)
        for first, end in stretches
        for k in range(first, end - 1, 2)
    ]
    parts += [lathe([[0.04, -0.3], [0.04, 1.05 * height]], 4, POST).moved(post.foot) for post in posts]
    boards = pairwise(posts) if vines.missing == 0 else _boards(plants, stretches)
    solids = [panel(a, b, FREE * height, SOLID_HEIGHT * height, SOLID_WIDTH * width) for a, b in boards]
    return joined(parts), tuple(solids)


def _stretches(count: int, seed: int, missing: float) -> list[tuple[int, int]]:
    """First plant and end of each part of the row without a gap."""
    dead = uniform(seed, 300, np.arange(count - 1) // GAP) < missing
    edges = np.flatnonzero(np.diff(np.concatenate([[True], dead, [True]]).astype(int)))
    return [(int(first), int(last) + 1) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def _boards(plants: list[Station], stretches: list[tuple[int, int]]) -> Iterator[tuple[Station, Station]]:
    """From plant to plant, some steps at a time."""
    for first, end in stretches:
        yield from pairwise([*plants[first : end - 1 : BOARD], plants[end - 1]])


def _leaves(feet: np.ndarray, first: int, height: float, width: float, seed: int) -> Mesh:
    count, n = len(feet), len(RING)
    along = np.gradient(feet[:, :2], axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    aside = np.column_stack([-along[:, 1], along[:, 0], np.zeros(count)])
    plant, corner = first + np.arange(count)[:, None], np.arange(n)[None, :]
    rough = 0.75 + 0.5 * uniform(seed, plant, corner)
    tall = 0.88 + 0.2 * uniform(seed, plant, 100 + corner)
    rough[[0, -1]] *= 0.6
    low = FREE * height
    vertices = feet[:, None] + aside[:, None] * (width * RING[:, :1] * rough[..., None])
    vertices[..., 2] += low + (height - low) * np.minimum(RING[:, 1] * tall, 1.06) - 0.12 * (1 - RING[:, 1]) * rough
    around = np.arange(n)
    after = (around + 1) % n
    faces = []
    for start in range(0, (count - 1) * n, n):
        a, b = around + start, after + start
        faces += [np.stack([a, a + n, b + n], 1), np.stack([a, b + n, b], 1)]
    fan = np.stack([np.zeros(n - 2, dtype=int), np.arange(1, n - 1), np.arange(2, n)], axis=1)
    faces += [fan, fan[:, ::-1] + (count - 1) * n]
    light = (0.62 + 0.45 * RING[:, 1] + 0.3 * (uniform(seed, plant, 200 + corner) - 0.5)).ravel()
    colours = np.column_stack([np.outer(light, LEAVES), np.full(count * n, 255)])
    mesh = painted(vertices.reshape(-1, 3), np.concatenate(faces), LEAVES)
    return Mesh(mesh.vertices, mesh.faces, np.clip(colours, 0, 255))
