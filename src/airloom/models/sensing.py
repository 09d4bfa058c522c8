"""Sensors of a description as sensors of a vehicle file, with their noise."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from airloom.models.description import Description, ModelError, Notes, Plugin, Pose, SensorPart
from airloom.models.lumping import Body

RATES = (1000, 500, 250, 200, 125, 100, 50, 40, 25, 20, 10, 8, 5, 4, 2, 1)
"""Hz whose periods are whole milliseconds, so that they fit the usual step."""
USUAL = {
    "imu": 250,
    "barometer": 50,
    "magnetometer": 100,
    "gnss": 5,
    "camera": 25,
    "depth_camera": 25,
    "lidar": 10,
    "rangefinder": 50,
    "airspeed": 50,
}
GAUSS = 1e-4
LOUDEST_FIELD = 2e-5  # T; noise beyond would drown the Earth's field, so it is in gauss
Values = dict[str, Any]


def clean_name(text: str, taken: dict[str, Any]) -> str:
    """A name of ours that is not taken, without the namespace that others put before it."""
    name = re.sub(r"\W+", "_", text.split("/")[-1].split("::")[-1], flags=re.ASCII).strip("_").lower() or "part"
    name = name if name[0].isalpha() else f"part_{name}"
    number, made = 2, name
    while made in taken:
        number, made = number + 1, f"{name}_{number}"
    return made


def find_sensors(description: Description, body: Body) -> dict[str, Values]:
    """By name; an odometry comes first, which the estimator `ideal` reads."""
    sensors: dict[str, Values] = {"odometry": {"kind": "odometry", "rate": 250.0}}
    notes = description.notes
    for link in body.links:
        for part in link.sensors:
            maker = MAKERS.get(part.kind)
            if maker is None:
                notes.ignore(f"the sensor {part.name} of the kind {part.kind}")
                continue
            for made in maker(part, notes):
                kind = made["kind"]
                where = _mounted(body.pose_of(link) @ part.pose, kind)
                name = clean_name(part.name, sensors)
                sensors[name] = {"kind": kind, "rate": _rate(part.rate, kind, part.name, notes), **where, **made}
    for plugin in description.plugins:
        _add_plugin(plugin, description, body, sensors)
    count = len(sensors) - 1
    notes.understand(f"{count} sensor{'s' * (count != 1)}: {', '.join(list(sensors)[1:]) or 'none'}")
    notes.assume("an odometry sensor is added, which the built-in flight stack flies by")
    return sensors


def _mounted(pose: Pose, kind: str) -> Values:
    """Only what differs from the axes of the vehicle; a rangefinder looks down by itself."""
    out: Values = {}
    if np.abs(pose.position).max() > 1e-9:
        out["position"] = [round(float(x), 9) + 0.0 for x in pose.position]
    for key, angle in zip(("roll", "pitch", "yaw"), pose.euler, strict=True):
        if abs(angle) > 1e-9 or (kind == "rangefinder" and key == "pitch"):
            out[key] = round(float(angle), 9) + 0.0
    return out


def _rate(rate: float | None, kind: str, name: str, notes: Notes) -> float:
    wanted = rate or USUAL[kind]
    nearest = min(RATES, key=lambda r: abs(np.log(r / max(wanted, 1e-9))))
    if rate is None:
        notes.assume(f"the sensor {name} has no rate: {nearest} Hz")
    elif abs(nearest - wanted) > 1e-9:
        notes.assume(
            f"the sensor {name} has {wanted:g} Hz, whose period is no whole number of milliseconds: {nearest} Hz"
        )
    return float(nearest)


def _get(values: Any, *keys: str) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _float(value: Any, default: float, place: str) -> float:
    value = value.get("") if isinstance(value, dict) else value
    if value in (None, ""):
        return default
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"the sensor {place}: expected a number, got '{value}'") from None
    if not np.isfinite(number):
        raise ModelError(f"the sensor {place}: expected a finite number, got {number}")
    return number


def _noise(values: Any, place: str, scale: float = 1.0) -> Values:
    """SDF's noise of one channel in our words; its dynamic bias is the same process as ours (RotorS)."""
    kind = _get(values, "@type") or _get(values, "type") or ("gaussian" if isinstance(values, dict) else "none")
    if not isinstance(values, dict) or kind == "none":
        return {}
    pairs = {"noise": "stddev", "turn_on_bias": "bias_stddev", "random_walk": "dynamic_bias_stddev"}
    out = {ours: scale * abs(_float(values.get(theirs), 0.0, place)) for ours, theirs in pairs.items()}
    out["bias"] = scale * (_float(values.get("mean"), 0.0, place) + _float(values.get("bias_mean"), 0.0, place))
    out["correlation_time"] = _float(values.get("dynamic_bias_correlation_time"), 0.0, place)
    if kind == "gaussian_quantized":
        out["resolution"] = scale * _float(values.get("precision"), 0.0, place)
    return {key: value for key, value in out.items() if value}


