"""The world as MuJoCo's renderer draws it: ground, obstacles, things and vehicles in colours, under a sun."""

from __future__ import annotations

import ctypes.util
import os
import weakref
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from airloom.compiled import rows as row
from airloom.eyes.eye import EyeError
from airloom.scenario.generated import Generated
from airloom.world.generated import colours_of
from airloom.world.grid import Grid
from airloom.world.land import Land
from airloom.world.meshes import Mesh
from airloom.world.sun import sun_direction

if TYPE_CHECKING:
    from airloom.engines.fleet import Craft, Fleet
    from airloom.scenario.models import World

MOST_CORNERS, PIXELS = 1024, 2048  # of drawn ground and of the picture on it, each way
STRIP = 128  # rows of that picture that are painted at once
VALLEY, SLOPE, SUMMIT = (88, 116, 72), (142, 140, 98), (188, 178, 154)
GROUND, GROUND_TOO = (150, 152, 144), (162, 164, 156)
OBSTACLE, HULL, ARM, MOTOR, FRONT = (196, 150, 112), (38, 42, 48), (62, 68, 77), (150, 157, 166), (220, 96, 48)
SKY, HORIZON = (96, 142, 196), (214, 226, 236)
SHADES = 24  # of a colour channel between which things are told apart
AWAY = 1e5  # m below, where the own vehicle is not seen
HULL_SHARE = 0.42  # of a vehicle's box, which reaches out to the arms
SUNSHINE, DAYLIGHT, NIGHT = np.array([0.55, 0.53, 0.48]), 0.55, 0.08  # of the sun, of the sky by day and by night
FOG_BEGINS = 0.1  # of the distance at which nothing is seen any more
EXTENT, NEAREST, FARTHEST = 10.0, 0.05, 5000.0  # m, of what is drawn; the first is what MuJoCo measures others by
SHADOWS, SHADOW_PIXELS = 40.0, 2048  # m around, and how fine
TO_OPENGL = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Columns: right, up and back of a picture in the eye's axes."""


def opengl_without_a_screen() -> str:
    """The library that draws, by MuJoCo's name for it. An explicit MUJOCO_GL is heeded."""
    wanted = os.environ.get("MUJOCO_GL", "").lower()
    known = {"egl": "EGL", "osmesa": "OSMesa"}
    found = [name for name, library in known.items() if ctypes.util.find_library(library)]
    if not found:
        raise EyeError(
            "a camera needs a library of OpenGL that draws without a screen: apt install libegl1 libgl1-mesa-dri, "
            "or libosmesa6 (MUJOCO_GL=osmesa); depth cameras and lidars do without"
        )
    return wanted if wanted in found else found[0]


def _new_context(width: int, height: int) -> Any:
    name = opengl_without_a_screen()
    try:
        if name == "egl":
            from mujoco.egl import GLContext
        else:
            from mujoco.osmesa import GLContext
        context = GLContext(width, height)
        context.make_current()
    except (ImportError, AttributeError, RuntimeError) as error:
        raise EyeError(f"OpenGL by {name} does not draw here ({error}); try another MUJOCO_GL") from None
    return context


def _free(context: Any, drawing: mujoco.MjrContext) -> None:
    """What is freed is that of the context which is current: it must be this one, or another's pictures are lost."""
    context.make_current()
    drawing.free()
    context.free()


