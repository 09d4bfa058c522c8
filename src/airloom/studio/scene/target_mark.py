"""Where a vehicle was sent by a click: a ring on the ground and a line up to the height it will fly at."""

from __future__ import annotations

import numpy as np
import viser

from airloom.studio.scene.gltf import glb
from airloom.studio.scene.overlays import SETPOINT
from airloom.world.meshes import annulus


class TargetMark:
    def __init__(self, scene: viser.SceneApi, node: str = "/world/target") -> None:
        ring = glb(annulus(0.8, 1.0, 48, SETPOINT))
        self._scene = scene
        self._ring = scene.add_glb(f"{node}/ring", ring, visible=False, cast_shadow=False)
        self._line = scene.add_line_segments(
            f"{node}/line", np.zeros((1, 2, 3)), SETPOINT, thickness=1.5, thickness_units="screen", visible=False
        )

    def put(self, ground: np.ndarray, target: np.ndarray, radius: float) -> None:
        self._ring.position, self._ring.scale = ground + np.array([0.0, 0.0, 0.005]), radius
        self._line.points = np.stack([ground, target])[None].astype(np.float32)
        self._ring.visible = self._line.visible = True

    def hide(self) -> None:
        self._ring.visible = self._line.visible = False
