"""Rotors from plugins: Gazebo's and RotorS' motors, ArduPilot's with its blades; and those of gym-pybullet-drones."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, sqrt

import numpy as np

from airloom.models.description import Description, Joint, Link, ModelError, Plugin
from airloom.models.plugins import (
    direction_in,
    is_ardupilot,
    is_lift_drag,
    is_motor_model,
    link_in,
    many_in,
    number_in,
    place_of,
    positive_in,
    vector_in,
    word_in,
)
from airloom.models.rotor import FoundRotor, hub, radius_of

GRAVITY = 9.80665


def from_motor_models(description: Description) -> Iterator[FoundRotor]:
    """Gazebo's MulticopterMotorModel and RotorS' plugin, which it was made of: same names, units and defaults."""
    for plugin in filter(is_motor_model, description.plugins):
        values, place = plugin.values, place_of(description, plugin)
        kind = str(values.get("motorType", "velocity"))
        if kind != "velocity":
            continue  # it moves a joint
        link = link_in(description, plugin, "linkName")
        joint = description.joints.get(plugin.prefix + str(values.get("jointName", "")))
        if joint is None:
            raise ModelError(f"{place}: there is no joint '{values.get('jointName', '')}'")
        turns = str(values.get("turningDirection", "")).lower()
        if turns not in ("ccw", "cw"):
            raise ModelError(f"{place}: turningDirection must be ccw or cw, got '{turns}'")
        for key, default in (("motorConstant", "8.54858e-06"), ("momentConstant", "0.016"), ("maxRotVelocity", "838")):
            if key not in values:
                description.notes.assume(f"{plugin.name} of {link.name} has no {key}: {default}, as Gazebo has it")
        thrust_constant = positive_in(values, "motorConstant", 8.54858e-6, place)
        yield FoundRotor(
            name=link.name, number=int(number_in(values, "motorNumber", None, place)), position=hub(link),
            axis=link.pose.rotation[:, 2], turns=turns, thrust_constant=thrust_constant,
            moment_constant=number_in(values, "momentConstant", 0.016, place),
            max_speed=positive_in(values, "maxRotVelocity", 838.0, place),
            radius=radius_of(link, thrust_constant, description),
            link=link.name,
            more={
                "drag_coefficient": number_in(values, "rotorDragCoefficient", 1e-4, place),
                "rolling_moment_coefficient": number_in(values, "rollingMomentCoefficient", 1e-6, place),
                "time_constant_up": positive_in(values, "timeConstantUp", 1 / 80, place),
                "time_constant_down": positive_in(values, "timeConstantDown", 1 / 40, place),
            },
        )  # fmt: skip


def from_ardupilot(description: Description) -> Iterator[FoundRotor]:
    """ArduPilot's plugin turns joints; lift comes from the blades' LiftDrag plugins.

    A blade of area A whose centre of pressure is r from the axis has v = ω r, lift ½ ρ v² A c_l and torque
    ½ ρ v² A c_d r with c_l = c_lα α₀ and c_d = c_dα α₀.
    """
    for plugin in filter(is_ardupilot, description.plugins):
        place = place_of(description, plugin)
        for order, control in enumerate(many_in(plugin.values, "control")):
            joint = description.joints.get(plugin.prefix + str(control.get("jointName", "")))
            if joint is None:
                raise ModelError(f"{place}: there is no joint '{control.get('jointName', '')}'")
            link = description.links[joint.child]
            surfaces = filter(is_lift_drag, description.plugins)
            blades = [part for part in surfaces if part.prefix + word_in(part.values, "link_name") == link.name]
            if str(control.get("type", "VELOCITY")).upper() != "VELOCITY" or not blades:
                continue
            lift = torque = reach = 0.0
            axis = _thrust_axis(joint, link, blades[0], place)
            for blade in blades:
                v = blade.values
                r = float(np.linalg.norm(np.cross(link.pose.rotation.T @ axis, vector_in(v, "cp", "0 0 0", place))))
                push = 0.5 * number_in(v, "air_density", 1.2041, place) * r**2 * positive_in(v, "area", None, place)
                alpha = number_in(v, "a0", 0.0, place)
                lift += push * number_in(v, "cla", 1.0, place) * alpha
                torque += push * r * abs(number_in(v, "cda", 0.01, place) * alpha)
                reach = max(reach, r)
            if lift == 0.0:
                raise ModelError(f"{place}: the blades of {link.name} give no lift (cla × a0 is zero)")
            multiplier = number_in(control, "multiplier", 838.0, place)
            ahead = np.sign(multiplier) * np.sign(float(joint.axis @ axis))
            number = number_in(control, "@channel", number_in(control, "channel", order, place), place)
            description.notes.assume(
                f"{link.name}: motor lag of 12.5 ms up and 25 ms down, which ArduPilot's plugin has not"
            )
            yield FoundRotor(
                name=link.name, number=int(number), position=hub(link), axis=axis, turns="ccw" if ahead > 0 else "cw",
                thrust_constant=abs(lift), moment_constant=torque / abs(lift), max_speed=abs(multiplier) or 838.0,
                radius=radius_of(link, abs(lift), description, least=reach), link=link.name,
            )  # fmt: skip


def _thrust_axis(joint: Joint, link: Link, blade: Plugin, place: str) -> np.ndarray:
    """That of the joint, the way that the blades lift."""
    up = link.pose.rotation @ direction_in(blade.values, "upward", "0 0 1", place)
    return joint.axis if up @ joint.axis >= 0 else -joint.axis


def from_properties(description: Description) -> Iterator[FoundRotor]:
    """gym-pybullet-drones: thrust = kf rpm², torque = km rpm², full speed by the ratio of thrust to weight."""
    values = description.properties
    if "kf" not in values:
        return
    place = f"{description.name}, <properties>"
    kf, km = positive_in(values, "kf", None, place), positive_in(values, "km", None, place)
    links = [link for name, link in description.links.items() if name.startswith("prop") and name.endswith("_link")]
    if not links:
        return
    to_rad = (2 * pi / 60) ** 2
    mass = sum(link.inertial.mass for link in description.links.values())
    lift = positive_in(values, "thrust2weight", 2.0, place) * mass * GRAVITY / len(links)
    description.notes.assume("which way rotors turn is not in the file: prop0 ccw, prop1 cw, and so on")
    description.notes.assume("motor lag of 12.5 ms up and 25 ms down, which the file has not")
    for number, link in enumerate(links):
        k = kf / to_rad
        yield FoundRotor(
            name=link.name.removesuffix("_link"), number=number, position=hub(link), axis=link.pose.rotation[:, 2],
            turns="ccw" if number % 2 == 0 else "cw", thrust_constant=k, moment_constant=km / kf,
            max_speed=sqrt(lift / k), radius=positive_in(values, "prop_radius", 0.1, place),
            more={"drag_coefficient": number_in(values, "drag_coeff_xy", 0.0, place)},
        )  # fmt: skip
