"""All vehicles of one type: a body, its shadow, blurred discs and turning blades, each as one node however many."""

from __future__ import annotations

import numpy as np
import viser
from viser.transforms import SO3

from airloom.scenario.models import Vehicle
from airloom.studio.scene import shapes
from airloom.studio.scene.gltf import glb, linear
from airloom.studio.scene.shadows import vehicle_shadow
from airloom.world.meshes import Colour

TURN_AT_MOST = 0.9  # rad a frame, or blades would seem to turn the wrong way
FAST = 0.15  # of a rotor's greatest speed, from which it blurs to a disc


class Batch:
    """One that is not fine is for many vehicles: fewer triangles, discs without blades."""

    def __init__(
        self, scene: viser.SceneApi, node: str, vehicle: Vehicle, members: list[int], accent: Colour, fine: bool
    ) -> None:
        n, rotors = len(members), list(vehicle.rotors.values())
        self.members = np.array(members)
        """Their places in a snapshot."""
        self.angles = np.zeros((n, len(rotors)), dtype=np.float32)
        self._turning = shapes.turning(vehicle).astype(np.float32)
        self._hubs = shapes.hubs(vehicle).astype(np.float32)
        self._upright = SO3(shapes.tilt(shapes.axes(vehicle)).wxyz.astype(np.float32))
        self._fast = FAST * max((rotor.max_speed for rotor in rotors), default=1.0)
        nowhere, level = np.zeros((n, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
        self._body = scene.add_batched_glb(
            f"{node}/body", glb(shapes.vehicle_mesh(vehicle, accent, fine)), level, nowhere, lod="off"
        )
        self._shadow, self._discs = (
            scene.add_batched_glb(
                f"{node}/{name}", glb(mesh, light=linear(mesh.colours[:, :3])), level, nowhere,
                batched_scales=np.zeros(n), lod="off",
            )
            for name, mesh in (
                ("shadow", vehicle_shadow(vehicle)), ("discs", shapes.disc_mesh(vehicle, accent, fine)),
            )
        )  # fmt: skip
        self._blades = self._make_blades(scene, node, rotors) if fine and rotors else None

    def _make_blades(self, scene: viser.SceneApi, node: str, rotors: list) -> viser.BatchedMeshHandle:
        blade, (n, each) = shapes.blade_mesh(), self.angles.shape
        return scene.add_batched_meshes_simple(
            f"{node}/blades", blade.vertices, blade.faces, np.tile([1.0, 0.0, 0.0, 0.0], (n * each, 1)),
            np.zeros((n * each, 3)), batched_scales=np.tile([rotor.radius for rotor in rotors], n),
            batched_colors=linear(np.array(shapes.BLADE)), lod="off", flat_shading=True,
        )  # fmt: skip

    def show(self, positions: np.ndarray, attitudes: np.ndarray, speeds: np.ndarray, elapsed: float) -> None:
        """Of the members; rotors have turned for `elapsed` seconds at their speeds."""
        for handle in (self._body, self._discs):
            handle.batched_positions = positions
            handle.batched_wxyzs = attitudes
        speeds = np.nan_to_num(speeds[:, : len(self._hubs)])
        self._discs.batched_scales = (np.abs(speeds).max(axis=1, initial=0.0) > self._fast).astype(np.float32)
        if self._blades is not None:
            self.angles += self._turning * TURN_AT_MOST * np.tanh(speeds * elapsed / TURN_AT_MOST)
            vehicles = SO3(attitudes[:, None])
            hubs = positions[:, None] + vehicles.apply(self._hubs)
            turned = vehicles @ self._upright @ SO3.from_z_radians(self.angles)
            self._blades.batched_positions = hubs.reshape(-1, 3)
            self._blades.batched_wxyzs = turned.wxyz.reshape(-1, 4)

    def show_shadows(self, points: np.ndarray, attitudes: np.ndarray) -> None:
        """Of the members; there is none where a point is NaN."""
        there = np.isfinite(points).all(axis=1)
        self._shadow.batched_positions = np.where(there[:, None], points, 0.0)
        self._shadow.batched_wxyzs = attitudes
        self._shadow.batched_scales = there.astype(np.float32)

    def remove(self) -> None:
        for handle in (self._body, self._shadow, self._discs, self._blades):
            if handle is not None:
                handle.remove()
