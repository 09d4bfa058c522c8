"""Surfaces, coefficients and servos in the words of Gazebo: LiftDrag, AdvancedLiftDrag, JointPositionController."""

from __future__ import annotations

from math import radians
from typing import Any

import numpy as np

from airloom.models.description import Description, Inertial, Joint, Link, Plugin, Pose
from airloom.models.wings import DENSITY, DERIVATIVES
from airloom.scenario.models import Vehicle
from airloom.scenario.surfaces import Aerodynamics, Servo, Surface

FLAP_SIZE = 0.02  # m
GAIN = 10.0
"""N m/rad, by which a servo holds its joint; the joint's damping over it is the servo's lag."""
LETTERS = {"zero": "0", "alpha": "a", "beta": "b", "p": "p", "q": "q", "r": "r"}


def add_wings(description: Description, vehicle: Vehicle, mass: float) -> None:
    joints = {name: _add_servo(description, number, name, vehicle, mass) for number, name in enumerate(vehicle.servos)}
    for name, surface in vehicle.surfaces.items():
        description.plugins.append(_lift_drag(name, surface, description.canonical, joints))
    if vehicle.aerodynamics is not None:
        description.plugins.append(_advanced(vehicle.aerodynamics, description.canonical, joints))


def _add_servo(description: Description, number: int, name: str, vehicle: Vehicle, mass: float) -> str:
    """A flap where the surface is that it moves, on a joint of the servo's name, which is given back."""
    servo: Servo = vehicle.servos[name]
    moved = [surface for surface in vehicle.surfaces.values() if surface.servo == name]
    place = moved[0].position if moved else (0.0, 0.0, 0.0)
    # With a positive angle its trailing edge goes where it adds lift.
    axis = np.cross(moved[0].forward, moved[0].up) if moved else np.array([0.0, -1.0, 0.0])
    axis = axis * (-1.0 if moved and moved[0].lift_by_servo < 0 else 1.0) / np.linalg.norm(axis)
    link = Link(f"{name}_flap", Pose.of(place), Inertial(mass, np.zeros(3), 0.4 * mass * FLAP_SIZE**2 * np.eye(3)))
    joint_name = name if name not in description.links else f"{name}_servo"
    limits = (servo.lowest, servo.highest)
    joint = Joint(joint_name, "revolute", description.canonical, link.name, axis, limits, GAIN * servo.lag, servo.rate)
    description.links[link.name], description.joints[joint.name] = link, joint
    values = {"joint_name": joint.name, "sub_topic": f"servo_{number}", "p_gain": GAIN}
    description.plugins.append(
        Plugin("gz::sim::systems::JointPositionController", "gz-sim-joint-position-controller-system", values)
    )
    return joint.name


def _lift_drag(name: str, surface: Surface, link: str, joints: dict[str, str]) -> Plugin:
    values: dict[str, Any] = {
        "surface": name, "link_name": link, "cp": surface.position, "forward": surface.forward, "upward": surface.up,
        "area": surface.area, "air_density": DENSITY, "a0": surface.alpha_0, "alpha_stall": surface.stall,
        "cla": surface.lift, "cla_stall": surface.lift_stalled, "cda": surface.drag, "cda_stall": surface.drag_stalled,
        "cma": surface.moment, "cma_stall": surface.moment_stalled,
    }  # fmt: skip
    if surface.servo is not None:
        values |= {
            "control_joint_name": joints[surface.servo], "control_joint_rad_to_cl": surface.lift_by_servo,
            "cm_delta": surface.moment_by_servo,
        }  # fmt: skip
    return Plugin("gz::sim::systems::LiftDrag", "gz-sim-lift-drag-system", values)


def _advanced(it: Aerodynamics, link: str, joints: dict[str, str]) -> Plugin:
    """Flaps count per degree there."""
    values: dict[str, Any] = {
        "link_name": link, "cp": it.position, "forward": (1.0, 0.0, 0.0), "upward": (0.0, 0.0, 1.0), "area": it.area,
        "AR": it.span**2 / it.area, "mac": it.chord or it.area / it.span, "eff": it.efficiency,
        "alpha_stall": it.stall, "air_density": DENSITY, "Cema_stall": it.pitch_stalled,
    }  # fmt: skip
    for ours, theirs in DERIVATIVES.items():
        values |= {theirs + letter: getattr(it.coefficients[ours], key) for key, letter in LETTERS.items()}
    used = [name for name in joints if name in it.servos]
    values["num_ctrl_surfaces"] = len(used)
    values["control_surface"] = [
        {"name": joints[name], "index": number, "direction": 1}
        | {
            f"{theirs}_ctrl": radians(it.coefficients[ours].servos.get(name, 0.0))
            for ours, theirs in DERIVATIVES.items()
        }
        for number, name in enumerate(used)
    ]
    return Plugin("gz::sim::systems::AdvancedLiftDrag", "gz-sim-advanced-lift-drag-system", values)