def _axes(channels: list[Values]) -> Values:
    """Errors of several axes as one block: a list for what differs."""
    out: Values = {}
    for key in {key for channel in channels for key in channel}:
        each = [channel.get(key, 0.0) for channel in channels]
        out[key] = each[0] if len(set(each)) == 1 or key in ("correlation_time", "resolution") else each
    return {key: out[key] for key in sorted(out)}


def _plain_errors(noise: Values) -> Values:
    """What eyes know of it."""
    return {key: value for key, value in noise.items() if key in ("noise", "bias")}


def _block(key: str, errors: Values) -> Values:
    return {key: errors} if set(errors) - {"correlation_time"} else {}


def _imu(part: SensorPart, notes: Notes) -> list[Values]:
    imu = _get(part.values, "imu")
    blocks: Values = {"kind": "imu"}
    names = {"gyroscope": ("angular_velocity", "rate"), "accelerometer": ("linear_acceleration", "accel")}
    for ours, (theirs, old) in names.items():
        channels = [_noise(_get(imu, theirs, axis, "noise"), part.name) for axis in "xyz"]
        if not any(channels) and isinstance(_get(imu, "noise", old), dict):  # SDF 1.4
            channels = [_noise({"@type": "gaussian", **imu["noise"][old]}, part.name)] * 3
        blocks |= _block(ours, _axes(channels))
    return [blocks]


def _gnss(part: SensorPart, notes: Notes) -> list[Values]:
    gps = _get(part.values, "navsat") or _get(part.values, "gps")
    blocks: Values = {"kind": "gnss"}
    for ours, theirs in (("position_errors", "position_sensing"), ("velocity_errors", "velocity_sensing")):
        level, upright = (_noise(_get(gps, theirs, way, "noise"), part.name) for way in ("horizontal", "vertical"))
        blocks |= _block(ours, _axes([level, level, upright]))
    return [blocks]


def _barometer(part: SensorPart, notes: Notes) -> list[Values]:
    errors = _noise(_get(part.values, "air_pressure", "pressure", "noise"), part.name)
    return [{"kind": "barometer", **_block("pressure_errors", errors)}]


def _airspeed(part: SensorPart, notes: Notes) -> list[Values]:
    if isinstance(_get(part.values, "air_speed", "pressure", "noise"), dict):
        notes.ignore(f"the noise of {part.name}, which is of a pressure")
    return [{"kind": "airspeed"}]


def _magnetometer(part: SensorPart, notes: Notes) -> list[Values]:
    channels = [_noise(_get(part.values, "magnetometer", axis, "noise"), part.name) for axis in "xyz"]
    if any(channel.get("noise", 0.0) > LOUDEST_FIELD for channel in channels):
        notes.assume(f"the noise of {part.name} would drown the Earth's field if it were in tesla: taken as gauss")
        channels = [_noise(_get(part.values, "magnetometer", axis, "noise"), part.name, GAUSS) for axis in "xyz"]
    return [{"kind": "magnetometer", **_block("field_errors", _axes(channels))}]


def _picture(part: SensorPart, camera: Any) -> Values:
    view = _float(_get(camera, "horizontal_fov"), 1.047, part.name)
    return {
        "width": int(_float(_get(camera, "image", "width"), 320, part.name)),
        "height": int(_float(_get(camera, "image", "height"), 240, part.name)),
        "field_of_view": min(view, 3.0),
    }


def _cameras(part: SensorPart) -> list[Any]:
    found = _get(part.values, "camera")
    return found if isinstance(found, list) else [found]


def _camera(part: SensorPart, notes: Notes) -> list[Values]:
    made = []
    for camera in _cameras(part):
        noise = _noise(_get(camera, "noise"), part.name, 255.0)
        errors = _plain_errors(noise)
        made.append({"kind": "camera", **_picture(part, camera), **_block("brightness_errors", errors)})
    return made


