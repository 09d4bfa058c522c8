"""Trees: crowns with lobes of leaves, cones of branches, a trunk. A few of each form are made; the rest are alike.

Foliage is a closed surface around a middle, whose distance in each direction is that of the farthest of some balls,
roughened by noise; it is darker below and within, where less light comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from airloom.scenario.objects import Tree
from airloom.world.meshes import Colour, Mesh, ball, joined, lathe, ngon
from airloom.world.noise import key_of, uniform
from airloom.world.objects.place import Ground, Place
from airloom.world.things import Solid

LIKES = 5  # of each form
USUAL = {"broadleaf": (9.0, 7.0), "conifer": (15.0, 5.5), "poplar": (18.0, 4.2), "bush": (1.8, 2.2)}
"""Height and width, m."""
LEAVES: dict[str, Colour] = {
    "broadleaf": (98, 118, 58), "conifer": (58, 80, 56), "poplar": (108, 124, 64), "bush": (88, 106, 54),
}  # fmt: skip
BARK: Colour = (98, 80, 62)
ROUGH = 0.16  # of a crown's distance from its middle


def build_tree(tree: Tree, place: Place, ground: Ground) -> tuple[Mesh, tuple[Solid, ...]]:
    usual_height, usual_width = USUAL[tree.form]
    height = tree.height or usual_height
    width = tree.width or usual_width * height / usual_height
    leaves, trunk = _like(tree.form, place.choice(0, range(LIKES)), tree.scatter is None)
    tint = (0.86 + 0.28 * place.chance(1)) * np.array(
        [0.94 + 0.16 * place.chance(2), 1.0, 0.9 + 0.15 * place.chance(3)]
    )
    if tree.colour is not None:
        tint = tint * np.array(tree.colour) / LEAVES[tree.form]
    whole = joined([leaves.tinted(tint), trunk] if trunk is not None else [leaves.tinted(tint)])
    stretched = Mesh(whole.vertices * [width, width, height], whole.faces, whole.colours)
    return place.put(stretched, _solids(tree.form, width, height), ground)


def _solids(form: str, width: float, height: float) -> list[Solid]:
    """Within what is seen."""
    if form == "bush":
        return [_upright("cylinder", 0.28 * width, 0.0, 0.75 * height)]
    trunk = _upright("cylinder", 0.03 * width, 0.0, 0.3 * height)
    if form == "conifer":
        steps = np.linspace(0.14, 0.95, 6) * height
        radii = 0.4 * width * (1.0 - (steps[1:] - steps[0]) / (height - steps[0]))
        return [trunk, *(_upright("cylinder", r, a, b) for r, (a, b) in zip(radii, pairwise(steps), strict=True))]
    low, high = (CROWNS[form].low + 0.03) * height, 0.95 * height
    return [trunk, _upright("capsule", min(0.3 * width, 0.45 * (high - low)), low, high)]


def _upright(shape, radius: float, low: float, high: float) -> Solid:
    return Solid(shape, (radius, radius, (high - low) / 2), (0.0, 0.0, (low + high) / 2))


@dataclass(frozen=True)
class Crown:
    """Balls of leaves around a middle, in a tree that is 1 m wide and 1 m high."""

    low: float
    """Where it begins."""
    lobes: int
    slim: float = 1.0
    """How far lobes stand aside, as a share of what is usual."""


CROWNS = {"broadleaf": Crown(0.3, 9), "poplar": Crown(0.07, 7, slim=0.3), "bush": Crown(-0.25, 6)}


@cache
def _like(form: str, number: int, fine: bool) -> tuple[Mesh, Mesh | None]:
    """Leaves and trunk of a tree that is 1 m wide and 1 m high; one that stands alone is finer than those of a wood."""
    seed = key_of("tree", form, number)
    if form == "conifer":
        return _cones(seed), _trunk(0.03, 0.3)
    crown = _crown(CROWNS[form], seed, LEAVES[form], fine)
    return crown, None if form == "bush" else _trunk(0.04, CROWNS[form].low + 0.2)


def _trunk(radius: float, high: float) -> Mesh:
    """It goes into the ground, for slopes."""
    return lathe([[1.3 * radius, -0.02], [0.8 * radius, high]], 6, BARK)


def _crown(crown: Crown, seed: int, colour: Colour, fine: bool) -> Mesh:
    directions, faces = ball(3 if fine else 2)
    number = np.arange(crown.lobes)
    spots = np.stack([0.3 * crown.slim * (2.0 * uniform(seed, number, axis) - 1.0) for axis in range(3)], axis=1)
    spots[:, 2] = np.linspace(-0.3, 0.3, crown.lobes)
    spots[:, :2] *= np.sqrt(1.0 - (spots[:, 2:] / 0.36) ** 2)  # fewer aside at the top and at the bottom
    sizes = 0.24 * (0.8 + 0.4 * uniform(seed, number, 3)) * (1.0 - 0.7 * np.abs(spots[:, 2]))
    along = directions @ spots.T
    inside = np.maximum(along**2 - (spots**2).sum(axis=1) + sizes**2, 0.0)
    far = np.maximum((along + np.sqrt(inside)).max(axis=1), 0.12)
    far *= 1.0 + ROUGH * (2.0 * uniform(seed, np.arange(len(directions)), 4) - 1.0)
    shape = directions * far[:, None]
    lit = 0.36 * _share(shape[:, 2]) + 0.22 * _share(far) + 0.3 * uniform(seed, np.arange(len(far)), 5)
    return _painted(_fitted(shape, crown.low), faces, colour, 0.42 + lit)


def _share(values: np.ndarray) -> np.ndarray:
    return (values - values.min()) / np.ptp(values)


def _painted(vertices: np.ndarray, faces: np.ndarray, colour: Colour, light: np.ndarray) -> Mesh:
    colours = np.column_stack([np.clip(np.outer(light, colour), 0, 255), np.full(len(vertices), 255.0)])
    return Mesh(vertices, np.asarray(faces, dtype=np.uint32), colours)


def _fitted(vertices: np.ndarray, low: float) -> np.ndarray:
    """1 m wide, and from a height to the top at 1 m."""
    bottom, top = vertices[:, 2].min(), vertices[:, 2].max()
    wide = 2.0 * np.abs(vertices[:, :2]).max()
    return np.column_stack([vertices[:, :2] / wide, low + (1.0 - low) * (vertices[:, 2] - bottom) / (top - bottom)])


def _cones(seed: int) -> Mesh:
    """Tiers of branches, each a ragged cone that hangs over the one below."""
    tiers, sides, parts = 5, 5, []
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
