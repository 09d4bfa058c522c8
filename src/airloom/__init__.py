"""Airloom: drones, from one nano-quadcopter to a swarm, simulated in one exact lockstep."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airloom.commands import CommandError, PositionYaw
    from airloom.flight_stack import Controller, Estimator
    from airloom.physics.wrench import effect
    from airloom.plugin import Parameters
    from airloom.scenario import ScenarioError
    from airloom.simulation import Simulation
    from airloom.system import System
    from airloom.vehicle import Vehicle

__version__ = "0.1.0"

__all__ = [
    "CommandError",
    "Controller",
    "Estimator",
    "Parameters",
    "PositionYaw",
    "ScenarioError",
    "Simulation",
    "System",
    "Vehicle",
    "effect",
]

_MODULES = {
    "CommandError": "commands",
    "Controller": "flight_stack",
    "Estimator": "flight_stack",
    "Parameters": "plugin",
    "PositionYaw": "commands",
    "ScenarioError": "scenario",
    "Simulation": "simulation",
    "System": "system",
    "Vehicle": "vehicle",
    "effect": "physics.wrench",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `airloom --help` need not wait for the machinery."""
    if name not in _MODULES:
        raise AttributeError(f"module 'airloom' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"airloom.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
