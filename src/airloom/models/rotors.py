"""Rotors, from the plugins of those who simulate them: Gazebo, RotorS, ArduPilot, gym-pybullet-drones, MuJoCo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import pi, sqrt
from typing import Any

import numpy as np

from airloom.models.description import Description, Link, ModelError, Plugin

DENSITY = 1.225
THRUST_COEFFICIENT = 0.01
"""C_T = T / (ρ π R² (ω R)²): 0.0115 of the Crazyflie's rotors, 0.0082 of the X500's."""
TORQUE_OVER_THRUST_AND_RADIUS = 0.2
"""0.26 of the Crazyflie's, 0.125 of the X500's."""
RADIUS_OF_OFFSET = 0.7
"""Radius of a quadrotor's rotors as a share of their distance from its axes of symmetry: 0.71 and 0.73 of the same."""

USER = (
    "thrust_constant", "max_speed", "radius", "drag_coefficient", "rolling_moment_coefficient", "time_constant_up",
    "time_constant_down",
)  # fmt: skip
"""What MuJoCo has no word for: numbers in `user` of the motors that we write; nothing is lost on the way back."""


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
    more: dict[str, float] = field(default_factory=dict)


def find_rotors(description: Description, gravity: float = 9.80665) -> list[FoundRotor]:
    """In the order of their numbers; empty if nothing in the model lifts it."""
    for finder in (_from_motor_models, _from_ardupilot, _from_properties, _from_actuators):
        found = sorted(finder(description, gravity), key=lambda rotor: rotor.number)
        if found:
            numbers = [rotor.number for rotor in found]
            if len(set(numbers)) < len(numbers):
                raise ModelError(f"{description.name}: two rotors have the number {max(numbers, key=numbers.count)}")
            return found
    return []


def is_motor_model(plugin: Plugin) -> bool:
    text = f"{plugin.file} {plugin.name}".lower().replace("_", "-")
    return "multicopter-motor-model" in text or "multicoptermotormodel" in text or "gazebo-motor-model" in text


def is_ardupilot(plugin: Plugin) -> bool:
    return "ardupilot" in f"{plugin.file} {plugin.name}".lower()


def is_lift_drag(plugin: Plugin) -> bool:
    text = f"{plugin.file} {plugin.name}".lower().replace("-", "").replace("_", "")
    return "liftdrag" in text


def _number(values: dict[str, Any], key: str, default: float | None, place: str) -> float:
    text = values.get(key)
    try:
        number = float(text) if text not in (None, "") else default
    except (TypeError, ValueError):
        raise ModelError(f"{place}: {key} must be a number, got '{text}'") from None
    if number is None:
        raise ModelError(f"{place}: {key} is missing")
    if not np.isfinite(number):
        raise ModelError(f"{place}: {key} must be finite, got {number}")
    return number


def _positive(values: dict[str, Any], key: str, default: float | None, place: str) -> float:
    number = _number(values, key, default, place)
    if number <= 0:
        raise ModelError(f"{place}: {key} must be greater than zero, got {number:g}")
    return number


def _from_motor_models(description: Description, gravity: float) -> Iterator[FoundRotor]:
    """Gazebo's MulticopterMotorModel and RotorS' plugin, which it was made of: same names, units and defaults."""
    for plugin in filter(is_motor_model, description.plugins):
        values, place = plugin.values, f"{description.name}, plugin {plugin.name}"
        kind = str(values.get("motorType", "velocity"))
        if kind != "velocity":
            description.notes.ignore(
                f"a motor of the type {kind}, which moves a joint ({values.get('jointName', '?')})"
            )
            continue
        link = _named(description, plugin.prefix + str(values.get("linkName", "")), place)
        joint = description.joints.get(plugin.prefix + str(values.get("jointName", "")))
        if joint is None:
            raise ModelError(f"{place}: there is no joint '{values.get('jointName', '')}'")
        turns = str(values.get("turningDirection", "")).lower()
        if turns not in ("ccw", "cw"):
            raise ModelError(f"{place}: turningDirection must be ccw or cw, got '{turns}'")
        for key, default in (("motorConstant", "8.54858e-06"), ("momentConstant", "0.016"), ("maxRotVelocity", "838")):
            if key not in values:
                description.notes.assume(f"{plugin.name} of {link.name} has no {key}: {default}, as Gazebo has it")
        thrust_constant = _positive(values, "motorConstant", 8.54858e-6, place)
        yield FoundRotor(
            name=link.name, number=int(_number(values, "motorNumber", None, place)), position=_hub(link),
            axis=link.pose.rotation[:, 2], turns=turns, thrust_constant=thrust_constant,
            moment_constant=_number(values, "momentConstant", 0.016, place),
            max_speed=_positive(values, "maxRotVelocity", 838.0, place),
            radius=_radius(link, thrust_constant, description),
            link=link.name,
            more={
                "drag_coefficient": _number(values, "rotorDragCoefficient", 1e-4, place),
                "rolling_moment_coefficient": _number(values, "rollingMomentCoefficient", 1e-6, place),
                "time_constant_up": _positive(values, "timeConstantUp", 1 / 80, place),
                "time_constant_down": _positive(values, "timeConstantDown", 1 / 40, place),
            },
        )  # fmt: skip


