"""Ground that is not flat, drawn in pieces: by its own colours, by a picture taken from above, or by its height."""

from __future__ import annotations

import numpy as np
import viser
from PIL import Image

from airloom.studio.scene.gltf import glb, textured_glb
from airloom.studio.scene.pieces import Piece, PieceMesh, Pieces
from airloom.world.land import Land
from airloom.world.meshes import Mesh

VALLEY, SLOPE, SUMMIT = (88, 116, 72), (142, 140, 98), (188, 178, 154)
LARGEST_PICTURE = 1024  # pixels of a piece each way
FIRST_LOOK = np.array([0.0, 0.0, 1e5])  # nobody is there yet: all coarse


class Ground:
    """Nodes below `root`, one for each piece."""

    def __init__(self, scene: viser.SceneApi, root: str, land: Land) -> None:
        self._scene, self._root, self._land = scene, root, land
        self._pieces = Pieces(land)
        self._shown: dict[Piece, viser.SceneNodeHandle] = {}
        self._leaving: set[Piece] = set()
        self._picture = _picture(land)
        self.look_from([FIRST_LOOK])

    def look_from(self, eyes: list[np.ndarray]) -> None:
        """Finely where an eye is near. What goes stays until the next look: browsers need a while for what comes."""
        wanted = self._pieces.seen_from(eyes)
        for piece in sorted(wanted - self._shown.keys()):
            self._shown[piece] = self._scene.add_glb(
                f"{self._root}/{piece.level}_{piece.row}_{piece.column}", self._drawn(piece), cast_shadow=False
            )
        for piece in self._leaving - wanted:
            self._shown.pop(piece).remove()
        self._leaving = self._shown.keys() - wanted

    def remove(self) -> None:
        for handle in self._shown.values():
            handle.remove()
        self._shown.clear()
        self._leaving.clear()

    def _drawn(self, piece: Piece) -> bytes:
        mesh = self._pieces.mesh(piece)
        if self._picture is not None:
            return self._with_picture(mesh)
        grid = self._pieces.grid
        coloured = Mesh(mesh.vertices, mesh.faces, height_colours(mesh.vertices[:, 2], grid.low, grid.high))
        return glb(coloured, roughness=1.0, normals=mesh.normals)

    def _with_picture(self, mesh: PieceMesh) -> bytes:
        """The part of the picture that the piece lies in."""
        assert self._picture is not None
        rows, columns = self._pieces.grid.heights.shape
        place = mesh.corners[:, ::-1] / [columns - 1, rows - 1]
        low, high = place.min(axis=0), place.max(axis=0)
        size = np.array(self._picture.size)
        west, east = low[0] * size[0], high[0] * size[0]
        north, south = (1 - high[1]) * size[1], (1 - low[1]) * size[1]
        pixels = np.clip(np.ceil([east - west, south - north]).astype(int), 1, LARGEST_PICTURE)
        part = self._picture.resize(tuple(pixels), box=(west, north, east, south))
        return textured_glb(mesh.vertices, mesh.faces, mesh.normals, (place - low) / (high - low), part)


def _picture(land: Land) -> Image.Image | None:
    if land.survey is None or land.survey.about.colour is None:
        return None
    return Image.open(land.survey.folder / land.survey.about.colour).convert("RGB")


def height_colours(heights: np.ndarray, low: float, high: float) -> np.ndarray:
    """From green valleys to bare summits [vertex, red green blue opacity]."""
    share = np.clip((heights - low) / max(high - low, 1e-9), 0.0, 1.0)
    stops = np.array([VALLEY, SLOPE, SUMMIT], dtype=float)
    colours = np.stack([np.interp(share, [0.0, 0.5, 1.0], stops[:, k]) for k in range(3)], axis=1)
    return np.column_stack([colours, np.full(len(colours), 255.0)])
