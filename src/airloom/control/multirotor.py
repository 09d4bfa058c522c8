"""What a controller can know of a multirotor from its file: whether it can fly, and how fast its loops may be.

The tilt loop is as fast as the motors can follow (0.3/τ) and as their torque allows for an error of 0.35 rad, whichever
is less; yaw likewise; the position loop is six times slower than the tilt loop.
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np

from airloom.control.flight_stack import Controller, StackError

LEAST_LIFT = 1.1
"""Of all rotors at full speed, as a part of the weight."""


def lift_complaint(lift: float, weight: float) -> str | None:
    """What there is to say if rotors that lift so many newtons are too weak for a vehicle."""
    if lift >= LEAST_LIFT * weight:
        return None
    margin = f"{100 * LEAST_LIFT - 100:.0f} % more than it weighs"
    least = f"to be steered it needs {LEAST_LIFT * weight:.3g} N, {margin}"
    return (
        f"all rotors at full speed lift {lift:.3g} N, the vehicle weighs {weight:.3g} N: "
        f"{'it cannot fly' if lift < weight else least}"
    )


class MultirotorController(Controller):
    """Base of the controllers that fly any multirotor by thrust and torque."""

    thrust_unit = "N"

    @property
    def lift(self) -> float:
        """Thrust of all rotors at full speed along body z, N."""
        return self.airframe.lift

    def check(self) -> None:
        """What is in a tank may be too heavy to fly with, and may be sprayed on the ground: the run tells of that."""
        frame = self.airframe
        if np.linalg.matrix_rank(frame.allocation, tol=1e-9) < 4:
            raise StackError(
                f"this controller needs rotors that give thrust and all three torques independently; "
                f"these {len(frame.rotors)} do not"
            )
        if (text := lift_complaint(self.lift, frame.vehicle.mass * frame.gravity)) is not None:
            raise StackError(text)
        if not (self._angular_authority() > 0).all():
            raise StackError("to hover in balance, a rotor would have to turn faster than it can, or backwards")

    @property
    def braking_frequency(self) -> float:  # type: ignore[override]
        return self.frequencies()[0]

    def frequencies(self) -> tuple[float, float, float]:
        """Natural frequencies of position, tilt and yaw, rad/s."""
        return self.tuned_frequencies()

    def tuned_frequencies(self, tilt: float | None = None) -> tuple[float, float, float]:
        """What this airframe can follow, slower loops outside faster ones."""
        roll, pitch, yaw = self._angular_authority()
        tilt = tilt or min(0.3 / self._lag, sqrt(min(roll, pitch) / 0.35))
        return tilt / 6.0, tilt, min(0.5 * tilt, sqrt(yaw / 0.35))

    def turning_gains(self, frequency: float, part: float = 1.0) -> list[float]:
        """What control/turning.py needs first, for an observer with this part of the tilt loop's frequency."""
        period = 1.0 / self.parameters.rate
        followed = 1.0 - exp(-period / self._lag)
        return [period, followed, part * frequency, *(0.25 * self._angular_authority())]

    @property
    def _lag(self) -> float:
        """Time constant of the slowest motor, s."""
        return max(max(r.time_constant_up, r.time_constant_down) for r in self.airframe.rotors)

    def _angular_authority(self) -> np.ndarray:
        """Angular acceleration that each axis can reach while hovering, rad/s²."""
        frame = self.airframe
        weight = min(frame.mass * frame.gravity, self.lift / LEAST_LIFT)
        hover = frame.mixer[:, 0] * (weight or 0.5 * self.lift)
        room = np.maximum(np.minimum(frame.max_thrusts - hover, hover), 0.0)
        parts = np.abs(frame.mixer[:, 1:])  # a rotor that has no part in an axis, as one that pushes, does not limit it
        torque = [np.min((room / np.maximum(part, 1e-12))[part > 1e-12]) for part in parts.T]
        return np.array(torque) / np.diag(frame.inertia)
