"""The compiled tick around MuJoCo: the same forces, sensors and flight stacks, with MuJoCo's bodies and contacts.

`mj_step` is called by name from the compiled loop, so Python stays out of the tick.
"""

from pathlib import Path
from typing import NamedTuple

import llvmlite.binding
import mujoco
from numba import types

from airloom.autopilots.lockstep import exchange, next_frame
from airloom.compiled import compiled
from airloom.loop import PROPELLERS, effects_of, keep_mean_acceleration, keep_start_velocity, look_and_think
from airloom.physics.impact import hits_soon
from airloom.physics.rotor import spin_rotors, sum_rotors
from airloom.physics.rows import (
    CX, CY, CZ, FX, FY, FZ, LANES, PX, QW, R00, R01, R02, R10, R11, R12, R20, R21, R22, TX, TY, TZ, VX, WX,
)  # fmt: skip
from airloom.physics.wrench import gather_wrench


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
        x, y, z = w[FX + i], w[FY + i], w[FZ + i]
        cx, cy, cz = w[CX + i], w[CY + i], w[CZ + i]
        w[TX + i] += cy * z - cz * y
        w[TY + i] += cz * x - cx * z
        w[TZ + i] += cx * y - cy * x
        w[FX + i] = w[R00 + i] * x + w[R01 + i] * y + w[R02 + i] * z
        w[FY + i] = w[R10 + i] * x + w[R11 + i] * y + w[R12 + i] * z
        w[FZ + i] = w[R20 + i] * x + w[R21 + i] * y + w[R22 + i] * z


@compiled
def _apply_wrench(w, vehicles, forces):
    """At the joints: given at the bodies (`xfrc_applied`), MuJoCo takes a sixth of its step to bring them there."""
    _move_wrench_to_origin(w)
    for i in range(LANES):
        v = vehicles[i]
        if v < 0:
            continue
        for k in range(6):
            forces[6 * v + k] = w[FX + k * LANES + i]


@compiled
def _read_state(w, vehicles, qpos, qvel):
    for i in range(LANES):
        v = vehicles[i]
        if v < 0:
            continue
        for k in range(3):
            w[PX + k * LANES + i] = qpos[7 * v + k]
            w[VX + k * LANES + i] = qvel[6 * v + k]
            w[WX + k * LANES + i] = qvel[6 * v + 3 + k]
        for k in range(4):
            w[QW + k * LANES + i] = qpos[7 * v + 3 + k]


@compiled
def _step(impacts, model, data, flight, dt):
    """A step of MuJoCo, or several short ones with the model for hard impacts."""
    if hits_soon(flight.blocks, flight.vehicles, flight.world, dt, impacts.fast):
        for _ in range(impacts.parts):
            mj_step(impacts.model, data)
    else:
        mj_step(model, data)


@compiled
def advance_mujoco(
    impacts, model, data, qpos, qvel, forces, tick, ticks, dt, flight, sensing, frame_ticks, first_frame
):
    blocks = flight.blocks
    for t in range(tick, tick + ticks):
        for b in range(blocks.shape[0]):
            w, rotors, stack = blocks[b], flight.rotors[b], flight.stacks[b]
            effects, parameters = effects_of(stack, flight)
            spin_rotors(rotors)
            sum_rotors(w, rotors, flight.propellers[stack[PROPELLERS]])
            gather_wrench(w, effects, parameters)
            _apply_wrench(w, flight.vehicles[b], forces)
            keep_start_velocity(w)
        _step(impacts, model, data, flight, dt)
        for b in range(blocks.shape[0]):
            w = blocks[b]
            _read_state(w, flight.vehicles[b], qpos, qvel)
            keep_mean_acceleration(w, dt)
            look_and_think(b, t + 1, flight, sensing, frame_ticks, first_frame)


@compiled
def advance_mujoco_in_lockstep(
    wires, impacts, model, data, qpos, qvel, forces, tick, end, dt, flight, sensing, frame_ticks, first_frame
):
    """As `advance_batch_in_lockstep`."""
    while True:
        turn = next_frame(tick, end, wires)
        advance_mujoco(
            impacts, model, data, qpos, qvel, forces, tick, turn - tick, dt, flight, sensing, frame_ticks, first_frame
        )
        tick = turn
        if tick == end or not exchange(tick, flight, wires):
            return tick
