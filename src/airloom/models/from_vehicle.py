"""A vehicle as a description, so that it can be written in any format: a body, and a link for each rotor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from airloom.models.description import Description, Inertial, Joint, Link, Plugin, Pose, SensorPart, Shape
from airloom.models.lumping import combined, spinning
from airloom.scenario.models import Rotor, Vehicle

ROTOR_SHARE = 1e-4
"""Of the vehicle's mass, that all its rotors have: formats ask for some, a vehicle file does not say how much."""
BASE = "base_link"


def describe_vehicle(name: str, vehicle: Vehicle) -> Description:
    description = Description(name, "vehicle file", canonical=BASE)
    base = Link(BASE, Pose())
    description.links[BASE] = base
    size, middle = vehicle.body.size, vehicle.body.position
    base.collisions = [Shape("box", Pose.of(middle), tuple(size), name="body")]
    base.visuals = [
        Shape(
            "mesh", Pose.of(v.position, (v.roll, v.pitch, v.yaw)), (), Path(v.file), v.scale, v.colour, name=key
        )
        for key, v in vehicle.visuals.items()
    ] or [Shape("box", Pose.of(middle), tuple(size), colour=(60, 66, 74), name="body")]  # fmt: skip
    felt = []
    for number, (key, rotor) in enumerate(vehicle.rotors.items()):
        link = _rotor_link(key, rotor, ROTOR_SHARE * vehicle.mass / len(vehicle.rotors))
        description.links[link.name] = link
        joint = Joint(f"{link.name}_joint", "revolute", BASE, link.name, link.pose.rotation[:, 2], (-1e16, 1e16))
        description.joints[joint.name] = joint
        description.plugins.append(_motor(number, joint, rotor))
        felt.append(spinning(link.inertial.seen_from(link.pose), link.pose.rotation[:, 2]))
    whole = Inertial(vehicle.mass, np.array(vehicle.center_of_mass), vehicle.inertia.matrix())
    base.inertial = _rest(whole, felt)
    for key, sensor in vehicle.sensors.items():
        part = _sensor(key, sensor.kind, sensor.rate, sensor.parameters)
        if part is None:
            description.notes.ignore(f"the sensor {key} ({sensor.kind}), which the format does not know")
        else:
            base.sensors.append(part)
    if vehicle.drag:
        description.notes.ignore("drag of the body, which the format does not know")
    if vehicle.surfaces or vehicle.aerodynamics is not None or vehicle.servos:
        description.notes.ignore("surfaces, aerodynamics and servos, which are read but not written")
    if vehicle.hull is not None:
        description.notes.ignore("the hull, which is read but not written; thrusters are motors in air")
    if vehicle.tank is not None or vehicle.nozzles:
        description.notes.ignore("tank and nozzles, which the format does not know")
    return description


def _rest(whole: Inertial, parts: list[Inertial]) -> Inertial:
    """What is left of a body without its parts: the theorem of Huygens and Steiner backwards."""
    gone = combined(parts)
    mass = whole.mass - gone.mass
    center = (whole.mass * whole.center - gone.mass * gone.center) / mass
    inertia = whole.inertia - gone.inertia
    for m, c in ((gone.mass, gone.center), (mass, center)):
        d = c - whole.center
        inertia = inertia - m * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertial(mass, center, inertia)


def _rotor_link(name: str, rotor: Rotor, mass: float) -> Link:
    """A thin disc, its z along the thrust."""
    axis = np.array(rotor.axis) / np.linalg.norm(rotor.axis)
    pose = Pose(turn_to(axis), np.array(rotor.position))
    across = mass * rotor.radius**2 / 4
    link = Link(name, pose, Inertial(mass, np.zeros(3), np.diag([across, across, 2 * across])))
    disc = Shape("cylinder", Pose(), (rotor.radius, 0.005), colour=(30, 32, 36), name="disc")
    link.visuals, link.collisions = [disc], [disc]
    return link


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


def _sensor(name: str, kind: str, rate: float, p: dict[str, Any]) -> SensorPart | None:
    """In the words of SDF."""
    pitch = p.get("pitch", np.pi / 2 if kind == "rangefinder" else 0.0)
    pose = Pose.of(p.get("position", (0.0, 0.0, 0.0)), (p.get("roll", 0.0), pitch, p.get("yaw", 0.0)))
    writer = _WRITERS.get(kind)
    return SensorPart(name, writer[0], pose, rate, writer[1](_sampled(p, rate))) if writer else None


