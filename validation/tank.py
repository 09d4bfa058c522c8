"""Tanks: modes of sloshing, their decay, and a liquid together with its frame."""

from __future__ import annotations

from math import cosh, log, pi, sinh, sqrt
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from airloom.compiled import rows as workspace
from airloom.compiled.rows import LANES
from airloom.physics import liquid
from airloom.physics import tank as rows
from airloom.simulation import Simulation
from validation.case import ENGINES, Outcome, Row, body, case, rotor, simulate, the_body
from validation.rigid_body import LABELS, NO_GRAVITY, largest

DODGE = "Dodge, in Abramson (ed.), *The Dynamic Behavior of Liquids in Moving Containers*, NASA SP-106 (1966), ch. 6"
GRAVITY = 9.81

# -- a liquid and its frame, as Lagrange would have it -----------------------------------------------------------------


def frame(tank: dict[str, Any], mass: float = 10.0, **changes: Any) -> dict[str, Any]:
    """A body with a tank, whose liquid has no viscosity unless told."""
    usual = {"capacity": 12.0, "litres": 6.0, "viscosity": 0.0, "position": (0.0, 0.0, -0.1)}
    inertia = {"xx": 0.05 * mass, "yy": 0.06 * mass, "zz": 0.08 * mass}
    return body(mass=mass, inertia=inertia, body={"size": (1, 1, 1)}, tank=usual | tank, **changes)


ROUND = {"shape": "upright_cylinder", "size": (0.25, 0.25, 0.26)}


def numbers_of(sim: Simulation) -> np.ndarray:
    """Those of the tank of the only vehicle, a view."""
    return sim.fleet.tank_numbers_of(sim.fleet.crafts[0])


