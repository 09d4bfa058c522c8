"""The MuJoCo engine: the same forces, sensors and flight stacks, with MuJoCo's bodies and contacts.

`mj_step` is called by name from the compiled loop, so Python stays out of the tick.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding
import mujoco
import numpy as np
from numba import types

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.engines.engine import Digest
from airloom.engines.fleet import Fleet
from airloom.engines.impact import hits_soon
from airloom.engines.liquids import liquids_of, weigh_liquids
from airloom.engines.lockstep import NO_WIRES, next_frame, tell_and_hear
from airloom.engines.mujoco_model import build_model, model_for_impacts, slowest_impact
from airloom.engines.patches import NOWHERE, PatchSize, move_patches, no_patches, patches_of
from airloom.engines.tick import (
    effects_of,
    keep_mean_acceleration,
    keep_start_velocity,
    look_and_think,
    prepare_forces,
)
from airloom.physics.wrench import gather_wrench
from airloom.scenario.models import Scenario


def _library() -> str:
    """MuJoCo's shared library, wherever its wheel has put it."""
    spec = Path(mujoco.__file__).parent
    places = [
        *spec.glob("libmujoco*"),
        *spec.parent.glob("mujoco*/libmujoco*"),
        *spec.parent.glob("mujoco*/lib/libmujoco*"),
    ]
    if not places:
        raise ImportError("MuJoCo's library libmujoco was not found beside its Python package; reinstall mujoco")
    return str(places[0])


llvmlite.binding.load_library_permanently(_library())
mj_step = types.ExternalFunction("mj_step", types.void(types.intp, types.intp))


class Impacts(NamedTuple):
    """How hard impacts are dealt with, see `impact.py`."""

    model: int
    """Address of the model with a short step and stiff contacts."""
    parts: int
    """Of a tick."""
    fast: float
    """m/s"""


@compiled
def _move_wrench_to_origin(w):
    """Body wrench about the centre → world force and body torque about the origin, as a free joint takes them."""
    for i in range(LANES):
        x, y, z = w[row.FX + i], w[row.FY + i], w[row.FZ + i]
        cx, cy, cz = w[row.CX + i], w[row.CY + i], w[row.CZ + i]
        w[row.TX + i] += cy * z - cz * y
        w[row.TY + i] += cz * x - cx * z
        w[row.TZ + i] += cx * y - cy * x
        w[row.FX + i] = w[row.R00 + i] * x + w[row.R01 + i] * y + w[row.R02 + i] * z
        w[row.FY + i] = w[row.R10 + i] * x + w[row.R11 + i] * y + w[row.R12 + i] * z
        w[row.FZ + i] = w[row.R20 + i] * x + w[row.R21 + i] * y + w[row.R22 + i] * z


@compiled
def _apply_wrench(w, vehicles, forces):
    """At the joints: given at the bodies (`xfrc_applied`), MuJoCo takes a sixth of its step to bring them there."""
    _move_wrench_to_origin(w)
    for i in range(LANES):
        v = vehicles[i]
        if v < 0:
            continue
        for k in range(6):
            forces[6 * v + k] = w[row.FX + k * LANES + i]


@compiled
def _read_state(w, vehicles, qpos, qvel):
    for i in range(LANES):
        v = vehicles[i]
        if v < 0:
            continue
        for k in range(3):
            w[row.PX + k * LANES + i] = qpos[7 * v + k]
            w[row.VX + k * LANES + i] = qvel[6 * v + k]
            w[row.WX + k * LANES + i] = qvel[6 * v + 3 + k]
        for k in range(4):
            w[row.QW + k * LANES + i] = qpos[7 * v + 3 + k]


@compiled
def _step(impacts, patches, liquids, model, data, flight, dt):
    """A step of MuJoCo, or several short ones with the model for hard impacts."""
    weigh_liquids(liquids, flight.blocks, False)
    move_patches(patches, flight.blocks, flight.vehicles, flight.world)
    if hits_soon(flight.blocks, flight.vehicles, flight.world, dt, impacts.fast):
        for _ in range(impacts.parts):
            mj_step(impacts.model, data)
    else:
        mj_step(model, data)


