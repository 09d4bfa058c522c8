"""Propellers in water as rotors: Gazebo's Thruster, and PX4's motor with a polynomial."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, sqrt
from typing import Any

from airloom.models.description import Description, ModelError, Plugin
from airloom.models.plugins import is_thruster, number_in, place_of, positive_in, word_in
from airloom.models.rotor import FoundRotor, hub
from airloom.models.yaml_text import plain

USUAL_THRUST, USUAL_ACCELERATION = 40.0, 1.0  # N at least, or m/s², if the plugin has no limit
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
        lag = positive_in(_within(values, "dynamics"), "timeConstant", USUAL_LAG, place)
        thrust, back, speed, diameter = _at_full_speed(plugin, description)
        description.notes.assume("thrusters push by the square of their speed")
        turns = "cw" if number_in(values, "thrust_coefficient", 1.0, place) < 0 else "ccw"
        number = number_in(values, "motorNumber", number_in(values, "thrusterID", order, place), place)
        yield FoundRotor(
            name=link.name, number=int(number), position=hub(link),
            axis=joint.axis, turns=str(values.get("turningDirection", turns)), thrust_constant=thrust / speed**2,
            moment_constant=number_in(values, "momentConstant", 0.0, place), max_speed=speed, radius=diameter / 2,
            link=link.name,
            more={
                "in_water": {"reverse": plain(min(back / thrust, 1.0))},
                "time_constant_up": positive_in(values, "timeConstantUp", lag, place),
                "time_constant_down": positive_in(values, "timeConstantDown", lag, place),
            },
        )  # fmt: skip


def _within(values: dict[str, Any], key: str) -> dict[str, Any]:
    found = values.get(key)
    return found if isinstance(found, dict) else {}


def _at_full_speed(plugin: Plugin, description: Description) -> tuple[float, float, float, float]:
    """Thrust ahead and back (N), speed (rad/s) and diameter (m). Gazebo's gives k ρ D⁴ ω² (Fossen 2011, eq. 6.113)."""
    values, place = plugin.values, place_of(description, plugin)
    if "positiveThrustPolynomial" in values:
        ahead, back = (_full(values, f"{way}ThrustPolynomial", place) for way in ("positive", "negative"))
        both = word_in(values, "bidirectionalMotor").lower() in ("1", "true")
        return ahead, back if both else 0.0, positive_in(values, "maxRotVelocity", USUAL_SPEED, place), 0.1
    diameter = positive_in(values, "propeller_diameter", 0.1, place)
    density = positive_in(values, "fluid_density", 1000.0, place)
    conversion = _within(values, "conversion")
    if conversion:  # UUV Simulator's: a factor of ω |ω|
        constant = _factor(conversion, place)
    else:
        constant = abs(number_in(values, "thrust_coefficient", 0.004, place)) * density * diameter**4
    if constant == 0.0:
        raise ModelError(f"{place}: thrust_coefficient must not be zero")
    ahead = positive_in(values, "max_thrust_cmd", _usual_thrust(values, description), place)
    back = max(-number_in(values, "min_thrust_cmd", -ahead, place), 0.0)
    return ahead, back, sqrt(ahead / constant), diameter


def _factor(conversion: dict[str, Any], place: str) -> float:
    if not word_in(conversion, "rotorConstant", "rotorConstantR"):
        kind = word_in(conversion, "type")
        raise ModelError(f"{place}: a conversion of the type '{kind}' is not read, only Basic and Bessa")
    return abs(number_in(conversion, "rotorConstant", number_in(conversion, "rotorConstantR", 0.0, place), place))


def _usual_thrust(values: dict[str, Any], description: Description) -> float:
    """For a thruster whose file has no limit: what moves such a vehicle along."""
    mass = sum(link.inertial.mass for link in description.links.values())
    thrust = max(USUAL_THRUST, USUAL_ACCELERATION * mass)
    if not word_in(values, "max_thrust_cmd"):
        description.notes.assume(f"thrusters have no limit in the file: {thrust:.3g} N each")
    return thrust


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
