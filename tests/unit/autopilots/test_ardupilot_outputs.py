"""Which of ArduPilot's outputs moves which rotor and servo, and which way, found by what these do to the vehicle."""

from __future__ import annotations

from itertools import permutations
from math import cos, radians, sin

import numpy as np
import pytest

from airloom.autopilots import ardupilot_wire as wire
from airloom.autopilots import plane_outputs as plane
from airloom.autopilots.ardupilot_programs import PROGRAMS, program_for
from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.pulses import Pulse, table_of
from airloom.autopilots.rover_outputs import rover_outputs
from airloom.autopilots.sub_outputs import FRAMES, sub_outputs
from airloom.compiled import rows as row
from airloom.scenario import load
from airloom.scenario.models import Vehicle
from airloom.vehicles.airframe import Airframe

ROTOR = {"turns": "ccw", "thrust_constant": 1e-5, "moment_constant": 0.01, "max_speed": 1000}
BODY = {
    "mass": 2.0,
    "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.15},
    "body": {"size": [0.5, 0.4, 0.2]},
    "controller": None,
}
HULL = {"hull": {"shapes": {"box": {"kind": "box", "size": [0.5, 0.4, 0.2]}}}}


def airframe(**parts):
    vehicle = Vehicle.model_validate({**BODY, **parts})
    return Airframe(vehicle, 9.81, 1e-3)


def rotors(*places_and_axes):
    return {f"r{k}": {**ROTOR, "position": p, "axis": a} for k, (p, a) in enumerate(places_and_axes)}


def winged(**surfaces):
    """A wing, and surfaces by their places and where they face, each with a servo that pushes it up."""
    wing = {"position": [0, 0, 0], "area": 0.4, "lift": 4.5, "stall": 0.3}
    parts, servos = {"wing": wing}, {}
    for name, (position, up) in surfaces.items():
        parts[name] = {**wing, "position": position, "up": up, "area": 0.05, "servo": name, "lift_by_servo": 2.0}
        servos[name] = {"lowest": -0.4, "highest": 0.4}
    return airframe(rotors=rotors(([0.3, 0, 0], [1, 0, 0])), surfaces=parts, servos=servos)


def functions(outputs):
    """SERVOn_FUNCTION and sign of each servo."""
    return [(outputs.params[f"SERVO{p.output}_FUNCTION"], 1 if p.full > p.rest else -1) for p in outputs.servos]


def test_the_bundled_plane_has_the_usual_outputs(tmp_path):
    (tmp_path / "one.yaml").write_text("name: one\nvehicles: {plane: plane}")
    vehicle = load(tmp_path / "one.yaml").vehicles["plane"]
    outputs = plane.plane_outputs(Airframe(vehicle, 9.81, 1e-3))
    assert list(vehicle.servos) == ["elevator", "left_aileron", "right_aileron", "rudder"]
    assert functions(outputs) == [(19, -1), (4, 1), (4, -1), (21, -1)], "flaps go down, and ArduPlane's pulses up"
    assert outputs.rotors == [Pulse(3, 1000, 2000)]
    assert 9 < outputs.params["AIRSPEED_MIN"] < outputs.params["AIRSPEED_CRUISE"] < outputs.params["AIRSPEED_MAX"]


def test_elevons_and_v_tails_are_told_by_what_they_do():
    flying_wing = winged(left=([-0.4, 0.5, 0], [0, 0, 1]), right=([-0.4, -0.5, 0], [0, 0, 1]))
    assert functions(plane.plane_outputs(flying_wing)) == [(77, -1), (78, -1)]
    side = sin(radians(35)), cos(radians(35))
    v_tail = winged(
        left=([-1.0, 0.1, 0], [0, -side[0], side[1]]), right=([-1.0, -0.1, 0], [0, side[0], side[1]]),
        aileron=([0, 0.6, 0], [0, 0, 1]),
    )  # fmt: skip
    assert functions(plane.plane_outputs(v_tail)) == [(79, -1), (80, -1), (4, 1)]


def test_rotors_that_lift_a_plane_are_a_frame_of_its_own():
    wing = winged(elevator=([-1.0, 0, 0], [0, 0, 1]), aileron=([0, 0.6, 0], [0, 0, 1]))
    corners = [(0.3, -0.3, "ccw"), (-0.3, 0.3, "ccw"), (0.3, 0.3, "cw"), (-0.3, -0.3, "cw")]
    lifting = {f"l{k}": {**ROTOR, "position": [x, y, 0], "turns": turns} for k, (x, y, turns) in enumerate(corners)}
    pull = rotors(([0.3, 0, 0], [1, 0, 0]))
    dumped = wing.vehicle.model_dump(exclude_unset=True)
    lifted = airframe(**{**dumped, "rotors": {**pull, **lifting}})
    assert PROGRAMS["plane"].loop_rate_for(lifted.vehicle) == 6 * PROGRAMS["plane"].loop_rate_for(wing.vehicle)
    outputs = plane.plane_outputs(lifted)
    assert [pulse.output for pulse in outputs.rotors] == [3, 5, 6, 7, 8]
    assert [outputs.params[f"SERVO{n}_FUNCTION"] for n in (5, 6, 7, 8)] == [33, 34, 35, 36]
    assert 0 < outputs.params["Q_ASSIST_SPEED"] < outputs.params["AIRSPEED_CRUISE"]
    assert (outputs.params["Q_ENABLE"], outputs.params["Q_FRAME_CLASS"], outputs.params["Q_FRAME_TYPE"]) == (1, 1, 1)


