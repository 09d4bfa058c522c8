"""What is measured of a tank: its level, what flows out of it, and how it pulls at the frame."""

from typing import Literal

from pydantic import Field

from airloom.bus import messages
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.sensors.sensor import (
    MOUNT_POSITION,
    OWN,
    READING,
    Mounted,
    Sensor,
    sensor_kernel,
    to_sensor,
    world_to_body,
)
from airloom.sensors.sensor_errors import SensorErrors, add_errors

GRAVITY, INERTIA = 1.0, 2.0
PARTS = {"all": GRAVITY + INERTIA, "gravity": GRAVITY, "inertia": INERTIA}


class LevelParameters(Mounted):
    axes = {"level_errors": 1}
    level_errors: SensorErrors = Field(SensorErrors(), description="in litres")


@sensor_kernel
def measure_level(w, i, world, s, key, sample):
    s[READING] = w[row.LITRES + i]
    add_errors(s, READING, 0, 1, key, sample)


class TankLevel(Sensor):
    """Litres in the vehicle's tank, as if the liquid were at rest."""

    Parameters = LevelParameters
    kernel = measure_level
    width = 1
    measures = "tank"

    def template(self) -> messages.Template:
        return messages.number()


class FlowParameters(Mounted):
    axes = {"flow_errors": 1}
    flow_errors: SensorErrors = Field(SensorErrors(), description="in litres per minute")


@sensor_kernel
def measure_flow(w, i, world, s, key, sample):
    s[READING] = w[row.FLOW + i]
    add_errors(s, READING, 0, 1, key, sample)


class TankFlow(Sensor):
    """Litres per minute that leave the vehicle's tank."""

    Parameters = FlowParameters
    kernel = measure_flow
    width = 1
    measures = "tank"

    def template(self) -> messages.Template:
        return messages.number()


class WrenchParameters(Mounted):
    axes = {"force_errors": 3, "torque_errors": 3}
    part: Literal["all", "gravity", "inertia"] = Field(
        "all", description="its weight, what its acceleration and its swinging do, or both"
    )
    force_errors: SensorErrors = SensorErrors()
    torque_errors: SensorErrors = SensorErrors()


@compiled
def _cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@compiled
def _weight(w, i, x, y, z):
    """Weight of the liquid, and its torque if its centre at rest is at (x, y, z)."""
    gx, gy, gz = world_to_body(w, i, 0.0, 0.0, -w[row.GRAVITY + i])
    m, mx, my = w[row.LIQUID_MASS + i], w[row.SWING_X + i], w[row.SWING_Y + i]
    tx, ty, tz = _cross(m * x + mx, m * y + my, m * z, gx, gy, gz)
    return m * gx, m * gy, m * gz, tx, ty, tz


@compiled
def _resistance(w, i, x, y, z):
    """What the liquid does against being accelerated, and by swinging: its centre at rest is at (x, y, z)."""
    p, q, r = w[row.WX + i], w[row.WY + i], w[row.WZ + i]
    a, b, c = w[row.MEAN_ALPHA_X + i], w[row.MEAN_ALPHA_Y + i], w[row.MEAN_ALPHA_Z + i]
    cx, cy, cz = w[row.LIQUID_X + i], w[row.LIQUID_Y + i], w[row.LIQUID_Z + i]
    jx, jy, jz = w[row.LIQUID_JXX + i], w[row.LIQUID_JYY + i], w[row.LIQUID_JZZ + i]
    fx, fy, fz = world_to_body(w, i, w[row.MEAN_AX + i], w[row.MEAN_AY + i], w[row.MEAN_AZ + i])
    ux, uy, uz = _cross(p, q, r, cx, cy, cz)
    vx, vy, vz = _cross(p, q, r, ux, uy, uz)
    ax, ay, az = _cross(a, b, c, cx, cy, cz)
    m = -w[row.LIQUID_MASS + i]
    fx, fy, fz = m * (fx + ax + vx), m * (fy + ay + vy), m * (fz + az + vz)
    tx, ty, tz = _cross(x, y, z, fx, fy, fz)
    hx, hy, hz = _cross(p, q, r, jx * p, jy * q, jz * r)
    tx, ty, tz = tx - jx * a - hx, ty - jy * b - hy, tz - jz * c - hz
    # Swinging, about that point too, less the torque of the weight that is displaced.
    sx, sy, sz = w[row.SWING_FX + i], w[row.SWING_FY + i], w[row.SWING_FZ + i]
    ox, oy, oz = _cross(x - cx, y - cy, z - cz, sx, sy, sz)
    gx, gy, gz = world_to_body(w, i, 0.0, 0.0, -w[row.GRAVITY + i])
    dx, dy, dz = _cross(w[row.SWING_X + i], w[row.SWING_Y + i], 0.0, gx, gy, gz)
    return (
        fx + sx, fy + sy, fz + sz,
        tx + w[row.SWING_TX + i] + ox - dx, ty + w[row.SWING_TY + i] + oy - dy, tz + w[row.SWING_TZ + i] + oz - dz,
    )  # fmt: skip


@sensor_kernel
def measure_liquid_wrench(w, i, world, s, key, sample):
    x = w[row.LIQUID_X + i] - s[MOUNT_POSITION]
    y = w[row.LIQUID_Y + i] - s[MOUNT_POSITION + 1]
    z = w[row.LIQUID_Z + i] - s[MOUNT_POSITION + 2]
    fx, fy, fz, tx, ty, tz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if s[OWN] != INERTIA:
        fx, fy, fz, tx, ty, tz = _weight(w, i, x, y, z)
    if s[OWN] != GRAVITY:
        gx, gy, gz, hx, hy, hz = _resistance(w, i, x, y, z)
        fx, fy, fz, tx, ty, tz = fx + gx, fy + gy, fz + gz, tx + hx, ty + hy, tz + hz
    s[READING], s[READING + 1], s[READING + 2] = to_sensor(s, fx, fy, fz)
    s[READING + 3], s[READING + 4], s[READING + 5] = to_sensor(s, tx, ty, tz)
    add_errors(s, READING, 0, 6, key, sample)


class LiquidWrench(Sensor):
    """Force (N) and torque (N m) of the liquid in the tank on the frame, in the sensor's axes and about its place."""

    Parameters = WrenchParameters
    parameters: WrenchParameters
    kernel = measure_liquid_wrench
    width = 6
    measures = "tank"

    def own_parameters(self) -> list[float]:
        return [PARTS[self.parameters.part]]

    def template(self) -> messages.Template:
        return messages.wrench(self.frame_id)
