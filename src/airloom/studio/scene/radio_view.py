"""The radio, drawn: lines between nodes, packets as dots, and where one is heard as a picture on the ground."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

from airloom.radio.shown import Dots, Lines, Picture
from airloom.studio.scene.gltf import linear, pictured_glb

FEW = 60  # lines, that are wider than those of many
ABOVE, STEEP = 0.05, 0.001  # m above the ground, and more with the size of a picture, which is seen from farther away
PARTS = 48  # of a picture each way, that follow the ground


class RadioView:
    def __init__(self, server: viser.ViserServer, height: Callable[[float, float], float], is_flat: bool) -> None:
        self._server, self._scene, self._height = server, server.scene, height
        self._parts = 1 if is_flat else PARTS
        self._lines: viser.LineSegmentsHandle | None = None
        self._dots: viser.LineSegmentsHandle | None = None
        self._picture: viser.GlbHandle | None = None

    def show_lines(self, lines: Lines | None) -> None:
        if lines is None or not len(lines.ends):
            if self._lines is not None:
                self._lines.remove()
                self._lines = None
            return
        colours = np.repeat((255.0 * linear(lines.colours)).astype(np.uint8)[:, None], 2, axis=1)
        self._lines = self._strokes("lines", self._lines, lines.ends, colours, 2.5 if len(lines.ends) <= FEW else 1.2)

    def show_dots(self, dots: Dots | None) -> None:
        """Strokes without length that are as wide as a few pixels at any distance."""
        if dots is None or not len(dots.points):
            if self._dots is not None:
                self._dots.remove()
                self._dots = None
            return
        colours = np.tile((255.0 * linear(np.array(dots.colour))).astype(np.uint8), (len(dots.points), 2, 1))
        self._dots = self._strokes("dots", self._dots, np.repeat(dots.points[:, None], 2, axis=1), colours, 5.0)

    def _strokes(
        self,
        name: str,
        before: viser.LineSegmentsHandle | None,
        ends: np.ndarray,
        colours: np.ndarray,
        width: float,
    ) -> viser.LineSegmentsHandle:
        if before is None or before.points.shape != ends.shape or before.thickness != width:
            return self._scene.add_line_segments(
                f"/world/radio/{name}", ends, colours, thickness=width, thickness_units="screen"
            )
        with self._server.atomic():
            before.points = ends.astype(np.float32)
            if not np.array_equal(before.colors, colours):
                before.colors = colours
        return before

    def show_picture(self, picture: Picture | None) -> None:
        if picture is None:
            if self._picture is not None:
                self._picture.remove()
                self._picture = None
            return
        node = pictured_glb(*self._cloth(picture), 1.0)
        self._picture = self._scene.add_glb("/world/radio/coverage", node, cast_shadow=False, receive_shadow=False)

    def _cloth(self, picture: Picture) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Vertices on the ground, faces, places in the picture, the picture from its top."""
        size, parts = picture.cell * np.array(picture.colours.shape[1::-1]), self._parts
        shares = np.linspace(0.0, 1.0, parts + 1)
        u, v = (each.ravel() for each in np.meshgrid(shares, shares))
        x, y = picture.corner[0] + u * size[0], picture.corner[1] + v * size[1]
        above = ABOVE + STEEP * float(size.max())
        z = [self._height(a, b) + above for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        start = (np.arange(parts)[:, None] * (parts + 1) + np.arange(parts)).ravel()
        over = start + parts + 1
        faces = np.concatenate([np.stack([start, start + 1, over + 1], 1), np.stack([start, over + 1, over], 1)])
        return np.column_stack([x, y, z]), faces, np.column_stack([u, v]), picture.colours[::-1]