def test_wings_that_do_not_lift_are_refused():
    with pytest.raises(AutopilotFailed, match="do not lift it"):
        plane.plane_outputs(airframe(rotors=rotors(([0, 0, 0], [1, 0, 0]))))


HEAVY = [
    ([0.15, -0.1, 0], [-1, -1, 0]), ([0.15, 0.1, 0], [-1, 1, 0]), ([-0.15, -0.1, 0], [1, -1, 0]),
    ([-0.15, 0.1, 0], [1, 1, 0]), ([0.12, -0.2, 0.05], [0, 0, -1]), ([0.12, 0.2, 0.05], [0, 0, -1]),
    ([-0.12, -0.2, 0.05], [0, 0, -1]), ([-0.12, 0.2, 0.05], [0, 0, -1]),
]  # fmt: skip
"""In ArduSub's order and sense: as Blue Robotics mounts them."""


@pytest.mark.parametrize("order", list(permutations(range(3)))[1:])
def test_thrusters_of_a_sub_are_found_whatever_their_order_and_sense(order):
    mixed = [HEAVY[k] for k in (*order, *range(3, 8))]
    reversed_ = [(place, [-part for part in axis] if k % 2 else axis) for k, (place, axis) in enumerate(mixed)]
    outputs = sub_outputs(airframe(rotors=rotors(*reversed_), **HULL), None)
    assert outputs.params["FRAME_CONFIG"] == 2, "vectored, six degrees of freedom"
    assert [pulse.output - 1 for pulse in outputs.rotors] == [*order, *range(3, 8)]
    assert [pulse.full for pulse in outputs.rotors] == [1900, 1100] * 4


def test_two_rotors_of_a_thruster_share_its_output():
    four = [*HEAVY[:4], ([0, -0.2, 0], [0, 0, -1]), ([0, 0.2, 0], [0, 0, -1])]
    both = [each for place, axis in four for each in ((place, axis), (place, [-part for part in axis]))]
    outputs = sub_outputs(airframe(rotors=rotors(*both), **HULL), None)
    assert outputs.params["FRAME_CONFIG"] == 1
    assert [(pulse.output, pulse.full) for pulse in outputs.rotors] == [
        (k, f) for k in range(1, 7) for f in (1900, 1100)
    ]


def test_thrusters_that_no_frame_has_are_refused():
    with pytest.raises(AutopilotFailed, match="other thrusters"):
        sub_outputs(airframe(rotors=rotors(*HEAVY[:3]), **HULL), None)
    with pytest.raises(AutopilotFailed, match=f"knows no frame 'bluerv': {', '.join(FRAMES)}"):
        sub_outputs(airframe(rotors=rotors(*HEAVY), **HULL), "bluerv")


def test_a_boat_steers_by_its_thrusters_or_by_its_rudder():
    sides = rover_outputs(airframe(rotors=rotors(([-0.2, 0.1, 0], [1, 0, 0]), ([-0.2, -0.1, 0], [-1, 0, 0])), **HULL))
    assert [sides.params[f"SERVO{pulse.output}_FUNCTION"] for pulse in sides.rotors] == [73, 74]
    assert [pulse.full for pulse in sides.rotors] == [2000, 1000], "the right one is mounted the other way round"
    dumped = winged(rudder=([-0.5, 0, 0.2], [0, 1, 0])).vehicle.model_dump(exclude_unset=True)
    one = rover_outputs(airframe(**dumped, **HULL))
    assert functions(one) == [(26, 1)]
    assert one.params[f"SERVO{one.rotors[0].output}_FUNCTION"] == 70
    with pytest.raises(AutopilotFailed, match="nothing turns this one"):
        rover_outputs(airframe(rotors=rotors(([-0.2, 0, 0], [1, 0, 0])), **HULL))


def test_a_vehicle_has_the_program_that_fits():
    up, ahead = rotors(([0, 0, 0], [0, 0, 1])), rotors(([0, 0, 0], [1, 0, 0]))
    assert program_for(airframe(rotors=up).vehicle) == "copter"
    assert program_for(winged(a=([0, 0, 0], [0, 0, 1])).vehicle) == "plane"
    assert program_for(airframe(rotors=up, **HULL).vehicle) == "sub"
    assert program_for(airframe(rotors=ahead, **HULL).vehicle) == "rover"
    assert [program.variable for program in PROGRAMS.values()] == [
        "AIRLOOM_ARDUCOPTER", "AIRLOOM_ARDUPLANE", "AIRLOOM_ARDUSUB", "AIRLOOM_ARDUROVER"
    ]  # fmt: skip


def test_pulses_go_both_ways():
    lane, rotors_, w = 2, np.zeros(4 * row.ROTOR_WIDTH), np.zeros(row.WIDTH)
    rotors_[row.MAX_SPEED + lane :: row.ROTOR_WIDTH] = 100.0
    packet = np.zeros(wire.LONGEST_PACKET, np.uint8)
    packet[wire.FIRST_OUTPUT :][:8] = np.array([1700, 1300, 0, 2200], "<u2").view(np.uint8)
    pulses = table_of(
        [Pulse(1, 1500, 1900, -1), Pulse(1, 1500, 1100, -1), Pulse(3, 1500, 1100, -1), Pulse(4, 1500, 1900)]
    )
    wire.turn_rotors(packet, pulses, rotors_, lane)
    assert rotors_[row.TARGET + lane :: row.ROTOR_WIDTH].tolist() == [50.0, -50.0, 0.0, 100.0]
    wire.move_servos(packet, pulses, w, lane)
    assert w[row.SERVO + lane :: row.LANES][:4].tolist() == [0.5, -0.5, 0.0, 1.0]
