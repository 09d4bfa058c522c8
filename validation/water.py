"""What floats and dives: righting moments, a pendulum under water, published vehicles next to their own equations."""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import Any

import numpy as np

from airloom.basics.rotations import matrix_from_quaternion
from airloom.commands import VelocityYawRate
from airloom.physics.rotor import cross_matrix
from airloom.scenario import load_vehicle
from airloom.scenario.models import Scenario
from airloom.simulation import Simulation
from airloom.world.atmosphere import STANDARD_DENSITY
from validation.case import Outcome, Row, case, engine
from validation.wings import GRAVITY, afloat

LABELS = {"rk4": "batch", "mujoco": "MuJoCo"}


def righting_moment(on: str, size: tuple[float, float, float], mass: float, heel: float) -> float:
    """About the length of a box that floats heeled, N m: what its first tick turns it by."""
    draught = mass / (1000.0 * size[0] * size[1])
    hull = {"shapes": {"box": {"kind": "box", "size": list(size)}}}
    sim = afloat(hull, on, mass, 40.0, position=[0.0, 0.0, (0.5 * size[2] - draught) * cos(heel)], roll=heel)
    sim.step(1)
    return -40.0 * float(sim.vehicles["v"].rates[0]) / 0.001


def wall_sided(size: tuple[float, float, float], mass: float, heel: float) -> float:
    """N m by the wall-sided formula, exact until deck or keel are at the surface: (GM + BM/2 tan² φ) sin φ.

    What is under water displaces no air, so that it is buoyed up by the difference of both densities; the air that
    all of the box displaces acts at its middle, the centre of mass, and turns nothing.
    """
    draught = mass / (1000.0 * size[0] * size[1])
    metacentre = size[1] ** 2 / (12 * draught)
    height = 0.5 * draught + metacentre - 0.5 * size[2]
    buoyed = mass * (1.0 - STANDARD_DENSITY / 1000.0)
    return buoyed * GRAVITY * (height + 0.5 * metacentre * (sin(heel) / cos(heel)) ** 2) * sin(heel)


def pendulum_period(on: str, length: float) -> float:
    """Of a ball as heavy as its water whose weight hangs below its middle, s."""
    radius, inertia = 0.1, 0.05
    volume = 4 / 3 * pi * radius**3
    mass, added = 1000.0 * volume, 500.0 * volume
    reach = np.hstack([np.eye(3), -cross_matrix(np.array([0.0, 0.0, length]))])
    hull = {
        "shapes": {"ball": {"kind": "ball", "radius": radius, "position": [0.0, 0.0, length]}},
        "added_mass": (added * reach.T @ reach).tolist(),
    }
    sim = afloat(hull, on, mass, inertia, position=[0.0, 0.0, -20.0], roll=0.02)
    crossings, before = [], sim.vehicles["v"].euler[0]
    while len(crossings) < 4:
        sim.step(5)
        now = sim.vehicles["v"].euler[0]
        if before < 0.0 <= now:
            crossings.append(sim.time - 0.005 * now / (now - before))
        before = now
    return (crossings[-1] - crossings[0]) / 3


@case(
    "Stability of a barge and a pendulum under water",
    "Biran, Ship Hydrostatics and Stability, 5.6 (wall-sided formula); Newman, Marine Hydrodynamics, 4.14",
)
def barges() -> Outcome:
    """The righting moment of a box barge at large heel, and its draught. A ball that weighs as much as its water, whose
    weight hangs l below its middle, swings as a pendulum that drags the added mass A of the ball along at its middle:
    T = 2π √((J + l² m A/(m + A))/(m g l)), which needs all of the 6 × 6 added mass about the centre of mass.
    """
    size, mass = (2.0, 1.0, 0.5), 300.0
    volume, length = 4 / 3 * pi * 0.1**3, 0.05
    heavy, added = 1000.0 * volume, 500.0 * volume
    period = 2 * pi * sqrt((0.05 + length**2 * heavy * added / (heavy + added)) / (heavy * GRAVITY * length))
    rows = []
    for on in ("rk4", "mujoco"):
        for heel in (0.1, 0.25):
            moment = righting_moment(on, size, mass, heel)
            rows.append(
                Row(
                    f"righting moment at {heel} rad, {LABELS[on]}",
                    moment,
                    wall_sided(size, mass, heel),
                    0.02,
                    "N m",
                    hindsight="at first the barge was heeled about its middle, which changes what it displaces, and "
                    "the reference left out the air, which was 0.12 %",
                )
            )
        hull = {"shapes": {"box": {"kind": "box", "size": list(size)}}, "damping": [0, 0, 3000, 0, 0, 0]}
        sim = afloat(hull, on, mass, 40.0, position=[0.0, 0.0, 0.2])
        sim.run(until=10)
        draught = 0.25 - float(sim.vehicles["v"].position[2])
        # 300 kg less the air that the whole box displaces, over the density of water less that of air.
        floats = (mass - 1.225) / (1000.0 - 1.225) / 2.0
        rows.append(Row(f"draught of the barge, {LABELS[on]}", draught, floats, 1e-4, "m"))
        rows.append(Row(f"pendulum under water, {LABELS[on]}", pendulum_period(on, length), period, 0.01, "s"))
    return Outcome(rows)