def _from_ardupilot(description: Description, gravity: float) -> Iterator[FoundRotor]:
    """ArduPilot's plugin turns joints; lift comes from the blades' LiftDrag plugins.

    A blade of area A whose centre of pressure is r from the axis has v = ω r, lift ½ ρ v² A c_l and torque
    ½ ρ v² A c_d r with c_l = c_lα α₀ and c_d = c_dα α₀.
    """
    for plugin in filter(is_ardupilot, description.plugins):
        controls = plugin.values.get("control", [])
        for order, control in enumerate(controls if isinstance(controls, list) else [controls]):
            place = f"{description.name}, plugin {plugin.name}"
            joint = description.joints.get(plugin.prefix + str(control.get("jointName", "")))
            if joint is None:
                raise ModelError(f"{place}: there is no joint '{control.get('jointName', '')}'")
            link = description.links[joint.child]
            blades = [p for p in description.plugins if is_lift_drag(p) and _link_of(p) == link.name]
            if str(control.get("type", "VELOCITY")).upper() != "VELOCITY" or not blades:
                description.notes.ignore(f"a channel of ArduPilot's that moves {joint.name}, which has no blades")
                continue
            lift = torque = reach = 0.0
            for blade in blades:
                v = blade.values
                r = float(np.linalg.norm(_vector(v.get("cp", "0 0 0"), place)[:2]))
                push = 0.5 * _number(v, "air_density", 1.2041, place) * r**2 * _positive(v, "area", None, place)
                alpha = _number(v, "a0", 0.0, place)
                lift += push * _number(v, "cla", 1.0, place) * alpha
                torque += push * r * abs(_number(v, "cda", 0.01, place) * alpha)
                reach = max(reach, r)
            if lift == 0.0:
                raise ModelError(f"{place}: the blades of {link.name} give no lift (cla × a0 is zero)")
            multiplier = _number(control, "multiplier", 838.0, place)
            axis = link.pose.rotation[:, 2]
            ahead = np.sign(multiplier) * np.sign(float(joint.axis @ axis))
            number = _number(control, "@channel", _number(control, "channel", order, place), place)
            description.notes.assume(
                f"{link.name}: motor lag of 12.5 ms up and 25 ms down, which ArduPilot's plugin has not"
            )
            yield FoundRotor(
                name=link.name, number=int(number), position=_hub(link), axis=axis, turns="ccw" if ahead > 0 else "cw",
                thrust_constant=abs(lift), moment_constant=torque / abs(lift), max_speed=abs(multiplier) or 838.0,
                radius=_radius(link, abs(lift), description, least=reach), link=link.name,
            )  # fmt: skip


def _from_properties(description: Description, gravity: float) -> Iterator[FoundRotor]:
    """gym-pybullet-drones: thrust = kf rpm², torque = km rpm², full speed by the ratio of thrust to weight."""
    values = description.properties
    if "kf" not in values:
        return
    place = f"{description.name}, <properties>"
    kf, km = _positive(values, "kf", None, place), _positive(values, "km", None, place)
    links = [link for name, link in description.links.items() if name.startswith("prop") and name.endswith("_link")]
    if not links:
        return
    to_rad = (2 * pi / 60) ** 2
    mass = sum(link.inertial.mass for link in description.links.values())
    lift = _positive(values, "thrust2weight", 2.0, place) * mass * gravity / len(links)
    description.notes.assume("which way rotors turn is not in the file: prop0 ccw, prop1 cw, and so on")
    description.notes.assume("motor lag of 12.5 ms up and 25 ms down, which the file has not")
    for number, link in enumerate(links):
        k = kf / to_rad
        yield FoundRotor(
            name=link.name.removesuffix("_link"), number=number, position=_hub(link), axis=link.pose.rotation[:, 2],
            turns="ccw" if number % 2 == 0 else "cw", thrust_constant=k, moment_constant=km / kf,
            max_speed=sqrt(lift / k), radius=_positive(values, "prop_radius", 0.1, place),
            more={"drag_coefficient": _number(values, "drag_coeff_xy", 0.0, place)},
        )  # fmt: skip


