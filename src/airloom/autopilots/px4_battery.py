"""Tells a PX4 of its vehicle's battery.

The interface of PX4's simulators has no place for one, and PX4 makes up a battery of its own, which stays half full.
That is switched off, and the vehicle's is told in the way that PX4's documentation names: by MAVLink, as a battery with
electronics of its own would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from airloom.autopilots import mavlink_wire as wire
from airloom.autopilots.relay import Datagrams
from airloom.sensors.battery import CAPACITY, CHARGE, CURRENT, SHARE, VOLTAGE, BatterySensor

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

PORT = 14280  # where PX4 hears what is on board, such as a camera
PERIOD = 0.1  # s
MAV_COMP_ID_BATTERY = 180
MOST_CELLS, NO_CELL = 10, 65535  # of a message
NO_TEMPERATURE, LITHIUM_POLYMER, ENERGY_UNKNOWN = 32767, 1, -1
OWN_BATTERY = {"SIM_BAT_DRAIN": "SIM_BAT_DRAIN 0", "SIM_BAT_ENABLE": ""}
"""Parameters that switch off PX4's own if they are 0, and what is in its start script if it asks for this one; the
second is that of versions until 1.17.
"""


def without_its_own(start_script: str) -> dict[str, float]:
    """Parameters for a PX4 that begins with this script."""
    return {next(name for name, asked in OWN_BATTERY.items() if asked in start_script): 0.0}


class BatteryLine:
    def __init__(self, sim: Simulation, vehicle: Vehicle, instance: int) -> None:
        self._sim, self._vehicle = sim, vehicle
        self._line: Datagrams | None = Datagrams(PORT + instance)
        self._speaker = np.array([instance + 1, MAV_COMP_ID_BATTERY, 0])
        self._data = np.zeros(wire.LONGEST_FRAME, np.uint8)
        sim.call_at(sim.time, self._tell)

    def _tell(self) -> None:
        if self._line is not None:
            self._sim.call_at(self._sim.time + PERIOD, self._tell)
            values = np.array(self._values(), float)
            size = wire.write(self._speaker, wire.BATTERY_STATUS, wire.BATTERY_STATUS_FIELDS, values, self._data, 0)
            self._line.give(self._data[:size].tobytes())
            self._line.take()  # what it says to whom it takes for a camera

    def _values(self) -> list[float]:
        """mAh, mV of each cell, cA, %."""
        voltage, current, charge, share, capacity = self._measured()
        count = min(self._vehicle.description.battery.cells, MOST_CELLS)  # type: ignore[union-attr]
        cells = [1000 * voltage / count] * count + [NO_CELL] * (MOST_CELLS - count)
        used = 1000 * (capacity - charge)
        return [used, ENERGY_UNKNOWN, NO_TEMPERATURE, *cells, 100 * current, 0, 0, LITHIUM_POLYMER, 100 * share]

    def _measured(self) -> list[float]:
        """In the order of a reading; as its power module measures it if it has one."""
        for sensor in self._vehicle.sensors:
            if isinstance(sensor, BatterySensor):
                reading = self._sim.fleet.reading(sensor)
                return [float(reading[k]) for k in (VOLTAGE, CURRENT, CHARGE, SHARE, CAPACITY)]
        battery = self._vehicle.battery
        assert battery is not None
        return [battery.voltage, battery.current, battery.charge, battery.share, battery.capacity]

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
