"""The control modes: what a vehicle does after a step, next to what its gains promise."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure
from scipy.signal import StateSpace
from scipy.signal import step as step_of

from airloom.testing import Response, step_responses
from validation.case import Outcome, Row, case

THROUGH_THE_TILT = ("position, level", "velocity, level")
"""Steps that wait for the vehicle to lean first."""


@cache
def responses(controller: str, ideal: bool) -> list[Response]:
    return step_responses("x500", controller, ideal=ideal)


def expected(r: Response, tilt: tuple[float, ...]) -> np.ndarray:
    """The promise; for level steps with the tilt loop in between: ä = k_p (a* − a) − k_d ȧ for the acceleration a."""
    if r.step.quantity not in THROUGH_THE_TILT:
        return r.promised
    tilt_kp, tilt_kd = tilt
    size = len(r.step.gains) + 2
    dynamics = np.diag(np.ones(size - 1), 1)
    dynamics[-1] = [*(-tilt_kp * gain for gain in r.step.gains), -tilt_kp, -tilt_kd]
    push = np.zeros((size, 1))
    push[-1] = tilt_kp * r.step.gains[0]
    system = StateSpace(dynamics, push, np.eye(1, size), np.zeros((1, 1)))
    return step_of(system, T=r.times)[1]


def rise_time(times: np.ndarray, values: np.ndarray) -> float:
    return float(times[np.argmax(values >= 0.9)])


def rows_for(controller: str, ideal: bool, label: str, rise: float, difference: float) -> list[Row]:
    """Tolerances: of the time to 90 % as a part of it, of the RMS difference in percent of the step."""
    found = responses(controller, ideal)
    tilt = next(r.step.gains for r in found if r.step.quantity == "attitude, roll")
    rows = []
    for r in found:
        wanted, name = expected(r, tilt), f"{r.step.quantity}, {label}"
        time, rms = rise_time(r.times, wanted), 100 * float(np.sqrt(np.mean((r.measured - wanted) ** 2)))
        rows.append(Row(f"{name}: time to 90 %", rise_time(r.times, r.measured), time, rise * time, "s"))
        rows.append(Row(f"{name}: RMS difference", rms, 0.0, difference, "%"))
    return rows


def draw_steps(figure: Figure) -> None:
    chosen = ("position, level", "velocity, level", "attitude, roll")
    found = {r.step.quantity: r for r in responses("modes", False)}
    for axes, quantity in zip(figure.subplots(1, 3, sharey=True), chosen, strict=True):
        r = found[quantity]
        axes.plot(r.times, r.promised, "k:", label="promised")
        axes.plot(r.times, expected(r, found["attitude, roll"].step.gains), "--", label="with tilt loop")
        axes.plot(r.times, r.measured, label="flown")
        axes.set(title=quantity, xlabel="time, s")
    figure.axes[0].set_ylabel("part of the step")
    figure.axes[0].legend(frameon=False, loc="lower right")


@case(
    "Step responses of the control modes",
    "closed forms of first and second order for the gains given; control laws of uav_gazebo",
)
def mode_steps() -> Outcome:
    """An X500 hovers and gets a small step in each control mode. Gains promise a response: natural frequency ω and
    damping ξ for position, yaw and attitude, a gain K for velocity, yaw rate and angular velocity, J ω̇ = τ for torque.
    The promise knows no motor lag, no rotor drag and no control period. A level step has to wait until the vehicle
    leans, so its reference has the tilt loop in between: it starts late, then hurries.

    With ideal rotors (no lag, no drag) what remains is the control period of 4 ms. With the X500's own rotors and gains
    tuned from its airframe, lag (12.5 and 25 ms) and drag move the times by up to a seventh. The gains of uav_gazebo
    were made for a body without rotors: on an X500 drag keeps its slow loops, which have no integral, from ever
    reaching 90 % in level velocity, roll, roll rate and yaw rate, so they are compared with ideal rotors only.
    """
    rows = [
        *rows_for("uav_gazebo", True, "uav_gazebo gains, ideal rotors", 0.015, 1.0),
        *rows_for("modes", True, "tuned gains, ideal rotors", 0.02, 2.0),
        *rows_for("modes", False, "tuned gains, X500", 0.15, 6.0),
    ]
    return Outcome(
        rows, draw_steps, "Steps of an X500 with tuned gains: promised, with the tilt loop in between, and as it flies."
    )
