"""Aeroplanes and hulls: modes of a measured aeroplane, buoyancy and added mass against closed forms."""

from __future__ import annotations

from math import cos, pi, sin, sqrt, tan
from typing import Any

import numpy as np

from airloom.basics.rotations import matrix_from_euler
from airloom.scenario import load_vehicle
from airloom.scenario.models import Scenario
from airloom.simulation import Simulation
from airloom.vehicles.aeroplane import Aeroplane, Trim
from airloom.vehicles.airframe import Airframe
from validation.case import Outcome, Row, case, engine, rotor

GRAVITY = 9.80665
LATER = "set after a first look, for the published modes belong to an earlier version of the published coefficients"


def state_slope(plane: Aeroplane, trim: Trim) -> np.ndarray:
    """8 × 8: how velocity, rates (body), roll and pitch change, linear about trimmed flight."""
    inertia = plane.airframe.inertia

    def change(x: np.ndarray) -> np.ndarray:
        velocity, rates, (roll, pitch) = x[:3], x[3:6], x[6:]
        wrench = plane.wrench(velocity, rates, trim.angles, trim.speeds)
        down = matrix_from_euler(roll, pitch, 0.0).T @ [0.0, 0.0, -GRAVITY]
        linear = wrench[:3] / plane.airframe.mass + down - np.cross(rates, velocity)
        angular = np.linalg.solve(inertia, wrench[3:] - np.cross(rates, inertia @ rates))
        turn = rates[0] + tan(pitch) * (rates[1] * sin(roll) + rates[2] * cos(roll))
        return np.concatenate([linear, angular, [turn, rates[1] * cos(roll) - rates[2] * sin(roll)]])

    speed = trim.speed
    at = np.array([speed * cos(trim.alpha), 0.0, -speed * sin(trim.alpha), 0.0, 0.0, 0.0, 0.0, -trim.alpha])
    return np.array([(change(at + 1e-5 * e) - change(at - 1e-5 * e)) / 2e-5 for e in np.eye(8)]).T


def modes(slope: np.ndarray, rows: list[int]) -> list[complex]:
    """Eigenvalues of a part of the state, the fastest first, one of each pair."""
    values = np.linalg.eigvals(slope[np.ix_(rows, rows)])
    return sorted((value for value in values if value.imag >= 0.0), key=lambda value: -abs(value))


@case(
    "Modes of an aeroplane",
    "University of Minnesota, UAV laboratory: Ultra Stick 25e, trim and linear model at 17 m/s (UASLab/OpenFlight, "
    "UltraStick25e, ValidatedDynamics)",
)
def aeroplane_modes() -> Outcome:
    """The bundled `plane` in level flight at 17 m/s: trim, and the eigenvalues of its linearised equations, from the
    kernels that fly it. The published phugoid has a motor that is held at constant power, ours a constant speed of the
    propeller, so it is left out.
    """
    plane = Aeroplane(Airframe(load_vehicle("plane"), GRAVITY, 0.001))
    trim = plane.trim(17.0)
    slope = state_slope(plane, trim)
    short, _ = modes(slope, [0, 2, 4, 7])
    roll, dutch, *_ = modes(slope, [1, 3, 5, 6])
    rows = [
        Row("angle of attack", trim.alpha, 0.0551, 0.006, "rad", LATER),
        Row("propeller", trim.speeds[0], 827.0, 25.0, "rad/s", LATER),
        Row("short period, frequency", abs(short), 15.4, 1.5, "rad/s", LATER),
        Row("short period, damping", -short.real / abs(short), 0.759, 0.08, "", LATER),
        Row("dutch roll, frequency", abs(dutch), 5.60, 0.3, "rad/s", LATER),
        Row("dutch roll, damping", -dutch.real / abs(dutch), 0.329, 0.03, "", LATER),
        Row("roll", -roll.real, 16.1, 0.8, "1/s", LATER),
    ]
    return Outcome(rows)