def at_sea(name: str, on: str, depth: float = 0.0, **changes: Any) -> Simulation:
    """A bundled vehicle in calm sea water."""
    given = load_vehicle(name).model_dump() | {"pose": {"position": (0.0, 0.0, depth)}} | changes
    world = {"terrain": {"kind": "plane", "height": -500.0}, "water": {}}
    scenario = {"name": name, "engine": engine(on), "world": world, "vehicles": {"v": given}}
    return Simulation(Scenario.model_validate(scenario))


def steered(on: str, left: float, right: float, seconds: float) -> Simulation:
    """The boat after so long with its propellers at these speeds."""
    sim = at_sea("boat", on, controller=None)
    sim.vehicles["v"].set_rotor_speeds([left, right])
    sim.run(until=seconds)
    return sim


def otter_turn(left: float, right: float) -> tuple[float, float]:
    """Speed and yaw rate of Fossen's Otter in a steady turn, in the plane, by his equations and numbers: m/s, rad/s."""
    m, j, x_u, y_v, n_r = 55.0, 15.95, 5.29, 82.5, 27.1
    thrusts = [0.01108 * n * n for n in (left, right)]
    u, v, r, dt = 0.0, 0.0, 0.0, 0.002
    for _ in range(30_000):
        surge = sum(thrusts) - 77.6 * u + (m + y_v) * v * r
        sway = -(137.5 + 150.0 * abs(v)) * v - (m + x_u) * u * r
        turn = 0.395 * (thrusts[1] - thrusts[0]) - (43.05 + 430.0 * abs(r)) * r - (y_v - x_u) * u * v
        u, v, r = u + dt * surge / (m + x_u), v + dt * sway / (m + y_v), r + dt * turn / (j + n_r)
    return sqrt(u * u + v * v), r


@case(
    "Published boat and underwater robot",
    "Fossen, Marine Systems Simulator, otter.m; von Benzon et al., JMSE 10 (2022) 1898; Blue Robotics' T200",
)
def vessels() -> Outcome:
    """The bundled `boat` at full speed goes six knots, as its builder says. In a turn it does what Fossen's equations
    in the plane give; it also trims and heels, which these do not know. Speeds are those of the centre of mass. The
    bundled `rov` reaches the speed at which the damping of von Benzon et al. is as large as what its four level
    thrusters push at 16 V, all as weakly as the two that push back; Blue Robotics rate it at 1.5 m/s, with less drag
    than was measured.
    """
    speed, rate = otter_turn(60.0, 90.0)
    ahead = 4 * sqrt(0.5) * 0.781 * 51.5 * 1.025
    top = (sqrt(13.7**2 + 4 * 141 * ahead) - 13.7) / (2 * 141)
    rows = []
    for on in ("rk4", "mujoco"):
        sim = steered(on, 103.9, 103.9, 10.0)
        rows.append(
            Row(
                f"boat at full speed, {LABELS[on]}",
                _level_speed(sim),
                6 * 0.5144,
                0.1,
                "m/s",
                hindsight="the pontoons were shaped anew after the boat had turned over at full thrust; read after 10 "
                "s instead of 30, for nobody steers it and it goes round later",
            )
        )
        sim = steered(on, 60.0, 90.0, 60.0)
        rows.append(Row(f"boat in a turn, {LABELS[on]}", _level_speed(sim), speed, 0.03 * speed, "m/s"))
        rows.append(Row(f"its yaw rate, {LABELS[on]}", float(sim.vehicles["v"].rates[2]), rate, 0.03 * rate, "rad/s"))
        sim = at_sea("rov", on, -100.0, command_timeout=None)
        sim.vehicles["v"].command(VelocityYawRate((3.0, 0.0, 0.0), body_frame=True))
        sim.run(until=10.0)
        rows.append(
            Row(
                f"robot ahead, {LABELS[on]}",
                _level_speed(sim),
                top,
                0.03 * top,
                "m/s",
                hindsight="at first all thrusters were told their greatest speed, and it turned",
            )
        )
    return Outcome(rows)


def _level_speed(sim: Simulation) -> float:
    """Of the centre of mass."""
    vehicle = sim.vehicles["v"]
    turn = matrix_from_quaternion(vehicle.attitude)
    arm = turn @ np.array(vehicle.description.center_of_mass)
    velocity = vehicle.velocity + np.cross(turn @ vehicle.rates, arm)
    return float(np.hypot(*velocity[:2]))
