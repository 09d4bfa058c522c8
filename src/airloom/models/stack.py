"""Which of the built-in flight stacks can fly a vehicle: by what its rotors and servos can do."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from airloom.models.description import Notes
from airloom.scenario.models import Vehicle

Values = dict[str, Any]
GRAVITY = 9.80665
STEP = 0.001  # s
SPARE_LIFT = 1.1
"""Thrust over weight that a multicopter needs at least."""
SPEEDS = (1.4, 6.0)
"""Over the stall's, between which an aeroplane cruises."""
ALMOST_NOTHING = 0.3  # rad/s² by which servos turn it in trim
BALANCED = 0.1  # m/s² and rad/s² that trim may leave


def choose_stack(content: Values, notes: Notes) -> Values | None:
    """The controller for a vehicle file; None if there is none for such a vehicle."""
    if "hull" in content:
        notes.assume("it swims: controller is null, its rotors turn as they are told")
        return None
    vehicle = Vehicle.model_validate(content)
    push = _rotor_wrenches(vehicle)
    hovers = _has_rank(push[:, 2:], 4)
    if hovers and push[:, 2].sum() > SPARE_LIFT * vehicle.mass * GRAVITY:
        return {"kind": "cascade"}
    if vehicle.servos and push[:, 0].sum() > 0.0 and (speed := _cruise_speed(vehicle)):
        notes.assume(f"it cruises at {speed:.3g} m/s, where it flies level with its servos almost at rest")
        return {"kind": "plane", "cruise_speed": round(speed, 2)}
    why = "lift too little" if hovers else "do not give thrust and all three torques independently"
    wings = ", and its servos do not hold an aeroplane" if vehicle.servos else ""
    notes.assume(f"its rotors {why}{wings}: controller is null, no built-in stack can fly it")
    return None


def _rotor_wrenches(vehicle: Vehicle) -> np.ndarray:
    """[rotor, force and torque about the centre of mass] at full speed."""
    rows = []
    for rotor in vehicle.rotors.values():
        axis, sign = np.array(rotor.axis), 1.0 if rotor.turns == "ccw" else -1.0
        torque = (
            np.cross(np.subtract(rotor.position, vehicle.center_of_mass), axis) - sign * rotor.moment_constant * axis
        )
        rows.append(rotor.thrust_constant * rotor.max_speed**2 * np.concatenate([axis, torque]))
    return np.array(rows)


def _cruise_speed(vehicle: Vehicle) -> float | None:
    """At which an aeroplane flies level with its servos almost at rest, m/s: what it was built for.

    Slower, many models have not enough elevator. None is found if servos do not steer it, or rotors cannot pull it.
    """
    # Compiled functions are loaded with it, which only an aeroplane shall wait for.
    from airloom.vehicles.aeroplane import Aeroplane
    from airloom.vehicles.airframe import Airframe

    plane = Aeroplane(Airframe(vehicle, GRAVITY, STEP))
    slow, fast = (over * plane.stall_speed for over in SPEEDS)
    if not isfinite(slow) or np.linalg.matrix_rank(plane.mixer(slow), tol=1e-9) < 3:
        return None

    def nose_up(speed: float) -> float:
        """What servos must turn it by in level flight, rad/s²."""
        return -float((np.linalg.pinv(plane.mixer(speed)) @ plane.trim(speed).angles)[1])

    speed, at_slow = slow, nose_up(slow)
    needed = at_slow
    if np.sign(needed) != np.sign(nose_up(fast)):
        while abs(needed) > ALMOST_NOTHING and fast - slow > 1e-3 * fast:
            speed = (slow + fast) / 2
            needed = nose_up(speed)
            slow, fast = (speed, fast) if np.sign(needed) == np.sign(at_slow) else (slow, speed)
    trim = plane.trim(speed)
    servos, rotors = vehicle.servos.values(), vehicle.rotors.values()
    reached = all(servo.lowest < angle < servo.highest for servo, angle in zip(servos, trim.angles, strict=True))
    pulls = all(0.0 < turn < rotor.max_speed for rotor, turn in zip(rotors, trim.speeds, strict=True))
    return float(speed) if reached and pulls and trim.remainder < BALANCED else None


def _has_rank(rows: np.ndarray, wanted: int) -> bool:
    """Whether all that the columns stand for can be had independently."""
    if len(rows) == 0:
        return False
    scale = np.abs(rows).max(axis=0)
    return bool((scale > 1e-9 * scale.max()).all()) and np.linalg.matrix_rank(rows / scale, tol=1e-6) == wanted
