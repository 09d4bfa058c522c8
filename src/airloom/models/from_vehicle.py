"""A vehicle as a description, so that it can be written in any format: a body, and links for what moves on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from airloom.models.description import Description, Inertial, Joint, Link, Plugin, Pose, Shape
from airloom.models.from_hull import hull_shapes, hydrodynamics, thruster
from airloom.models.from_sensors import sensor_part
from airloom.models.from_wings import add_wings
from airloom.models.lumping import combined, spinning
from airloom.scenario.models import Rotor, Vehicle

PART_SHARE = 1e-4
"""Of the vehicle's mass, that all its links but the body have: formats ask for some, a vehicle file does not say."""
BASE = "base_link"
WHEEL_RADIUS = 0.03  # m, of which a vehicle file says nothing


def describe_vehicle(name: str, vehicle: Vehicle, scratch: Path) -> Description:
    """What a format has no words for is left out. Meshes that a vehicle file holds are written to `scratch`."""
    description = Description(name, "vehicle file", canonical=BASE)
    description.links[BASE] = base = Link(BASE, Pose())
    box = Shape("box", Pose.of(vehicle.body.position), tuple(vehicle.body.size), colour=(60, 66, 74), name="body")
    base.visuals = _visuals(vehicle) or [box]
    base.collisions = hull_shapes(vehicle.hull, scratch) if vehicle.hull is not None else [box]
    mass = PART_SHARE * vehicle.mass / max(len(vehicle.rotors) + len(vehicle.servos) + len(vehicle.wheels), 1)
    for number, (key, rotor) in enumerate(vehicle.rotors.items()):
        _add_rotor(description, number, key, rotor, mass, displaces=vehicle.hull is not None)
    add_wings(description, vehicle, mass)
    _add_wheels(description, vehicle, mass)
    if vehicle.hull is not None:
        description.plugins.append(hydrodynamics(vehicle.hull, vehicle.center_of_mass))
    whole = Inertial(vehicle.mass, np.array(vehicle.center_of_mass), vehicle.inertia.matrix())
    base.inertial = _rest(whole, [_felt(link, link.name in vehicle.rotors) for link in description.links.values()][1:])
    for key, sensor in vehicle.sensors.items():
        part = sensor_part(key, sensor.kind, sensor.rate, sensor.parameters)
        base.sensors += [part] if part is not None else []
    return description


def _visuals(vehicle: Vehicle) -> list[Shape]:
    return [
        Shape("mesh", Pose.of(v.position, (v.roll, v.pitch, v.yaw)), (), Path(v.file), v.scale, v.colour, name=key)
        for key, v in vehicle.visuals.items()
    ]


def _felt(link: Link, spins: bool) -> Inertial:
    own = link.inertial.seen_from(link.pose)
    return spinning(own, link.pose.rotation[:, 2]) if spins else own


def _rest(whole: Inertial, parts: list[Inertial]) -> Inertial:
    """What is left of a body without its parts: the theorem of Huygens and Steiner backwards.

    Of one as flat as can be, such as the Firefly, parts that spin leave more than any body has, which is lowered where
    a link is written.
    """
    gone = combined(parts)
    mass = whole.mass - gone.mass
    center = (whole.mass * whole.center - gone.mass * gone.center) / mass
    inertia = whole.inertia - gone.inertia
    for m, c in ((gone.mass, gone.center), (mass, center)):
        d = c - whole.center
        inertia = inertia - m * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertial(mass, center, inertia)


def _add_rotor(description: Description, number: int, name: str, rotor: Rotor, mass: float, displaces: bool) -> None:
    """A thin disc, its z along the thrust; nothing of it touches where all that touches displaces water."""
    axis = np.array(rotor.axis) / np.linalg.norm(rotor.axis)
    across = mass * rotor.radius**2 / 4
    link = Link(name, Pose(turn_to(axis), np.array(rotor.position)))
    link.inertial = Inertial(mass, np.zeros(3), np.diag([across, across, 2 * across]))
    disc = Shape("cylinder", Pose(), (rotor.radius, 0.005), colour=(30, 32, 36), name="disc")
    link.visuals, link.collisions = [disc], [] if displaces else [disc]
    joint = Joint(f"{name}_joint", "revolute", BASE, name, link.pose.rotation[:, 2], (-1e16, 1e16))
    description.links[name], description.joints[joint.name] = link, joint
    make = _motor if rotor.in_water is None else thruster
    description.plugins.append(make(number, joint, rotor))


def _add_wheels(description: Description, vehicle: Vehicle, mass: float) -> None:
    for key, wheel in vehicle.wheels.items():
        name = f"{key}_wheel"
        ball = Shape("sphere", Pose(), (WHEEL_RADIUS,), colour=(30, 32, 36), name="tyre")
        link = Link(name, Pose.of(np.add(wheel.position, (0.0, 0.0, WHEEL_RADIUS))))
        link.inertial = Inertial(mass, np.zeros(3), 0.4 * mass * WHEEL_RADIUS**2 * np.eye(3))
        link.visuals, link.collisions = [ball], [] if vehicle.hull is not None else [ball]
        joint = Joint(f"{name}_joint", "revolute", BASE, name, np.array([0.0, 1.0, 0.0]), (-1e16, 1e16))
        description.links[name], description.joints[joint.name] = link, joint


def turn_to(axis: np.ndarray) -> np.ndarray:
    """A rotation whose z is the axis; none if that is up already."""
    x, y, z = axis
    if z < -0.999999:
        return np.diag([1.0, -1.0, -1.0])
    cross = np.array([[0.0, 0.0, x], [0.0, 0.0, y], [-x, -y, 0.0]])
    return np.eye(3) + cross + cross @ cross / (1.0 + z)


def _motor(number: int, joint: Joint, rotor: Rotor) -> Plugin:
    values = {
        "jointName": joint.name, "linkName": joint.child, "turningDirection": rotor.turns,
        "timeConstantUp": rotor.time_constant_up, "timeConstantDown": rotor.time_constant_down,
        "maxRotVelocity": rotor.max_speed, "motorConstant": rotor.thrust_constant,
        "momentConstant": rotor.moment_constant, "commandSubTopic": "command/motor_speed", "motorNumber": number,
        "rotorDragCoefficient": rotor.drag_coefficient,
        "rollingMomentCoefficient": rotor.rolling_moment_coefficient, "rotorVelocitySlowdownSim": 10,
        "motorType": "velocity",
    }  # fmt: skip
    return Plugin("gz::sim::systems::MulticopterMotorModel", "gz-sim-multicopter-motor-model-system", values)
