"""Propellers in water as rotors: Gazebo's Thruster, and PX4's motor with a polynomial."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np

from airloom.models.description import Description, ModelError, Plugin
from airloom.models.plugins import is_thruster, number_in, place_of, positive_in, word_in
from airloom.models.rotor import FoundRotor, hub

USUAL_THRUST = 40.0  # N, if the plugin has no limit
USUAL_SPEED = 300.0  # rad/s


def from_thrusters(description: Description) -> Iterator[FoundRotor]:
    for order, plugin in enumerate(filter(is_thruster, description.plugins)):
        values, place = plugin.values, place_of(description, plugin)
        name = plugin.prefix + word_in(values, "joint_name", "jointName")
        joint = description.joints.get(name)
        if joint is None:
            raise ModelError(f"{place}: there is no joint '{name}'")
        link = description.links[joint.child]
        thrust, speed, diameter = _at_full_speed(plugin, place)
        description.notes.assume("thrusters push by the square of their speed, ahead only, with the usual lag")
        yield FoundRotor(
            name=link.name, number=int(number_in(values, "motorNumber", order, place)), position=hub(link),
            axis=joint.axis, turns=str(values.get("turningDirection", "ccw")), thrust_constant=thrust / speed**2,
            moment_constant=number_in(values, "momentConstant", 0.0, place), max_speed=speed, radius=diameter / 2,
            link=link.name,
        )  # fmt: skip


def _at_full_speed(plugin: Plugin, place: str) -> tuple[float, float, float]:
    """Thrust (N), speed (rad/s) and diameter (m). Gazebo's thruster gives k ρ D⁴ ω² (Fossen 2011, eq. 6.113)."""
    values = plugin.values
    if polynomial := values.get("positiveThrustPolynomial"):
        thrust = float(np.sum([float(word) for word in str(polynomial).strip("[] ").split(",")]))
        return thrust, positive_in(values, "maxRotVelocity", USUAL_SPEED, place), 0.1
    diameter = positive_in(values, "propeller_diameter", 0.1, place)
    density = positive_in(values, "fluid_density", 1000.0, place)
    constant = positive_in(values, "thrust_coefficient", 0.004, place) * density * diameter**4
    thrust = positive_in(values, "max_thrust_cmd", USUAL_THRUST, place)
    return thrust, sqrt(thrust / constant), diameter
