"""The radio, drawn: lines between nodes, packets on their way, and where one is heard as a picture on the ground."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

from airloom.radio.shown import Lines, Picture
from airloom.studio.scene.gltf import linear, pictured_glb

FEW, MANY = 60, 600  # lines: fewer are wide and bright, more are thin and pale, so that the vehicles stand out
PALE = np.array([200, 204, 202])
ABOVE, STEEP = 0.05, 0.001  # m above the ground, and more with the size of a picture, which is seen from farther away
PARTS = 48  # of a picture each way, that follow the ground


class RadioView:
    def __init__(self, server: viser.ViserServer, height: Callable[[float, float], float], is_flat: bool) -> None:
        self._server, self._scene, self._height = server, server.scene, height
        self._parts = 1 if is_flat else PARTS
        self._strokes: dict[str, viser.LineSegmentsHandle] = {}
        self._picture: viser.GlbHandle | None = None

    def show_links(self, lines: Lines | None) -> None:
        crowd = 0.0 if lines is None else float(np.interp(len(lines.ends), [FEW, MANY], [0.0, 1.0]))
        self._show("links", lines, 0.6 * crowd, round(2.5 - 1.5 * crowd, 1))

    def show_packets(self, lines: Lines | None) -> None:
        self._show("packets", lines, 0.0, 4.0)

    def _show(self, name: str, lines: Lines | None, paled: float, width: float) -> None:
        before = self._strokes.get(name)
        if lines is None or not len(lines.ends):
            if before is not None:
                self._strokes.pop(name).remove()
            return
        shades = _padded(lines.colours + paled * (PALE - lines.colours))
        colours = np.repeat((255.0 * linear(shades)).astype(np.uint8)[:, None], 2, axis=1)
        ends = _padded(lines.ends)
        ends[len(lines.ends) :, 1] = ends[len(lines.ends) :, 0]  # what has no length is not seen
        if before is None or before.points.shape != ends.shape or before.thickness != width:
            self._strokes[name] = self._scene.add_line_segments(
                f"/world/radio/{name}", ends, colours, thickness=width, thickness_units="screen"
            )
            return
        with self._server.atomic():
            before.points = ends.astype(np.float32)
            if not np.array_equal(before.colors, colours):
                before.colors = colours

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


def _padded(rows: np.ndarray) -> np.ndarray:
    """With copies of the last row to a power of two: a node whose number of lines changes is made anew by browsers, and
    one that changes with every picture would never be seen."""
    missing = max(16, 1 << (len(rows) - 1).bit_length()) - len(rows)
    return np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)])
