"""For tests of your own: fly a scenario with hooks, and measure how a vehicle answers to steps in each control mode.

`python -m airloom.testing x500` prints the step responses of a vehicle next to what its gains promise.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from airloom.basics.rotations import euler_from_quaternion
from airloom.commands import Command, PositionYaw, ThrustAttitude, ThrustTorque, ThrustVelocity, VelocityYawRate
from airloom.control.modes import Modes
from airloom.control.turning import TURNING_GAINS
from airloom.scenario import ScenarioError, load
from airloom.scenario.models import Scenario
from airloom.simulation import Simulation

__all__ = ["Flown", "Response", "Step", "report", "run_scenario", "step_responses"]

Hook = Callable[[Simulation], None]
Series = Callable[[np.ndarray], np.ndarray]


# -- flying a scenario -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flown:
    """A simulation after its flight, and what its vehicles did: a row of 13 numbers (`Vehicle.state`) for each time."""

    sim: Simulation
    times: np.ndarray
    states: dict[str, np.ndarray]

    def positions(self, vehicle: str) -> np.ndarray:
        return self.states[vehicle][:, 0:3]

    def velocities(self, vehicle: str) -> np.ndarray:
        return self.states[vehicle][:, 7:10]


def run_scenario(
    scenario: str | Path | Scenario | Simulation,
    *,
    steps: int,
    overrides: Mapping[str, Any] | None = None,
    seed: int | None = None,
    every: int = 1,
    pre_update: Hook | None = None,
    post_update: Hook | None = None,
) -> Flown:
    """Fly for `steps` ticks. Every `every` ticks, `pre_update(sim)` may act, and after them `post_update(sim)` look."""
    sim = _simulation(scenario, overrides, seed)
    times, states = [sim.time], {name: [vehicle.state] for name, vehicle in sim.vehicles.items()}
    end = sim.tick + steps
    while sim.tick < end:
        if pre_update:
            pre_update(sim)
        sim.step(min(every, end - sim.tick))
        if post_update:
            post_update(sim)
        times.append(sim.time)
        for name, vehicle in sim.vehicles.items():
            states[name].append(vehicle.state)
    return Flown(sim, np.array(times), {name: np.array(rows) for name, rows in states.items()})


def _simulation(scenario: Any, overrides: Mapping[str, Any] | None, seed: int | None) -> Simulation:
    if isinstance(scenario, Simulation):
        return scenario
    return Simulation(scenario if isinstance(scenario, Scenario) else load(scenario, overrides), seed)


# -- what gains promise ------------------------------------------------------------------------------------------------


def first_order(gain: float, times: np.ndarray) -> np.ndarray:
    """Answer of ẏ = K (1 − y) to a step."""
    return 1.0 - np.exp(-gain * times)


def second_order(frequency: float, damping: float, times: np.ndarray) -> np.ndarray:
    """Answer of ÿ = ω² (1 − y) − 2 ξ ω ẏ to a step."""
    root = np.sqrt(complex(damping**2 - 1.0))
    if abs(root) < 1e-6:
        return 1.0 - (1.0 + frequency * times) * np.exp(-frequency * times)
    fast, slow = frequency * (-damping - root), frequency * (-damping + root)
    return np.real(1.0 + (slow * np.exp(fast * times) - fast * np.exp(slow * times)) / (fast - slow))


@dataclass(frozen=True)
class Step:
    """A step in one mode: what is commanded, what is watched, and the answer that the gains promise."""

    quantity: str
    unit: str
    size: float
    command: Command
    watch: Series
    promise: Series
    duration: float
    gains: tuple[float, ...] = ()
    """k_p and k_d of second order, k of first."""


@dataclass(frozen=True)
class Response:
    """A measured step; `measured` and `promised` are parts of the step, at `times` after it."""

    step: Step
    times: np.ndarray
    measured: np.ndarray

    @property
    def promised(self) -> np.ndarray:
        return self.step.promise(self.times)

    @property
    def rise_time(self) -> float:
        """Seconds until 90 % of the step."""
        return _rise_time(self.times, self.measured)

    @property
    def promised_rise_time(self) -> float:
        return _rise_time(self.times, self.promised)

    @property
    def difference(self) -> float:
        """RMS difference over the response, as a part of the step."""
        return float(np.sqrt(np.mean((self.measured - self.promised) ** 2)))

    @property
    def overshoot(self) -> float:
        return max(float(self.measured.max()) - 1.0, 0.0)


def _rise_time(times: np.ndarray, values: np.ndarray) -> float:
    reached = np.flatnonzero(values >= 0.9)
    if not len(reached):
        return float("nan")
    last = max(int(reached[0]), 1)
    return float(np.interp(0.9, values[last - 1 : last + 1], times[last - 1 : last + 1]))


# -- measuring ---------------------------------------------------------------------------------------------------------

HEIGHT = 50.0
HOME = (0.0, 0.0, HEIGHT)
IDEAL_ROTOR = {
    "time_constant_up": 1e-5, "time_constant_down": 1e-5, "drag_coefficient": 0.0, "rolling_moment_coefficient": 0.0,
}  # fmt: skip
ACCELERATION = 1.0  # m/s² and rad/s², asked for by a step of position, velocity or torque
ANGLE = 0.1  # rad


def step_responses(
    vehicle: str, controller: str = "modes", *, ideal: bool = False, engine: str = "batch"
) -> list[Response]:
    """From a hover, one small step in each mode, with the answer that the gains promise.

    Promised is a vehicle whose rotors follow at once, without drag, whose tilt follows at once, and a control loop
    without steps in time. Real ones are slower; with `ideal`, the rotors know neither lag nor drag. The observer of
    drift is off.
    """
    sim = _alone(vehicle, controller, ideal, engine)
    return [_response(sim, step) for step in _steps(sim)]


def _alone(vehicle: str, controller: str, ideal: bool, engine: str) -> Simulation:
    drone = {
        "extends": vehicle, "pose": {"position": HOME}, "command_timeout": None,
        "controller": {"extends": controller, "drift_observer": 0},
        **({"rotor": IDEAL_ROTOR, "drag": 0.0} if ideal else {}),
    }  # fmt: skip
    calm = {"world.wind": [0, 0, 0], "world.obstacles": {}, "systems": {}, "engine": engine}
    return Simulation.load("waypoints", overrides={"vehicles.drone": drone, **calm})


def _steps(sim: Simulation) -> Iterable[Step]:
    drone, controller = sim.vehicles["drone"], sim.fleet.crafts[0].controller
    assert isinstance(controller, Modes), "only the controller 'modes' has step responses to promise"
    gains = controller.gains(sim.step_ns)[TURNING_GAINS:]
    kp, kd, velocity, tilt_kp, tilt_kd, yaw_kp, yaw_kd, yaw_rate, rate, *_ = gains
    inertia, weight = drone.airframe.inertia[0, 0], drone.mass * drone.airframe.gravity

    def pd(quantity: str, unit: str, size: float, command: Command, watch: Series, kp: float, kd: float) -> Step:
        frequency, damping = kp**0.5, kd / (2 * kp**0.5)
        promise = partial(second_order, frequency, damping)
        return Step(quantity, unit, size, command, watch, promise, 8 / frequency, (kp, kd))

    def p(quantity: str, unit: str, size: float, command: Command, watch: Series, gain: float) -> Step:
        return Step(quantity, unit, size, command, watch, partial(first_order, gain), 5 / gain, (gain,))

    away, fast, turning = ACCELERATION / kp, ACCELERATION / velocity, ANGLE * yaw_kp / yaw_rate
    rolling = 0.6 * ANGLE * rate  # which turns it by 3 angles in 5 / rate seconds
    yield pd("position, level", "m", away, PositionYaw((away, 0, HEIGHT)), lambda s: s[:, 0], kp, kd)
    yield pd("position, up", "m", away, PositionYaw((0, 0, HEIGHT + away)), lambda s: s[:, 2], kp, kd)
    yield pd("yaw", "rad", ANGLE, PositionYaw(HOME, ANGLE), lambda s: _angles(s)[:, 2], yaw_kp, yaw_kd)
    yield p("velocity, level", "m/s", fast, VelocityYawRate((fast, 0, 0)), lambda s: s[:, 7], velocity)
    yield p("velocity, up", "m/s", fast, VelocityYawRate((0, 0, fast)), lambda s: s[:, 9], velocity)
    yield p("yaw rate", "rad/s", turning, VelocityYawRate((0, 0, 0), turning), lambda s: s[:, 12], yaw_rate)
    roll = ThrustAttitude(weight, (ANGLE, 0, 0))
    yield pd("attitude, roll", "rad", ANGLE, roll, lambda s: _angles(s)[:, 0], tilt_kp, tilt_kd)
    yield p("angular velocity", "rad/s", rolling, ThrustVelocity(weight, (rolling, 0, 0)), lambda s: s[:, 10], rate)
    duration = 0.5
    twist = ThrustTorque(weight, (ACCELERATION * inertia, 0, 0))
    spun = ACCELERATION * duration
    yield Step("torque, rate reached", "rad/s", spun, twist, lambda s: s[:, 10], lambda t: t / duration, duration)


def _angles(states: np.ndarray) -> np.ndarray:
    return euler_from_quaternion(states[:, 3:7])


def _response(sim: Simulation, step: Step) -> Response:
    sim.reset()
    drone = sim.vehicles["drone"]
    drone.command(PositionYaw(HOME))
    _settle(sim)
    start = sim.time
    drone.command(step.command)
    flown = run_scenario(sim, steps=round(step.duration * 1e9 / sim.step_ns))
    watched = step.watch(flown.states["drone"])
    return Response(step, flown.times - start, (watched - watched[0]) / step.size)


def _settle(sim: Simulation) -> None:
    """Idle rotors let it drop a little at the start."""
    drone, unrest = sim.vehicles["drone"], np.inf
    while unrest > 1e-5 and sim.time < 60.0:
        sim.run(until=sim.time + 0.5)
        unrest = np.abs([*(drone.position - HOME), *drone.velocity, *drone.rates]).max()


def report(responses: Iterable[Response]) -> str:
    """A table of step responses, one a line."""
    lines = [f"{'step':<32}{'90 % promised':>14}{'flown':>9}{'overshoot':>11}{'RMS difference':>16}"]
    for r in responses:
        step = f"{r.step.quantity}, {r.step.size:.3g} {r.step.unit}"
        flown = "never" if np.isnan(r.rise_time) else f"{r.rise_time:.3f} s"
        times = f"{r.promised_rise_time:12.3f} s{flown:>9}"
        lines.append(f"{step:<32}{times}{100 * r.overshoot:9.1f} %{100 * r.difference:14.1f} %")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    vehicle = arguments[0] if arguments else "x500"
    for controller in ("modes", "uav_gazebo"):
        for ideal in (False, True):
            rotors = "rotors without lag and drag" if ideal else "its own rotors"
            print(f"{vehicle}, controller {controller}, {rotors}")
            print(report(step_responses(vehicle, controller, ideal=ideal)), end="\n\n", flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BrokenPipeError:  # whoever read it has seen enough, as head has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ScenarioError as error:
        sys.exit(str(error))
