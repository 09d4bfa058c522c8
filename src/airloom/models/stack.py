"""Which of the built-in flight stacks can fly a vehicle: by what its rotors and servos can do."""

from __future__ import annotations

from math import cos, isfinite, sin, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.models.description import Notes
from airloom.scenario.models import Vehicle

if TYPE_CHECKING:
    from airloom.vehicles.aeroplane import Aeroplane

Values = dict[str, Any]
GRAVITY = 9.80665
STEP = 0.001  # s
SPARE_LIFT = 1.1
"""Thrust over weight that a multicopter needs at least."""
SPEEDS = (1.4, 6.0)
"""Over the stall's, between which an aeroplane cruises."""
STEEP, HALVINGS = 0.3, 24  # rad of the angles of attack between which it flies, and how finely
BALANCED = 0.1  # m/s² and rad/s² that trim may leave


def choose_stack(content: Values, notes: Notes) -> Values | None:
    """The controller for a vehicle file; None if there is none for such a vehicle."""
    vehicle = Vehicle.model_validate(content)
    push = _rotor_wrenches(vehicle)
    if vehicle.hull is not None:
        return _for_water(vehicle, push, notes)
    hovers = _has_rank(push[:, 2:], 4)
    if hovers and push[:, 2].sum() > SPARE_LIFT * vehicle.mass * GRAVITY:
        return {"kind": "cascade"}
    if vehicle.servos and push[:, 0].sum() > 0.0 and (speed := cruise_speed(vehicle)):
        notes.assume(f"it cruises at {speed:.3g} m/s, where it flies level with its servos at rest")
        return {"kind": "plane", "cruise_speed": round(speed, 2)}
    why = "lift too little" if hovers else "do not give thrust and all three torques independently"
    wings = ", and its servos do not roll, pitch and yaw it in level flight" if vehicle.servos else ""
    notes.assume(f"its rotors {why}{wings}: controller is null, no built-in stack can fly it")
    return None


def _for_water(vehicle: Vehicle, push: np.ndarray, notes: Notes) -> Values | None:
    """Both stacks for water need thrusters that turn both ways."""
    both_ways = all(rotor.in_water is not None and rotor.in_water.reverse > 0.0 for rotor in vehicle.rotors.values())
    if both_ways and _has_rank(push, 6):
        return {"kind": "rov"}
    if both_ways and _has_rank(push[:, [0, 5]], 2):
        if np.abs(push[:, 2]).max() > 1e-6:
            notes.assume(
                "its thrusters do not turn it about all axes, so it is steered at the surface and does not dive"
            )
        return {"kind": "boat"}
    notes.assume(
        "its thrusters do not push it ahead and turn it both ways: controller is null, no built-in stack steers it"
    )
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
    return np.array(rows).reshape(-1, 6)


def cruise_speed(vehicle: Vehicle) -> float | None:
    """At which an aeroplane flies level with its servos at rest, m/s: what it was built for.

    Slower, many models have not enough elevator. None is found if servos do not steer it, or rotors cannot pull it.
    """
    # Compiled functions are loaded with it, which only an aeroplane shall wait for.
    from airloom.vehicles.aeroplane import Aeroplane
    from airloom.vehicles.airframe import Airframe

    plane = Aeroplane(Airframe(vehicle, GRAVITY, STEP))
    if not isfinite(plane.stall_speed):
        return None
    slowest, fastest = (over * plane.stall_speed for over in SPEEDS)
    lift = _lift_at_rest(plane, len(vehicle.servos), len(vehicle.rotors))
    speed = sqrt(vehicle.mass * GRAVITY / lift) if lift > 0.0 else slowest
    speed = min(max(speed, slowest), fastest)
    if np.linalg.matrix_rank(plane.mixer(speed), tol=1e-9) < 3:
        return None
    trim = plane.trim(speed)
    servos, rotors = vehicle.servos.values(), vehicle.rotors.values()
    reached = all(servo.lowest < angle < servo.highest for servo, angle in zip(servos, trim.angles, strict=True))
    pulls = all(0.0 < turn < rotor.max_speed for rotor, turn in zip(rotors, trim.speeds, strict=True))
    return speed if reached and pulls and trim.remainder < BALANCED else None


def _lift_at_rest(plane: Aeroplane, servos: int, rotors: int) -> float:
    """Per (m/s)² where nothing turns the nose up or down, with all servos at zero, N; 0 if it does not settle."""

    def wrench(alpha: float) -> np.ndarray:
        ahead = np.array([cos(alpha), 0.0, -sin(alpha)])
        return plane.wrench(ahead, np.zeros(3), np.zeros(servos), np.zeros(rotors))

    low, high = -STEEP, STEEP  # stable: the nose goes up at the lower angle, and down at the higher
    if wrench(low)[4] > 0.0 or wrench(high)[4] < 0.0:
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if wrench(middle)[4] < 0.0 else (low, middle)
    force = wrench(low)
    return float(force[0] * sin(low) + force[2] * cos(low))


def _has_rank(rows: np.ndarray, wanted: int) -> bool:
    """Whether all that the columns stand for can be had independently."""
    if len(rows) == 0:
        return False
    scale = np.abs(rows).max(axis=0)
    return bool((scale > 1e-9 * scale.max()).all()) and np.linalg.matrix_rank(rows / scale, tol=1e-6) == wanted
