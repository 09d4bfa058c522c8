"""Notice when a vehicle's state is no longer a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.physics.rows import LANES, STATE, STATE_ROWS

if TYPE_CHECKING:
    from airloom.simulation import Simulation

MUJOCO_BAD_STATE = ("mjWARN_BADQPOS", "mjWARN_BADQVEL", "mjWARN_BADQACC")


class Diverged(Exception):
    """A vehicle's state became infinite or not a number; the message is meant for the user."""


class Guard:
    """Looks at the fleet every now and then; a look costs some microseconds a thousand vehicles."""

    def __init__(self) -> None:
        self._good_until = 0.0

    def check(self, sim: Simulation) -> None:
        """Raise Diverged if any vehicle's state is not finite, or was not since the last look."""
        vehicle = _not_finite(sim) or _reset_by_mujoco(sim)
        if vehicle:
            raise Diverged(
                f"the state of vehicle '{vehicle}' became infinite or no number between t = {self._good_until:.3f} "
                f"and {sim.time:.3f} s: look for unstable gains, a force or wind too large, or a step too long"
            )
        self._good_until = sim.time


def _not_finite(sim: Simulation) -> str | None:
    flight = sim.fleet.flight
    states = flight.blocks[:, STATE : STATE + STATE_ROWS * LANES].reshape(-1, STATE_ROWS, LANES)
    broken = ~np.isfinite(states).all(axis=1) & (flight.vehicles >= 0)
    return sim.fleet.members[flight.vehicles[broken].min()].name if broken.any() else None


def _reset_by_mujoco(sim: Simulation) -> str | None:
    """MuJoCo puts all bodies back to their start when a state is bad, and only counts a warning."""
    data = getattr(sim.engine, "data", None)
    if data is None:
        return None
    import mujoco

    for name in MUJOCO_BAD_STATE:
        warning = data.warning[getattr(mujoco.mjtWarning, name)]
        if warning.number:
            coordinates = 7 if name == "mjWARN_BADQPOS" else 6
            return sim.fleet.members[warning.lastinfo // coordinates].name
    return None