class Stage:
    """A fleet and its land, drawn from anywhere."""

    def __init__(self, fleet: Fleet, width: int, height: int) -> None:
        self._fleet, self._size = fleet, (width, height)
        self._model = _build(fleet, width, height)
        self._sun = sun_direction(fleet.scenario.world)
        self._data = mujoco.MjData(self._model)
        self._context = _new_context(width, height)
        self._drawing = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        weakref.finalize(self, _free, self._context, self._drawing).atexit = False  # then OpenGL is gone already
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._drawing)
        self._scene = mujoco.MjvScene(self._model, maxgeom=self._model.ngeom + 100)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_FOG] = True
        self._camera = mujoco.MjvCamera()
        self._camera.type, self._camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, 0

    def picture(self, vehicle: str, position: np.ndarray, rotation: np.ndarray, upright: float) -> np.ndarray:
        """uint8 [row, column, 3] as an eye of a vehicle sees it; `upright` is its view from top to bottom, rad."""
        model, data, (width, height) = self._model, self._data, self._size
        model.cam_fovy[0] = np.degrees(upright)
        states = [self._fleet.column(craft)[row.STATE // row.LANES :][:7] for craft in self._fleet.crafts]
        data.mocap_pos[1:], data.mocap_quat[1:] = np.array(states)[:, :3], np.array(states)[:, 3:]
        own = next(craft.number for craft in self._fleet.crafts if craft.name == vehicle)
        data.mocap_pos[1 + own, 2] -= AWAY
        data.mocap_pos[0] = position
        mujoco.mju_mat2Quat(data.mocap_quat[0], (rotation @ TO_OPENGL).ravel())
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        data.light_xpos[0] = position + SHADOWS * (rotation[:, 0] + self._sun)  # shadows fall where the eye looks
        self._context.make_current()
        option, everything = mujoco.MjvOption(), mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(model, data, option, None, self._camera, everything, self._scene)
        view = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(view, self._scene, self._drawing)
        pixels = np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(pixels, None, view, self._drawing)
        return pixels[::-1]


def _light(spec: mujoco.MjSpec, world: World) -> None:
    """Sun, sky and fog, as the world has them."""
    sun, light = sun_direction(world), world.light
    day = NIGHT + (1.0 - NIGHT) * float(np.clip(5.0 * sun[2] + 0.5, 0.0, 1.0))
    horizon = _unit(light.fog.colour or HORIZON)
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [DAYLIGHT * day] * 3, [0.1 * day] * 3
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=-sun, castshadow=True,
        diffuse=SUNSHINE * light.brightness * float(np.clip(6.0 * sun[2], 0.0, 1.0)),
    )  # fmt: skip
    spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=day * np.array(_unit(light.sky or SKY)), rgb2=day * np.array(horizon), width=128, height=768,
    )  # fmt: skip
    spec.visual.rgba.fog = [*(day * np.array(horizon)), 1.0]
    spec.visual.map.fogstart, spec.visual.map.fogend = (
        share * light.fog.distance / EXTENT for share in (FOG_BEGINS, 1.0)
    )


def _build(fleet: Fleet, width: int, height: int) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
    spec.visual.quality.shadowsize, spec.visual.map.shadowclip = SHADOW_PIXELS, SHADOWS / EXTENT
    spec.visual.map.zfar, spec.visual.map.znear = FARTHEST / EXTENT, NEAREST / EXTENT
    _light(spec, fleet.scenario.world)
    spec.stat.extent, spec.stat.center = EXTENT, (0.0, 0.0, 0.0)
    spec.default.geom.contype = spec.default.geom.conaffinity = 0
    eye = spec.worldbody.add_body(name="eye", mocap=True)
    eye.add_camera(name="eye")
    for craft in fleet.crafts:
        _add_vehicle(spec, craft)
    ground = _add_ground(spec, fleet.land)
    _add_solids(spec, fleet.land)
    model = spec.compile()
    if ground is not None:
        model.hfield_data[:] = ground[0].ravel()
        first = model.tex_adr[model.texture("ground").id]
        model.tex_data[first : first + ground[1].size] = ground[1].ravel()
    return model


def _unit(colour) -> list[float]:
    return [channel / 255 for channel in colour]


def _add_ground(spec: mujoco.MjSpec, land: Land) -> tuple[np.ndarray, np.ndarray] | None:
    """The plane, and the height field if there is one; then its heights from 0 to 1 and its colours."""
    spec.add_texture(
        name="plane", type=mujoco.mjtTexture.mjTEXTURE_2D, builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=_unit(GROUND), rgb2=_unit(GROUND_TOO), width=256, height=256,
    )  # fmt: skip
    material = spec.add_material(name="plane", texuniform=True, texrepeat=(0.5, 0.5))
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "plane"
    grid = land.grid
    base = land.base - (0.0 if grid is None else 0.02)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1), pos=(0, 0, base), material="plane")
    if grid is None:
        return None
    stride = -(-max(grid.heights.shape) // MOST_CORNERS)
    heights = np.nan_to_num(grid.heights[::stride, ::stride], nan=land.base).astype(float)
    colours, span = _ground_colours(land, heights), max(float(np.ptp(heights)), 1e-3)
    spec.add_texture(
        name="ground", type=mujoco.mjtTexture.mjTEXTURE_2D, builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        width=colours.shape[1], height=colours.shape[0], nchannel=3,
    )  # fmt: skip
    material = spec.add_material(name="ground", texrepeat=(1, 1))
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "ground"
    _add_heights(spec, grid, heights, stride, span)
    return (heights - heights.min()) / span, colours


def _add_heights(spec: mujoco.MjSpec, grid: Grid, heights: np.ndarray, stride: int, span: float) -> None:
    rows, columns = heights.shape
    half = (columns - 1) * stride * grid.cell[0] / 2, (rows - 1) * stride * grid.cell[1] / 2
    spec.add_hfield(name="ground", nrow=rows, ncol=columns, userdata=np.zeros(heights.size), size=(*half, span, 1e-3))
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="ground", material="ground",
        pos=(grid.corner[0] + half[0], grid.corner[1] + half[1], heights.min()),
    )  # fmt: skip


