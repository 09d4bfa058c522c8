"""Triangles with a colour each corner, put together from solids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Mesh:
    """Triangles that face outwards, m. Colours are sRGB and opacity, 0 … 255, one for each vertex."""

    vertices: np.ndarray
    faces: np.ndarray
    colours: np.ndarray

    def moved(self, offset) -> Mesh:
        return Mesh(self.vertices + np.asarray(offset), self.faces, self.colours)

    def turned(self, rotation: np.ndarray) -> Mesh:
        return Mesh(self.vertices @ rotation.T, self.faces, self.colours)

    def tinted(self, share) -> Mesh:
        """Brighter or darker, by a number or one for each of red, green and blue."""
        colours = self.colours.astype(float)
        colours[:, :3] = np.clip(colours[:, :3] * share, 0.0, 255.0)
        return Mesh(self.vertices, self.faces, colours)

    @property
    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        return self.vertices.min(axis=0), self.vertices.max(axis=0)


def painted(vertices, faces, colour: Colour, opacity: float = 1.0) -> Mesh:
    vertices = np.asarray(vertices, dtype=float)
    colours = np.tile([*colour, round(255 * opacity)], (len(vertices), 1))
    return Mesh(vertices, np.asarray(faces, dtype=np.uint32), colours)


def joined(meshes: list[Mesh]) -> Mesh:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts[:-1], strict=True)]).astype(np.uint32),
        np.concatenate([mesh.colours for mesh in meshes]),
    )


def prism(outline, low: float, high: float, colour: Colour, top: float = 1.0) -> Mesh:
    """An outline, counterclockwise from above, between two heights; at the upper one it is `top` times as wide."""
    outline = np.asarray(outline, dtype=float)
    n = len(outline)
    around = np.arange(n)
    after = (around + 1) % n
    walls = np.concatenate(
        [np.stack([around, after, after + n], axis=1), np.stack([around, after + n, around + n], axis=1)]
    )
    fan = np.stack([np.zeros(n - 2, dtype=int), np.arange(1, n - 1), np.arange(2, n)], axis=1)
    vertices = np.concatenate(
        [np.column_stack([outline, np.full(n, low)]), np.column_stack([top * outline, np.full(n, high)])]
    )
    return painted(vertices, np.concatenate([walls, fan[:, ::-1], fan + n]), colour)


def box(size, colour: Colour, middle=(0.0, 0.0, 0.0)) -> Mesh:
    length, width, height = size
    return prism(rectangle(length, width), -height / 2, height / 2, colour).moved(middle)


def lathe(profile, sides: int, colour: Colour, turn: float = 0.0) -> Mesh:
    """A solid of revolution about z: radii and heights from its lower end to its upper one, each closed by a point."""
    profile = np.asarray(profile, dtype=float)
    rings = [np.column_stack([ngon(radius, sides, turn), np.full(sides, z)]) for radius, z in profile]
    vertices = np.concatenate([*rings, [[0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]]])
    around, low, high = np.arange(sides), len(profile) * sides, len(profile) * sides + 1
    after, last = (around + 1) % sides, low - sides
    faces = [
        np.stack([np.full(sides, low), after, around], 1),
        np.stack([np.full(sides, high), around + last, after + last], 1),
    ]
    for start in range(0, last, sides):
        a, b = around + start, after + start
        faces += [np.stack([a, b, b + sides], 1), np.stack([a, b + sides, a + sides], 1)]
    return painted(vertices, np.concatenate(faces), colour)


@cache
def ball(subdivisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a ball of radius 1: an icosahedron whose faces are divided into four, again and again."""
    golden = (1.0 + 5.0**0.5) / 2.0
    a = np.array([[-1, golden, 0], [1, golden, 0], [-1, -golden, 0], [1, -golden, 0]], dtype=float)
    vertices = np.concatenate([a, np.roll(a, 1, axis=1), np.roll(a, 2, axis=1)])
    near = np.isclose(np.linalg.norm(vertices[:, None] - vertices[None], axis=2), 2.0)
    faces = np.array([(i, j, k) for i, j, k in combinations(range(12), 3) if near[i, j] and near[j, k] and near[i, k]])
    for _ in range(subdivisions):
        pairs = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        edges, number = np.unique(pairs, axis=0, return_inverse=True)
        ab, bc, ca = (number.ravel() + len(vertices)).reshape(3, -1)
        vertices = np.concatenate([vertices, vertices[edges].mean(axis=1)])
        a, b, c = faces.T
        faces = np.concatenate(
            [np.stack(corners, 1) for corners in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        )
    vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
    one, two, three = (vertices[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(two - one, three - one), one) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return vertices, faces


def ngon(radius: float, sides: int, turn: float = 0.0) -> np.ndarray:
    angles = turn + 2 * np.pi * np.arange(sides) / sides
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def rectangle(length: float, width: float, bevel: float = 0.0) -> np.ndarray:
    """Corners counterclockwise, cut off by `bevel`."""
    x, y, b = length / 2, width / 2, bevel
    if b == 0.0:
        return np.array([[x, -y], [x, y], [-x, y], [-x, -y]])
    return np.array(
        [[x, b - y], [x, y - b], [x - b, y], [b - x, y], [-x, y - b], [-x, b - y], [b - x, -y], [x - b, -y]]
    )


def beam(start, end, width: float, height: float, colour: Colour) -> Mesh:
    """A bar from one point to another, as wide as `width` to the side and as thick as `height`."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(end - start))
    bar = prism(rectangle(length, width), -height / 2, height / 2, colour)
    return bar.turned(_facing((end - start) / length)).moved((start + end) / 2)


def _facing(direction: np.ndarray) -> np.ndarray:
    """The rotation that takes x to a direction and keeps y level."""
    level = np.cross([0.0, 0.0, 1.0], direction)
    norm = float(np.linalg.norm(level))
    side = level / norm if norm > 1e-6 else np.array([0.0, 1.0, 0.0])
    return np.column_stack([direction, side, np.cross(direction, side)])


def annulus(inner: float, outer: float, sides: int, colour: Colour, opacity: tuple[float, float] = (1.0, 1.0)) -> Mesh:
    """A flat ring that is seen from both sides; its opacity goes from that of the inner edge to that of the outer."""
    n = sides
    around = np.arange(n)
    after = (around + 1) % n
    up = np.concatenate([np.stack([around, around + n, after + n], 1), np.stack([around, after + n, after], 1)])
    flat = np.concatenate([ngon(inner, n), ngon(outer, n)])
    ring = painted(np.column_stack([flat, np.zeros(2 * n)]), np.concatenate([up, up[:, ::-1]]), colour)
    ring.colours[:n, 3], ring.colours[n:, 3] = round(255 * opacity[0]), round(255 * opacity[1])
    return ring
