"""What is drawn about vehicles beside themselves: where they were, where they are told to be, forces, names."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import viser
from viser.transforms import SO3

from airloom.scenario.models import Scenario, Vehicle
from airloom.studio.scene import shapes
from airloom.studio.scene.gltf import glb, linear
from airloom.studio.scene.trails import Trails
from airloom.studio.sources.source import ATTITUDE, POSITION, ROTOR_SPEEDS, TARGET
from airloom.world.ground import ground
from airloom.world.land import Land
from airloom.world.meshes import Colour, annulus

LABELS_AT_MOST = 8
THRUST_AT_MOST = 150
"""Vehicles, beyond which only the selected one has a label, or arrows of thrust."""

CONTACT: Colour = (214, 40, 57)
SETPOINT: Colour = (0, 110, 200)
SELECTION: Colour = (0, 110, 200)


@dataclass
class Options:
    """What is to be seen."""

    trails: bool = True
    setpoints: bool = False
    thrust: bool = False
    contacts: bool = False
    frames: bool = False
    labels: bool = True
    dots: bool = True
    """A few pixels for each vehicle, however far away it is."""


class Fleet:
    """What overlays know of the vehicles: rotors as many as the one with the most has, some of them without thrust."""

    def __init__(self, scenario: Scenario, names: list[str]) -> None:
        vehicles = [scenario.vehicles[name] for name in names]
        self._land = Land(scenario.world)
        self.names, self.world = names, self._land.array
        self.reaches = np.array([shapes.reach(vehicle) for vehicle in vehicles], dtype=np.float32)
        self.size = float(np.median(self.reaches))
        most = max(len(vehicle.rotors) for vehicle in vehicles)
        self.hubs = np.array([_padded(shapes.hubs(vehicle), most) for vehicle in vehicles], dtype=np.float32)
        self.axes = np.array([_padded(shapes.axes(vehicle), most) for vehicle in vehicles], dtype=np.float32)
        self.told_where = np.array([vehicle.autopilot is None for vehicle in vehicles])
        """By us: what an autopilot wants is its own affair."""
        gravity = max(scenario.world.gravity, 1.0)
        self.lift = np.array([_padded(_lift(vehicle, gravity), most) for vehicle in vehicles], dtype=np.float32)

    def height_of_ground(self, x: float, y: float) -> float:
        return float(ground(self.world, x, y)[0])


def _lift(vehicle: Vehicle, gravity: float) -> np.ndarray:
    """Thrust of each rotor at one rad/s, in its share of the weight."""
    share = vehicle.mass * gravity / max(len(vehicle.rotors), 1)
    return np.array([rotor.thrust_constant / share for rotor in vehicle.rotors.values()])


def _padded(rows: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate([rows, np.zeros((count - len(rows), *rows.shape[1:]))])


class Overlay:
    """Nodes below one of its own, made when they are first seen."""

    every = 1
    """Of how many frames one is drawn."""

    def __init__(self, scene: viser.SceneApi, node: str, fleet: Fleet, accent: Colour) -> None:
        self.scene, self.node, self.fleet, self.accent = scene, node, fleet, accent
        self.handles: list[viser.SceneNodeHandle] = []

    def show(self, time: float, states: np.ndarray, selected: int | None) -> None:
        raise NotImplementedError

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


class Dots(Overlay):
    """Strokes as wide as a few pixels at any distance, so short that they are dots; close by the hull hides them.

    One without any length has no direction, and is not drawn.
    """

    def __init__(self, *args) -> None:
        super().__init__(*args)
        nothing = np.zeros((len(self.fleet.names), 2, 3))
        self.handles = [
            self.scene.add_line_segments(self.node, nothing, self.accent, thickness=6.0, thickness_units="screen")
        ]

    def show(self, time: float, states: np.ndarray, selected: int | None) -> None:
        ends = np.repeat(states[:, None, POSITION], 2, axis=1)
        ends[:, 1, 2] += 0.05 * self.fleet.size
        self.handles[0].points = ends  # type: ignore[attr-defined]


class Setpoints(Overlay):
    """A ring where a vehicle is told to be and a line to it."""

    every = 2

    def __init__(self, *args) -> None:
        super().__init__(*args)
        n, size = len(self.fleet.names), self.fleet.size
        ring = annulus(0.42 * size, 0.5 * size, 32, SETPOINT)
        level = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
        self._rings = self.scene.add_batched_glb(
            f"{self.node}/rings",
            glb(ring),
            level,
            np.zeros((n, 3)),
            batched_scales=np.zeros(n),
            cast_shadow=False,
            lod="off",
        )
        self._lines = self.scene.add_line_segments(
            f"{self.node}/lines", np.zeros((n, 2, 3)), SETPOINT, thickness=1.5, thickness_units="screen"
        )
        self.handles = [self._rings, self._lines]

    def show(self, time: float, states: np.ndarray, selected: int | None) -> None:
        known = np.isfinite(states[:, TARGET]).all(axis=1) & self.fleet.told_where
        targets = np.where(known[:, None], states[:, TARGET], states[:, POSITION])
        self._rings.batched_positions = targets
        self._rings.batched_scales = known.astype(np.float32)
        self._lines.points = np.stack([states[:, POSITION], targets], axis=1)


class Thrust(Overlay):
    """An arrow from each hub; as long as the vehicle reaches when the rotor carries its share of the weight."""

    every = 2

    def __init__(self, *args) -> None:
        super().__init__(*args)
        size = self.fleet.size
        self.handles = [
            self.scene.add_arrows(
                self.node, np.zeros((0, 2, 3)), linear(np.array(self.accent)),
                shaft_radius=0.025 * size, head_radius=0.07 * size, head_length=0.16 * size,
            )
        ]  # fmt: skip

    def show(self, time: float, states: np.ndarray, selected: int | None) -> None:
        chosen = slice(None) if len(states) <= THRUST_AT_MOST else [] if selected is None else [selected]
        states, fleet = states[chosen], self.fleet
        attitudes = SO3(states[:, None, ATTITUDE])
        speeds = np.nan_to_num(states[:, ROTOR_SPEEDS])[:, : fleet.hubs.shape[1]]
        lengths = fleet.lift[chosen] * speeds**2 * fleet.reaches[chosen][:, None]
        hubs = states[:, None, POSITION] + attitudes.apply(fleet.hubs[chosen])
        tips = hubs + lengths[..., None] * attitudes.apply(fleet.axes[chosen])
        seen = lengths > 0.05 * fleet.size
        self.handles[0].points = np.stack([hubs[seen], tips[seen]], axis=1)  # type: ignore[attr-defined]


class Contacts(Overlay):
    """Forces at points, as the caller gives them."""

    every = 2

    def __init__(self, *args) -> None:
        super().__init__(*args)
        size = self.fleet.size
        self.arrows = np.zeros((0, 2, 3))
        self.handles = [
            self.scene.add_arrows(
                self.node, self.arrows, linear(np.array(CONTACT)),
                shaft_radius=0.03 * size, head_radius=0.08 * size, head_length=0.16 * size,
            )
        ]  # fmt: skip

    def show(self, time: float, states: np.ndarray, selected: int | None) -> None:
        self.handles[0].points = self.arrows  # type: ignore[attr-defined]


class Axes(Overlay):
    """Axes of the vehicles: x red, y green, z blue."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        n, size = len(self.fleet.names), self.fleet.size
        self.handles = [
            self.scene.add_batched_axes(
                self.node, np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)), np.zeros((n, 3)),
                axes_length=1.6 * size, axes_radius=0.03 * size,
            )
        ]  # fmt: skip

    def show(self, time: float, states: np.ndarray, selected: int | None) -> None:
        axes = self.handles[0]
        axes.batched_positions, axes.batched_wxyzs = states[:, POSITION], states[:, ATTITUDE]  # type: ignore[attr-defined]