def _from_actuators(description: Description, gravity: float) -> Iterator[FoundRotor]:
    """MuJoCo: motors that push at a site, with the torque that goes with it; or one that pushes all of the body."""
    pushes = [p.values for p in description.plugins if p.file == "mujoco" and p.values["force"][2] != 0.0]
    if not pushes:
        return
    if all(len(push["user"]) == len(USER) and min(push["user"][:3]) > 0 for push in pushes):
        yield from map(_ours, range(len(pushes)), pushes)
        return
    notes = description.notes
    notes.assume("rotor speeds and motor lag are not in an MJCF file: C_T = 0.01, lag of 12.5 ms up and 25 ms down")
    if len(pushes) > 1:
        for number, push in enumerate(pushes):
            force, torque = np.array(push["force"]), np.array(push["torque"])
            size = float(np.linalg.norm(force))
            axis, radius = push["rotation"] @ force / size, push["radius"] or _by_neighbours(pushes)
            drag = float(torque @ force) / size**2
            k = THRUST_COEFFICIENT * DENSITY * pi * radius**4
            yield FoundRotor(
                push["name"], number, push["position"], axis, "cw" if drag > 0 else "ccw", k, abs(drag),
                sqrt(push["limit"] * size / k), radius,
            )  # fmt: skip
        return
    yield from _made_up(description, pushes[0])


def _ours(number: int, push: dict[str, Any]) -> FoundRotor:
    """A rotor that Airloom wrote."""
    values = dict(zip(USER, push["user"], strict=True))
    torque = push["torque"][2]
    return FoundRotor(
        push["name"], number, push["position"], push["rotation"][:, 2], "cw" if torque > 0 else "ccw",
        values.pop("thrust_constant"), abs(torque), values.pop("max_speed"), values.pop("radius"),
        more={key: value for key, value in values.items() if value},
    )  # fmt: skip


def _made_up(description: Description, push: dict[str, Any]) -> Iterator[FoundRotor]:
    """Four in an × for a model that is pushed as a whole: their discs reach as far as the model does."""
    low, high = push["extent"]
    half = (high - low)[:2] / 2 / (1 + RADIUS_OF_OFFSET)
    radius = RADIUS_OF_OFFSET * float(half.min())
    k = THRUST_COEFFICIENT * DENSITY * pi * radius**4
    description.notes.assume(
        f"the model has no rotors, only a thrust of up to {push['limit'] * push['force'][2]:.3g} N on all of it: four "
        f"were made up in an ×, with discs that reach as far as the model does. Check positions, radius and "
        "moment_constant"
    )
    middle = push["position"]
    corners = {
        "front_right": (1, -1, "ccw"),
        "back_left": (-1, 1, "ccw"),
        "front_left": (1, 1, "cw"),
        "back_right": (-1, -1, "cw"),
    }
    for number, (name, (x, y, turns)) in enumerate(corners.items()):
        yield FoundRotor(
            name, number, middle + np.array([x * half[0], y * half[1], 0.0]), np.array([0.0, 0.0, 1.0]), turns, k,
            TORQUE_OVER_THRUST_AND_RADIUS * radius, sqrt(push["limit"] * push["force"][2] / 4 / k), radius,
        )  # fmt: skip


def _by_neighbours(pushes: list[dict[str, Any]]) -> float:
    """Discs that leave their neighbours room."""
    places = np.array([push["position"] for push in pushes])
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    return RADIUS_OF_OFFSET / 2 * float(gaps[gaps > 1e-6].min(initial=0.4))


def _hub(link: Link) -> np.ndarray:
    """Where the plugins push: the rotor's centre of mass."""
    return link.pose.rotation @ link.inertial.center + link.pose.position


def _radius(link: Link, thrust_constant: float, description: Description, least: float = 0.0) -> float:
    """By what is touched of a rotor; else that of a usual rotor with such a thrust."""
    corners = [found for shape in link.collisions if (found := shape.corners()) is not None]
    if corners:
        return max(float(np.abs(np.concatenate(corners)[:, :2]).max()), least)
    description.notes.assume("a rotor without a shape that is touched has the radius of C_T = 0.01")
    return max((thrust_constant / (THRUST_COEFFICIENT * DENSITY * pi)) ** 0.25, least)


def _link_of(plugin: Plugin) -> str:
    return plugin.prefix + str(plugin.values.get("link_name", ""))


def _vector(text: Any, place: str) -> np.ndarray:
    try:
        return np.array([float(word) for word in str(text).split()])
    except ValueError:
        raise ModelError(f"{place}: expected numbers, got '{text}'") from None


def _named(description: Description, name: str, place: str) -> Link:
    if name not in description.links:
        raise ModelError(f"{place}: there is no link '{name}'")
    return description.links[name]
