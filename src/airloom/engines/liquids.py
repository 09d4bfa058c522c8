"""The liquids in tanks, as MuJoCo sees them: a part of each vehicle's body that the loop weighs.

What MuJoCo has worked out from masses when it made its model must be written anew as well: the mass of the whole
(`body_subtreemass`, by which it divides to find the common centre), and how easily the body is moved by a contact
(`body_invweight0`: the mean of the inverse inertia that its own centre and its axes show), which scales softness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from airloom.compiled import compiled
from airloom.compiled import rows as row

if TYPE_CHECKING:
    from airloom.engines.fleet import Craft

BLOCK, LANE, VEHICLE, LIQUID, WIDTH = range(5)


class Liquids(NamedTuple):
    """What the compiled loop needs to weigh them: arrays of MuJoCo's model, and of the one for hard impacts."""

    table: np.ndarray
    """int64 [tank, column]: block and lane, numbers of the bodies of vehicle and liquid"""
    own: tuple[np.ndarray, ...]
    """`body_mass`, `body_ipos`, `body_inertia`, `body_subtreemass`, `body_invweight0`"""
    hard: tuple[np.ndarray, ...]


def liquid_name(vehicle: str) -> str:
    return f"{vehicle}/liquid"


def liquids_of(crafts: list[Craft], model: mujoco.MjModel, hard: mujoco.MjModel) -> Liquids:
    lines = [
        (craft.block, craft.lane, model.body(craft.name).id, model.body(liquid_name(craft.name)).id)
        for craft in crafts
        if craft.vehicle.tank is not None
    ]
    return Liquids(np.array(lines, dtype=np.int64).reshape(-1, WIDTH), _arrays(model), _arrays(hard))


def _arrays(model: mujoco.MjModel) -> tuple[np.ndarray, ...]:
    return model.body_mass, model.body_ipos, model.body_inertia, model.body_subtreemass, model.body_invweight0


@compiled
def weigh_liquids(liquids, blocks, all_of_them):
    """Those whose level has changed, or all: what MuJoCo was made with is no liquid's."""
    for k in range(liquids.table.shape[0]):
        line = liquids.table[k]
        w, i = blocks[line[BLOCK]], line[LANE]
        if all_of_them or liquids.own[0][line[LIQUID]] != w[row.LIQUID_MASS + i]:
            _weigh(liquids.own, w, i, line[VEHICLE], line[LIQUID])
            _weigh(liquids.hard, w, i, line[VEHICLE], line[LIQUID])


@compiled
def _weigh(model, w, i, vehicle, liquid):
    mass, places, inertias, together, ease = model
    together[0] += w[row.LIQUID_MASS + i] - mass[liquid]
    mass[liquid] = together[liquid] = w[row.LIQUID_MASS + i]
    together[vehicle] = w[row.MASS + i]
    places[liquid, 0], places[liquid, 1], places[liquid, 2] = (
        w[row.LIQUID_X + i],
        w[row.LIQUID_Y + i],
        w[row.LIQUID_Z + i],
    )
    inertias[liquid, 0], inertias[liquid, 1] = w[row.LIQUID_JXX + i], w[row.LIQUID_JYY + i]
    inertias[liquid, 2] = w[row.LIQUID_JZZ + i]
    for body in (vehicle, liquid):
        ease[body, 0], ease[body, 1] = _ease(
            w, i, places[body, 0] - w[row.CX + i], places[body, 1] - w[row.CY + i], places[body, 2] - w[row.CZ + i]
        )


@compiled
def _ease(w, i, x, y, z):
    """Mean of 1/m + r× J⁻¹ r×ᵀ along three axes, for a force at r from the centre, and of J⁻¹ for a torque."""
    xx, yy, zz = w[row.INV_JXX + i], w[row.INV_JYY + i], w[row.INV_JZZ + i]
    xy, xz, yz = w[row.INV_JXY + i], w[row.INV_JXZ + i], w[row.INV_JYZ + i]
    trace = xx + yy + zz
    along = x * x * xx + y * y * yy + z * z * zz + 2.0 * (x * y * xy + x * z * xz + y * z * yz)
    return w[row.INV_MASS + i] + ((x * x + y * y + z * z) * trace - along) / 3.0, trace / 3.0
