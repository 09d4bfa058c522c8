"""Rotors from MuJoCo's motors: at sites, or one that pushes all of the body."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, sqrt
from typing import Any

import numpy as np

from airloom.models.description import Description, ModelError
from airloom.models.rotor import (
    DENSITY,
    RADIUS_OF_OFFSET,
    THRUST_COEFFICIENT,
    TORQUE_OVER_THRUST_AND_RADIUS,
    FoundRotor,
)

SMALLEST = 1e-3  # m of a rotor's radius
USER = (
    "thrust_constant", "max_speed", "radius", "drag_coefficient", "rolling_moment_coefficient", "time_constant_up",
    "time_constant_down",
)  # fmt: skip
"""What MuJoCo has no word for: numbers in `user` of the motors that we write; nothing is lost on the way back."""


def from_actuators(description: Description) -> Iterator[FoundRotor]:
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
    if radius < SMALLEST:
        raise ModelError(f"{description.name}: has a thrust on all of it, but no shape that says where rotors could be")
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
