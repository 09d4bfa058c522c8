"""Which plugin is which, and the numbers that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from airloom.models.description import Description, Link, ModelError, Plugin, Pose

ALIGNED = 1e-3


def _is_called(plugin: Plugin, *words: str) -> bool:
    """Names are written with capitals, dashes or underscores, before and after Gazebo was renamed."""
    text = f"{plugin.file} {plugin.name}".lower().replace("-", "").replace("_", "")
    return any(word in text for word in words)


def is_motor_model(plugin: Plugin) -> bool:
    return _is_called(plugin, "multicoptermotormodel", "gazebomotormodel")


def is_ardupilot(plugin: Plugin) -> bool:
    return _is_called(plugin, "ardupilot")


def is_lift_drag(plugin: Plugin) -> bool:
    return _is_called(plugin, "liftdrag") and not is_advanced_lift_drag(plugin)


def is_advanced_lift_drag(plugin: Plugin) -> bool:
    return _is_called(plugin, "advancedliftdrag")


def is_thruster(plugin: Plugin) -> bool:
    return _is_called(plugin, "thruster", "genericmotormodel")


def is_hydrodynamics(plugin: Plugin) -> bool:
    return _is_called(plugin, "hydrodynamics")


def is_underwater_object(plugin: Plugin) -> bool:
    """UUV Simulator's, which has buoyancy and hydrodynamics in one."""
    return _is_called(plugin, "underwaterobject")


def is_floating_surface(plugin: Plugin) -> bool:
    """VRX's: a hull that is a cylinder along x."""
    return _is_called(plugin, "vrx::surface", "libsurface")


def is_buoyancy(plugin: Plugin) -> bool:
    return _is_called(plugin, "buoyancy") and not _is_called(plugin, "buoyancyengine")


def is_position_controller(plugin: Plugin) -> bool:
    return _is_called(plugin, "jointpositioncontroller")


def only_tells(plugin: Plugin) -> bool:
    """It names joints, and does not move them."""
    return _is_called(plugin, "jointstatepublisher")


def is_understood(plugin: Plugin) -> bool:
    """Whether it has a part in what is made of the model; sensors are told apart."""
    kinds = (is_motor_model, is_ardupilot, is_lift_drag, is_advanced_lift_drag, is_thruster, is_hydrodynamics,
             is_buoyancy, is_position_controller, is_underwater_object, is_floating_surface)  # fmt: skip
    return plugin.file == "mujoco" or any(is_kind(plugin) for is_kind in kinds)


def number_in(values: dict[str, Any], key: str, default: float | None, place: str) -> float:
    text = word_in(values, key)
    try:
        number = float(text) if text else default
    except ValueError:
        raise ModelError(f"{place}: {key} must be a number, got '{text}'") from None
    if number is None:
        raise ModelError(f"{place}: {key} is missing")
    if not np.isfinite(number):
        raise ModelError(f"{place}: {key} must be finite, got {number}")
    return number


def positive_in(values: dict[str, Any], key: str, default: float | None, place: str) -> float:
    number = number_in(values, key, default, place)
    if number <= 0:
        raise ModelError(f"{place}: {key} must be greater than zero, got {number:g}")
    return number


def vector_in(values: dict[str, Any], key: str, default: str, place: str) -> np.ndarray:
    text = word_in(values, key) or default
    try:
        found = np.array([float(word) for word in text.split()])
    except ValueError:
        found = np.empty(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise ModelError(f"{place}: {key} must be three finite numbers, got '{text[:60]}'")
    return found


def direction_in(values: dict[str, Any], key: str, default: str, place: str) -> np.ndarray:
    found = vector_in(values, key, default, place)
    length = float(np.linalg.norm(found))
    if length < 1e-9:
        raise ModelError(f"{place}: {key} must point somewhere, got '{values.get(key)}'")
    return found / length


def word_in(values: dict[str, Any], *keys: str) -> str:
    """The first of several spellings that is there; of an element that is there twice, the first."""
    for key in keys:
        found = values.get(key)
        found = found[0] if isinstance(found, list) else found
        found = found.get("") if isinstance(found, dict) else found
        if found not in (None, ""):
            return str(found)
    return ""


def many_in(values: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Elements that may be there several times, each with what it holds."""
    found = values.get(key, [])
    return [each if isinstance(each, dict) else {"": each} for each in (found if isinstance(found, list) else [found])]


def facing_of(description: Description) -> np.ndarray | None:
    """Axes ahead, left and up as columns in the model's axes, if an ArduPilot plugin says that they are not x, y, z."""
    key = "modelXYZToAirplaneXForwardZDown"
    for plugin in filter(is_ardupilot, description.plugins):
        text = word_in(plugin.values, key)
        try:
            six = np.array([float(word) for word in text.split()])
        except ValueError:
            six = np.empty(0)
        if not text or six.shape != (6,) or not np.isfinite(six).all():
            continue
        given = plugin.values[key]
        degrees = isinstance(given, dict) and given.get("@degrees") in ("true", "1")
        # Its columns are ahead, right and down.
        facing = Pose.of(euler=np.radians(six[3:]) if degrees else six[3:]).rotation * [1.0, -1.0, -1.0]
        if np.abs(facing - np.eye(3)).max() > ALIGNED:
            description.notes.assume("turned so that x points ahead, by what ArduPilot's plugin says of its axes")
            return facing
    return None


def place_of(description: Description, plugin: Plugin) -> str:
    return f"{description.name}, plugin {plugin.name or plugin.file}"


def link_in(description: Description, plugin: Plugin, *keys: str) -> Link:
    name = plugin.prefix + word_in(plugin.values, *keys)
    if name not in description.links:
        told = f"there is no link '{name}'" if name else f"<{keys[0]}> is missing"
        raise ModelError(f"{place_of(description, plugin)}: {told}")
    return description.links[name]


def words_of(values: Any) -> Iterator[str]:
    """All texts that a plugin's values hold, however deep."""
    if isinstance(values, dict):
        for each in values.values():
            yield from words_of(each)
    elif isinstance(values, list):
        for each in values:
            yield from words_of(each)
    else:
        yield str(values)
