"""Notice when a vehicle's state is no longer sane, in every run and however its steps are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.clock import NS_PER_SECOND
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.errors import RunError

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

FARTHEST = 1e9  # m
FASTEST = 1e5  # m/s, and rad/s
KEPT_EVERY = 16  # ticks
STATES = row.STATE_ROWS * LANES
SANE_WIDTH = STATES + 1  # with the tick


class Diverged(RunError):
    """A vehicle's state is beyond all sense; the message is meant for the user."""


@compiled
def _strayed(w, first, count, most):
    """How many of some rows' numbers are not between −most and most; one that is no number is not, either."""
    strayed = 0
    for j in range(first, first + count * LANES):
        strayed += 0 if abs(w[j]) <= most else 1
    return strayed


@compiled
def _is_sane(w):
    strayed = _strayed(w, row.PX, 3, FARTHEST) + _strayed(w, row.QW, 4, 2.0)
    return strayed + _strayed(w, row.VX, 3, FASTEST) + _strayed(w, row.WX, 3, FASTEST) == 0


@compiled
def keep_sane(w, tick, sane):
    """Now and then, remember the states of a block and when they were so, if they are sane."""
    if tick % KEPT_EVERY == 0 and _is_sane(w):
        for j in range(STATES):
            sane[j] = w[row.STATE + j]
        sane[STATES] = tick


@compiled
def first_insane(blocks):
    """The first block with a state that is not sane; −1 if there is none."""
    for b in range(blocks.shape[0]):
        if not _is_sane(blocks[b]):
            return b
    return -1


class Sanity:
    """Looks at the fleet whenever the compiled loop pauses; the loop itself keeps the last sane states."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim

    def settle(self) -> None:
        """The simulation has another fleet, or begins anew."""
        flight = self._sim.fleet.flight
        flight.sane[:, :STATES], flight.sane[:, STATES] = (
            flight.blocks[:, row.STATE : row.STATE + STATES],
            self._sim.tick,
        )

    def check(self) -> None:
        """Raise Diverged if the state of any vehicle is not sane."""
        if first_insane(self._sim.fleet.flight.blocks) >= 0:
            for vehicle in self._sim.vehicles.values():
                if not _is_state_sane(vehicle.state):
                    raise Diverged(self._told(vehicle))

    def _told(self, vehicle: Vehicle) -> str:
        block, lane = vehicle.place_in_blocks
        sane = self._sim.fleet.flight.sane[block]
        state, time = sane[lane:STATES:LANES], sane[STATES] * self._sim.step_ns / NS_PER_SECOND
        position, velocity, rates = (
            _listed(state[(first - row.STATE) // LANES :][:3]) for first in (row.PX, row.VX, row.WX)
        )
        return (
            f"the state of vehicle '{vehicle.name}' became infinite, no number or absurd (over {FASTEST:g} m/s) soon "
            f"after t = {time:.3f} s, when it was at ({position}) m, moved at ({velocity}) m/s and turned at ({rates}) "
            "rad/s: look for unstable gains, a force or wind too large, or a step too long"
        )


def _is_state_sane(state: np.ndarray) -> bool:
    return bool(np.all(np.abs(state[:3]) <= FARTHEST) and np.all(np.abs(state[7:]) <= FASTEST))


def _listed(numbers: np.ndarray) -> str:
    return ", ".join(f"{number:.4g}" for number in numbers)
