"""Rigid bodies: NASA's check case, tops, conserved quantities, and the two engines against one another."""

from __future__ import annotations

from math import sqrt

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

from airloom.commands import PositionYaw
from validation.case import ENGINES, Outcome, Row, body, case, history, rotor, simulate, the_body

SLUG_FT2 = 1.3558179483314004  # kg m²
NO_GRAVITY = {"gravity": 0.0}
COLOURS = {"rk4": "tab:blue", "euler": "tab:orange", "mujoco": "tab:green"}
LABELS = {"rk4": "batch, RK4", "euler": "batch, Euler", "mujoco": "MuJoCo"}


def spinning(inertia, rates, **changes) -> dict:
    """A free body with these principal moments and these rates (rad/s)."""
    moments = dict(zip(("xx", "yy", "zz"), map(float, inertia), strict=True))
    return body(inertia=moments, motion={"rates": tuple(map(float, rates))}, **changes)


def rotations(states: np.ndarray) -> Rotation:
    return Rotation.from_quat(states[:, 3:7], scalar_first=True)


def largest(difference: np.ndarray) -> float:
    return float(np.max(np.abs(difference)))


# -- NASA check case 2 -------------------------------------------------------------------------------------------------

BRICK = SLUG_FT2 * np.array([0.001894220, 0.006211019, 0.007194665])
BRICK_START = (10.0, 20.0, 30.0)
BRICK_END = (12.6184, -17.3975, 31.1196)


def brick_rates(on: str, step: float) -> np.ndarray:
    """Rates in °/s after 30 s."""
    sim = simulate(spinning(BRICK, np.radians(BRICK_START)), on, step, NO_GRAVITY)
    sim.run(until=30.0)
    return np.degrees(the_body(sim).rates)


def draw_brick(figure: Figure) -> None:
    axes = figure.subplots()
    times, states = history(simulate(spinning(BRICK, np.radians(BRICK_START)), world=NO_GRAVITY), 30.0, 0.05)
    for k, (name, end) in enumerate(zip("pqr", BRICK_END, strict=True)):
        (line,) = axes.plot(times, np.degrees(states[:, 10 + k]), label=name)
        axes.plot(30.0, end, "o", color=line.get_color(), markerfacecolor="none", clip_on=False)
    axes.plot([], [], "ko", markerfacecolor="none", label="NASA, 30 s")
    axes.set(xlabel="time, s", ylabel="rate, °/s", xlim=(0, 30))
    axes.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.14), frameon=False)


@case(
    "Tumbling brick in vacuum",
    "Murri, Jackson, Shelton: *Check-Cases for Verification of 6-Degree-of-Freedom Flight Vehicle Simulations*, "
    "NASA/TM-2015-218675, atmospheric check case 2",
)
def tumbling_brick() -> Outcome:
    """A brick turns freely without gravity or air, J ω̇ = −ω × J ω, with J = diag(0.001894220, 0.006211019,
    0.007194665) slug·ft² and rates 10, 20, 30 °/s at the start. NASA publishes the rates at 30 s to four decimals.

    The batch engine's RK4 step agrees to the last published decimal at 1 ms. MuJoCo's Euler step is of first order: its
    error at 1 ms is 0.04 °/s and halves with the step. Two steps h and h/2 together, 2 ω(h/2) − ω(h), cancel the
    first order, and then MuJoCo arrives at NASA's numbers as well.
    """
    rk4 = brick_rates("rk4", 0.001)
    steps = (0.002, 0.001, 0.0005)
    mujoco = {step: brick_rates("mujoco", step) for step in steps}
    errors = [float(np.linalg.norm(mujoco[step] - rk4)) for step in steps]
    limit = 2.0 * mujoco[0.0005] - mujoco[0.001]
    rows = [Row(f"{n}, RK4 at 1 ms", rk4[k], BRICK_END[k], 1e-4, "°/s") for k, n in enumerate("pqr")]
    rows += [
        Row(f"{n}, MuJoCo extrapolated to step 0", limit[k], BRICK_END[k], 1e-4, "°/s") for k, n in enumerate("pqr")
    ]
    rows += [Row(f"{n}, MuJoCo at 1 ms", mujoco[0.001][k], BRICK_END[k], 0.05, "°/s") for k, n in enumerate("pqr")]
    rows += [
        Row(f"MuJoCo's error at {1e3 * a:g} ms over that at {1e3 * b:g} ms", ea / eb, 2.0, 0.05)
        for a, b, ea, eb in zip(steps, steps[1:], errors, errors[1:], strict=False)
    ]
    return Outcome(rows, draw_brick, "Rates of the brick; rings are NASA's values at 30 s.")


