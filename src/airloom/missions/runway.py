"""Guides for aeroplanes near the ground: the roll to lift-off; the flare, the touch-down and the roll to a stop.

Both steer by attitude and thrust along a line, the runway, which may rise evenly. The flare is the exponential one: the
sink rate is in proportion to the height, h/τ, down to a least (Blakelock, Automatic Control of Aircraft and Missiles,
1991, 3.5).
"""

from __future__ import annotations

from math import atan, atan2, cos, sin, sqrt
from typing import ClassVar

import numpy as np

from airloom.commands import Mode
from airloom.compiled import Kernel, compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import limit
from airloom.control import plane_rows as own
from airloom.control.flight_stack import ARRIVED, guide_kernel
from airloom.missions.arcs import Pose
from airloom.physics.attitude import rotation

# A plan: whether the vehicle has arrived; a point of the runway, its course, the height of the vehicle's origin when it
# stands there, how the runway rises; thrust and pitch; the airspeed to lift off at, the height at which that is over.
X, Y, COURSE, STANDS, RISE, THRUST, PITCH, LIFT_OFF, ENOUGH, WIDTH = range(ARRIVED + 1, ARRIVED + 11)
FLARE_TIME = 2.0  # s: τ
LEAST_SINK = 0.25  # m/s
ON_WHEELS = 0.06  # m
ALIGNED_BELOW = 0.7  # m, from where on the nose looks along the runway
STOPPED = 0.4  # m/s
STEERS_WITHIN = 8.0  # m, over which it comes back to the line on its wheels
STEERING = 1.5  # 1/s
LINE_FREQUENCY, LINE_DAMPING = 0.6, 0.8  # rad/s, of the way back to the line in the air
MOST_BANK, MOST_FLARE = 0.15, 0.22  # rad


@compiled
def _lie(w, i, plan):
    """Height above the runway, distance to the left of its line, speed to the left, and how far the nose is off."""
    c, s = cos(plan[COURSE]), sin(plan[COURSE])
    dx, dy = w[row.EPX + i] - plan[X], w[row.EPY + i] - plan[Y]
    ahead, left = c * dx + s * dy, c * dy - s * dx
    r00, _, _, r10, _, _, _, _, _ = rotation(w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i])
    off = atan2(s * r00 - c * r10, c * r00 + s * r10)
    return w[row.EPZ + i] - plan[STANDS] - plan[RISE] * ahead, left, c * w[row.EVY + i] - s * w[row.EVX + i], off


@compiled
def _tell(w, i, thrust, roll, nose_up, yaw_rate):
    w[row.ATHRUST + i], w[row.AROLL + i], w[row.APITCH + i], w[row.AYAW + i] = thrust, roll, -nose_up, 0.0
    w[row.AROLLRATE + i], w[row.APITCHRATE + i], w[row.AYAWRATE + i] = 0.0, 0.0, yaw_rate


@compiled
def _steer(off, left):
    return STEERING * limit(off - atan(left / STEERS_WITHIN), -0.5, 0.5)


@compiled
def _bank(w, i, left, drift):
    back = LINE_FREQUENCY * LINE_FREQUENCY * left + 2.0 * LINE_DAMPING * LINE_FREQUENCY * drift
    return limit(atan(back / w[row.GRAVITY + i]), -MOST_BANK, MOST_BANK)


@guide_kernel
def roll_to_lift_off(w, i, tick, plan):
    height, left, drift, off = _lie(w, i, plan)
    fast = own.airspeed_of(w, i) > plan[LIFT_OFF]
    on_wheels = height < 2.0 * ON_WHEELS
    roll = 0.0 if on_wheels else _bank(w, i, left, drift)
    _tell(w, i, plan[THRUST], roll, plan[PITCH] if fast else 0.0, _steer(off, left) if on_wheels else 0.0)
    plan[ARRIVED] = 1.0 if (height > plan[ENOUGH]) & fast else 0.0


@guide_kernel
def flare_and_roll(w, i, tick, plan):
    height, left, drift, off = _lie(w, i, plan)
    speed = sqrt(w[row.EVX + i] ** 2 + w[row.EVY + i] ** 2)
    if height < ON_WHEELS:
        _tell(w, i, 0.0, 0.0, 0.0, _steer(off, left))
        plan[ARRIVED] = 1.0 if speed < STOPPED else 0.0
        return
    airspeed = max(own.airspeed_of(w, i), 0.5 * w[own.SLOWEST + i])
    slope = -max(height / FLARE_TIME, LEAST_SINK) / max(speed, 1.0)
    error = slope - w[row.EVZ + i] / max(speed, 1.0)
    nose_up = w[own.ALPHA + i] * (w[own.CRUISE + i] / airspeed) ** 2 + slope + error
    nose_up = limit(nose_up, -0.5 * MOST_FLARE, MOST_FLARE)
    align = STEERING * off if height < ALIGNED_BELOW else 0.0
    _tell(w, i, 0.0, _bank(w, i, left, drift), nose_up, align)


class OnRunway:
    """Along a line on the ground; `stands` is the height of the vehicle's origin there."""

    kernel: ClassVar[Kernel]
    mode: ClassVar[Mode] = Mode.THRUST_ATTITUDE

    def __init__(self, runway: Pose, stands: float, rise: float = 0.0) -> None:
        self._numbers = np.zeros(WIDTH)
        self._numbers[[X, Y, COURSE, STANDS, RISE]] = *runway, stands, rise

    def plan(self, tick: int, step: float) -> np.ndarray:
        return self._numbers


class TakeoffRoll(OnRunway):
    """Arrived when it is `enough` metres high."""

    kernel = roll_to_lift_off

    def __init__(
        self, runway: Pose, stands: float, rise: float, thrust: float, pitch: float, lift_off: float, enough: float
    ) -> None:
        super().__init__(runway, stands, rise)
        self._numbers[[THRUST, PITCH, LIFT_OFF, ENOUGH]] = thrust, pitch, lift_off, enough


class Landing(OnRunway):
    """From the height of the flare on, without power; arrived when it stands."""

    kernel = flare_and_roll
