"""The fleet, drawn: vehicles in batches, so that a thousand cost few messages, and what there is to see about them."""

from __future__ import annotations

import numpy as np
import viser
from viser.transforms import SO3

from airloom.basics.rotations import quaternion_from_euler, yaw_from_quaternion
from airloom.scenario.models import Scenario, Vehicle
from airloom.studio.scene.batches import Batch
from airloom.studio.scene.overlays import KINDS, Contacts, Fleet, Options, Overlay
from airloom.studio.scene.shadows import ABOVE, fallen, lying
from airloom.studio.sources.source import ATTITUDE, POSITION, ROTOR_SPEEDS, Snapshot
from airloom.world.meshes import Colour
from airloom.world.sun import sun_direction

ORANGE: Colour = (255, 106, 0)
TEAL: Colour = (0, 150, 143)
VIOLET: Colour = (124, 82, 214)
AMBER: Colour = (214, 156, 0)
ACCENTS = (ORANGE, TEAL, VIOLET, AMBER)
"""One for each run in a scene."""

FINE_AT_MOST = 150  # vehicles, beyond which they are drawn with less detail
PICK_ANGLE = 0.012  # rad, how far beside a vehicle a click may be


class FleetView:
    """`prefix` names the run where several are shown in one scene; `accent` is its colour.

    Whoever sets `options` or `selected` sees it with the next moment that is shown.
    """

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
        self.anchor: str | None = None
        """The vehicle that the others are drawn relative to.

        Browsers move a node at once, but the members of a batch only with the next image. A vehicle that a camera goes
        along with would tremble between the two; the anchor's own place in its batch never changes.
        """
        self._batches: list[Batch] = []
        self._overlays: dict[str, Overlay] = {}
        self.rebuild(scenario, names)

    def rebuild(self, scenario: Scenario, names: list[str]) -> None:
        """Draw other vehicles, as at their start."""
        self.names = list(names)
        self.fleet = Fleet(scenario, self.names)
        self._sunlight = -sun_direction(scenario.world)
        vehicles = [scenario.vehicles[name] for name in names]
        self.positions = np.array([vehicle.pose.position for vehicle in vehicles], dtype=np.float32)
        self._attitudes = np.array([_attitude(vehicle) for vehicle in vehicles], dtype=np.float32)
        self._time: float | None = None
        self._frame = 0
        with self._server.atomic():
            self.remove()
            self._carrier = self._server.scene.add_frame(f"{self._node}/carrier", show_axes=False)
            self._batches = self._make_batches(vehicles)
            self._show_batches(np.zeros((len(vehicles), self.fleet.hubs.shape[1]), dtype=np.float32), 0.0)

    def show(self, snapshot: Snapshot) -> None:
        """Draw a moment; meant to be called some thirty times a second."""
        elapsed = 0.0 if self._time is None else snapshot.time - self._time
        self._time = snapshot.time
        states = snapshot.vehicles.astype(np.float32)
        self.positions, self._attitudes = states[:, POSITION], states[:, ATTITUDE]
        with self._server.atomic():
            self._show_batches(states[:, ROTOR_SPEEDS], elapsed)
            self._show_overlays(snapshot.time, states)
        self._frame += 1
        self._server.flush()

    def show_contacts(self, points: np.ndarray, forces: np.ndarray, length_per_newton: float) -> None:
        """Forces that act where vehicles touch something, drawn with the next moment."""
        contacts = self._overlays.get("contacts")
        if isinstance(contacts, Contacts):
            contacts.arrows = np.stack([points, points + length_per_newton * forces], axis=1)

    def yaw(self, name: str) -> float:
        return yaw_from_quaternion(self._attitudes[self.names.index(name)])

    def pick(self, origin, direction) -> str | None:
        """The vehicle a ray meets, the nearest of several, or else the one it passes by within a few pixels."""
        direction = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
        to = self.positions - np.asarray(origin, dtype=float)
        along = to @ direction
        beside = np.linalg.norm(to - along[:, None] * direction, axis=1)
        missed_by = np.full(len(to), np.inf)
        ahead = along > 0.0
        missed_by[ahead] = np.maximum(beside - self.fleet.reaches, 0.0)[ahead] / along[ahead]
        best = np.lexsort((along, missed_by))[0]
        return self.names[best] if missed_by[best] < PICK_ANGLE else None

    def remove(self) -> None:
        """Take everything out of the scene."""
        while self._batches:
            self._batches.pop().remove()
        while self._overlays:
            self._overlays.popitem()[1].remove()

    def _make_batches(self, vehicles: list[Vehicle]) -> list[Batch]:
        kinds: dict[str, list[int]] = {}
        for k, vehicle in enumerate(vehicles):
            kinds.setdefault(f"{vehicle.body!r} {vehicle.rotors!r}", []).append(k)
        scene, fine = self._server.scene, len(vehicles) <= FINE_AT_MOST
        return [
            Batch(scene, f"{self._node}/carrier/kind_{i}", vehicles[members[0]], members, self._accent, fine)
            for i, members in enumerate(kinds.values())
        ]

    def _show_batches(self, speeds: np.ndarray, elapsed: float) -> None:
        origin = self.positions[self.names.index(self.anchor)] if self.anchor in self.names else np.zeros(3, np.float32)
        self._carrier.position = origin
        relative = self.positions - origin
        shadows = fallen(self.fleet.world, self.positions, self._sunlight)
        flat = lying(self.fleet.world, shadows, SO3(self._attitudes).compute_yaw_radians())
        shadows += [0.0, 0.0, ABOVE] - origin
        for batch in self._batches:
            k = batch.members
            batch.show(relative[k], self._attitudes[k], speeds[k], elapsed)
            batch.show_shadows(shadows[k], flat[k])

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


def _attitude(vehicle: Vehicle) -> np.ndarray:
    return quaternion_from_euler(vehicle.pose.roll, vehicle.pose.pitch, vehicle.pose.yaw)