class Labels(Overlay):
    """Names above the vehicles, if they are few, else of the selected one alone."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self._of: dict[int, viser.LabelHandle] = {}

    def show(self, time: float, states: np.ndarray, selected: int | None) -> None:
        wanted = set(range(len(states))) if len(states) <= LABELS_AT_MOST else set() if selected is None else {selected}
        for k in set(self._of) - wanted:
            self._of.pop(k).remove()
        for k in wanted:
            above = states[k, POSITION] + [0.0, 0.0, 0.7 * self.fleet.reaches[k]]
            if k not in self._of:
                name = self.fleet.names[k]
                self._of[k] = self.scene.add_label(f"{self.node}/{name}", name, anchor="bottom-center", position=above)
            self._of[k].position = above
        self.handles = list(self._of.values())


class Selection(Overlay):
    """A ring about the selected vehicle and a plumb line to the ground below it."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        ring = glb(annulus(0.93, 1.0, 48, SELECTION))
        self._ring = self.scene.add_glb(f"{self.node}/ring", ring, visible=False, cast_shadow=False)
        self._foot = self.scene.add_glb(f"{self.node}/foot", ring, visible=False, cast_shadow=False)
        self._plumb = self.scene.add_line_segments(
            f"{self.node}/plumb", np.zeros((1, 2, 3)), SELECTION, thickness=1.5, thickness_units="screen", visible=False
        )
        self.handles = [self._ring, self._foot, self._plumb]

    def show(self, time: float, states: np.ndarray, selected: int | None) -> None:
        for handle in self.handles:
            handle.visible = selected is not None
        if selected is None:
            return
        position, reach = states[selected, POSITION].astype(float), float(self.fleet.reaches[selected])
        below = np.array([*position[:2], self.fleet.height_of_ground(position[0], position[1]) + 0.004])
        self._ring.position, self._ring.scale = position, 1.25 * reach
        self._foot.position, self._foot.scale = below, 0.5 * reach
        self._plumb.points = np.stack([position, below])[None].astype(np.float32)


class TrailLines(Overlay):
    """The ways of the last seconds, paling with age."""

    every = 3

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self._trails = Trails(len(self.fleet.names))
        self.handles = [
            self.scene.add_line_segments(
                self.node, self._trails.segments(), self._trails.colours(self.accent),
                thickness=self._trails.width, thickness_units="screen",
            )
        ]  # fmt: skip

    def show(self, time: float, states: np.ndarray, selected: int | None) -> None:
        if self._trails.push(time, states[:, POSITION]):
            self.handles[0].points = self._trails.segments()  # type: ignore[attr-defined]


KINDS: dict[str, type[Overlay]] = {
    "trails": TrailLines, "setpoints": Setpoints, "thrust": Thrust, "contacts": Contacts, "frames": Axes,
    "labels": Labels, "dots": Dots, "selection": Selection,
}  # fmt: skip
assert {field.name for field in fields(Options)} <= set(KINDS)
