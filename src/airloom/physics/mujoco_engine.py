"""The MuJoCo engine: contacts with ground, obstacles and one another."""

from __future__ import annotations

import sys
from copy import copy
from math import ceil, e

import mujoco
import numpy as np

from airloom.autopilots.lockstep import NO_WIRES
from airloom.fleet import Fleet
from airloom.physics.mujoco_loop import Impacts, advance_mujoco, advance_mujoco_in_lockstep
from airloom.physics.rows import LANES, PX, QW, VX, WX
from airloom.scenario.models import HeightField, Obstacle, Scenario, World
from airloom.world.ground import read_heights

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
USUAL_SINK = 6e-3  # m; whoever would sink in deeper hits hard
BASE_THICKNESS = 1.0  # m below the lowest height of a height field


def _warn(text: str) -> None:
    """MuJoCo would leave a file in the current folder. Of bad states `divergence.py` tells."""
    if "simulation is unstable" not in text:
        print(f"MuJoCo: {text}", file=sys.stderr)


mujoco.set_mju_user_warning(_warn)


class MujocoEngine:
    def __init__(self, scenario: Scenario, fleet: Fleet) -> None:
        self.fleet, self.dt = fleet, scenario.step
        self.model = build_model(scenario, fleet)
        self.data = mujoco.MjData(self.model)
        self._hard, parts = _model_for_impacts(self.model)
        fast = USUAL_SINK * e / contact_time(self.dt)
        # Asked for once: each of these attributes makes an object.
        self._bodies = (
            Impacts(self._hard._address, parts, fast), self.model._address, self.data._address, self.data.qpos,
            self.data.qvel, self.data.qfrc_applied,
        )  # fmt: skip

    def reset(self) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.take_state()

    def take_state(self) -> None:
        """Put MuJoCo's bodies where the fleet's rows say they are."""
        for m in self.fleet.members:
            column = self.fleet.column(m)
            qpos, qvel = self.data.qpos[7 * m.number :], self.data.qvel[6 * m.number :]
            qpos[:3], qpos[3:7] = column[PX // LANES :][:3], column[QW // LANES :][:4]
            qvel[:3], qvel[3:6] = column[VX // LANES :][:3], column[WX // LANES :][:3]
        mujoco.mj_forward(self.model, self.data)

    def advance(self, tick: int, ticks: int, frame_ticks: int, first_frame: int, wires: np.ndarray = NO_WIRES) -> int:
        """Gives the tick reached, which is an earlier one if an autopilot needs attention there."""
        end = tick + ticks
        rest: tuple = (self.dt, self.fleet.flight, self.fleet.sensing, frame_ticks, first_frame)
        if len(wires):
            return advance_mujoco_in_lockstep(wires, *self._bodies, tick, end, *rest)
        advance_mujoco(*self._bodies, tick, ticks, *rest)
        return end

    def contacts(self) -> tuple[np.ndarray, np.ndarray]:
        """Where vehicles touch something, and the forces on them there (world, N)."""
        points, forces, wrench = [], [], np.zeros(6)
        for k in range(self.data.ncon):
            contact = self.data.contact[k]
            mujoco.mj_contactForce(self.model, self.data, k, wrench)
            force = wrench[:3] @ contact.frame.reshape(3, 3)
            for geom, sign in zip(contact.geom, (-1.0, 1.0), strict=True):
                if self.model.geom_bodyid[geom] > 0:
                    points.append(contact.pos.copy())
                    forces.append(sign * force)
        return np.reshape(points, (-1, 3)), np.reshape(forces, (-1, 3))

    def hash_into(self, digest) -> None:
        """The solver starts from its last solution, so that is state too."""
        digest.update(self.data.qacc_warmstart.tobytes())


def contact_time(step: float) -> float:
    """Time constant of contacts, s. MuJoCo scales their stiffness with the mass, so it is the same for all."""
    return max(STEPS_OF_CONTACT * step, LEAST_CONTACT_TIME)


def _model_for_impacts(model: mujoco.MjModel) -> tuple[mujoco.MjModel, int]:
    """The same bodies with a short step and stiff contacts, and how many such steps are a tick."""
    hard, parts = copy(model), ceil(model.opt.timestep / IMPACT_STEP - 1e-9)
    hard.opt.timestep = model.opt.timestep / parts
    hard.geom_solref[:, 0] = IMPACT_CONTACT_TIME
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
    for member in fleet.members:
        vehicle = member.vehicle
        body = spec.worldbody.add_body(name=member.name, pos=vehicle.pose.position)
        body.add_freejoint()
        inertia = member.airframe.inertia
        body.explicitinertial = True
        body.mass, body.ipos = vehicle.mass, vehicle.center_of_mass
        body.fullinertia = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        size = np.array(vehicle.body.size) / 2
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=size, pos=vehicle.body.position, mass=0.0)
    _add_ground(spec, scenario.world)
    for obstacle in scenario.world.obstacles.values():
        _add_obstacle(spec, obstacle)
    return spec.compile()


def _add_ground(spec: mujoco.MjSpec, world: World) -> None:
    terrain = world.terrain
    if isinstance(terrain, HeightField):
        heights = read_heights(terrain)
        low, span = heights.min(), max(float(np.ptp(heights)), 1e-6)
        spec.add_hfield(
            name="ground", nrow=heights.shape[0], ncol=heights.shape[1], userdata=((heights - low) / span).ravel(),
            size=(terrain.size[0] / 2, terrain.size[1] / 2, span, BASE_THICKNESS),
        )  # fmt: skip
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="ground", pos=(*terrain.center, low))
        level = low
    else:
        level = terrain.height
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1), pos=(0, 0, level))


def _add_obstacle(spec: mujoco.MjSpec, obstacle: Obstacle) -> None:
    x, y, z = (0.5 * s for s in obstacle.size)
    shapes = {
        "box": (mujoco.mjtGeom.mjGEOM_BOX, (x, y, z)),
        "cylinder": (mujoco.mjtGeom.mjGEOM_CYLINDER, (x, z, 0)),
        "sphere": (mujoco.mjtGeom.mjGEOM_SPHERE, (x, 0, 0)),
    }
    kind, size = shapes[obstacle.shape]
    turn = (np.cos(obstacle.yaw / 2), 0, 0, np.sin(obstacle.yaw / 2))
    spec.worldbody.add_geom(type=kind, size=size, pos=obstacle.position, quat=turn)
