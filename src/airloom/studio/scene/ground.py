"""Ground that is not flat, drawn in pieces, each with a picture of it laid over."""

from __future__ import annotations

import numpy as np
import viser

from airloom.studio.scene.daylight import Daylight
from airloom.studio.scene.gltf import pictured_glb
from airloom.studio.scene.ground_picture import BRIGHTEST, GroundPicture
from airloom.studio.scene.pieces import Piece, Pieces
from airloom.world.land import Land

PIECES_A_LOOK, LINGER = 4, 3  # looks
FIRST_LOOK = np.array([0.0, 0.0, 1e5])  # nobody is there yet: all coarse


class Ground:
    """Nodes below `root`, one for each piece."""

    def __init__(self, scene: viser.SceneApi, root: str, land: Land, light: Daylight) -> None:
        self._scene, self._root = scene, root
        self._pieces, self.picture = Pieces(land), GroundPicture(land, light)
        self._shown: dict[Piece, viser.SceneNodeHandle] = {}
        self._lingering: dict[Piece, int] = {}
        self.look_from([FIRST_LOOK], at_once=True)

    def look_from(self, eyes: list[np.ndarray], at_once: bool = False) -> None:
        """Finely where an eye is near. Unless it must be at once, some pieces at a look are made, the nearest first.

        What goes stays until all is there that comes, and some looks more, which browsers need to load it.
        """
        wanted = self._pieces.seen_from(eyes)
        missing = sorted(wanted - self._shown.keys(), key=lambda p: min(self._pieces.distance(p, e) for e in eyes))
        for piece in missing if at_once else missing[:PIECES_A_LOOK]:
            self._shown[piece] = self._scene.add_glb(
                f"{self._root}/{piece.level}_{piece.row}_{piece.column}", self._drawn(piece), cast_shadow=False,
                receive_shadow=False,
            )  # fmt: skip
        waits = len(missing) > PIECES_A_LOOK and not at_once
        for piece in self._shown.keys() - wanted:
            self._lingering[piece] = self._lingering.get(piece, 0) + (not waits)
            if self._lingering[piece] > LINGER:
                self._shown.pop(piece).remove()
        self._lingering = {piece: k for piece, k in self._lingering.items() if piece in self._shown.keys() - wanted}

    def remove(self) -> None:
        for handle in self._shown.values():
            handle.remove()
        self._shown.clear()
        self._lingering.clear()

    def _drawn(self, piece: Piece) -> bytes:
        vertices, faces = self._pieces.mesh(piece)
        corner, size = np.array(self._pieces.grid.corner), self._pieces.grid.size
        low, high = (np.clip(end(vertices[:, :2], axis=0), corner, corner + size) for end in (np.min, np.max))
        picture = self.picture.of(low, high)
        pixels = np.array(picture.shape[1::-1])
        # Pictures go on with their other side beyond their edges, which would be seen as a line.
        places = np.clip((vertices[:, :2] - low) / (high - low) * pixels, 0.5, pixels - 0.5) / pixels
        return pictured_glb(vertices, faces, places, picture, BRIGHTEST)
