"""What is there without vehicles, drawn: terrain, obstacles, sky and sun. And what a ray meets of it."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np
import viser

from airloom.scenario.models import HeightField, Obstacle, Plane, Scenario
from airloom.scenario.radio import Station
from airloom.studio.scene.boundaries_view import boundary_nodes
from airloom.studio.scene.daylight import daylight
from airloom.studio.scene.gltf import glb, linear, pictured_glb
from airloom.studio.scene.ground import Ground
from airloom.studio.scene.shade import shade_cloth, shade_of
from airloom.studio.scene.shadows import obstacle_shadow
from airloom.studio.scene.shapes import reach
from airloom.studio.scene.sky import show_sky
from airloom.studio.scene.stations import LOWEST_MAST, mast_mesh
from airloom.studio.scene.things import thing_nodes
from airloom.studio.scene.tones import light_seen_as
from airloom.world.grid import Grid
from airloom.world.land import Land
from airloom.world.meshes import Colour, ngon, painted

GROUND: Colour = (196, 198, 192)
LINES: Colour = (136, 143, 145)
OBSTACLE: Colour = (196, 150, 112)
WATER: Colour = (64, 132, 168)
SEEN_THROUGH = 0.45  # opacity of the water's surface

HORIZON = 3000.0  # m, where the ground ends; haze has hidden it long before
ON_SURFACE = 1e-6  # m
AFLOAT = 1.0  # m below the calm surface, where floats in waves may be
REACH = 1e4  # m, how far a ray is followed
LINES_ACROSS = 40  # on a height field at most, each way
LINES_ABOVE = 2e-4  # of its size
BELOW = 0.02  # m that the plane lies under the lowest point of other ground, so that both can be told apart
FINE, METRES, WIDE = (0.1, 8.0, 0.001), (1.0, 90.0, 0.006), (10.0, 900.0, 0.03)
"""Grids: width of the cells, how far away they fade, height above the ground, m."""
SMALL, LARGE = 0.15, 60.0  # m: vehicles that need the fine grid, fleets that need the wide one


class Landscape:
    """Nodes below `root`, the frame that cameras move."""

    def __init__(
        self, server: viser.ViserServer, scenario: Scenario, root: str = "/world", has_names: bool = True
    ) -> None:
        """Names are made for the size of a window, and would be huge in a picture that is larger."""
        self._server, self._above, self._root, self._has_names = server, root, f"{root}/landscape", has_names
        self._drawn: tuple | None = None
        self._still: list[viser.SceneNodeHandle] = []
        self._ground: Ground | None = None
        self._standing: list[viser.SceneNodeHandle] = []
        server.scene.add_frame(self._root, show_axes=False)
        self.rebuild(scenario)

    def rebuild(self, scenario: Scenario) -> None:
        """Draw another world. Ground and things stay if they are the same, for most edits are of something else."""
        self._world = world = scenario.world
        self._land = Land(world)
        self._light = daylight(world)
        self._grids = _suitable_grids(scenario)
        wanted = world.model_dump_json(include={"terrain", "objects", "light", "origin", "water"}), self._grids
        with self._server.atomic():
            if wanted != self._drawn:
                self._redraw()
                self._drawn = wanted
            _remove(self._standing)
            self._standing = [node for each in world.obstacles.items() for node in self._obstacle(*each)]
            stations = scenario.radio.stations if scenario.radio else {}
            for name, station in stations.items():
                self._standing += self._station(name, station)
            self._standing += boundary_nodes(self._server.scene, f"{self._root}/boundaries", scenario, self._land)

    def _redraw(self) -> None:
        """Sky, ground and things."""
        _remove(self._still)
        if self._ground is not None:
            self._ground.remove()
            self._ground = None
        show_sky(self._server, self._above, self._light)
        self._still = [*self._terrain(), *self._things(), *self._water()]

    def look_from(self, eyes: list[np.ndarray], at_once: bool = False) -> None:
        """Show the ground finely where these eyes are near, sooner or later."""
        if self._ground is not None and eyes:
            with self._server.atomic():
                self._ground.look_from(eyes, at_once)

    def hit(self, origin, direction, on_water: bool = False) -> np.ndarray | None:
        """Where a ray first meets the ground or an obstacle, or comes from above upon water if that is to stop it."""
        origin, direction = np.asarray(origin, dtype=float), np.asarray(direction, dtype=float)
        direction = direction / np.linalg.norm(direction)
        distance = self._land.hit(origin, direction, REACH)
        if on_water and self._world.water is not None and direction[2] < 0.0:
            above = origin[2] - self._world.water.level
            distance = min(distance, above / -direction[2]) if above > 0.0 else distance
        return origin + distance * direction if distance < REACH else None

    def is_on_water(self, point: np.ndarray) -> bool:
        """Of a point that `hit` has found."""
        return self._world.water is not None and abs(float(point[2]) - self._world.water.level) < ON_SURFACE

    def is_under_water(self, place: np.ndarray) -> bool:
        """Far enough for a float that a wave lifts not to be meant."""
        water = self._world.water
        return water is not None and float(place[2]) < water.level - AFLOAT

    @property
    def land(self) -> Land:
        return self._land

    def height(self, x: float, y: float) -> float:
        """Of the ground, m."""
        return self._land.height(x, y)

    def obstacle_at(self, origin, direction) -> str | None:
        """The obstacle that a ray meets first, unless the ground is before it."""
        point = self.hit(origin, direction)
        if point is None:
            return None
        margin = 1e-9 * REACH
        return next((name for name, o in self._world.obstacles.items() if _holds(o, point, margin)), None)

    def _terrain(self) -> list[viser.SceneNodeHandle]:
        grid, base = self._land.grid, self._land.base
        if grid is None:
            return [self._plane(np.array(GROUND) * self._light.day, base), *self._lines(base), *self._thing_shadows()]
        self._ground = Ground(self._server.scene, f"{self._root}/ground", self._land, self._light)
        around = self._plane(self._ground.picture.rim, base - BELOW)
        if not isinstance(self._world.terrain, HeightField):
            return [around]
        lines = self._server.scene.add_line_segments(
            f"{self._root}/lines", height_lines(grid), LINES, thickness=1.0, thickness_units="screen"
        )
        return [around, *self._lines(base - BELOW), lines]

    def _lines(self, base: float) -> list[viser.SceneNodeHandle]:
        return [self._grid(cell, fade, base + lift) for cell, fade, lift in self._grids]

    def _plane(self, colour: np.ndarray, base: float) -> viser.SceneNodeHandle:
        vertices, faces = _wide_plane()
        disc = painted(vertices, faces, GROUND)
        light = np.tile(light_seen_as(colour), (len(vertices), 1))
        return self._server.scene.add_glb(
            f"{self._root}/plane", glb(disc, light=light), position=(0.0, 0.0, base), cast_shadow=False,
            receive_shadow=False,
        )  # fmt: skip

    def _water(self) -> list[viser.SceneNodeHandle]:
        """Its surface, as if it were calm."""
        if (water := self._world.water) is None:
            return []
        vertices, faces = _wide_plane()
        surface = painted(vertices, np.concatenate([faces, faces[:, ::-1]]), WATER, SEEN_THROUGH)
        light = np.tile(light_seen_as(np.array(WATER) * self._light.day), (len(vertices), 1))
        node = self._server.scene.add_glb(
            f"{self._root}/water", glb(surface, light=light), position=(0.0, 0.0, water.level), cast_shadow=False,
            receive_shadow=False,
        )  # fmt: skip
        return [node]

    def _things(self) -> list[viser.SceneNodeHandle]:
        scene = self._server.scene
        nodes = thing_nodes(self._land, self._light).items()
        return [
            scene.add_glb(f"{self._root}/things/{name}", node, cast_shadow=False, receive_shadow=False)
            for name, node in nodes
        ]

    def _thing_shadows(self) -> list[viser.SceneNodeHandle]:
        """On a plane: a translucent picture just above it."""
        shade = shade_of(self._land, self._light.sunlight)
        if shade is None:
            return []
        node = pictured_glb(*shade_cloth(shade, self._land), 1.0)
        return [
            self._server.scene.add_glb(f"{self._root}/things/shadows", node, cast_shadow=False, receive_shadow=False)
        ]

    def _grid(self, cell: float, fade: float, height: float) -> viser.SceneNodeHandle:
        return self._server.scene.add_grid(
            f"{self._root}/grid_{str(cell).replace('.', '_')}",
            cell_size=cell, section_size=10 * cell, cell_color=LINES, section_color=LINES,
            cell_thickness=1.0, section_thickness=1.2, infinite_grid=True, width=2.0, height=2.0,
            fade_distance=fade, fade_strength=2.0, shadow_opacity=0.0, position=(0.0, 0.0, height),
        )  # fmt: skip

    def _station(self, name: str, station: Station) -> list[viser.SceneNodeHandle]:
        """Its mast, and its name above."""
        scene, node = self._server.scene, f"{self._root}/stations/{name}"
        x, y, z = station.position
        height = max(z - self._land.height(x, y), LOWEST_MAST)
        place = np.array([x, y, z - height])
        mast = scene.add_glb(node, glb(mast_mesh(height)), position=place, cast_shadow=False)
        if not self._has_names:
            return [mast]
        above = place + np.array([0.0, 0.0, 1.15 * height])
        return [mast, scene.add_label(f"{node}_name", name, anchor="bottom-center", position=above)]

    def _obstacle(self, name: str, obstacle: Obstacle) -> list[viser.SceneNodeHandle]:
        """And its shadow."""
        scene, node = self._server.scene, f"{self._root}/obstacles/{name}"
        turn = (cos(obstacle.yaw / 2), 0.0, 0.0, sin(obstacle.yaw / 2))
        place: dict[str, Any] = {"position": obstacle.position, "wxyz": turn, "color": OBSTACLE}
        solid: viser.SceneNodeHandle
        if obstacle.shape == "box":
            solid = scene.add_box(node, dimensions=obstacle.size, **place)
        elif obstacle.shape == "cylinder":
            solid = scene.add_cylinder(node, obstacle.size[0] / 2, obstacle.size[2], radial_segments=48, **place)
        else:
            solid = scene.add_icosphere(node, obstacle.size[0] / 2, subdivisions=4, **place)
        if not self._light.casts_shadows:
            return [solid]
        shade = obstacle_shadow(obstacle, self._land.array, self._light.sunlight)
        shadow = scene.add_glb(f"{self._root}/shadows/{name}", glb(shade, light=linear(shade.colours[:, :3])))
        return [solid, shadow]


def _remove(handles: list[viser.SceneNodeHandle]) -> None:
    for handle in handles:
        handle.remove()


def _suitable_grids(scenario: Scenario) -> list[tuple[float, float, float]]:
    """Each covers the screen and costs a browser without a GPU dearly: no more than are needed."""
    positions = np.array([vehicle.pose.position for vehicle in scenario.vehicles.values()])
    small = min(reach(vehicle) for vehicle in scenario.vehicles.values()) < SMALL
    large = float(np.ptp(positions, axis=0).max()) > LARGE or not isinstance(scenario.world.terrain, Plane)
    return [*([FINE] if small else []), METRES, *([WIDE] if large else [])]


def _wide_plane() -> tuple[np.ndarray, np.ndarray]:
    """A disc in rings that widen: with large triangles nearby, depths would be too coarse to lay a grid on them."""
    sides, rings = 64, 32
    radii = np.geomspace(1.0, HORIZON, rings)
    flat = np.concatenate([[[0.0, 0.0]], *(ngon(radius, sides) for radius in radii)])
    around = np.arange(sides)
    after = (around + 1) % sides
    inner = np.stack([np.zeros(sides, dtype=int), around + 1, after + 1], 1)
    starts = 1 + sides * np.arange(rings - 1)[:, None]
    a, b = (starts + around).ravel(), (starts + after).ravel()
    faces = np.concatenate([inner, np.stack([a, a + sides, b + sides], 1), np.stack([a, b + sides, b], 1)])
    return np.column_stack([flat, np.zeros(len(flat))]), faces


def _holds(obstacle: Obstacle, point: np.ndarray, margin: float) -> bool:
    x, y, z = point - np.array(obstacle.position)
    c, s = cos(obstacle.yaw), sin(obstacle.yaw)
    x, y = c * x + s * y, c * y - s * x
    length, width, height = np.array(obstacle.size) / 2 + margin
    if obstacle.shape == "sphere":
        return bool(x * x + y * y + z * z <= length**2)
    if obstacle.shape == "cylinder":
        return bool(x * x + y * y <= length**2 and abs(z) <= height)
    return bool(abs(x) <= length and abs(y) <= width and abs(z) <= height)


def height_lines(grid: Grid) -> np.ndarray:
    """Ends of lines on a height field, along some of its rows and columns [line, end, xyz]."""
    points = np.stack([*np.meshgrid(grid.east, grid.north), grid.heights + LINES_ABOVE * max(grid.size)], axis=-1)
    lines = []
    for ways in (points, points.swapaxes(0, 1)):
        some = ways[:: -(-len(ways) // LINES_ACROSS)]
        lines.append(np.stack([some[:, :-1], some[:, 1:]], axis=2).reshape(-1, 2, 3))
    return np.concatenate(lines)
