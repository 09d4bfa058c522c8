"""Volume, centre and inertia of what a mesh encloses, exactly, or by a hull, voxels or a shell if it is not closed.

A tetrahedron from the origin to a triangle a, b, c has the volume V = det(a, b, c)/6 and the second moments
∫ x xᵀ dV = V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ), s = a + b + c (Mirtich 1996, Eberly 2002). Those of all triangles, with
their signs, add up to the solid. A triangle alone, of area A, has ∫ x xᵀ dA = A/12 (a aᵀ + b bᵀ + c cᵀ + s sᵀ).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from airloom.models.description import Inertial, ModelError

By = Literal["solid", "hull", "voxel", "shell"]
VOXELS = 72
"""Along the longest side."""


@dataclass(frozen=True)
class Measured:
    """Of a body of density 1, or of 1 kg/m² if it is a shell."""

    amount: float
    """m³, or m² of a shell."""
    center: np.ndarray
    second: np.ndarray
    """∫ (x − center)(x − center)ᵀ."""
    uncertainty: float = 0.0
    """Of the amount, as a share; what the way of measuring leaves open."""

    def weighing(self, mass: float) -> Inertial:
        second = self.second * (mass / self.amount)
        return Inertial(mass, self.center, np.trace(second) * np.eye(3) - second)


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with a mesh as a solid."""

    open_edges: int
    """That belong to one triangle only."""
    odd_edges: int
    """That belong to three or more, or to two which run the same way."""
    flat_triangles: int
    volume: float
    """Signed."""
    pieces_inside_out: bool

    @property
    def is_solid(self) -> bool:
        return self.open_edges == 0 and self.odd_edges == 0 and self.volume != 0.0

    def __str__(self) -> str:
        if self.is_solid:
            return "closed" + (", inside out (turned)" if self.pieces_inside_out else "")
        parts = []
        if self.open_edges:
            parts.append(f"{self.open_edges} open edges")
        if self.odd_edges:
            parts.append(f"{self.odd_edges} that do not fit")
        return "not closed: " + ", ".join(parts or ["it encloses nothing"])


def welded(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """With vertices at one place made one, as STL files never have them, and without triangles that are lines."""
    size = float(np.ptp(vertices, axis=0).max()) or 1.0
    _, first, same = np.unique((vertices / size).round(8), axis=0, return_index=True, return_inverse=True)
    faces = same.ravel()[np.asarray(faces, dtype=np.int64)]
    a, b, c = faces.T
    return vertices[first], faces[(a != b) & (b != c) & (c != a)]


def diagnose(vertices: np.ndarray, faces: np.ndarray) -> Diagnosis:
    """Of a welded mesh."""
    directed = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    edges, which, count = np.unique(np.sort(directed, axis=1), axis=0, return_inverse=True, return_counts=True)
    along = np.where(directed[:, 0] < directed[:, 1], 1, -1)
    balance = np.bincount(which.ravel(), weights=along, minlength=len(edges))
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    volume = measure_solid(vertices, faces).amount
    odd = (count > 2) & (balance != 0) | (count == 2) & (balance != 0) | (count % 2 == 1) & (count > 1)
    return Diagnosis(int((count == 1).sum()), int(odd.sum()), int((area == 0).sum()), volume, volume < 0)


def measure(vertices: np.ndarray, faces: np.ndarray, by: By) -> Measured:
    """Of a welded mesh."""
    if by == "solid":
        made = measure_solid(vertices, faces)
        return made if made.amount > 0 else Measured(-made.amount, made.center, -made.second)
    if by == "hull":
        return measure_solid(*hull_of(vertices))
    if by == "shell":
        return measure_shell(vertices, faces)
    fine, coarse = (measure_voxels(vertices, faces, count) for count in (VOXELS, 2 * VOXELS // 3))
    change = abs(coarse.amount / fine.amount - 1.0)  # large where a gap is closed by large cubes only
    return replace(fine, uncertainty=max(fine.uncertainty, change))


def measure_solid(vertices: np.ndarray, faces: np.ndarray) -> Measured:
    """By signed tetrahedra, from the middle of the mesh, so that little is lost to rounding."""
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    a, b, c = (vertices[faces[:, k]] - middle for k in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    return _summed(volumes, a, b, c, 4, 20, middle)


def measure_shell(vertices: np.ndarray, faces: np.ndarray) -> Measured:
    """A thin skin: by the areas of the triangles."""
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    a, b, c = (vertices[faces[:, k]] - middle for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    return _summed(areas, a, b, c, 3, 12, middle)


def _summed(
    weights: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, corners: int, divisor: int, middle: np.ndarray
) -> Measured:
    s = a + b + c
    amount = float(weights.sum())
    if amount == 0.0:
        return Measured(0.0, middle, np.zeros((3, 3)))
    center = weights @ s / corners / amount
    second = sum(np.einsum("i,ij,ik->jk", weights, x, x) for x in (a, b, c, s)) / divisor
    return Measured(amount, center + middle, second - amount * np.outer(center, center))


def hull_of(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The convex hull; its triangles face outwards."""
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError:
        raise ModelError('hulls need scipy: pip install "airloom[models]"') from None
    try:
        hull = ConvexHull(vertices)
    except QhullError:
        raise ModelError("the mesh is flat: it has no hull; weigh it as a shell") from None
    faces = hull.simplices.copy()
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, ::-1]
    return vertices, faces


def measure_voxels(vertices: np.ndarray, faces: np.ndarray, count: int) -> Measured:
    """Cubes on the surface and all that they enclose; smaller gaps are closed. Those on the surface count half."""
    try:
        from scipy.ndimage import binary_fill_holes
    except ImportError:
        raise ModelError('voxels need scipy: pip install "airloom[models]"') from None
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    side = float((high - low).max()) / count
    shape = np.ceil((high - low) / side).astype(int) + 4
    grid = np.zeros(shape, dtype=bool)
    for points in _on_surface(vertices, faces, side / 2):
        at = np.floor((points - low) / side + 0.5).astype(int) + 1  # the outermost lie in the middle of cubes
        grid[tuple(at.T)] = True
    full = binary_fill_holes(grid)
    inside = full & ~grid
    weights = np.where(inside, 1.0, np.where(grid, 0.5, 0.0))
    places = np.argwhere(weights > 0)
    w = weights[tuple(places.T)]
    x = low + (places - 1) * side
    total = w.sum()
    center = w @ x / total
    d = x - center
    second = (np.einsum("i,ij,ik->jk", w, d, d) + np.eye(3) * total * side**2 / 12) * side**3
    return Measured(float(total * side**3), center, second, float(0.5 * grid.sum() / total))


def _on_surface(vertices: np.ndarray, faces: np.ndarray, spacing: float):
    """Points on all triangles, no farther from each other than `spacing`; triangles of like size at a time."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    longest = np.max(
        [np.linalg.norm(b - a, axis=1), np.linalg.norm(c - b, axis=1), np.linalg.norm(a - c, axis=1)], axis=0
    )
    steps = 2 ** np.ceil(np.log2(np.maximum(longest / spacing, 1.0))).astype(int)
    for n in np.unique(steps):
        u, v = (m.ravel() / n for m in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
        within = u + v <= 1 + 1e-9
        u, v = u[within], v[within]
        chosen = np.flatnonzero(steps == n)
        most = max(1, 2_000_000 // len(u))
        for start in range(0, len(chosen), most):
            k = chosen[start : start + most]
            yield (a[k, None] + u[None, :, None] * (b - a)[k, None] + v[None, :, None] * (c - a)[k, None]).reshape(
                -1, 3
            )
