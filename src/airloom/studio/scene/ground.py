"""Ground that is not flat, drawn in pieces, each with a picture of it laid over."""

from __future__ import annotations

import numpy as np
import viser

from airloom.studio.scene.daylight import Daylight
from airloom.studio.scene.gltf import pictured_glb
from airloom.studio.scene.ground_picture import BRIGHTEST, GroundPicture
from airloom.studio.scene.pieces import Piece, Pieces
from airloom.world.land import Land

FIRST_LOOK = np.array([0.0, 0.0, 1e5])  # nobody is there yet: all coarse


class Ground:
    """Nodes below `root`, one for each piece."""

    def __init__(self, scene: viser.SceneApi, root: str, land: Land, light: Daylight) -> None:
        self._scene, self._root = scene, root
        self._pieces, self.picture = Pieces(land), GroundPicture(land, light)
        self._shown: dict[Piece, viser.SceneNodeHandle] = {}
        self._leaving: set[Piece] = set()
        self.look_from([FIRST_LOOK])

    def look_from(self, eyes: list[np.ndarray]) -> None:
        """Finely where an eye is near. What goes stays until the next look: browsers need a while for what comes."""
        wanted = self._pieces.seen_from(eyes)
        for piece in sorted(wanted - self._shown.keys()):
            self._shown[piece] = self._scene.add_glb(
                f"{self._root}/{piece.level}_{piece.row}_{piece.column}", self._drawn(piece), cast_shadow=False,
                receive_shadow=False,
            )  # fmt: skip
        for piece in self._leaving - wanted:
            self._shown.pop(piece).remove()
        self._leaving = self._shown.keys() - wanted

    def remove(self) -> None:
        for handle in self._shown.values():
            handle.remove()
        self._shown.clear()
        self._leaving.clear()

    def _drawn(self, piece: Piece) -> bytes:
        vertices, faces = self._pieces.mesh(piece)
        low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)
        return pictured_glb(
            vertices, faces, (vertices[:, :2] - low) / (high - low), self.picture.of(low, high), BRIGHTEST
        )
