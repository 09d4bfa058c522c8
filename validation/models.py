"""Models: mass, centre and inertia of meshes beside closed forms, and of a vehicle beside what was measured."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from airloom.models.solids import measure, welded
from airloom.world.meshes import ball, box, ngon, painted, prism
from validation.case import Outcome, Row, case

GREY = (128, 128, 128)
ACCURACY = 1e-6


@case(
    "Mass and inertia of solids",
    "Closed forms; Mirtich, *Fast and accurate computation of polyhedral mass properties* (1996)",
)
def solids_from_meshes() -> Outcome:
    """A box, a tetrahedron with its right angle at a corner, and a prism of 7 sides, turned and far from the origin,
    are measured by their triangles; 1 kg each. The prism's moment about its axis is m R²/2 (1 − ⅔ sin²(π/n)). A ball
    of 20 480 triangles lies within the true one, so its error is that of its facets, here extrapolated from two balls.
    """
    rows: list[Row] = []
    length, width, height = 0.3, 0.2, 0.1
    brick = _inertia(box((length, width, height), GREY).vertices, box((length, width, height), GREY).faces)
    for axis, ours, exact in zip(
        "xyz", brick, (width**2 + height**2, length**2 + height**2, length**2 + width**2), strict=True
    ):
        rows.append(_row(f"box, about {axis}", ours, exact / 12))
    corner = painted(
        [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], GREY
    )
    vertices, faces = welded(corner.vertices, corner.faces)
    measured = measure(vertices, faces, "solid")
    rows.append(_row("tetrahedron, volume", measured.amount, 0.3**3 / 6, "m³"))
    rows.append(_row("tetrahedron, centre", float(measured.center[0]), 0.3 / 4, "m"))
    rows.append(
        _row("tetrahedron, about an edge's direction", float(measured.weighing(1.0).inertia[0, 0]), 0.3**2 * 6 / 80)
    )
    sides, radius, tall = 7, 0.2, 0.05
    post = prism(ngon(radius, sides), -tall / 2, tall / 2, GREY)
    about = radius**2 / 2 * (1 - 2 / 3 * sin(pi / sides) ** 2)
    turned = _inertia(post.vertices, post.faces)
    rows.append(_row("prism of 7 sides, about its axis", float(turned[2]), about))
    rows.append(_row("prism of 7 sides, across", float(turned[0]), about / 2 + tall**2 / 12))
    coarse, fine = (float(_inertia(*ball(n))[0]) for n in (4, 5))
    rows.append(Row("ball, extrapolated", (4 * fine - coarse) / 3, 0.4, 1e-5, "kg m²"))
    return Outcome(rows)


def _row(quantity: str, ours: float, exact: float, unit: str = "kg m²") -> Row:
    return Row(quantity, float(ours), exact, ACCURACY * exact, unit)


def _inertia(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Moments along its own axes of 1 kg, measured where it is turned and 2 m away."""
    turn = np.array([[cos(0.7), -sin(0.7), 0.0], [sin(0.7), cos(0.7), 0.0], [0.0, 0.0, 1.0]])
    inertia = measure(*welded(vertices @ turn.T + 2.0, faces), "solid").weighing(1.0).inertia
    return np.diag(turn.T @ inertia @ turn)
