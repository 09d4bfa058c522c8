"""The water of a run, as programs and topics see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.bus import messages
from airloom.bus.bus import Topic
from airloom.errors import Refusal
from airloom.scenario.water import FASTEST_CURRENT
from airloom.world.water import CURRENT, flow_at, surface_at

if TYPE_CHECKING:
    from airloom.simulation import Simulation


class CurrentRefused(Refusal):
    """A current that cannot be."""


class WaterNow:
    """Surface and flow at any place and time. `/current/update` sets the current."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        sim.bus.subscribe("/current/update", self._update)

    @property
    def is_there(self) -> bool:
        return self._sim.scenario.world.water is not None

    def surface(self, x: float, y: float, time: float | None = None) -> float:
        """Height of the surface, waves included, now or at another time (s), m."""
        return float(surface_at(self._world(), self._time(time), float(x), float(y))[0])

    def flow(self, position: Any, time: float | None = None) -> np.ndarray:
        """Velocity of the water at a place (world, m), currents and waves together, m/s."""
        place = np.array(position, dtype=float)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise ValueError(f"a place is three numbers, x, y and z in m, got {position}")
        out = np.zeros(6)
        flow_at(self._world(), self._time(time), *place, out)
        return out[:3]

    def set_current(self, velocity: Any) -> None:
        """Put another velocity (world, m/s) in place of that of the world file, from now on; tables and waves stay."""
        self._world()
        self._sim.fleet.land.water[CURRENT : CURRENT + 3] = _vector(velocity)

    def _time(self, time: float | None) -> float:
        return self._sim.time if time is None else float(time)

    def _world(self) -> np.ndarray:
        if not self.is_there:
            raise CurrentRefused("the world has no water")
        return self._sim.fleet.flight.world

    def _update(self, topic: Topic, message: Any, _: int) -> None:
        try:
            if topic.msgtype not in (messages.VECTOR3, messages.VECTOR3_STAMPED):
                raise CurrentRefused(f"takes {messages.VECTOR3} or {messages.VECTOR3_STAMPED}, not {topic.msgtype}")
            vector = message.vector if topic.msgtype == messages.VECTOR3_STAMPED else message
            self.set_current((vector.x, vector.y, vector.z))
        except CurrentRefused as error:
            self._sim.event(topic.name, f"refused: {error}", level="error")


def _vector(velocity: Any) -> np.ndarray:
    try:
        vector = np.array(velocity, dtype=float)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (3,) or not (np.abs(vector) <= FASTEST_CURRENT).all():
        raise CurrentRefused(f"a current is three numbers of at most {FASTEST_CURRENT:g} m/s, got {velocity}")
    return vector