def _sampled(p: dict[str, Any], rate: float) -> dict[str, Any]:
    """With densities of noise as deviations of a sample, which is what SDF has: σ = n √rate."""

    def of(errors: Any) -> Any:
        if not isinstance(errors, dict) or "noise_density" not in errors:
            return errors
        density = np.asarray(errors["noise_density"]) * np.sqrt(rate)
        return {**errors, "noise": density.tolist()}

    return {key: of(value) for key, value in p.items()}


def _noise(errors: Any, axis: int = 0) -> dict[str, Any]:
    errors = errors or {}

    def of(key: str) -> float:
        value = errors.get(key, 0.0)
        return float(value[axis] if isinstance(value, (list, tuple)) else value)

    noise: dict[str, Any] = {"@type": "gaussian", "mean": 0.0, "stddev": of("noise")}
    for theirs, ours in (
        ("bias_mean", "bias"),
        ("bias_stddev", "turn_on_bias"),
        ("dynamic_bias_stddev", "random_walk"),
    ):
        if of(ours):
            noise[theirs] = of(ours)
    if np.isfinite(time := errors.get("correlation_time", np.inf)):
        noise["dynamic_bias_correlation_time"] = float(time)
    return {"noise": noise}


def _each_axis(errors: Any) -> dict[str, Any]:
    return {axis: _noise(errors, k) for k, axis in enumerate("xyz")}


def _imu(p: dict[str, Any]) -> dict[str, Any]:
    return {
        "imu": {
            "angular_velocity": _each_axis(p.get("gyroscope")),
            "linear_acceleration": _each_axis(p.get("accelerometer")),
        }
    }


def _gnss(p: dict[str, Any]) -> dict[str, Any]:
    sides = {
        theirs: {"horizontal": _noise(p.get(ours), 0), "vertical": _noise(p.get(ours), 2)}
        for theirs, ours in (("position_sensing", "position_errors"), ("velocity_sensing", "velocity_errors"))
    }
    return {"navsat": sides}


def _picture(p: dict[str, Any], clip: tuple[float, float], form: str) -> dict[str, Any]:
    return {
        "horizontal_fov": p.get("field_of_view", 1.5),
        "image": {"width": p.get("width", 640), "height": p.get("height", 480), "format": form},
        "clip": {"near": clip[0], "far": clip[1]},
    }


def _camera(p: dict[str, Any]) -> dict[str, Any]:
    return {"camera": _picture(p, (0.05, 1000.0), "R8G8B8")}


def _depth(p: dict[str, Any]) -> dict[str, Any]:
    return {"camera": _picture(p, (p.get("min_distance", 0.1), p.get("max_distance", 10.0)), "R_FLOAT32")}


def _rays(p: dict[str, Any], columns: int, beams: int, view: float, low: float, high: float) -> dict[str, Any]:
    scan = {
        "horizontal": {"samples": columns, "resolution": 1, "min_angle": -view / 2, "max_angle": view / 2},
        "vertical": {"samples": beams, "resolution": 1, "min_angle": low, "max_angle": high},
    }
    limits = {"min": p.get("min_distance", 0.05), "max": p.get("max_distance", 40.0), "resolution": 0.0}
    return {"lidar": {"scan": scan, "range": limits, **_noise(p.get("distance_errors"))}}


def _lidar(p: dict[str, Any]) -> dict[str, Any]:
    pattern = {"columns": 1800, "beams": 16, "field_of_view": 2 * np.pi, "lowest": -0.2618, "highest": 0.2618} | p.get(
        "pattern", {}
    )
    if pattern.get("kind") == "rosette":
        view = pattern["field_of_view"]
        return _rays(p, 100, 100, view, -view / 2, view / 2)
    keys = ("columns", "beams", "field_of_view", "lowest", "highest")
    return _rays(p, *(pattern[key] for key in keys))


_WRITERS = {
    "imu": ("imu", _imu),
    "gnss": ("navsat", _gnss),
    "barometer": ("air_pressure", lambda p: {"air_pressure": {"pressure": _noise(p.get("pressure_errors"))}}),
    "magnetometer": ("magnetometer", lambda p: {"magnetometer": _each_axis(p.get("field_errors"))}),
    "camera": ("camera", _camera),
    "depth_camera": ("depth_camera", _depth),
    "lidar": ("gpu_lidar", _lidar),
    "rangefinder": ("gpu_lidar", lambda p: _rays(p, 1, 1, 0.0, 0.0, 0.0)),
}