# -- tops --------------------------------------------------------------------------------------------------------------


def symmetric_top(times: np.ndarray, inertia, rates) -> tuple[np.ndarray, Rotation]:
    """Rates and attitudes of a torque-free top with J₁ = J₂, starting with its axes along the world's."""
    across, along = inertia[0], inertia[2]
    momentum = np.array(inertia) * rates
    phase = (along / across - 1.0) * rates[2] * times
    x, y = rates[0] * np.cos(phase) - rates[1] * np.sin(phase), rates[0] * np.sin(phase) + rates[1] * np.cos(phase)
    precession = Rotation.from_rotvec(np.outer(times, momentum / across))
    spin = Rotation.from_rotvec(np.outer(-phase, (0, 0, 1)))
    return np.column_stack([x, y, np.full_like(times, rates[2])]), precession * spin


@case("Torque-free symmetric top", "Landau, Lifshitz: *Mechanics* (3rd ed.), § 33 and § 36")
def torque_free_symmetric_top() -> Outcome:
    """With J₁ = J₂ the rates across the axis turn with Ω = (J₃/J₁ − 1) ω₃, and the body is the product of a precession
    about the angular momentum L at |L|/J₁ and a turn by −Ω t about its own axis. RK4 follows this for 20 s at 1 ms.
    MuJoCo's error after 2 s, in which the body turns about twice, halves with the step as a first-order scheme's must;
    at 1 ms it has grown to 0.96 rad after 20 s.
    """
    rates, angle = top_errors("rk4", 0.001, 20.0)
    rows = [
        Row("largest error of the rates in 20 s, RK4", rates, 0.0, 1e-9, "rad/s"),
        Row("largest error of the attitude in 20 s, RK4", angle, 0.0, 1e-9, "rad"),
    ]
    for on in ENGINES[1:]:
        whole, half = top_errors(on, 0.001, 2.0), top_errors(on, 0.0005, 2.0)
        rows.append(Row(f"largest error of the attitude in 2 s at 1 ms, {LABELS[on]}", whole[1], 0.0, 0.02, "rad"))
        rows.append(
            Row(f"error of the attitude at 1 ms over that at 0.5 ms, {LABELS[on]}", whole[1] / half[1], 2.0, 0.02)
        )
    return Outcome(rows)


def top_errors(on: str, step: float, until: float) -> tuple[float, float]:
    """Largest errors of the rates (rad/s) and of the attitude (rad)."""
    inertia, rates = np.array([0.01, 0.01, 0.018]), np.array([2.0, -1.0, 5.0])
    times, states = history(simulate(spinning(inertia, rates), on, step, NO_GRAVITY), until, 0.1)
    exact_rates, exact = symmetric_top(times, inertia, rates)
    return largest(states[:, 10:13] - exact_rates), float(np.max((exact.inv() * rotations(states)).magnitude()))


def asymmetric_top(times: np.ndarray, inertia, rates) -> np.ndarray:
    """Rates of a torque-free body with J₁ < J₂ < J₃, L² > 2 E J₂, ω₂ = 0 at time 0."""
    a, b, c = inertia
    energy2 = float(np.sum(inertia * rates**2))
    momentum2 = float(np.sum((inertia * rates) ** 2))
    speed = sqrt((c - b) * (momentum2 - energy2 * a) / (a * b * c))
    modulus = (b - a) * (energy2 * c - momentum2) / ((c - b) * (momentum2 - energy2 * a))
    sn, cn, dn, _ = ellipj(speed * times, modulus)
    x = sqrt((energy2 * c - momentum2) / (a * (c - a)))
    y = sqrt((energy2 * c - momentum2) / (b * (c - b)))
    z = sqrt((momentum2 - energy2 * a) / (c * (c - a)))
    return np.column_stack([x * cn, y * sn, z * dn])


TOP, TOP_START = np.array([0.01, 0.02, 0.025]), np.array([2.0, 0.0, 2.5])