def _ground_colours(land: Land, heights: np.ndarray) -> np.ndarray:
    """uint8 [row, column, 3] from the south: a survey's own picture, made-up ground's colours, else by height."""
    if land.survey is not None and land.survey.about.colour is not None:
        picture = land.survey.photo()
        picture.thumbnail((4096, 4096))
        return np.asarray(picture)[::-1]
    if isinstance(land.world.terrain, Generated):
        assert land.grid is not None
        return _made_up_colours(land.world.terrain, land.grid)
    share = (heights - heights.min()) / max(float(np.ptp(heights)), 1e-3)
    stops = np.array([VALLEY, SLOPE, SUMMIT], dtype=float)
    colours = np.stack([np.interp(share, [0.0, 0.5, 1.0], stops[:, k]) for k in range(3)], axis=-1)
    return colours.astype(np.uint8)


def _made_up_colours(terrain: Generated, grid: Grid) -> np.ndarray:
    """In strips, whose arrays take little memory."""
    x, y = (np.linspace(known[0], known[-1], PIXELS) for known in (grid.east, grid.north))
    slopes = np.gradient(grid.heights.astype(float), grid.north, grid.east)
    colours = np.empty((PIXELS, PIXELS, 3), dtype=np.uint8)
    for first in range(0, PIXELS, STRIP):
        strip = y[first : first + STRIP]
        heights, north, east = (_between(values, grid, x, strip) for values in (grid.heights, *slopes))
        painted = colours_of(terrain, *np.meshgrid(x, strip), heights, np.hypot(north, east))
        colours[first : first + STRIP] = np.clip(painted, 0, 255)
    return colours


def _between(values: np.ndarray, grid: Grid, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Values at a grid's corners, at other places, straight between."""
    rows = np.stack([np.interp(x, grid.east, row) for row in values])
    return np.stack([np.interp(y, grid.north, column) for column in rows.T], axis=1)


def _add_solids(spec: mujoco.MjSpec, land: Land) -> None:
    """Obstacles, and things as one mesh for each colour: MuJoCo's meshes have one."""
    from airloom.eyes.sight import obstacle_mesh

    for obstacle in land.world.obstacles.values():
        _add_mesh(spec, obstacle_mesh(obstacle), OBSTACLE)
    by_colour: dict[tuple, list[np.ndarray]] = {}
    for thing in land.things:
        faces, colours = thing.mesh.faces, thing.mesh.colours[:, :3].astype(float)
        shades = np.round(colours[faces].mean(axis=1) / 255 * SHADES).astype(int)
        for shade in np.unique(shades, axis=0):
            chosen = faces[(shades == shade).all(axis=1)]
            by_colour.setdefault(tuple(shade), []).append(thing.mesh.vertices[chosen].reshape(-1, 3))
    for shade, corners in by_colour.items():
        vertices = np.concatenate(corners)
        if len(vertices) == 3:  # MuJoCo takes no single triangle
            vertices = np.concatenate([vertices, vertices])
        faces = np.arange(len(vertices), dtype=np.uint32).reshape(-1, 3)
        _add_mesh(spec, Mesh(vertices, faces, np.empty((0, 4))), [255 * s / SHADES for s in shade])


def _add_mesh(spec: mujoco.MjSpec, mesh: Mesh, colour) -> None:
    name = f"mesh_{len(spec.meshes)}"
    spec.add_mesh(
        name=name, uservert=mesh.vertices.ravel(), userface=mesh.faces.astype(np.int32).ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
    )  # fmt: skip
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, rgba=[*_unit(colour), 1.0])


def _add_vehicle(spec: mujoco.MjSpec, craft: Craft) -> None:
    """A hull with a coloured front, arms and motors; the rotors turn too fast to be seen."""
    vehicle = craft.vehicle
    body = spec.worldbody.add_body(name=craft.name, mocap=True)
    size, middle = np.array(vehicle.body.size) / 2, np.array(vehicle.body.position)
    hull = size * [HULL_SHARE, HULL_SHARE, 1.0]
    box, capsule = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CAPSULE
    body.add_geom(type=box, size=hull, pos=middle, rgba=[*_unit(HULL), 1.0])
    front = middle + hull * [1.0, 0.0, 0.0]
    body.add_geom(type=box, size=hull * [0.08, 0.9, 0.5], pos=front, rgba=[*_unit(FRONT), 1.0])
    for rotor in vehicle.rotors.values():
        hub, thick = np.array(rotor.position), 0.06 * rotor.radius
        below = np.array([hub[0], hub[1], middle[2]])
        if np.linalg.norm(below - middle) > 1e-6:
            body.add_geom(type=capsule, size=(thick, 0, 0), fromto=[*middle, *below], rgba=[*_unit(ARM), 1.0])
        if np.linalg.norm(hub - below) > 1e-6:
            body.add_geom(type=capsule, size=(2 * thick, 0, 0), fromto=[*below, *hub], rgba=[*_unit(MOTOR), 1.0])
