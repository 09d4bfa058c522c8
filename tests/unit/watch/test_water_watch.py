"""Vehicles that water should do something to, or has done something bad to, are told."""

from __future__ import annotations

from typing import Any

import pytest

from airloom.simulation import Simulation
from airloom.watch.water import UNFELT, WaterWatch

SEA = {"terrain": {"kind": "plane", "height": -20}, "water": {}}


def watched(vehicle: dict[str, Any], world: Any = SEA) -> Simulation:
    overrides = {"vehicles": {"cf": None, "it": vehicle}, "systems": {}, "engine": "batch", "world": world}
    sim = Simulation.load("hover", overrides=overrides)
    WaterWatch(sim)
    return sim


def falling(**changes: Any) -> dict[str, Any]:
    return {"extends": "multirotor", "pose": {"position": [0, 0, 1]}, **changes}


def test_a_multirotor_that_falls_into_water_is_told_once() -> None:
    sim = watched(falling())
    sim.run(until=4.0)
    assert len(sim.warnings) == 1
    assert sim.warnings[0].endswith(f"it: {UNFELT}")


def test_over_water_and_without_water_nobody_is_told() -> None:
    assert _warnings(watched(falling(pose={"position": [0, 0, 50]})), 1.5) == []
    assert _warnings(watched(falling(), {"terrain": {"kind": "plane", "height": -20}}), 1.5) == []


@pytest.mark.parametrize(
    ("vehicle", "told"),
    [
        ({"extends": "boat", "pose": {"position": [0, 0, 9]}}, "is out of the water"),
        ({"extends": "boat", "pose": {"roll": 3.0}}, "has capsized"),
        ({"extends": "boat", "pose": {"position": [0, 0, -5]}}, "has sunk"),
        ({"extends": "rov", "pose": {"position": [0, 0, -5]}}, None),
        ({"extends": "boat"}, None),
    ],
)
def test_boats_out_of_place(vehicle: dict[str, Any], told: str | None) -> None:
    warnings = _warnings(watched(vehicle), 0.1)
    assert [text.partition(": ")[2] for text in warnings] == ([f"it: {told}"] if told else [])


def _warnings(sim: Simulation, until: float) -> list[str]:
    sim.run(until=until)
    return sim.warnings
