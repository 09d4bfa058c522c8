"""`/wind/info`: true wind, apparent wind and drag of each body, twenty times a second while somebody wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.clock import nearest_ticks
from airloom.basics.rotations import matrix_from_quaternion
from airloom.bus import messages
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

if TYPE_CHECKING:
    from airloom.engines.fleet import Craft
    from airloom.simulation import Simulation

RATE = 20.0  # Hz
AT_CENTRE, PLACE, COEFFICIENTS, PART_NUMBERS = 0, slice(1, 4), slice(4, 7), 7


class WindInfo:
    """Bodies are vehicles, or the parts of those whose drag has parts: `drone`, or `drone/tank`."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._topic = sim.bus.advertise("/wind/info", messages.WIND_INFO)
        self._period = nearest_ticks(RATE, sim.step_ns)

    @property
    def turns(self) -> list[tuple[int, int]]:
        """(period, phase) in ticks at which the loop must pause."""
        return [(self._period, 0)] if self._topic.wanted else []

    def tell(self) -> None:
        if not self._topic.wanted or self._sim.tick % self._period != 0:
            return
        bodies = [body for craft in self._sim.fleet.crafts for body in self._bodies(craft)]
        time, (names, *vectors) = self._sim.time_ns, zip(*bodies, strict=True)
        true, apparent, drag = (np.array(rows) for rows in vectors)
        self._topic.publish(messages.wind_info(time, list(names), true, apparent, drag), time)

    def _bodies(self, craft: Craft):
        column, drag = self._sim.fleet.column(craft), craft.vehicle.drag
        wind, velocity, rates = (column[first // LANES :][:3].copy() for first in (row.WINDX, row.VX, row.WX))
        turn, center = matrix_from_quaternion(column[row.QW // LANES :][:4]), column[row.CX // LANES :][:3]
        density, rows = float(column[row.DENSITY // LANES]), craft.airframe.drag_rows
        parts = np.array(rows[1:] or [1.0, 0.0, 0.0, 0.0, *[craft.airframe.drag] * 3]).reshape(-1, PART_NUMBERS)
        labels = [f"{craft.name}/{part}" for part in drag] if isinstance(drag, dict) else [craft.name]
        for label, part in zip(labels, parts, strict=True):
            place = center if part[AT_CENTRE] else part[PLACE]
            apparent = wind - velocity - turn @ np.cross(rates, place)
            in_body = apparent @ turn
            force = turn @ (density * part[COEFFICIENTS] * np.linalg.norm(apparent) * in_body)
            yield label, wind, apparent, force
