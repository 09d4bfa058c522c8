"""Airloom: drones, from one nano-quadcopter to a swarm, simulated in one exact lockstep."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from airloom.basics.version import VERSION

if TYPE_CHECKING:
    from airloom.commands import (
        CommandError,
        Mode,
        PositionYaw,
        ThrustAttitude,
        ThrustTorque,
        ThrustVelocity,
        VelocityYawRate,
    )
    from airloom.control.flight_stack import Controller, Estimator, Rated, block_kernel
    from airloom.group import Group
    from airloom.physics.wrench import effect
    from airloom.plugin import Parameters
    from airloom.runs.mcap import LogReader
    from airloom.scenario import ScenarioError
    from airloom.sensors.sensor import Sensor, sensor_kernel
    from airloom.sensors.sensor_errors import SensorErrors
    from airloom.simulation import Simulation
    from airloom.system import System
    from airloom.vehicle import Vehicle
    from airloom.watch.divergence import Diverged

__version__ = VERSION

__all__ = [
    "CommandError",
    "Controller",
    "Diverged",
    "Estimator",
    "Group",
    "LogReader",
    "Mode",
    "Parameters",
    "PositionYaw",
    "Rated",
    "ScenarioError",
    "Sensor",
    "SensorErrors",
    "Simulation",
    "System",
    "ThrustAttitude",
    "ThrustTorque",
    "ThrustVelocity",
    "Vehicle",
    "VelocityYawRate",
    "block_kernel",
    "effect",
    "sensor_kernel",
]

_MODULES = {
    "CommandError": "commands",
    "Controller": "control.flight_stack",
    "Diverged": "watch.divergence",
    "SensorErrors": "sensors.sensor_errors",
    "Estimator": "control.flight_stack",
    "Group": "group",
    "LogReader": "runs.mcap",
    "Mode": "commands",
    "Parameters": "plugin",
    "PositionYaw": "commands",
    "Rated": "control.flight_stack",
    "ScenarioError": "scenario",
    "Sensor": "sensors.sensor",
    "Simulation": "simulation",
    "System": "system",
    "ThrustAttitude": "commands",
    "ThrustTorque": "commands",
    "ThrustVelocity": "commands",
    "Vehicle": "vehicle",
    "block_kernel": "control.flight_stack",
    "VelocityYawRate": "commands",
    "effect": "physics.wrench",
    "sensor_kernel": "sensors.sensor",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `airloom --help` need not wait for the machinery."""
    if name not in _MODULES:
        raise AttributeError(f"module 'airloom' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"airloom.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
