"""Where ArduPilot expects the rotor that each of its outputs drives, and which way it turns."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, degrees
from typing import NamedTuple

from airloom.scenario.models import Rotor

FARTHEST = 30.0  # degrees that a rotor of four may be elsewhere


class Layout(NamedTuple):
    frame_class: int
    frame_type: int
    outputs: tuple[tuple[float, str], ...]
    """Of each its bearing, degrees clockwise from the nose, and the way it turns, seen from above."""

    @property
    def near(self) -> float:
        """Degrees that a rotor may be elsewhere: the more there are, the nearer is another layout."""
        return FARTHEST if len(self.outputs) == 4 else 90.0 / len(self.outputs)


LAYOUTS = {
    "quad_x": Layout(1, 1, ((45, "ccw"), (-135, "ccw"), (-45, "cw"), (135, "cw"))),
    "quad_plus": Layout(1, 0, ((90, "ccw"), (-90, "ccw"), (0, "cw"), (180, "cw"))),
    "hexa_x": Layout(2, 1, ((90, "cw"), (-90, "ccw"), (-30, "cw"), (150, "ccw"), (30, "ccw"), (-150, "cw"))),
    "hexa_plus": Layout(2, 0, ((0, "cw"), (180, "ccw"), (-120, "cw"), (60, "ccw"), (-60, "ccw"), (120, "cw"))),
    "octo_x": Layout(
        3, 1,
        ((22.5, "cw"), (-157.5, "cw"), (67.5, "ccw"), (157.5, "ccw"), (-22.5, "ccw"), (-112.5, "ccw"), (-67.5, "cw"),
         (112.5, "cw")),
    ),
    "octo_plus": Layout(
        3, 0,
        ((0, "cw"), (180, "cw"), (45, "ccw"), (135, "ccw"), (-45, "ccw"), (-135, "ccw"), (-90, "cw"), (90, "cw")),
    ),
    "coaxial_quad_x": Layout(
        4, 1,
        ((45, "ccw"), (-45, "cw"), (-135, "ccw"), (135, "cw"), (-45, "ccw"), (45, "cw"), (135, "ccw"), (-135, "cw")),
    ),
    "coaxial_quad_plus": Layout(
        4, 0,
        ((0, "ccw"), (-90, "cw"), (180, "ccw"), (90, "cw"), (-90, "ccw"), (0, "cw"), (90, "ccw"), (180, "cw")),
    ),
    "coaxial_y": Layout(5, 10, ((60, "cw"), (60, "ccw"), (180, "cw"), (180, "ccw"), (-60, "cw"), (-60, "ccw"))),
}  # fmt: skip
"""Two rotors of an arm, one above the other, turn opposite ways, by which they are told apart."""


def outputs_of_rotors(layout: Layout, rotors: Sequence[Rotor]) -> list[int] | None:
    """For each rotor the output that drives it, from 1; None if the rotors are not laid out like that."""
    found = [_output(layout, rotor) for rotor in rotors]
    return found if sorted(found) == list(range(1, len(layout.outputs) + 1)) else None


def _output(layout: Layout, rotor: Rotor) -> int:
    bearing = -degrees(atan2(rotor.position[1], rotor.position[0]))
    for number, (expected, turns) in enumerate(layout.outputs, 1):
        if abs((bearing - expected + 180.0) % 360.0 - 180.0) < layout.near and rotor.turns == turns:
            return number
    return 0
