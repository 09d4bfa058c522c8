"""What all sensors share: where they are mounted, how late they are, and the shape of their compiled kernel."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numba import types
from pydantic import Field, model_validator

from airloom.basics.rotations import matrix_from_euler
from airloom.bus.messages import Template
from airloom.compiled import Kernel, call_by_address, compiled
from airloom.compiled import rows as row
from airloom.physics.attitude import rotate, rotate_back
from airloom.plugin import Parameters, Plugin
from airloom.scenario.models import Vector3
from airloom.sensors.faults import Fault
from airloom.sensors.noise import normal_pair
from airloom.sensors.sensor_errors import (
    ACTIVE,
    ANY_ERRORS,
    BIAS,
    CHANNELS,
    ERROR_WIDTH,
    MEMORY,
    SIGMA,
    SensorErrors,
    error_rows,
    variances,
)

# Where a sensor's numbers lie in its row: mount rotation and position, own parameters, errors, the reading,
# and the reading that is published when that is an older one.
MOUNT_ROTATION, MOUNT_POSITION, OWN = 0, 9, 12
READING_WIDTH = 16
READING = MEMORY + CHANNELS
DELAYED = READING + READING_WIDTH
SENSOR_ROW = DELAYED + READING_WIDTH

PERFECT = SensorErrors()

_Row = types.Array(types.float64, 1, "C")
SENSOR = types.void(_Row, types.int64, _Row, _Row, types.uint64, types.int64)
"""`kernel(w, i, world, s, key, sample)`: measure vehicle `i` of block `w` into `s[READING]` and what follows it."""

call_sensor = call_by_address(SENSOR)


def sensor_kernel(function) -> Kernel:
    """Make a sensor's kernel of `f(w, i, world, s, key, sample)`, which measures vehicle `i` into `s[READING]` on."""
    return Kernel(function, SENSOR)


class Mounted(Parameters):
    """Where a sensor sits on its vehicle, how late its readings come, and which errors they have."""

    axes: ClassVar[dict[str, int]] = {}
    """Each parameter that holds errors and its number of axes, in the order of the kernel's channels."""

    position: Vector3 = Field((0.0, 0.0, 0.0), description="from the vehicle's origin, m")
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0
    delay: float = Field(0.0, ge=0, le=10, description="from measurement to publication, s; a whole number of steps")

    @model_validator(mode="after")
    def _fit_the_axes(self) -> Mounted:
        for block, axes in self.axes.items():
            for key, value in getattr(self, block):
                if isinstance(value, list) and len(value) != axes:
                    raise ValueError(f"{block}.{key} has {len(value)} values, expected one number or {axes}")
        return self


