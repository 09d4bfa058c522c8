"""Sensors of a vehicle in the words of SDF."""

from __future__ import annotations

from typing import Any

import numpy as np

from airloom.models.description import Pose, SensorPart


def sensor_part(name: str, kind: str, rate: float, p: dict[str, Any]) -> SensorPart | None:
    """None for a kind that the format does not know."""
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