def modes_of(sim: Simulation) -> np.ndarray:
    """[mode, row]: what the loop knows of each mode, a view; the rows are those of physics/tank.py from X on."""
    return numbers_of(sim)[rows.X // LANES :][: liquid.MODES * rows.MODE_ROWS].reshape(liquid.MODES, -1)


def at(row: int) -> int:
    return (row - rows.X) // LANES


# -- frequencies and masses --------------------------------------------------------------------------------------------

TABLE = (
    ("box, a = h = 1 m", liquid.BOX, 1.0, 1.0, 0.8819, 0.25705, 0.3195),
    ("box, a 0.30 m, h 0.1667 m", liquid.BOX, 0.30, 0.1667, 1.5647, 0.43688, 0.10149),
    ("cylinder, R = h = 1 m", liquid.UPRIGHT, 2.0, 1.0, 0.65959, 0.43220, 0.57117),
    ("cylinder, R 0.125 m, h 0.10 m", liquid.UPRIGHT, 0.25, 0.10, 1.8151, 0.51140, 0.07542),
)
HALF_FULL = 1.35573
"""ω²R/g of the lowest mode across a lying cylinder that is half full, exactly."""


@case("Modes of sloshing", f"{DODGE}; across a lying cylinder: McIver, *J. Fluid Mech.* 201 (1989)")
def sloshing_modes() -> Outcome:
    """Frequency of the lowest mode, the share of the liquid that swings in it, and the length of the pendulum that
    swings likewise. A lying cylinder counts as the box with the same free surface and volume, which costs 1.1 % of
    the frequency when it is half full.
    """
    found = []
    for name, shape, a, depth, frequency, share, length in TABLE:
        per_length, ours, _ = liquid.swinging_mass(shape, 0, a, depth)
        found += [
            Row(f"{name}: frequency", sqrt(GRAVITY * per_length) / (2 * pi), frequency, 1e-4, "Hz"),
            Row(f"{name}: share that swings", ours, share, 2e-5),
            Row(f"{name}: pendulum", 1 / per_length, length, 5e-5, "m"),
        ]
    across, depth = liquid.free_surface(liquid.LYING_ALONG_X, 1.0, 2.0, 2.0, pi / 2, 1.0)[1:]
    half = liquid.swinging_mass(liquid.LYING_ALONG_X, 0, across, depth)[0]
    found.append(
        Row("lying cylinder, half full, across: √(ω²R/g)", sqrt(half), sqrt(HALF_FULL), 0.02 * sqrt(HALF_FULL))
    )
    return Outcome(found)


# -- decay in a tank that stands still ---------------------------------------------------------------------------------

STANDING = {"square": (0.30, 0.20, 0.34), "round": (0.25, 0.25, 0.26)}
LITRES = {"square": 10.0, "round": 1000 * pi * 0.125**2 * 0.10}
BAFFLES = 0.01


def swinging(shape: str, on: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and displacements of the first mode along x in a tank on the ground, pushed aside at the start."""
    tank = {
        "shape": "box" if shape == "square" else "upright_cylinder", "size": STANDING[shape], "viscosity": 1e-6,
        "capacity": 12.0, "litres": LITRES[shape], "baffles": BAFFLES,
    }  # fmt: skip
    vehicle = frame(tank, mass=5000.0, pose={"position": (0.0, 0.0, 0.5)})
    sim = simulate(vehicle, on, world={"gravity": GRAVITY})
    sim.run(until=1.0)
    modes_of(sim)[0, at(rows.X)] = 0.002
    times, places = [], []
    while sim.time < 11.0:
        times.append(sim.time - 1.0)
        places.append(the_body(sim).tank.displacement[0, 0])
        sim.step(2)
    return np.array(times), np.array(places)


def frequency_and_damping(times: np.ndarray, places: np.ndarray) -> tuple[float, float]:
    """Of a decaying oscillation, by its zeros and by its greatest values between them."""
    signs = np.flatnonzero(places[:-1] * places[1:] < 0)
    zeros = times[signs] - places[signs] * (times[1] - times[0]) / (places[signs + 1] - places[signs])
    peaks = [np.abs(part).max() for part in np.split(places, signs + 1)[1:-1]]
    half = float(np.diff(zeros).mean())
    decrement = log(peaks[0] / peaks[-1]) / (len(peaks) - 1)
    damping = decrement / sqrt(pi**2 + decrement**2)
    return 0.5 / half / sqrt(1 - damping**2), damping


def damping_of_cylinder(radius: float, depth: float) -> float:
    """Of water, without baffles."""
    x = 1.84 * depth / radius
    factor = 1 + 0.318 / sinh(x) * (1 + (1 - depth / radius) / cosh(x))
    return 0.79 * sqrt(1e-6 / sqrt(9.80665 * radius**3)) * factor


def draw_decay(figure: Figure) -> None:
    axes = figure.subplots()
    times, places = swinging("round", "rk4")
    damping, frequency = BAFFLES + damping_of_cylinder(0.125, 0.10), 2 * pi * 1.8151
    axes.plot(times, 1e3 * places, label="Airloom")
    axes.plot(times, 2 * np.exp(-damping * frequency * times), "k--", label="table")
    axes.set(xlabel="time, s", ylabel="displacement of the first mode, mm", xlim=(0, 10))
    axes.legend(frameon=False)


@case("Sloshing dies away", f"{DODGE}, and ch. 4 for the damping in an upright cylinder")
def sloshing_decay() -> Outcome:
    """A tank stands on the ground, the surface of its water is let go. Frequency and damping ratio are those of the
    formulas: that of a box by its baffles and the formula for the cylinder as long, which is all that there is.
    """
    found = []
    cases = {"square": (1.5647, damping_of_cylinder(0.15, 1 / 6)), "round": (1.8151, damping_of_cylinder(0.125, 0.10))}
    for shape, (frequency, damping) in cases.items():
        for on in ("rk4", "mujoco"):
            ours, decay = frequency_and_damping(*swinging(shape, on))
            found += [
                Row(f"{shape}, {LABELS[on]}: frequency", ours, frequency, 1e-3 * frequency, "Hz"),
                Row(f"{shape}, {LABELS[on]}: damping ratio", decay, BAFFLES + damping, 2e-4),
            ]
    return Outcome(found, draw_decay, "Water 0.10 m deep in a cylinder of 0.25 m with baffles, and its envelope")


# -- with a frame that is free to move ---------------------------------------------------------------------------------


def linear_theory(sim: Simulation, start: np.ndarray, time: float) -> np.ndarray:
    """Centre's x, pitch, and the displacements of the modes along x, after `time`, from small ones at the start.

    The frame is held against gravity by a force at its centre. With the heights z of the masses above that centre,
    2 T = M Ẋ² + J θ̇² + Σ m (2 (Ẋ + z θ̇) ẋ + ẋ²) and 2 V = Σ m g (x²/L − 2 x θ).
    """
    vehicle, modes = the_body(sim), modes_of(sim)
    column = sim.fleet.column(sim.fleet.crafts[0])
    inertia, centre = column[workspace.JYY // LANES], column[workspace.CZ // LANES]
    m, z = modes[:, at(rows.MASS_X)], modes[:, at(rows.HEIGHT_X)] - centre
    mass, stiffness = np.zeros((5, 5)), np.zeros((5, 5))
    mass[0, 0], mass[1, 1] = vehicle.mass, inertia
    mass[0, 2:] = mass[2:, 0] = m
    mass[1, 2:] = mass[2:, 1] = m * z
    mass[2:, 2:] = np.diag(m)
    stiffness[1, 2:] = stiffness[2:, 1] = -m * GRAVITY
    stiffness[2:, 2:] = np.diag(m * GRAVITY * modes[:, at(rows.PER_LENGTH_X)])
    system = np.block([[np.zeros((5, 5)), np.eye(5)], [-np.linalg.solve(mass, stiffness), np.zeros((5, 5))]])
    return (expm(system * time) @ np.concatenate([start, np.zeros(5)]))[:5]


def let_go(on: str, time: float, step: float = 0.001) -> tuple[np.ndarray, np.ndarray]:
    """What a frame and its liquid do after the surface is let go, ours and by linear theory."""
    sim = simulate(frame(ROUND), on, step, {"gravity": GRAVITY})
    vehicle = the_body(sim)
    vehicle.push(force=(0.0, 0.0, vehicle.mass * GRAVITY))
    column = sim.fleet.column(sim.fleet.crafts[0])
    centre = np.array([0.0, 0.0, column[workspace.CZ // LANES]])
    start = np.array([0.0, 0.0, 1e-4, 0.0, 2e-5])
    modes_of(sim)[:, at(rows.X)] = start[2:]
    reference = linear_theory(sim, start, time)
    sim.run(until=time)
    turn = Rotation.from_quat(vehicle.attitude, scalar_first=True)
    place = vehicle.position + turn.apply(centre)
    pitch = float(turn.as_rotvec()[1])
    return np.array([place[0], pitch, *vehicle.tank.displacement[:, 0]]), reference


@case("Sloshing and a free frame", "Lagrange's equations, solved by a matrix exponential")
def sloshing_frame() -> Outcome:
    """A frame of 10 kg with 6 L in a round tank, held against gravity by a force at its centre, is let go with a
    surface that is not level, by a tenth of a millimetre. After 1.5 s frame and liquid are where linear theory has
    them. It is a matter of both: the liquid is three eighths of the mass.
    """
    found = []
    for on in ENGINES:
        ours, reference = let_go(on, 1.5)
        names = ("centre", "pitch", "first mode", "second mode", "third mode")
        for name, one, other in zip(names, ours, reference, strict=True):
            unit, tolerance = ("rad", 2e-6) if name == "pitch" else ("m", 2e-6)
            found.append(Row(f"{LABELS[on]}: {name}", one, other, tolerance, unit))
    return Outcome(found)


SWINGING = 6.0 * liquid.swinging_mass(liquid.UPRIGHT, 0, 0.25, 0.006 / (pi * 0.125**2))[1]
"""kg, of the lowest mode."""


def conserved(sim: Simulation) -> np.ndarray:
    """Energy, momentum and angular momentum (world) of frame and liquid, from places and velocities alone."""
    vehicle, column, modes = the_body(sim), sim.fleet.column(sim.fleet.crafts[0]), modes_of(sim)

    def get(first: int, count: int) -> np.ndarray:
        return column[first // LANES :][:count]

    turn = Rotation.from_quat(vehicle.attitude, scalar_first=True)
    rates, mass, centre = vehicle.rates, vehicle.mass, get(workspace.CX, 3)
    xx, yy, zz, xy, xz, yz = get(workspace.JXX, 6)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    velocity = vehicle.velocity + turn.apply(np.cross(rates, centre))
    place = vehicle.position + turn.apply(centre)
    energy = 0.5 * mass * velocity @ velocity + 0.5 * rates @ inertia @ rates
    momentum, spin = mass * velocity, np.cross(place, mass * velocity) + turn.apply(inertia @ rates)
    axis, half = np.array(vehicle.tank.description.position), numbers_of(sim)[rows.HALF // LANES]
    for line in modes:
        m, height = line[at(rows.MASS_X)], line[at(rows.HEIGHT_X)]
        for sign, shift, speed in ((-1, np.zeros(2), np.zeros(2)), (1, line[:2], line[2:4] / half)):
            arm = np.array([axis[0] + shift[0], axis[1] + shift[1], height])
            v = vehicle.velocity + turn.apply(np.cross(rates, arm) + np.append(speed, 0.0))
            energy += sign * 0.5 * m * v @ v
            momentum = momentum + sign * m * v
            spin = spin + sign * np.cross(vehicle.position + turn.apply(arm), m * v)
        energy += 0.5 * m * rows.LEAST_PULL * line[at(rows.PER_LENGTH_X)] * (line[:2] @ line[:2])
    return np.array([energy, *momentum, *spin])


def drift(on: str, step: float = 0.001, sloshing: bool = True) -> tuple[float, float, float]:
    """Most that energy, momentum and angular momentum of a tumbling frame change in 5 s, as parts of what swings."""
    motion = {"rates": (0.7, -0.5, 1.1), "velocity": (0.1, 0.2, -0.1)}
    at_home = {"position": (0.0, 0.0, 20.0)}
    tank = ROUND | {"position": (0.05, -0.03, -0.1), "sloshing": sloshing}
    sim = simulate(frame(tank, motion=motion, pose=at_home), on, step, NO_GRAVITY)
    half = numbers_of(sim)[rows.HALF // LANES]
    modes_of(sim)[0, at(rows.X) : at(rows.V) + 1] = (0.01, -0.005, 0.02 * half, 0.03 * half)
    sim.step(4)
    start, worst = conserved(sim), np.zeros(7)
    while sim.time < 5.0:
        sim.step(round(0.05 / step))
        worst = np.maximum(worst, np.abs(conserved(sim) - start))
    m = SWINGING
    swing = m * 0.05  # kg m/s, of what swings, at the start
    return worst[0] / (0.5 * m * 0.05**2), largest(worst[1:4]) / swing, largest(worst[4:]) / (swing * 0.5)


@case("Sloshing while tumbling", "Conservation of energy, momentum and angular momentum")
def sloshing_conserved() -> Outcome:
    """A frame tumbles in free space with a tank off its middle, whose liquid swings without friction. Energy, momentum
    and angular momentum of all together are worked out from places and velocities. Their greatest change in 5 s, as a
    part of what the swinging liquid has of each, is next to nothing with RK4. Euler's scheme loses some with a frozen
    liquid as well, which is its reference here: sloshing adds little to that.
    """
    found = []
    for on in ENGINES:
        frozen = (0.0, 0.0, 0.0) if on == "rk4" else drift(on, sloshing=False)
        limits = (0.02, 0.005, 0.01 if on == "rk4" else 0.05)
        why = "" if on == "rk4" else "that Euler's scheme is compared with its own loss with a frozen liquid"
        names = ("energy", "momentum", "angular momentum")
        for name, ours, reference, limit in zip(names, drift(on), frozen, limits, strict=True):
            found.append(Row(f"{LABELS[on]}: {name}", ours, reference, limit, hindsight=why))
    found.append(Row("batch, RK4, steps of 4 ms: energy", drift("rk4", 0.004)[0], 0.0, 0.02))
    return Outcome(found)


# -- limits ------------------------------------------------------------------------------------------------------------


def spun_rotors() -> dict[str, Any]:
    return {"one": rotor(0.3, 0.1, max_speed=2000.0), "two": rotor(-0.2, 0.15, "cw", max_speed=2000.0)}


def with_frozen_tank() -> dict[str, Any]:
    tank = {"shape": "box", "size": (0.3, 0.2, 0.25), "position": (0.05, -0.03, -0.1), "sloshing": False}
    return frame(tank, motion={"rates": (0.7, -0.5, 1.1)}, rotors=spun_rotors(), drag=0.05)


def with_that_mass() -> dict[str, Any]:
    """The same body without a tank, by the theorem of parallel axes."""
    dry, water, depth = 10.0, 6.0, 0.1
    offset = np.array([0.05, -0.03, -0.1 - 0.125 + depth / 2])
    own = np.diag([0.5, 0.6, 0.8]) + water / 12 * np.diag([0.2**2 + depth**2, 0.3**2 + depth**2, 0.3**2 + 0.2**2])
    joint = own + dry * water / (dry + water) * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    inertia = {a + b: float(joint["xyz".index(a), "xyz".index(b)]) for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}
    centre = tuple(map(float, water / (dry + water) * offset))
    plain = with_frozen_tank() | {"mass": dry + water, "inertia": inertia, "center_of_mass": centre}
    return {key: value for key, value in plain.items() if key != "tank"}


def flown(vehicle: dict[str, Any], on: str) -> np.ndarray:
    sim = simulate(vehicle, on)
    the_body(sim).set_rotor_speeds([1500.0, 1200.0])
    sim.run(until=2.0)
    return the_body(sim).state


def emptied(on: str) -> np.ndarray:
    sim = simulate(
        frame({"size": (0.3, 0.2, 0.25), "position": (0.05, -0.03, -0.1), "lag": 0.1, "max_flow": 200.0}), on
    )
    the_body(sim).set_rotor_speeds([500.0])
    the_body(sim).tank.command(120.0)
    sim.run(until=4.0)
    vehicle = the_body(sim)
    assert vehicle.tank is not None
    return np.array([*vehicle.state, vehicle.tank.litres, vehicle.tank.given, vehicle.mass])


@case("A frozen liquid, and an empty tank", "The theorem of parallel axes; the integral of the flow")
def liquid_limits() -> Outcome:
    """A tank whose liquid does not slosh is a rigid body: one with the mass, centre and inertia of both flies the same
    way for two seconds, turned and pushed by two rotors. A tank that runs dry in flight has given what was in it, and
    both engines agree on where that leaves the vehicle.
    """
    found = []
    for on in ENGINES:
        apart = largest(flown(with_frozen_tank(), on) - flown(with_that_mass(), on))
        found.append(Row(f"{LABELS[on]}: frozen liquid against rigid body", apart, 0.0, 1e-9))
    euler, other = emptied("euler"), emptied("mujoco")
    found += [
        Row("given by a tank that ran dry", float(euler[-2]), 6.0, 1e-11, "L"),
        Row("left in it", float(euler[-3]), 0.0, 0.0, "L"),
        Row("mass of the vehicle", float(euler[-1]), 10.0, 1e-12, "kg"),
        Row("both engines, sloshing and running dry", largest(euler - other), 0.0, 1e-9),
    ]
    return Outcome(found)
