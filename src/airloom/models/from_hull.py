"""A hull and thrusters in the words of Gazebo: collisions that displace water, Hydrodynamics, Thruster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from airloom.models.description import Joint, Plugin, Pose, Shape
from airloom.models.meshes import write_obj
from airloom.models.water import FORCES, MOTIONS, moved
from airloom.scenario.models import Rotor
from airloom.scenario.values import Vector3
from airloom.scenario.water import DENSITIES, EllipsoidShape, Hull, HullShape, MeshShape

WATER = DENSITIES["water"]


def hull_shapes(hull: Hull, scratch: Path) -> list[Shape]:
    """Meshes that the vehicle file itself holds are written to `scratch`."""
    return [_shape(name, shape, scratch) for name, shape in hull.shapes.items()]


def _shape(name: str, shape: HullShape, scratch: Path) -> Shape:
    pose = Pose.of(shape.position, (shape.roll, shape.pitch, shape.yaw))
    if isinstance(shape, MeshShape):
        file = Path(shape.file) if shape.file else scratch / f"{name}.obj"
        if not shape.file:
            write_obj(file, np.array(shape.vertices), np.array(shape.faces))
        return Shape("mesh", pose, file=file, scale=(shape.scale,) * 3, name=name)
    if isinstance(shape, EllipsoidShape):
        return Shape("ellipsoid", pose, tuple(side / 2 for side in shape.size), name=name)
    if shape.kind == "box":
        return Shape("box", pose, tuple(shape.size), name=name)
    if shape.kind == "ball":
        return Shape("sphere", pose, (shape.radius,), name=name)
    return Shape(shape.kind, pose, (shape.radius, shape.length), name=name)


def hydrodynamics(hull: Hull, center_of_mass: Vector3) -> Plugin:
    """Derivatives are negative where they resist, and those of added mass are about the link's origin."""
    values: dict[str, Any] = {"link_name": "base_link", "water_density": DENSITIES[hull.fluid]}
    added = moved(hull.matrix(center_of_mass), Pose(position=np.array(center_of_mass)), np.zeros(3))
    for i, force in enumerate(FORCES):
        values |= {f"{force}Dot{motion}": -added[i, j] for j, motion in enumerate(MOTIONS) if added[i, j]}
        if hull.damping[i]:
            values[f"{force}{MOTIONS[i]}"] = -hull.damping[i]
        if hull.quadratic_damping[i]:
            values[f"{force}{MOTIONS[i]}abs{MOTIONS[i]}"] = -hull.quadratic_damping[i]
    return Plugin("gz::sim::systems::Hydrodynamics", "gz-sim-hydrodynamics-system", values)


def thruster(number: int, joint: Joint, rotor: Rotor) -> Plugin:
    """Gazebo's gives k ρ D⁴ ω²."""
    assert rotor.in_water is not None
    diameter, thrust = 2 * rotor.radius, rotor.thrust_constant * rotor.max_speed**2
    values = {
        "joint_name": joint.name, "propeller_diameter": diameter, "fluid_density": WATER,
        "thrust_coefficient": rotor.thrust_constant / (WATER * diameter**4), "max_thrust_cmd": thrust,
        "min_thrust_cmd": -rotor.in_water.reverse * thrust, "velocity_control": "true",
    }  # fmt: skip
    return Plugin("gz::sim::systems::Thruster", "gz-sim-thruster-system", values)