def afloat(hull: dict[str, Any], on: str, mass: float, inertia: float, **pose: Any) -> Simulation:
    """A body without power in water of 1000 kg/m³ far above the ground."""
    weightless = rotor() | {"thrust_constant": 1e-12}
    vehicle = {
        "mass": mass, "inertia": dict.fromkeys(("xx", "yy", "zz"), inertia), "body": {"size": [0.1, 0.1, 0.1]},
        "rotors": {"m": weightless}, "sensors": {"odometry": {"kind": "odometry"}}, "controller": None, "hull": hull,
        "pose": pose,
    }  # fmt: skip
    world = {"gravity": GRAVITY, "terrain": {"kind": "plane", "height": -200.0}, "water": {"density": 1000.0}}
    scenario = {"name": "afloat", "engine": engine(on), "world": world, "vehicles": {"v": vehicle}}
    return Simulation(Scenario.model_validate(scenario))


def barge_period(on: str, mass: float, inertia: float, size: tuple[float, float, float]) -> float:
    """Of small rolls, from one upward crossing to the fifth after it, s."""
    draught = mass / (1000.0 * size[0] * size[1])
    hull = {"shapes": {"box": {"kind": "box", "size": list(size)}}}
    sim = afloat(hull, on, mass, inertia, position=[0.0, 0.0, 0.5 * size[2] - draught], roll=0.02)
    crossings, before = [], sim.vehicles["v"].euler[0]
    while len(crossings) < 6:
        sim.step(5)
        now = sim.vehicles["v"].euler[0]
        if before < 0.0 <= now:
            crossings.append(sim.time - 0.005 * now / (now - before))
        before = now
    return (crossings[-1] - crossings[0]) / 5


@case("Buoyancy and added mass", "Archimedes; Fossen 2011, 6.3 and 8.1; Newman, Marine Hydrodynamics, 4.14 and 6.16")
def floating() -> Outcome:
    """A ball of 0.1 m and 2 kg rises in water: it starts with (ρV − m) g/(m + ρV/2), the added mass of a ball being
    half of what it displaces, and ends at √(2 (ρV − m) g/(ρ C_D A)), C_D = 0.47. A box barge rolls with
    T = 2π √(J/(m g GM)), GM = KB + BM − KG, BM = B²/(12 T) for the draught T.
    """
    radius, mass = 0.1, 2.0
    volume = 4 / 3 * pi * radius**3
    drag = 0.5 * 1000.0 * 0.47 * pi * radius**2
    size, heavy, inertia = (2.0, 1.0, 0.5), 300.0, 40.0
    draught = heavy / (1000.0 * size[0] * size[1])
    metacentric = 0.5 * draught + size[1] ** 2 / (12 * draught) - 0.5 * size[2]
    period = 2 * pi * sqrt(inertia / (heavy * GRAVITY * metacentric))
    rows = []
    for on in ("rk4", "mujoco"):
        label = {"rk4": "batch", "mujoco": "MuJoCo"}[on]
        hull = {
            "shapes": {"ball": {"kind": "ball", "radius": radius}},
            "added_mass": [500.0 * volume] * 3 + [0.0] * 3,
            "quadratic_damping": [drag] * 3 + [0.0] * 3,
        }
        sim = afloat(hull, on, mass, 0.01, position=[0.0, 0.0, -50.0])
        sim.step(1)
        start = (1000.0 * volume - mass) * GRAVITY / (mass + 500.0 * volume)
        rows.append(Row(f"start of the rise, {label}", sim.vehicles["v"].velocity[2] / 0.001, start, 1e-3, "m/s²"))
        sim.run(until=15)
        end = sqrt((1000.0 * volume - mass) * GRAVITY / drag)
        rows.append(Row(f"end of the rise, {label}", sim.vehicles["v"].velocity[2], end, 1e-6, "m/s"))
        rows.append(Row(f"roll of a barge, {label}", barge_period(on, heavy, inertia, size), period, 0.005, "s"))
    return Outcome(rows)