@compiled
def advance_mujoco(
    impacts, patches, liquids, model, data, qpos, qvel, forces, tick, ticks, dt, flight, sensing, record_ticks,
    first_record,
):  # fmt: skip
    blocks = flight.blocks
    for t in range(tick, tick + ticks):
        for b in range(blocks.shape[0]):
            w = blocks[b]
            effects, parameters = effects_of(flight.stacks[b], flight)
            prepare_forces(b, t, flight)
            gather_wrench(w, effects, parameters)
            _apply_wrench(w, flight.vehicles[b], forces)
            keep_start_velocity(w)
        _step(impacts, patches, liquids, model, data, flight, dt)
        for b in range(blocks.shape[0]):
            w = blocks[b]
            _read_state(w, flight.vehicles[b], qpos, qvel)
            keep_mean_acceleration(w, dt)
            look_and_think(b, t + 1, flight, sensing, record_ticks, first_record)


@compiled
def advance_mujoco_in_lockstep(
    wires, impacts, patches, liquids, model, data, qpos, qvel, forces, tick, end, dt, flight, sensing, record_ticks,
    first_record,
):  # fmt: skip
    """As `advance_batch_in_lockstep`."""
    while True:
        turn = next_frame(tick, end, wires)
        advance_mujoco(
            impacts,
            patches,
            liquids,
            model,
            data,
            qpos,
            qvel,
            forces,
            tick,
            turn - tick,
            dt,
            flight,
            sensing,
            record_ticks,
            first_record,
        )
        tick = turn
        if tick == end or not tell_and_hear(tick, flight, wires):
            return tick


def _warn(text: str) -> None:
    """MuJoCo would leave a file in the current folder. Of bad states `watch/divergence.py` tells."""
    if "simulation is unstable" not in text:
        print(f"MuJoCo: {text}", file=sys.stderr)


mujoco.set_mju_user_warning(_warn)


class MujocoEngine:
    def __init__(self, scenario: Scenario, fleet: Fleet) -> None:
        self.fleet, self.dt = fleet, scenario.step
        self.model = build_model(scenario, fleet)
        self.data = mujoco.MjData(self.model)
        self._hard, parts = model_for_impacts(self.model)
        fast = slowest_impact(self.dt)
        if (grid := fleet.land.grid) is None:
            self._patches = no_patches(self.model, self.data)
        else:
            names = [craft.name for craft in fleet.crafts]
            self._patches = patches_of(PatchSize.of(grid, fleet.reach), names, self.model, self._hard, self.data)
        self._liquids = liquids_of(fleet.crafts, self.model, self._hard)
        # Asked for once: each of these attributes makes an object.
        self._bodies = (
            Impacts(self._hard._address, parts, fast), self._patches, self._liquids,
            self.model._address, self.data._address, self.data.qpos, self.data.qvel, self.data.qfrc_applied,
        )  # fmt: skip

    def reset(self) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.take_state()

    def take_state(self) -> None:
        """Put MuJoCo's bodies where the fleet's rows say they are."""
        for m in self.fleet.crafts:
            column = self.fleet.column(m)
            qpos, qvel = self.data.qpos[7 * m.number :], self.data.qvel[6 * m.number :]
            qpos[:3], qpos[3:7] = column[row.PX // LANES :][:3], column[row.QW // LANES :][:4]
            qvel[:3], qvel[3:6] = column[row.VX // LANES :][:3], column[row.WX // LANES :][:3]
        flight = self.fleet.flight
        weigh_liquids(self._liquids, flight.blocks, True)
        self._patches.corners[:] = NOWHERE
        move_patches(self._patches, flight.blocks, flight.vehicles, flight.world)
        mujoco.mj_forward(self.model, self.data)

    def advance(self, tick: int, ticks: int, record_ticks: int, first_record: int, wires: np.ndarray = NO_WIRES) -> int:
        """Gives the tick reached, which is an earlier one if an autopilot needs attention there."""
        end = tick + ticks
        rest: tuple = (self.dt, self.fleet.flight, self.fleet.sensing, record_ticks, first_record)
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

    def hash_into(self, digest: Digest) -> None:
        """The solver starts from its last solution, so that is state too."""
        digest.update(self.data.qacc_warmstart.tobytes())
