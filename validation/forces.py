"""Forces: motor lag, quadratic drag, hover, and the tilt that holds a vehicle against the wind."""

from __future__ import annotations

from math import cosh, exp, log, sqrt, tanh
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

from airloom.scenario.library import known
from airloom.scenario.loader import load_vehicle
from airloom.scenario.models import Vehicle
from airloom.simulation import Simulation
from validation.case import ENGINES, Outcome, Row, body, case, engine, history, rotor, simulate, the_body
from validation.rigid_body import LABELS, largest

# -- motor lag ---------------------------------------------------------------------------------------------------------

UP, DOWN, TOP_SPEED = 0.0125, 0.025, 900.0


def motor_response(on: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and speeds: full command for 0.1 s, then none for 0.1 s."""
    lags = {"time_constant_up": UP, "time_constant_down": DOWN}
    sim = simulate(body(rotors={"only": rotor(**lags)}), on)
    vehicle, speeds = the_body(sim), [0.0]
    for target in (TOP_SPEED, 0.0):
        vehicle.set_rotor_speeds([target])
        for _ in range(100):
            sim.step()
            speeds.append(float(vehicle.rotor_speeds[0]))
    return 0.001 * np.arange(201), np.array(speeds)


def exact_motor_response(times: np.ndarray) -> np.ndarray:
    peak = TOP_SPEED * (1.0 - exp(-0.1 / UP))
    rising = TOP_SPEED * (1.0 - np.exp(-times / UP))
    return np.where(times <= 0.1, rising, peak * np.exp(-(times - 0.1) / DOWN))


def draw_motor(figure: Figure) -> None:
    axes = figure.subplots()
    times, speeds = motor_response("rk4")
    fine = np.linspace(0, 0.2, 801)
    axes.plot(1e3 * fine, exact_motor_response(fine), label="closed form")
    axes.plot(1e3 * times[::4], speeds[::4], ".", label="Airloom")
    axes.set(xlabel="time, ms", ylabel="rotor speed, rad/s", xlim=(0, 200), ylim=(0, None))
    axes.legend(frameon=False)


@case(
    "Motor step response", "RotorS: Furrer, Burri, Achtelik, Siegwart, *Robot Operating System* vol. 1 (2016), ch. 23"
)
def motor_lag() -> Outcome:
    """A motor follows its command as a first-order lag, ω(t) = u (1 − e^(−t/τ↑)) going up and ω(t) = ω₀ e^(−t/τ↓) going
    down, τ↑ = 12.5 ms and τ↓ = 25 ms. The discrete form ω ← α ω + (1 − α) u with α = e^(−dt/τ) is exact at the ticks.
    """
    rows = []
    for on in ("rk4", "mujoco"):
        times, speeds = motor_response(on)
        exact = exact_motor_response(times)
        rows.append(Row(f"speed after τ↑·8 = 100 ms, {LABELS[on]}", speeds[100], float(exact[100]), 1e-9, "rad/s"))
        rows.append(Row(f"speed after τ↓·4 = 100 ms, {LABELS[on]}", speeds[200], float(exact[200]), 1e-9, "rad/s"))
        rows.append(Row(f"largest error of 200 ticks, {LABELS[on]}", largest(speeds - exact), 0.0, 1e-9, "rad/s"))
    return Outcome(rows, draw_motor, "A motor commanded up and down again.")


# -- free fall ---------------------------------------------------------------------------------------------------------

MASS, DRAG, GRAVITY, FALL = 1.2, 0.02, 9.80665, 8.0


def exact_fall(t: float) -> tuple[float, float]:
    """Distance and speed."""
    rate = sqrt(GRAVITY * DRAG / MASS)
    return MASS / DRAG * log(cosh(rate * t)), sqrt(MASS * GRAVITY / DRAG) * tanh(rate * t)


def fall(on: str, step: float) -> tuple[float, float]:
    sim = simulate(body(mass=MASS, drag=DRAG), on, step, {"gravity": GRAVITY})
    sim.run(until=FALL)
    state = the_body(sim).state
    return 5000.0 - state[2], -state[9]


def draw_fall(figure: Figure) -> None:
    axes = figure.subplots()
    times, states = history(simulate(body(mass=MASS, drag=DRAG), world={"gravity": GRAVITY}), 10.0, 0.25)
    axes.plot(times, [exact_fall(t)[1] for t in times], label="closed form")
    axes.plot(times, -states[:, 9], ".", label="Airloom, RK4")
    axes.axhline(sqrt(MASS * GRAVITY / DRAG), color="gray", linewidth=0.8, linestyle=":")
    axes.annotate("√(mg/c)", (9.9, sqrt(MASS * GRAVITY / DRAG) - 0.3), ha="right", va="top", color="gray")
    axes.set(xlabel="time, s", ylabel="speed, m/s", xlim=(0, 10), ylim=(0, 26))
    axes.legend(loc="lower right", frameon=False)


@case(
    "Free fall with quadratic drag", "Timmerman, van der Weele: *Am. J. Phys.* 67, 538 (1999), and any mechanics text"
)
def free_fall() -> Outcome:
    """A body of 1.2 kg falls with its rotors at rest against F = −c |u| u, c = 0.02 N s²/m²:
    v = √(mg/c) tanh(t √(gc/m)) and s = (m/c) ln cosh(t √(gc/m)). Compared after 8 s.

    The Euler step is ahead by about half a step of the speed; extrapolated from 1 ms and 0.5 ms it agrees too.
    """
    distance, speed = exact_fall(FALL)
    rows = []
    for on in ENGINES:
        (s1, v1), (s2, v2) = fall(on, 0.001), fall(on, 0.0005)
        tight = on == "rk4"
        rows.append(Row(f"distance, {LABELS[on]} at 1 ms", s1, distance, 1e-8 if tight else 0.02, "m"))
        rows.append(Row(f"speed, {LABELS[on]} at 1 ms", v1, speed, 1e-9 if tight else 2e-3, "m/s"))
        if not tight:
            rows.append(Row(f"distance, {LABELS[on]} extrapolated", 2 * s2 - s1, distance, 1e-5, "m"))
            rows.append(Row(f"speed, {LABELS[on]} extrapolated", 2 * v2 - v1, speed, 1e-6, "m/s"))
    return Outcome(rows, draw_fall, "Speed of a body that falls from rest.")


# -- hover -------------------------------------------------------------------------------------------------------------

PUBLISHED_HOVER = {
    "crazyflie2": (1862.0, 1.0, 9.80665),
    "crazyflie2_crazys": (2271.9, 1.0, 9.8),
    "x500": (769.0, 1.0, 9.80665),
}
"""rad/s, tolerance, and the gravity it belongs to: Förster's maps give 1862 at a quarter of the weight, CrazyS'
hover PWM 6874 gives 2271.9, PX4's x500 hovers at 769."""


def hovering(vehicle: str, on: str, gravity: float = 9.80665, wind=(0.0, 0.0, 0.0), **parts: Any) -> Simulation:
    """A bundled vehicle, called `cf`, maybe with other parts, holding its place 3 m above the ground."""
    start = {"extends": vehicle, "pose": {"position": [0, 0, 3]}, **parts}
    changes = {
        "engine": engine(on), "vehicles.cf": start, "world.gravity": gravity, "world.wind": list(wind),
        "systems.waypoints.points": [{"at": 0, "position": [0, 0, 3], "yaw": 0}],
    }  # fmt: skip
    return Simulation.load("hover", overrides=changes)


def settled_speed(vehicle: str, on: str, gravity: float) -> tuple[float, float]:
    """Root mean square of the rotor speeds in hover, weighted by thrust, and √(mg/Σk)."""
    sim = hovering(vehicle, on, gravity)
    sim.run(until=120.0)
    flying = the_body(sim)
    constants = np.array([r.thrust_constant for r in flying.airframe.rotors])
    mean = sqrt(np.sum(constants * flying.rotor_speeds**2) / np.sum(constants))
    return mean, sqrt(flying.mass * gravity / np.sum(constants))


@case(
    "Rotor speed in hover",
    "weight = thrust; Förster (2015); CrazyS: Silano, Iannelli (2020), hover PWM 6874; PX4-gazebo-models, x500",
)
def hover_speed() -> Outcome:
    """A vehicle that stands still in calm air needs Σ k ω² = m g. Every bundled multirotor hovers for 120 s under its
    own controller, and the root mean square of its rotor speeds is compared with √(mg/Σk); where a hover speed is
    published, with that too (that of CrazyS at g = 9.8 m/s²).
    """
    rows = []
    hovering = [name for name in known("vehicle") if (it := load_vehicle(name)).hull is None and not it.has_wings]
    for vehicle in sorted(hovering):
        published, tolerance, gravity = PUBLISHED_HOVER.get(vehicle, (None, 0.0, 9.80665))
        for on in ("rk4", "mujoco"):
            ours, balance = settled_speed(vehicle, on, gravity)
            rows.append(Row(f"{vehicle}, {LABELS[on]}", ours, balance, 1e-5 * balance, "rad/s"))
        if published is not None:
            rows.append(Row(f"{vehicle}, published", ours, published, tolerance, "rad/s"))
    return Outcome(rows)


# -- wind --------------------------------------------------------------------------------------------------------------


def unbalanced(unknown: np.ndarray, vehicle: Vehicle, gravity: float, wind: np.ndarray, yaw: float) -> np.ndarray:
    """Force and torque left over on a vehicle that stands still with this roll, pitch and these rotor speeds."""
    roll, pitch, *speeds = unknown
    to_body = Rotation.from_euler("ZYX", [yaw, pitch, roll]).inv()
    flow = to_body.apply(-wind)
    force = to_body.apply((0.0, 0.0, -vehicle.mass * gravity)) - vehicle.drag * np.linalg.norm(flow) * flow
    torque = np.zeros(3)
    for r, speed in zip(vehicle.rotors.values(), speeds, strict=True):
        axis = np.array(r.axis) / np.linalg.norm(r.axis)
        across = flow - flow @ axis * axis
        thrust = r.thrust_constant * speed**2
        push = thrust * axis - speed * r.drag_coefficient * across
        turn = 1.0 if r.turns == "ccw" else -1.0
        force = force + push
        torque = torque + np.cross(np.subtract(r.position, vehicle.center_of_mass), push)
        torque = torque - turn * r.moment_constant * thrust * axis - speed * r.rolling_moment_coefficient * across
    return np.concatenate([force, torque])


def static_tilt(vehicle: Vehicle, gravity: float, wind: np.ndarray, yaw: float = 0.0) -> float:
    """Angle between body z and the vertical that holds a quadrotor in place, rad."""
    hover = sqrt(vehicle.mass * gravity / sum(r.thrust_constant for r in vehicle.rotors.values()))
    solution = fsolve(unbalanced, [0.0, -0.05, *[hover] * 4], args=(vehicle, gravity, wind, yaw), xtol=1e-13)
    return float(np.arccos(np.cos(solution[0]) * np.cos(solution[1])))


def simulated_tilt(vehicle: str, on: str, wind: float) -> tuple[float, float]:
    """Steady tilt, and the one from the balance of forces at the yaw the vehicle settled at."""
    sim = hovering(vehicle, on, wind=(wind, 0.0, 0.0))
    sim.run(until=60.0)
    flying = the_body(sim)
    roll, pitch, yaw = flying.euler
    described = sim.scenario.vehicles["cf"]
    return float(np.arccos(np.cos(roll) * np.cos(pitch))), static_tilt(described, 9.80665, np.array([wind, 0, 0]), yaw)


WIND_VEHICLES = ("multirotor", "iris", "x500")


def draw_tilt(figure: Figure) -> None:
    axes = figure.subplots()
    for vehicle in WIND_VEHICLES:
        described = hovering(vehicle, "rk4").scenario.vehicles["cf"]
        winds = np.linspace(0.0, 8.0, 33)
        tilts = [static_tilt(described, 9.80665, np.array([u, 0.0, 0.0])) for u in winds]
        (line,) = axes.plot(winds, np.degrees(tilts), label=vehicle)
        points = [2.0, 4.0, 6.0, 8.0]
        axes.plot(
            points, [np.degrees(simulated_tilt(vehicle, "rk4", u)[0]) for u in points], "o", color=line.get_color()
        )
    axes.plot([], [], "ko", label="simulated")
    axes.set(xlabel="wind, m/s", ylabel="tilt, °", xlim=(0, 8.3), ylim=(0, None))
    axes.legend(frameon=False)


@case("Tilt in a steady wind", "balance of forces with the RotorS rotor model, solved by SciPy")
def wind_tilt() -> Outcome:
    """A vehicle that holds its place in a steady wind leans into it until the thrust balances its weight, the rotors'
    H-force Σ ω k_d u⊥ and the body drag c |u| u, with the torques of the rotors balanced too. The six equations for
    roll, pitch and four rotor speeds are written out rotor by rotor, apart from Airloom's code, and solved.
    """
    rows = []
    for vehicle in WIND_VEHICLES:
        for on, wind in (("rk4", 3.0), ("rk4", 6.0), ("mujoco", 6.0)):
            ours, balance = np.degrees(simulated_tilt(vehicle, on, wind))
            rows.append(Row(f"{vehicle} in {wind:g} m/s, {LABELS[on]}", float(ours), float(balance), 1e-3, "°"))
    return Outcome(rows, draw_tilt, "Tilt of hovering vehicles: lines are the balance of forces, dots the simulation.")
