"""What is measured of a battery, as a power module does."""

import numpy as np
from pydantic import Field

from airloom.bus import messages
from airloom.compiled import rows as row
from airloom.sensors.sensor import READING, Mounted, Sensor, sensor_kernel
from airloom.sensors.sensor_errors import SensorErrors, add_errors

VOLTAGE, CURRENT, CHARGE, SHARE, CAPACITY = range(5)


class BatteryParameters(Mounted):
    axes = {"voltage_errors": 1, "current_errors": 1}
    voltage_errors: SensorErrors = Field(SensorErrors(), description="in V")
    current_errors: SensorErrors = Field(SensorErrors(), description="in A; of the current alone, not of the charge")


@sensor_kernel
def measure_battery(w, i, world, s, key, sample):
    charge, capacity = w[row.BATTERY_CHARGE + i], w[row.BATTERY_CAPACITY + i]
    s[READING + VOLTAGE], s[READING + CURRENT] = w[row.BATTERY_VOLTAGE + i], w[row.BATTERY_CURRENT + i]
    s[READING + CHARGE], s[READING + SHARE], s[READING + CAPACITY] = charge, charge / capacity, capacity
    add_errors(s, READING, 0, 2, key, sample)


class BatterySensor(Sensor):
    """Voltage (V), current that is drawn (A), charge that is left (Ah) and its share, capacity (Ah)."""

    Parameters = BatteryParameters
    kernel = measure_battery
    width = 5
    measures = "battery"

    def template(self) -> messages.Template:
        return messages.battery_state(self.frame_id)

    def message_values(self, readings: np.ndarray) -> np.ndarray:
        """ROS has a current that is drawn negative."""
        values = readings[:, [VOLTAGE, CURRENT, CHARGE, CAPACITY, CAPACITY, SHARE]]
        values[:, 1] *= -1.0
        return values
