"""A scenario as a model of MuJoCo: bodies, ground, obstacles, and how stiff their contacts are."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from math import ceil, e

import mujoco
import numpy as np

from airloom.engines.fleet import Fleet
from airloom.engines.liquids import liquid_name
from airloom.engines.patches import BASE_THICKNESS, PatchSize, patch_name
from airloom.scenario.models import Obstacle, Scenario
from airloom.world.grid import Grid
from airloom.world.things import Solid

FRICTION = (0.6, 0.005, 0.0001)  # sliding as the batch engine's; torsional and rolling are MuJoCo's defaults
# Nothing in the model has these, but MuJoCo would look for them at every joint and in every step.
NOT_IN_THE_MODEL = (
    mujoco.mjtDisableBit.mjDSBL_SPRING | mujoco.mjtDisableBit.mjDSBL_DAMPER | mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS | mujoco.mjtDisableBit.mjDSBL_LIMIT
)  # fmt: skip
# Time constants of contacts. MuJoCo lets what slides rise by μ v h/T in each step h: softer contacts hop less, harder
# ones sink in less and creep less on slopes.
STEPS_OF_CONTACT = 4  # two is the least that is stable, four come to rest quietly
LEAST_CONTACT_TIME = 10e-3  # s
IMPACT_STEP, IMPACT_CONTACT_TIME = 0.1e-3, 1e-3  # s
DEPTH, LEAST_AREA = 0.05, 1e-9  # m behind a triangle that are solid, m² of a triangle that is left out
USUAL_SINK = 6e-3  # m; whoever would sink in deeper hits hard


def contact_time(step: float) -> float:
    """Time constant of contacts, s. MuJoCo scales their stiffness with the mass, so it is the same for all."""
    return max(STEPS_OF_CONTACT * step, LEAST_CONTACT_TIME)


def slowest_impact(step: float) -> float:
    """The speed, m/s, above which a body sinks into a contact by more than usual."""
    return USUAL_SINK * e / contact_time(step)


def model_for_impacts(model: mujoco.MjModel) -> tuple[mujoco.MjModel, int]:
    """The same bodies with a short step and stiff contacts, and how many such steps are a tick."""
    hard, parts = copy(model), ceil(model.opt.timestep / IMPACT_STEP - 1e-9)
    hard.opt.timestep = model.opt.timestep / parts
    hard.geom_solref[:, 0] = hard.pair_solref[:, 0] = IMPACT_CONTACT_TIME
    return hard, parts


def build_model(scenario: Scenario, fleet: Fleet) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.option.timestep = scenario.step
    spec.default.geom.solref[0] = contact_time(scenario.step)
    spec.default.geom.friction = FRICTION
    spec.option.gravity = (0.0, 0.0, -scenario.world.gravity)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    # A state that has become infinite must be seen as such, not silently replaced by the start.
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET | NOT_IN_THE_MODEL
    # Vehicles at rest with rotors at rest cost nothing. Any force on a joint, such as rotors' thrust, keeps it awake.
    spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    for craft in fleet.crafts:
        vehicle = craft.vehicle
        body = spec.worldbody.add_body(name=craft.name, pos=vehicle.pose.position)
        body.add_freejoint()
        inertia = vehicle.inertia.matrix()
        body.explicitinertial = True
        body.mass, body.ipos = vehicle.mass, vehicle.center_of_mass
        body.fullinertia = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        size = np.array(vehicle.body.size) / 2
        body.add_geom(name=craft.name, type=mujoco.mjtGeom.mjGEOM_BOX, size=size, pos=vehicle.body.position, mass=0.0)
        if vehicle.tank is not None:
            _add_liquid(body, craft.name)
    land = fleet.land
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1), pos=(0, 0, land.base))
    if land.grid is not None:
        patch = PatchSize.of(land.grid, fleet.reach)
        for craft in fleet.crafts:
            _add_patch(spec, craft.name, land.grid, patch, contact_time(scenario.step))
    for obstacle in scenario.world.obstacles.values():
        _add_solid(spec, _of_obstacle(obstacle))
    for thing in land.things:
        for solid in thing.solids:
            _add_solid(spec, solid)
    return spec.compile()


def _add_liquid(vehicle: mujoco.MjsBody, name: str) -> None:
    """What is in a vehicle's tank, a part of its body; the loop writes mass, centre and inertia.

    The centre must not be the body's own place here, or MuJoCo would take it for that ever after.
    """
    liquid = vehicle.add_body(name=liquid_name(name))
    liquid.explicitinertial = True
    liquid.mass, liquid.ipos, liquid.inertia = 1.0, (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)


def _add_patch(spec: mujoco.MjSpec, vehicle: str, grid: Grid, size: PatchSize, contact: float) -> None:
    """The ground under a vehicle, which nobody else touches; the loop fills it."""
    name, (dx, dy) = patch_name(vehicle), grid.cell
    spec.add_hfield(
        name=name, nrow=size.rows, ncol=size.columns, userdata=np.zeros(size.rows * size.columns),
        size=(0.5 * (size.columns - 1) * dx, 0.5 * (size.rows - 1) * dy, 1.0, BASE_THICKNESS),
    )  # fmt: skip
    spec.worldbody.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_HFIELD,
        hfieldname=name,
        pos=(0.0, 0.0, grid.low),
        contype=0,
        conaffinity=0,
    )
    pair = spec.add_pair(geomname1=name, geomname2=vehicle, condim=3)
    sliding, torsional, rolling = FRICTION
    pair.friction = (sliding, sliding, torsional, rolling, rolling)
    pair.solref[0] = contact


def _add_solid(spec: mujoco.MjSpec, solid: Solid) -> None:
    x, y, z = solid.half
    place = {"pos": solid.position, "quat": solid.attitude}
    if solid.mesh is not None:
        for points in _hulls(solid):
            name = f"solid_{len(spec.meshes)}"
            spec.add_mesh(name=name, uservert=points.ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, **place)
        return
    shapes = {
        "box": (mujoco.mjtGeom.mjGEOM_BOX, (x, y, z)),
        "cylinder": (mujoco.mjtGeom.mjGEOM_CYLINDER, (x, z, 0)),
        "sphere": (mujoco.mjtGeom.mjGEOM_SPHERE, (x, 0, 0)),
        "capsule": (mujoco.mjtGeom.mjGEOM_CAPSULE, (x, z - x, 0)),
    }
    kind, size = shapes[solid.shape]
    spec.worldbody.add_geom(type=kind, size=size, **place)


def _hulls(solid: Solid) -> Iterator[np.ndarray]:
    """Points that MuJoCo lays a hull around: all of them, or of an exact one each triangle with some depth.

    MuJoCo's own triangles (a rigid flex) let a body sink through them that falls from 2 m.
    """
    assert solid.mesh is not None
    if solid.shape == "hull":
        yield solid.mesh.vertices
        return
    for corners in solid.mesh.vertices[solid.mesh.faces]:
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        area = float(np.linalg.norm(normal))
        if area > LEAST_AREA:
            yield np.concatenate([corners, corners - DEPTH / area * normal])


def _of_obstacle(obstacle: Obstacle) -> Solid:
    x, y, z = (0.5 * s for s in obstacle.size)
    turn = (float(np.cos(obstacle.yaw / 2)), 0.0, 0.0, float(np.sin(obstacle.yaw / 2)))
    return Solid(obstacle.shape, (x, y, z), obstacle.position, turn)
