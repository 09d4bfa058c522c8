"""Where ArduPilot expects the rotor that each of its outputs drives, and which way it turns."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, degrees
from typing import NamedTuple

from airloom.scenario.models import Rotor

NEAR = 30.0  # degrees that a rotor may be elsewhere


class Layout(NamedTuple):
    frame_class: int
    frame_type: int
    outputs: tuple[tuple[float, str], ...]
    """Of each its bearing, degrees clockwise from the nose, and the way it turns, seen from above."""


LAYOUTS = {
    "quad_x": Layout(1, 1, ((45, "ccw"), (-135, "ccw"), (-45, "cw"), (135, "cw"))),
    "quad_plus": Layout(1, 0, ((90, "ccw"), (-90, "ccw"), (0, "cw"), (180, "cw"))),
    "hexa_x": Layout(2, 1, ((90, "cw"), (-90, "ccw"), (-30, "cw"), (150, "ccw"), (30, "ccw"), (-150, "cw"))),
}


def outputs_of_rotors(layout: Layout, rotors: Sequence[Rotor]) -> list[int] | None:
    """For each rotor the output that drives it, from 1; None if the rotors are not laid out like that."""
    found = [_output(layout, rotor) for rotor in rotors]
    return found if sorted(found) == list(range(1, len(layout.outputs) + 1)) else None


def _output(layout: Layout, rotor: Rotor) -> int:
    bearing = -degrees(atan2(rotor.position[1], rotor.position[0]))
    for number, (expected, turns) in enumerate(layout.outputs, 1):
        if abs((bearing - expected + 180.0) % 360.0 - 180.0) < NEAR and rotor.turns == turns:
            return number
    return 0
