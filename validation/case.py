"""What a validation case is: rows of numbers next to their references, a short text, a source, maybe a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from airloom.scenario.models import Scenario
from airloom.simulation import Simulation
from airloom.vehicle import Vehicle

Draw = Callable[[Figure], None]


@dataclass(frozen=True)
class Row:
    """One number: ours, the reference, and how far apart they may be."""

    quantity: str
    ours: float
    reference: float
    tolerance: float
    unit: str = ""
    hindsight: str = ""
    """Why the tolerance, or what is compared, was settled after the number had been seen; empty if before."""

    @property
    def difference(self) -> float:
        return self.ours - self.reference

    @property
    def passed(self) -> bool:
        return bool(abs(self.difference) <= self.tolerance)


@dataclass(frozen=True)
class Outcome:
    rows: list[Row]
    draw: Draw | None = None
    caption: str = ""


@dataclass(frozen=True)
class Case:
    """A named check. Its text is the docstring of the function that computes it."""

    name: str
    title: str
    source: str
    compute: Callable[[], Outcome]
    text: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", cleandoc(self.compute.__doc__ or ""))


def case(title: str, source: str) -> Callable[[Callable[[], Outcome]], Case]:
    """Make a case of a function."""
    return lambda compute: Case(compute.__name__, title, source, compute)


# -- simulations to measure on -----------------------------------------------------------------------------------------

ENGINES = ("rk4", "euler", "mujoco")
"""The batch engine with either integrator, and the MuJoCo engine."""


def engine(name: str) -> dict[str, Any]:
    return {"kind": "mujoco"} if name == "mujoco" else {"kind": "batch", "integrator": name}


def rotor(x: float = 0.1, y: float = 0.1, turns: str = "ccw", **changes: Any) -> dict[str, Any]:
    """A rotor of the RotorS kind, about that of a 1 kg quadrotor."""
    usual = {
        "position": (x, y, 0.02), "turns": turns, "thrust_constant": 8.54858e-6, "moment_constant": 0.016,
        "drag_coefficient": 8.06428e-5, "rolling_moment_coefficient": 1e-6, "max_speed": 1000.0,
    }  # fmt: skip
    return usual | changes


def body(**changes: Any) -> dict[str, Any]:
    """A bare body without flight stack, high above the ground, whose one rotor stands still."""
    usual = {
        "mass": 1.0, "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.025}, "body": {"size": (0.3, 0.3, 0.1)},
        "rotors": {"only": rotor()}, "sensors": {"odometry": {"kind": "odometry", "rate": 125}}, "controller": None,
        "estimator": {"kind": "ideal", "rate": 125}, "pose": {"position": (0, 0, 5000)},

    }  # fmt: skip
    return usual | changes


def simulate(
    vehicle: Mapping[str, Any], on: str = "rk4", step: float = 0.001, world: Mapping[str, Any] | None = None
) -> Simulation:
    """A simulation of one vehicle called `body`."""
    fields = {"name": "validation", "step": step, "engine": engine(on), "world": world or {}, "log": {"rate": 25}}
    return Simulation(Scenario.model_validate(fields | {"vehicles": {"body": dict(vehicle)}}))


def the_body(sim: Simulation) -> Vehicle:
    return next(iter(sim.vehicles.values()))


def history(sim: Simulation, until: float, every: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and states (position, attitude, velocity, rates) of the first vehicle, from now on."""
    vehicle, ticks = the_body(sim), round(every * 1e9 / sim.step_ns)
    times, states = [sim.time], [vehicle.state]
    while sim.time < until - 0.5 * every:
        sim.step(ticks)
        times.append(sim.time)
        states.append(vehicle.state)
    return np.array(times), np.array(states)
