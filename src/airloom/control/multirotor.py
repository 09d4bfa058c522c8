"""What a controller can know of a multirotor from its file: whether it can fly, and how fast its loops may be.

All follows from what is late, by the rules of Skogestad, "Simple analytic rules for model reduction and PID controller
tuning" (Journal of Process Control 13, 2003), here SIMC. What is to be controlled is taken for integrators behind a
delay θ, the sum of all that is late. For two integrators SIMC has k_p = ω², k_d = 2ω with ω = 1/(2(τ + θ)), for one
k = 1/(τ + θ), where τ is how fast the loop shall be: τ = θ is SIMC's advice, less is faster and nearer to the edge.

- **Motors** follow with the lag τ_m, shortened to τ_m/L by the lead L of control/turning.py.
- **Tilt:** θ = τ_m/L + 1.5 control periods, of which half a one is the hold and one the reading's age; ω = 0.3/θ
  (τ = ⅔ θ: phase margin 41°, gain margin 2.4). L is the one with which ω is largest if rotors shall have the torque
  for an error of 0.35 rad while hovering, L ω² 0.35 rad ≤ α, and no more than 6, for τ_m is known only roughly.
- **Yaw** likewise, at most half as fast as the tilt, for it comes last where rotors saturate.
- **Position:** the tilt answers as ω²/(s + ω)², so θ = 2/ω; a fifth of the tilt's frequency (τ = ¼ θ: phase margin
  34°, gain margin 4).
- **Velocity:** k = ω/4 (τ = θ).
"""

from __future__ import annotations

from functools import cached_property
from math import exp, sqrt

import numpy as np

from airloom.control.flight_stack import Controller, StackError

QUICKNESS = 0.3  # frequency of the tilt times all that is late
LATE_PERIODS = 1.5  # of the control loop
POSITION_OVER_TILT = 0.2
VELOCITY_OVER_TILT = 0.25
YAW_OVER_TILT = 0.5
LARGE_ERROR = 0.35  # rad, for which there shall be torque enough
MOST_LEAD = 6.0
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
        tilt = tilt or self._lead_and_tilt[1]
        yaw = sqrt(self._angular_authority()[2] / (LARGE_ERROR * self.tuned_lead))
        return POSITION_OVER_TILT * tilt, tilt, min(YAW_OVER_TILT * tilt, yaw)

    @property
    def tuned_lead(self) -> float:
        """How many times the change that is wanted motors are told."""
        return self._lead_and_tilt[0]

    @property
    def inner_rate(self) -> float:
        """Of the loop that tilts it, Hz."""
        return self.parameters.rate

    @cached_property
    def _lead_and_tilt(self) -> tuple[float, float]:
        """The lead with which the tilt loop may be fastest, and the frequency that this allows, rad/s."""
        leads = np.linspace(1.0, MOST_LEAD, 101)
        followed = QUICKNESS / (self._lag / leads + LATE_PERIODS / self.inner_rate)
        strong = np.sqrt(self._angular_authority()[:2].min() / (LARGE_ERROR * leads))
        tilts = np.minimum(followed, strong)
        best = int(np.argmax(tilts))
        return float(leads[best]), float(tilts[best])

    def turning_gains(self, frequency: float, part: float = 1.0, lead: float | None = None) -> list[float]:
        """What control/turning.py needs first, for an observer with this part of the tilt loop's frequency."""
        period = 1.0 / self.parameters.rate
        followed = 1.0 - exp(-period / self._lag)
        return [period, followed, lead or self.tuned_lead, part * frequency, *self._angular_authority()]

    @property
    def _lag(self) -> float:
        """Time constant with which torque follows, s: one rotor becomes faster while another becomes slower."""
        return max(0.5 * (r.time_constant_up + r.time_constant_down) for r in self.airframe.rotors)

    def _angular_authority(self) -> np.ndarray:
        """Angular acceleration that each axis can reach while hovering, rad/s²."""
        frame = self.airframe
        weight = min(frame.mass * frame.gravity, self.lift / LEAST_LIFT)
        hover = frame.mixer[:, 0] * (weight or 0.5 * self.lift)
        room = np.maximum(np.minimum(frame.max_thrusts - hover, hover), 0.0)
        parts = np.abs(frame.mixer[:, 1:])  # a rotor that has no part in an axis, as one that pushes, does not limit it
        torque = [np.min((room / np.maximum(part, 1e-12))[part > 1e-12]) for part in parts.T]
        return np.array(torque) / np.diag(frame.inertia)