class Sensor(Plugin):
    """A sensor: its kernel measures inside the compiled loop, its readings go to a topic of its own name."""

    category = "sensor"
    Parameters: ClassVar[type[Parameters]] = Mounted
    kernel: ClassVar[Kernel]
    destination: ClassVar[int | None] = None
    """Row of the workspace where the flight stack finds the reading, if it needs it."""
    width: ClassVar[int]
    """Numbers in a reading."""
    measures: ClassVar[str | None] = None
    """The part of a vehicle that must be there for it: `tank` or `battery`."""

    def __init__(self, name: str, vehicle: str, rate: float, parameters: Mounted) -> None:
        self.name, self.vehicle, self.rate, self.parameters = name, vehicle, rate, parameters
        self._message = self.template()

    def own_parameters(self) -> list[float]:
        """Up to eight numbers for the kernel, at `s[OWN]`."""
        return []

    def row(self, key: int) -> np.ndarray:
        """All its numbers, before the first sample."""
        numbers = np.zeros(SENSOR_ROW)
        mount = self.parameters
        numbers[:OWN] = [*matrix_from_euler(mount.roll, mount.pitch, mount.yaw).ravel(), *mount.position]
        own = self.own_parameters()
        numbers[OWN : OWN + len(own)] = own
        numbers[ANY_ERRORS:MEMORY] = self.error_numbers(key)
        return numbers

    def error_numbers(self, key: int, fault: Fault | None = None) -> np.ndarray:
        """Whether it has errors, and those of each channel, with what a fault adds to them."""
        rows = self._error_rows(key)
        if fault is not None:
            touched = (fault.offset != 0.0) | (fault.noise != 0.0)
            rows[touched & (rows[:, ACTIVE] == 0.0)] = error_rows(PERFECT, 1, 1.0, [0.0])
            rows[touched, ACTIVE] = 1.0
            rows[:, BIAS] += fault.offset
            rows[:, SIGMA] = np.hypot(rows[:, SIGMA], fault.noise)
        return np.concatenate([[rows[:, ACTIVE].any()], rows.ravel()])

    def _error_rows(self, key: int) -> np.ndarray:
        rows, channel = np.zeros((CHANNELS, ERROR_WIDTH)), 0
        for block, axes in self.parameters.axes.items():
            errors = getattr(self.parameters, block)
            if errors != PERFECT:
                draws = [normal_pair(np.uint64(key), -1, channel + k)[0] for k in range(axes)]
                rows[channel : channel + axes] = error_rows(errors, axes, 1.0 / self.rate, draws)
            channel += axes
        return rows

    def variances(self, block: str) -> np.ndarray:
        """Of each axis of the parameter that holds these errors, as its messages tell them; faults are no part."""
        return variances(getattr(self.parameters, block), self.parameters.axes[block], 1.0 / self.rate)

    @property
    def frame_id(self) -> str:
        return f"{self.vehicle}/{self.name}"

    def template(self) -> Template:
        """The message its readings become."""
        raise NotImplementedError

    def message_values(self, readings: np.ndarray) -> np.ndarray:
        """Numbers of the message, a row a reading, in the order of the template's columns."""
        return readings[:, : self._message.width]


@compiled
def world_to_body(w, i, x, y, z):
    """A vector of the world along the axes of vehicle `i`."""
    return rotate_back(w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i], x, y, z)


@compiled
def body_to_world(w, i, x, y, z):
    """A vector of vehicle `i` along the axes of the world."""
    return rotate(w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i], x, y, z)


@compiled
def to_sensor(s, x, y, z):
    """From the body's axes to the sensor's."""
    return (
        s[0] * x + s[3] * y + s[6] * z,
        s[1] * x + s[4] * y + s[7] * z,
        s[2] * x + s[5] * y + s[8] * z,
    )


@compiled
def sensor_position(w, i, s):
    """Position of the place where the sensor sits, world."""
    x, y, z = body_to_world(w, i, s[MOUNT_POSITION], s[MOUNT_POSITION + 1], s[MOUNT_POSITION + 2])
    return w[row.PX + i] + x, w[row.PY + i] + y, w[row.PZ + i] + z


@compiled
def turning_velocity(w, i, s):
    """Velocity that the vehicle's rotation gives the place where the sensor sits, body."""
    x, y, z = s[MOUNT_POSITION], s[MOUNT_POSITION + 1], s[MOUNT_POSITION + 2]
    a, b, c = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
    return b * z - c * y, c * x - a * z, a * y - b * x


@compiled
def sensor_velocity(w, i, s):
    """Velocity of the place where the sensor sits, world."""
    x, y, z = turning_velocity(w, i, s)
    x, y, z = body_to_world(w, i, x, y, z)
    return w[row.VX + i] + x, w[row.VY + i] + y, w[row.VZ + i] + z


@compiled
def sensor_velocity_in_body(w, i, s):
    """Velocity of the place where the sensor sits, along the axes of the body."""
    x, y, z = turning_velocity(w, i, s)
    u, v, t = world_to_body(w, i, w[row.VX + i], w[row.VY + i], w[row.VZ + i])
    return u + x, v + y, t + z
