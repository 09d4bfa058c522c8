"""A rotor as it is found in a model, and what all finders of rotors need."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi
from typing import Any

import numpy as np

from airloom.models.description import Description, Link

DENSITY = 1.225
THRUST_COEFFICIENT = 0.01
"""C_T = T / (ρ π R² (ω R)²): 0.0115 of the Crazyflie's rotors, 0.0082 of the X500's."""
TORQUE_OVER_THRUST_AND_RADIUS = 0.2
"""0.26 of the Crazyflie's, 0.125 of the X500's."""
RADIUS_OF_OFFSET = 0.7
"""Radius of a quadrotor's rotors as a share of their distance from its axes of symmetry: 0.71 and 0.73 of the same."""


@dataclass(frozen=True)
class FoundRotor:
    name: str
    number: int
    position: np.ndarray
    """In the model's axes."""
    axis: np.ndarray
    turns: str
    thrust_constant: float
    moment_constant: float
    max_speed: float
    radius: float
    link: str | None = None
    """The link that spins."""
    more: dict[str, Any] = field(default_factory=dict)


def hub(link: Link) -> np.ndarray:
    """Where the plugins push: the rotor's centre of mass."""
    return link.pose.rotation @ link.inertial.center + link.pose.position


def radius_of(link: Link, thrust_constant: float, description: Description, least: float = 0.0) -> float:
    """By what is touched of a rotor; else that of a usual rotor with such a thrust."""
    corners = [found for shape in link.collisions if (found := shape.corners()) is not None]
    if corners:
        return max(float(np.abs(np.concatenate(corners)[:, :2]).max()), least)
    description.notes.assume("a rotor without a shape that is touched has the radius of C_T = 0.01")
    return max((thrust_constant / (THRUST_COEFFICIENT * DENSITY * pi)) ** 0.25, least)
