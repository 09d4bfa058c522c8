"""Airloom: drones, from one nano-quadcopter to a swarm, simulated in one exact lockstep.

Public are the names below and those of `airloom.autopilots`, `bus`, `farm`, `joystick`, `kernels`, `member`, `plugin`,
`runs`, `studio.sources`, `swarm`, `systems` and `testing`, as far as `__all__` there has them. All else may change.
"""

from typing import TYPE_CHECKING

from airloom.basics.lazy import lazily
from airloom.basics.version import VERSION

if TYPE_CHECKING:
    from airloom.basics.rotations import euler_from_quaternion, quaternion_from_euler
    from airloom.commands import (
        CommandError,
        Mode,
        PositionYaw,
        ThrustAttitude,
        ThrustTorque,
        ThrustVelocity,
        VelocityYawRate,
    )
    from airloom.control.flight_stack import Controller, Estimator, Rated
    from airloom.errors import AirloomError
    from airloom.group import Group
    from airloom.plugin import Parameters
    from airloom.runs.mcap import LogReader
    from airloom.scenario import ScenarioError
    from airloom.sensors.faults import Fault
    from airloom.sensors.sensor import Mounted, Sensor
    from airloom.sensors.sensor_errors import SensorErrors
    from airloom.simulation import Simulation
    from airloom.system import System
    from airloom.terrain.build import build_terrain
    from airloom.vehicle import Vehicle
    from airloom.watch.divergence import Diverged

__version__ = VERSION

__all__ = [
    "AirloomError",
    "CommandError",
    "Controller",
    "Diverged",
    "Estimator",
    "Fault",
    "Group",
    "LogReader",
    "Mode",
    "Mounted",
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
    "build_terrain",
    "euler_from_quaternion",
    "quaternion_from_euler",
]

_MODULES = {
    "AirloomError": "errors",
    "CommandError": "commands",
    "Controller": "control.flight_stack",
    "Diverged": "watch.divergence",
    "Estimator": "control.flight_stack",
    "Fault": "sensors.faults",
    "Group": "group",
    "LogReader": "runs.mcap",
    "Mode": "commands",
    "Mounted": "sensors.sensor",
    "Parameters": "plugin",
    "PositionYaw": "commands",
    "Rated": "control.flight_stack",
    "ScenarioError": "scenario",
    "Sensor": "sensors.sensor",
    "SensorErrors": "sensors.sensor_errors",
    "Simulation": "simulation",
    "System": "system",
    "ThrustAttitude": "commands",
    "ThrustTorque": "commands",
    "ThrustVelocity": "commands",
    "Vehicle": "vehicle",
    "VelocityYawRate": "commands",
    "build_terrain": "terrain.build",
    "euler_from_quaternion": "basics.rotations",
    "quaternion_from_euler": "basics.rotations",
}

__getattr__ = lazily(__name__, _MODULES)  # so that `airloom --help` need not wait for the machinery


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
