"""Propellers in water as rotors: Gazebo's Thruster, and PX4's motor with a polynomial."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, sqrt
from typing import Any

from airloom.models.description import Description, ModelError, Plugin
from airloom.models.plugins import is_thruster, number_in, place_of, positive_in, word_in
from airloom.models.rotor import FoundRotor, hub
from airloom.models.yaml_text import plain

USUAL_THRUST = 40.0  # N, if the plugin has no limit
USUAL_SPEED = 300.0  # rad/s
USUAL_LAG = 0.1  # s


def from_thrusters(description: Description) -> Iterator[FoundRotor]:
    for order, plugin in enumerate(filter(is_thruster, description.plugins)):
        values, place = plugin.values, place_of(description, plugin)
        name = plugin.prefix + word_in(values, "joint_name", "jointName")
        joint = description.joints.get(name)
        if joint is None:
            raise ModelError(f"{place}: there is no joint '{name}'")
        link = description.links[joint.child]
        thrust, back, speed, diameter = _at_full_speed(plugin, place)
        description.notes.assume("thrusters push by the square of their speed")
        yield FoundRotor(
            name=link.name, number=int(number_in(values, "motorNumber", order, place)), position=hub(link),
            axis=joint.axis, turns=str(values.get("turningDirection", "ccw")), thrust_constant=thrust / speed**2,
            moment_constant=number_in(values, "momentConstant", 0.0, place), max_speed=speed, radius=diameter / 2,
            link=link.name,
            more={
                "in_water": {"reverse": plain(min(back / thrust, 1.0))},
                "time_constant_up": positive_in(values, "timeConstantUp", USUAL_LAG, place),
                "time_constant_down": positive_in(values, "timeConstantDown", USUAL_LAG, place),
            },
        )  # fmt: skip


def _at_full_speed(plugin: Plugin, place: str) -> tuple[float, float, float, float]:
    """Thrust ahead and back (N), speed (rad/s) and diameter (m). Gazebo's gives k ρ D⁴ ω² (Fossen 2011, eq. 6.113)."""
    values = plugin.values
    if "positiveThrustPolynomial" in values:
        ahead, back = (_full(values, f"{way}ThrustPolynomial", place) for way in ("positive", "negative"))
        both = word_in(values, "bidirectionalMotor").lower() in ("1", "true")
        return ahead, back if both else 0.0, positive_in(values, "maxRotVelocity", USUAL_SPEED, place), 0.1
    diameter = positive_in(values, "propeller_diameter", 0.1, place)
    density = positive_in(values, "fluid_density", 1000.0, place)
    constant = positive_in(values, "thrust_coefficient", 0.004, place) * density * diameter**4
    ahead = positive_in(values, "max_thrust_cmd", USUAL_THRUST, place)
    back = max(-number_in(values, "min_thrust_cmd", -ahead, place), 0.0)
    return ahead, back, sqrt(ahead / constant), diameter


def _full(values: dict[str, Any], key: str, place: str) -> float:
    """A polynomial of the share of the command, at 1."""
    text = word_in(values, key)
    try:
        thrust = sum(float(word) for word in text.strip("[] ").split(","))
    except ValueError:
        raise ModelError(f"{place}: {key} must be numbers with commas between, got '{text[:60]}'") from None
    if not isfinite(thrust) or thrust <= 0:
        raise ModelError(f"{place}: {key} gives {thrust:g} N at full command; it must be greater than zero")
    return thrust
