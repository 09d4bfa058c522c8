"""Bundled vehicles that hover on rotors and nothing else."""

from __future__ import annotations

from airloom.scenario.library import known
from airloom.scenario.loader import load_vehicle


def is_multirotor(name: str) -> bool:
    vehicle = load_vehicle(name)
    return not vehicle.has_wings and vehicle.hull is None


HOVERING = frozenset(name for name in known("vehicle") if is_multirotor(name))
