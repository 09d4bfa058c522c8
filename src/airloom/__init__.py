"""Airloom: drones, from one nano-quadcopter to a swarm, simulated in one exact lockstep."""

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