def draw_top(figure: Figure) -> None:
    axes = figure.subplots()
    times, states = history(simulate(spinning(TOP, TOP_START), world=NO_GRAVITY), 15.0, 0.05)
    exact = asymmetric_top(times, TOP, TOP_START)
    for k, name in enumerate(("ω₁", "ω₂", "ω₃")):
        (line,) = axes.plot(times, exact[:, k], label=name)
        axes.plot(times[::6], states[::6, 10 + k], ".", color=line.get_color(), markersize=5)
    axes.plot([], [], "k.", label="Airloom, RK4")
    axes.set(xlabel="time, s", ylabel="rate, rad/s", xlim=(0, 15))
    axes.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.14), frameon=False)


@case("Torque-free asymmetric body", "Landau, Lifshitz: *Mechanics* (3rd ed.), § 37; elliptic functions from SciPy")
def torque_free_asymmetric_body() -> Outcome:
    """With J₁ < J₂ < J₃ the rates are Jacobi's elliptic functions, ω₁ ∝ cn τ, ω₂ ∝ sn τ, ω₃ ∝ dn τ with
    τ = t √((J₃ − J₂)(L² − 2EJ₁)/(J₁J₂J₃)) and k² = (J₂ − J₁)(2EJ₃ − L²) / ((J₃ − J₂)(L² − 2EJ₁)).
    Compared at 1 ms over 60 s for RK4, and over 10 s for the first-order schemes.
    """
    rows = []
    for on, until, tolerance in zip(ENGINES, (60.0, 10.0, 10.0), (1e-8, 0.05, 0.05), strict=True):
        times, states = history(simulate(spinning(TOP, TOP_START), on, 0.001, NO_GRAVITY), until, 0.1)
        error = largest(states[:, 10:13] - asymmetric_top(times, TOP, TOP_START))
        rows.append(Row(f"largest error of the rates in {until:g} s, {LABELS[on]}", error, 0.0, tolerance, "rad/s"))
    return Outcome(
        rows, draw_top, "Rates of the asymmetric body: lines are the elliptic functions, dots the simulation."
    )


# -- conserved quantities ----------------------------------------------------------------------------------------------


