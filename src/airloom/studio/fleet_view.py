"""The fleet, drawn: all vehicles of a type are one batch, so that a thousand cost few messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import viser

from airloom.scenario.models import Scenario, Vehicle
from airloom.studio import shapes
from airloom.studio.meshes import Colour, glb
from airloom.studio.overlays import KINDS, Contacts, Fleet, Options, Overlay
from airloom.studio.quaternions import about_z, multiplied, rotated, shortest_from_z
from airloom.studio.source import ATTITUDE, POSITION, ROTOR_SPEEDS, Snapshot

ORANGE: Colour = (255, 112, 20)
TEAL: Colour = (0, 158, 150)
VIOLET: Colour = (124, 82, 214)
AMBER: Colour = (214, 156, 0)
ACCENTS = (ORANGE, TEAL, VIOLET, AMBER)
"""One for each run in a scene."""

BLADES_AT_MOST = 150  # vehicles, beyond which rotors are drawn as discs only
TURN_AT_MOST = 0.9  # rad a frame, or blades would seem to turn the wrong way
FAST = 0.15  # of a rotor's greatest speed, from which it blurs to a disc
PICK_ANGLE = 0.012  # rad, how far beside a vehicle a click may be


@dataclass
class Batch:
    """The vehicles of one type."""

    members: np.ndarray
    """Their places in a snapshot."""
    vehicle: Vehicle
    body: viser.BatchedGlbHandle
    discs: viser.BatchedGlbHandle
    blades: viser.BatchedMeshHandle | None
    hubs: np.ndarray
    upright: np.ndarray
    """Rotation from a rotor's axis to the vehicle's frame, as quaternions."""
    turning: np.ndarray
    angles: np.ndarray
    """Of the blades, rad [vehicle, rotor]."""


class FleetView:
    """`prefix` names the run where several are shown in one scene; `accent` is its colour."""

    def __init__(
        self,
        server: viser.ViserServer,
        scenario: Scenario,
        names: list[str],
        *,
        prefix: str = "fleet",
        accent: Colour = ORANGE,
        root: str = "/world",
    ) -> None:
        self._server, self._node, self._accent = server, f"{root}/{prefix}", accent
        self.options = Options()
        self.selected: str | None = None
        self._overlays: dict[str, Overlay] = {}
        self._batches: list[Batch] = []
        self._time: float | None = None
        self.rebuild(scenario, names)

    def rebuild(self, scenario: Scenario, names: list[str]) -> None:
        """Draw other vehicles, as at their start."""
        self.names = list(names)
        vehicles = [scenario.vehicles[name] for name in names]
        self.fleet = Fleet(scenario, self.names)
        self.positions = np.array([vehicle.pose.position for vehicle in vehicles], dtype=np.float32)
        self._time, self._frame = None, 0
        with self._server.atomic():
            self._server.scene.add_frame(self._node, show_axes=False)
            self._clear()
            self._batches = self._make_batches(vehicles)

    def show(self, snapshot: Snapshot) -> None:
        """Draw a moment; meant to be called some thirty times a second."""
        elapsed = 0.0 if self._time is None else snapshot.time - self._time
        self._time = snapshot.time
        states = snapshot.vehicles.astype(np.float32)
        self.positions = states[:, POSITION]
        with self._server.atomic():
            for batch in self._batches:
                self._show_batch(batch, states[batch.members], elapsed)
            self._show_overlays(snapshot.time, states)
        self._frame += 1
        self._server.flush()

    def show_contacts(self, points: np.ndarray, forces: np.ndarray, length_per_newton: float) -> None:
        """Forces that act where vehicles touch something, with the next moment."""
        contacts = self._overlays.get("contacts")
        if isinstance(contacts, Contacts):
            contacts.arrows = np.stack([points, points + length_per_newton * forces], axis=1)

    def pick(self, origin, direction) -> str | None:
        """The vehicle a ray meets, or passes within a few pixels; the nearest of several."""
        direction = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
        to = self.positions - np.asarray(origin, dtype=float)
        along = to @ direction
        beside = np.linalg.norm(to - along[:, None] * direction, axis=1)
        with np.errstate(divide="ignore"):
            missed_by = np.where(along > 0.0, np.maximum(beside - self.fleet.reaches, 0.0) / along, np.inf)
        best = np.lexsort((along, missed_by))[0]
        return self.names[best] if missed_by[best] < PICK_ANGLE else None

    def _make_batches(self, vehicles: list[Vehicle]) -> list[Batch]:
        kinds: dict[str, list[int]] = {}
        for k, vehicle in enumerate(vehicles):
            kinds.setdefault(f"{vehicle.body!r} {vehicle.rotors!r}", []).append(k)
        with_blades = len(vehicles) <= BLADES_AT_MOST
        return [
            self._make_batch(f"{self._node}/kind_{i}", vehicles[members[0]], np.array(members), with_blades)
            for i, members in enumerate(kinds.values())
        ]

    def _make_batch(self, node: str, vehicle: Vehicle, members: np.ndarray, with_blades: bool) -> Batch:
        scene, n, rotors = self._server.scene, len(members), len(vehicle.rotors)
        positions, level = self.positions[members], np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
        upright = shortest_from_z(shapes.axes(vehicle))
        body = scene.add_batched_glb(
            f"{node}/body", glb(shapes.vehicle_mesh(vehicle, self._accent)), level, positions, lod="off"
        )
        discs = scene.add_batched_glb(
            f"{node}/discs", glb(shapes.disc_mesh(vehicle, self._accent)), level, positions,
            batched_scales=np.zeros(n), lod="off", cast_shadow=False, receive_shadow=False,
        )  # fmt: skip
        blades = None
        if with_blades:
            radius = next(iter(vehicle.rotors.values())).radius
            mesh = shapes.blade_mesh(radius)
            blades = scene.add_batched_meshes_simple(
                f"{node}/blades", mesh.vertices, mesh.faces, np.tile(upright, (n, 1)),
                (positions[:, None] + shapes.hubs(vehicle)).reshape(-1, 3), batched_colors=shapes.BLADE,
                lod="off", flat_shading=True,
            )  # fmt: skip
        return Batch(
            members, vehicle, body, discs, blades, shapes.hubs(vehicle).astype(np.float32),
            upright.astype(np.float32), shapes.turning(vehicle).astype(np.float32), np.zeros((n, rotors), np.float32),
        )  # fmt: skip

    def _show_batch(self, batch: Batch, states: np.ndarray, elapsed: float) -> None:
        positions, attitudes = states[:, POSITION], states[:, ATTITUDE]
        rotors = len(batch.hubs)
        speeds = np.nan_to_num(states[:, ROTOR_SPEEDS][:, :rotors])
        for handle in (batch.body, batch.discs):
            handle.batched_positions = positions
            handle.batched_wxyzs = attitudes
        greatest = np.array([rotor.max_speed for rotor in batch.vehicle.rotors.values()], dtype=np.float32)
        batch.discs.batched_scales = (speeds.max(axis=1, initial=0.0) > FAST * greatest.max()).astype(np.float32)
        if batch.blades is not None:
            batch.angles += batch.turning * TURN_AT_MOST * np.tanh(speeds * elapsed / TURN_AT_MOST)
            hubs = positions[:, None] + rotated(attitudes[:, None], batch.hubs)
            turned = multiplied(attitudes[:, None], multiplied(batch.upright, about_z(batch.angles)))
            batch.blades.batched_positions = hubs.reshape(-1, 3)
            batch.blades.batched_wxyzs = turned.reshape(-1, 4)

    def _show_overlays(self, time: float, states: np.ndarray) -> None:
        selected = self.names.index(self.selected) if self.selected in self.names else None
        for name, kind in KINDS.items():
            wanted = getattr(self.options, name, True)
            if wanted and name not in self._overlays:
                self._overlays[name] = kind(self._server.scene, f"{self._node}/{name}", self.fleet, self._accent)
            elif not wanted and name in self._overlays:
                self._overlays.pop(name).remove()
            if wanted and self._frame % kind.every == 0:
                self._overlays[name].show(time, states, selected)

    def _clear(self) -> None:
        for batch in self._batches:
            for handle in (batch.body, batch.discs, batch.blades):
                if handle is not None:
                    handle.remove()
        while self._overlays:
            self._overlays.popitem()[1].remove()