def _depth(part: SensorPart, notes: Notes) -> list[Values]:
    made = []
    for camera in _cameras(part):
        near = _float(_get(camera, "clip", "near"), 0.1, part.name)
        far = min(_float(_get(camera, "clip", "far"), 10.0, part.name), 1e5)
        noise = _noise(_get(camera, "noise"), part.name)
        errors = _plain_errors(noise)
        block = _block("distance_errors", errors)
        made.append(
            {"kind": "depth_camera", **_picture(part, camera), "min_distance": near, "max_distance": far, **block}
        )
    return made


def _rgbd(part: SensorPart, notes: Notes) -> list[Values]:
    return [*_depth(part, notes), *_camera(part, notes)]


def _lidar(part: SensorPart, notes: Notes) -> list[Values]:
    ray = _get(part.values, "ray") or _get(part.values, "lidar")
    across, up = _get(ray, "scan", "horizontal"), _get(ray, "scan", "vertical")
    columns = max(int(_float(_get(across, "samples"), 640, part.name)), 1)
    beams = max(int(_float(_get(up, "samples"), 1, part.name)), 1)
    limits = {
        "min_distance": max(_float(_get(ray, "range", "min"), 0.05, part.name), 0.0),
        "max_distance": min(_float(_get(ray, "range", "max"), 40.0, part.name), 1e5),
    }
    noise = _noise(_get(ray, "noise"), part.name)
    errors = _plain_errors(noise)
    if columns == 1 and beams == 1:
        if resolution := _float(_get(ray, "range", "resolution"), 0.0, part.name):
            errors["resolution"] = resolution
        return [{"kind": "rangefinder", **limits, **_block("distance_errors", errors)}]
    left, right = (
        _float(_get(across, key), default, part.name) for key, default in (("min_angle", -np.pi), ("max_angle", np.pi))
    )
    low, high = (_float(_get(up, key), 0.0, part.name) for key in ("min_angle", "max_angle"))
    if abs(left + right) > 1e-3:
        notes.assume(
            f"the lidar {part.name} looks from {left:.3g} to {right:.3g} rad: the same width around its x axis"
        )
    pattern = {
        "kind": "spinning", "beams": min(beams, 256), "lowest": min(low, high), "highest": max(low, high),
        "columns": min(columns, 2_000_000 // min(beams, 256), 100_000),
        "field_of_view": float(np.clip(right - left, 1e-3, 2 * np.pi)),
    }  # fmt: skip
    return [{"kind": "lidar", **limits, **_block("distance_errors", errors), "pattern": pattern}]


MAKERS: dict[str, Callable[[SensorPart, Notes], list[Values]]] = {
    "imu": _imu, "navsat": _gnss, "gps": _gnss, "air_pressure": _barometer, "magnetometer": _magnetometer,
    "camera": _camera, "multicamera": _camera, "depth": _depth, "depth_camera": _depth, "rgbd_camera": _rgbd,
    "rgbd": _rgbd, "air_speed": _airspeed, "ray": _lidar, "gpu_ray": _lidar, "lidar": _lidar, "gpu_lidar": _lidar,
}  # fmt: skip


def is_sensor_plugin(plugin: Plugin) -> bool:
    return "rotors_gazebo_imu_plugin" in plugin.file or "rotors_gazebo_gps_plugin" in plugin.file


def _add_plugin(plugin: Plugin, description: Description, body: Body, sensors: dict[str, Values]) -> None:
    """RotorS has its sensors in plugins; its noise model is ours."""
    link = description.links.get(plugin.prefix + str(plugin.values.get("linkName", "")))
    if not is_sensor_plugin(plugin) or link is None:
        return
    where = _mounted(body.pose_of(link), "imu")
    values = plugin.values
    if "imu" in plugin.file:
        blocks: Values = {"kind": "imu", "rate": 500.0, **where}
        words = {
            "noise_density": "NoiseDensity",
            "random_walk": "RandomWalk",
            "correlation_time": "BiasCorrelationTime",
            "turn_on_bias": "TurnOnBiasSigma",
        }
        for ours in ("gyroscope", "accelerometer"):
            errors = {key: _float(values.get(ours + word), 0.0, plugin.name) for key, word in words.items()}
            blocks |= _block(ours, {key: value for key, value in errors.items() if value})
        description.notes.assume(f"RotorS samples {plugin.name} at every step: 500 Hz here")
        sensors[clean_name(str(values.get("imuTopic") or "imu"), sensors)] = blocks
    else:
        level, upright = (
            _float(values.get(f"{way}PositionStdDev"), 3.0, plugin.name) for way in ("horizontal", "vertical")
        )
        gnss: Values = {"noise": [level, level, upright]}
        sensors[clean_name("gnss", sensors)] = {"kind": "gnss", "rate": 5.0, **where, "position_errors": gnss}