def drifts(on: str, until: float = 60.0, step: float = 0.001) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, relative change of the energy, and change of the angular momentum in the world over its size."""
    times, states = history(simulate(spinning(TOP, TOP_START), on, step, NO_GRAVITY), until, 0.5)
    rates = states[:, 10:13]
    energy = np.sum(TOP * rates**2, axis=1)
    momentum = rotations(states).apply(TOP * rates)
    size = np.linalg.norm(momentum[0])
    return times, energy / energy[0] - 1.0, np.linalg.norm(momentum - momentum[0], axis=1) / size


def draw_drifts(figure: Figure) -> None:
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for on in ENGINES:
        times, energy, momentum = drifts(on)
        style = "--" if on == "mujoco" else "-"
        left.semilogy(times[1:], np.abs(energy[1:]) + 1e-17, style, color=COLOURS[on], label=LABELS[on])
        right.semilogy(times[1:], momentum[1:] + 1e-17, style, color=COLOURS[on], label=LABELS[on])
    left.set(xlabel="time, s", ylabel="relative change", title="energy", xlim=(0, 60), ylim=(1e-16, 1))
    right.set(xlabel="time, s", title="angular momentum (vector)")
    right.legend(loc="center right", frameon=False)


@case("Energy and angular momentum of a free body", "conservation laws")
def conserved_quantities() -> Outcome:
    """Without torque, E = ½ ω·Jω and L = R J ω stay what they are. Over 60 s (about 25 turns) at 1 ms, the classical
    Runge-Kutta step keeps both to rounding; the Euler step, MuJoCo's and ours alike, lets them drift in proportion
    to the step. Half the step, half the drift.
    """
    rows = []
    for on, tolerance in zip(ENGINES, (1e-10, 0.1, 0.1), strict=True):
        _, energy, momentum = drifts(on)
        worst = float(np.max(np.abs(energy)))
        rows.append(Row(f"energy, largest relative change, {LABELS[on]}", worst, 0.0, tolerance))
        rows.append(
            Row(f"angular momentum, largest relative change, {LABELS[on]}", float(max(momentum)), 0.0, tolerance)
        )
    halved = float(np.max(np.abs(drifts("mujoco")[1])) / np.max(np.abs(drifts("mujoco", step=0.0005)[1])))
    rows.append(Row("MuJoCo's energy drift at 1 ms over that at 0.5 ms", halved, 2.0, 0.1))
    return Outcome(
        rows, draw_drifts, "Drift of energy and angular momentum at 1 ms; Euler and MuJoCo lie on one another."
    )


# -- the engines against one another -----------------------------------------------------------------------------------


def odd_quadrotor() -> dict:
    """Nothing about it is symmetric: centre of mass off the origin, full inertia, tilted rotors."""
    axes = [(0.1, 0.05, 1.0), (-0.08, 0.1, 1.0), (0.05, -0.1, 1.0), (-0.05, -0.06, 1.0)]
    places = [(0.16, -0.17), (-0.15, 0.16), (0.17, 0.15), (-0.16, -0.15)]
    turns = ("ccw", "ccw", "cw", "cw")
    rotors = zip(places, turns, axes, strict=True)
    return body(
        inertia={"xx": 0.0085, "yy": 0.0105, "zz": 0.0155, "xy": 0.0006, "xz": -0.0004, "yz": 0.0008},
        center_of_mass=(0.01, -0.015, 0.02),
        drag=0.05,
        rotors={f"rotor_{k}": rotor(x, y, turn, axis=axis) for k, ((x, y), turn, axis) in enumerate(rotors)},
        sensors={"odometry": {"kind": "odometry", "rate": 250}},
        estimator={"kind": "ideal", "rate": 250},
        controller={"kind": "cascade", "rate": 250},
        pose={"position": (0, 0, 100), "roll": 0.3, "pitch": -0.2, "yaw": 0.5},
        motion={"velocity": (2, -1, 0.5), "rates": (1, -2, 0.5)},
    )


def free_flight(on: str, step: float) -> np.ndarray:
    """States of ten seconds in wind, under the controller."""
    sim = simulate(odd_quadrotor(), on, step, {"wind": (3, 1, 0.5)})
    the_body(sim).command(PositionYaw((3, -2, 102), 0.7))
    return history(sim, 10.0, 0.02)[1]


STEPS = (0.002, 0.001, 0.0005, 0.00025)


def draw_convergence(figure: Figure) -> None:
    axes = figure.subplots()
    gaps = [largest((free_flight("rk4", step) - free_flight("euler", step))[:, :3]) for step in STEPS]
    axes.loglog(STEPS, gaps, "o", label="RK4 against Euler")
    axes.loglog(STEPS, [gaps[1] * step / STEPS[1] for step in STEPS], "k:", label="proportional to the step")
    axes.set(xlabel="step, ms", ylabel="largest distance in 10 s, mm")
    axes.set_xticks(STEPS, [f"{1e3 * step:g}" for step in STEPS])
    axes.set_yticks(gaps, [f"{1e3 * gap:.2f}" for gap in gaps])
    axes.minorticks_off()
    axes.legend(frameon=False)


@case("The two engines in free flight", "MuJoCo (Todorov, Erez, Tassa 2012) as an independent integrator")
def engines_agree() -> Outcome:
    """A quadrotor with its centre of mass off the origin, a full inertia matrix and four rotors tilted in different
    directions starts in the air, tumbling, and flies ten seconds under its controller in wind. The batch engine with
    the integrator `euler` does what MuJoCo does, and must give the same numbers. RK4 differs from Euler by the error
    of a first-order scheme, so that half the step halves the distance.
    """
    rows = []
    for step in STEPS[:2]:
        gap = free_flight("euler", step) - free_flight("mujoco", step)
        rows.append(Row(f"largest distance Euler to MuJoCo at {1e3 * step:g} ms", largest(gap[:, :3]), 0.0, 1e-6, "m"))
        rows.append(
            Row(f"largest difference of the rates at {1e3 * step:g} ms", largest(gap[:, 10:]), 0.0, 1e-6, "rad/s")
        )
    gaps = [largest((free_flight("rk4", step) - free_flight("euler", step))[:, :3]) for step in STEPS]
    rows.append(Row("largest distance RK4 to Euler at 1 ms", gaps[1], 0.0, 2e-3, "m"))
    rows += [
        Row(f"that distance at {1e3 * a:g} ms over the one at {1e3 * b:g} ms", ga / gb, 2.0, 0.1)
        for a, b, ga, gb in zip(STEPS, STEPS[1:], gaps, gaps[1:], strict=False)
    ]
    return Outcome(rows, draw_convergence, "RK4 against Euler in ten seconds of free flight, for four steps.")
