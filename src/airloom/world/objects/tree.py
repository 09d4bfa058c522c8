"""Trees: crowns with lobes of leaves, cones of branches, a trunk. A few of each form are made; the rest are their likes.

Foliage is a closed surface around a middle, whose distance in each direction is that of the farthest of some balls,
roughened by noise; it is darker below and within, where less light comes.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from airloom.scenario.objects import Tree
from airloom.world.meshes import Colour, Mesh, ball, joined, lathe, ngon, painted
from airloom.world.noise import key_of, uniform
from airloom.world.objects.place import Ground, Place
from airloom.world.things import Solid

LIKES = 5  # of each form
USUAL = {"broadleaf": (9.0, 7.0), "conifer": (15.0, 5.5), "poplar": (18.0, 4.2), "bush": (1.8, 2.2)}
"""Height and width, m."""
LEAVES: dict[str, Colour] = {
    "broadleaf": (96, 124, 50), "conifer": (52, 82, 50), "poplar": (106, 130, 58), "bush": (88, 112, 48),
}  # fmt: skip
BARK: Colour = (98, 80, 62)
ROUGH = 0.16  # of a crown's distance from its middle


def build_tree(tree: Tree, place: Place, ground: Ground) -> tuple[Mesh, tuple[Solid, ...]]:
    usual_height, usual_width = USUAL[tree.form]
    height = tree.height or usual_height
    width = tree.width or usual_width * height / usual_height
    leaves, trunk = _like(tree.form, place.choice(0, range(LIKES)))
    tint = (0.86 + 0.28 * place.chance(1)) * np.array(
        [0.94 + 0.16 * place.chance(2), 1.0, 0.9 + 0.15 * place.chance(3)]
    )
    if tree.colour is not None:
        tint = tint * np.array(tree.colour) / LEAVES[tree.form]
    whole = joined([leaves.tinted(tint), trunk] if trunk is not None else [leaves.tinted(tint)])
    stretched = Mesh(whole.vertices * [width, width, height], whole.faces, whole.colours)
    return place.put(stretched, _solids(tree.form, width, height), ground, sink=0.05 * place.scale)


def _solids(form: str, width: float, height: float) -> list[Solid]:
    """Within what is seen."""
    if form == "bush":
        return [_upright("cylinder", 0.36 * width, 0.1 * height, 0.75 * height)]
    if form == "conifer":
        low, high = 0.12 * height, 0.97 * height
        steps = np.linspace(low, high, 5)
        radii = 0.42 * width * (1.0 - (steps[1:] - low) / (1.04 * (high - low)))
        tiers = [_upright("cylinder", r, a, b) for r, a, b in zip(radii, steps, steps[1:], strict=False)]
        return [*tiers, _upright("cylinder", 0.016 * height, 0.0, 0.2 * height)]
    low = 0.1 if form == "poplar" else 0.34
    crown = _upright("capsule", min(0.36 * width, 0.45 * (0.94 - low) * height), low * height, 0.94 * height)
    return [crown, _upright("cylinder", 0.016 * height, 0.0, 0.5 * height)]


def _upright(shape, radius: float, low: float, high: float) -> Solid:
    return Solid(shape, (radius, radius, (high - low) / 2), (0.0, 0.0, (low + high) / 2))


@cache
def _like(form: str, number: int) -> tuple[Mesh, Mesh | None]:
    """Leaves and trunk of a tree that is 1 m wide and 1 m high."""
    seed = key_of("tree", form, number)
    if form == "conifer":
        return _cones(seed), _trunk(0.02, 0.3)
    if form == "poplar":
        return _crown(seed, 5, (0.0, 0.0, 0.53), (0.30, 0.30, 0.20), 0.26, 2, tall=True), _trunk(0.024, 0.3)
    if form == "bush":
        return _crown(seed, 6, (0.0, 0.0, 0.42), (0.26, 0.26, 0.2), 0.27, 1), None
    return _crown(seed, 9, (0.0, 0.0, 0.66), (0.29, 0.29, 0.17), 0.24, 2), _trunk(0.036, 0.55)


def _trunk(radius: float, high: float) -> Mesh:
    """Stands 0.1 m in the ground, for slopes; stretched as the tree is."""
    flare = [[1.5 * radius, -0.02], [1.05 * radius, 0.05], [0.8 * radius, high]]
    return lathe(flare, 7, BARK)


def _crown(seed: int, lobes: int, middle, spread, radius: float, fineness: int, tall: bool = False) -> Mesh:
    directions, faces = ball(fineness)
    spots = np.stack([2.0 * uniform(seed, np.arange(lobes), axis) - 1.0 for axis in range(3)], axis=1) * spread
    sizes = radius * (0.75 + 0.4 * uniform(seed, np.arange(lobes), 3))
    if tall:
        spots[:, 2], spots[:, :2] = np.linspace(-0.27, 0.26, lobes), 0.3 * spots[:, :2]
        sizes *= 1.0 - 0.8 * np.abs(spots[:, 2])
    along = directions @ spots.T
    inside = along**2 - (spots**2).sum(axis=1) + sizes**2
    far = np.where(inside > 0.0, along + np.sqrt(np.maximum(inside, 0.0)), 0.0).max(axis=1)
    far = np.maximum(far, 0.6 * radius)
    rough = 1.0 + ROUGH * (2.0 * uniform(seed, np.arange(len(directions)), 4) - 1.0)
    shape = directions * (far * rough)[:, None]
    low, high = np.array([-0.5, -0.5, -1.0]), np.array([0.5, 0.5, 1.0])
    top = shape[:, 2].max()
    shape = np.clip(shape / [2.04 * np.abs(shape[:, :2]).max(), 2.04 * np.abs(shape[:, :2]).max(), 1.0], low, high)
    shape[:, 2] *= (1.0 - middle[2]) / top
    shape = np.maximum(shape + middle, [-0.5, -0.5, 0.0])
    lit = _lit(far * rough, shape[:, 2], seed)
    mesh = painted(shape, faces, LEAVES["bush"])
    colours = np.column_stack(
        [np.clip(np.array(_leaves_of(middle, tall)) * lit[:, None], 0, 255), np.full(len(shape), 255)]
    )
    return Mesh(mesh.vertices, mesh.faces, colours)


def _leaves_of(middle, tall: bool) -> Colour:
    if tall:
        return LEAVES["poplar"]
    return LEAVES["bush"] if middle[2] < 0.5 else LEAVES["broadleaf"]


def _lit(far: np.ndarray, height: np.ndarray, seed: int) -> np.ndarray:
    """How much light comes to each vertex: more above and at the tips."""
    share = (height - height.min()) / np.ptp(height)
    tips = (far - far.min()) / np.ptp(far)
    spots = uniform(seed, np.arange(len(far)), 5)
    return 0.50 + 0.42 * share + 0.22 * tips + 0.16 * (spots - 0.5)


def _cones(seed: int) -> Mesh:
    """Tiers of branches, each a ragged cone that hangs over the one below."""
    tiers, sides, parts = 6, 11, []
    edges = 0.1 + 0.86 * (np.arange(tiers) / tiers) ** 0.92
    for k, low in enumerate(edges):
        high = min(low + 0.30 - 0.012 * k, 1.0) if k < tiers - 1 else 1.0
        reach = 0.49 * (1.0 - (low - 0.1) / 0.93) ** 0.9
        ragged = 0.72 + 0.28 * uniform(seed, np.arange(2 * sides), k)
        ragged[::2] *= 0.72
        rim = ngon(1.0, 2 * sides, 2.0 * np.pi * float(uniform(seed, k, 77))) * (reach * ragged)[:, None]
        droop = low - 0.035 * (ragged - ragged.mean()) / 0.28 + 0.01
        inner = ngon(0.35 * reach, 2 * sides)
        parts.append(_tier(rim, droop, inner, 0.5 * (low + high), high, 0.62 + 0.5 * k / tiers))
    return joined(parts)


def _tier(rim: np.ndarray, droop: np.ndarray, inner: np.ndarray, shoulder: float, high: float, lit: float) -> Mesh:
    n = len(rim)
    around = np.arange(n)
    after = (around + 1) % n
    vertices = np.concatenate(
        [np.column_stack([rim, np.maximum(droop, 0.02)]), np.column_stack([inner, np.full(n, shoulder)]),
         [[0.0, 0.0, high], [0.0, 0.0, float(np.maximum(droop, 0.02).mean()) + 0.03]]]
    )  # fmt: skip
    faces = np.concatenate(
        [np.stack([around, after, after + n], 1), np.stack([around, after + n, around + n], 1),
         np.stack([around + n, after + n, np.full(n, 2 * n)], 1), np.stack([after, around, np.full(n, 2 * n + 1)], 1)]
    )  # fmt: skip
    light = np.concatenate([np.full(n, 1.16 * lit), np.full(n, 0.9 * lit), [1.05 * lit, 0.5 * lit]])
    colours = np.column_stack([np.outer(light, LEAVES["conifer"]), np.full(len(vertices), 255)])
    return Mesh(vertices, faces.astype(np.uint32), colours)
