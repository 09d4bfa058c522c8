"""Ground contact on both engines: coming to rest, sliding, standing on a slope."""

from __future__ import annotations

from itertools import product
from math import atan, cos, e, sin

import numpy as np
from matplotlib.figure import Figure

from airloom.scenario.models import Scenario
from airloom.simulation import Simulation
from validation.case import ENGINES, Outcome, Row, body, case, history, simulate, the_body
from validation.rigid_body import COLOURS, LABELS

GRAVITY, HALF_HEIGHT = 9.80665, 0.05
FRICTION, CONTACT_FREQUENCY = 0.6, 120.0  # as documented, written here again so that a change shows
DOCUMENTED_SINK = {
    "rk4": GRAVITY / CONTACT_FREQUENCY**2,
    "euler": GRAVITY / CONTACT_FREQUENCY**2,
    "mujoco": 0.0,
}
"""m; the batch engine's spring gives by g/ω², MuJoCo's contacts by less than a tenth of a millimetre."""


def brick(**changes) -> dict:
    """A box of 1 kg, 0.3 × 0.3 × 0.1 m, of even density."""
    solid = {"xx": (0.3**2 + 0.1**2) / 12, "yy": (0.3**2 + 0.1**2) / 12, "zz": (0.3**2 + 0.3**2) / 12}
    return body(inertia=solid, **changes)


def dropped(on: str) -> tuple[float, float, float]:
    """Sink (m), tilt (rad) and speed (m/s) five seconds after a fall of 0.3 m, askew."""
    sim = simulate(brick(pose={"position": (0, 0, HALF_HEIGHT + 0.3), "roll": 0.2, "pitch": 0.1}), on)
    sim.run(until=5.0)
    fallen = the_body(sim)
    roll, pitch, _ = fallen.euler
    return HALF_HEIGHT - fallen.position[2], float(np.hypot(roll, pitch)), float(np.linalg.norm(fallen.velocity))


@case("Coming to rest on the ground", "Airloom's own promise (physics/contact.py): a sink of g/ω² = 0.68 mm")
def rest_on_ground() -> Outcome:
    """A box falls from 0.3 m with roll 0.2 and pitch 0.1 rad. After five seconds it lies still and level, with its
    lower face less than 0.1 mm from where the engine says that it should be.
    """
    rows = []
    for on in ENGINES:
        sink, tilt, speed = dropped(on)
        rows.append(Row(f"sink, {LABELS[on]}", 1e3 * sink, 1e3 * DOCUMENTED_SINK[on], 0.1, "mm"))
        rows.append(Row(f"tilt, {LABELS[on]}", tilt, 0.0, 1e-3, "rad"))
        rows.append(Row(f"speed, {LABELS[on]}", speed, 0.0, 1e-4, "m/s"))
    return Outcome(rows)


def slide(on: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and states of a box that starts to slide on flat ground with 2 m/s."""
    start = {"position": (0, 0, HALF_HEIGHT - DOCUMENTED_SINK[on])}
    return history(simulate(brick(pose=start, motion={"velocity": (2.0, 0, 0)}), on), 1.0, 0.005)


def draw_slide(figure: Figure) -> None:
    axes = figure.subplots()
    stop = 2.0 / (FRICTION * GRAVITY)
    axes.plot([0, stop, 1], [2, 0, 0], "k:", label="v₀ − μ g t")
    for on in ENGINES:
        times, states = slide(on)
        axes.plot(times, states[:, 7], color=COLOURS[on], label=LABELS[on], linestyle="--" if on == "euler" else "-")
    axes.set(xlabel="time, s", ylabel="speed, m/s", xlim=(0, 0.6), ylim=(-0.05, 2.05))
    axes.legend(frameon=False)


@case("Sliding to a stop", "Coulomb friction: v = v₀ − μ g t, stopping distance v₀²/(2 μ g)")
def sliding() -> Outcome:
    """A box slides on flat ground with 2 m/s and is held back by μ = 0.6. Coulomb's law gives the distance v₀²/(2μg)
    and the time v₀/(μg). The batch engine smooths the law below 0.05 m/s and MuJoCo's contacts are soft, so one percent
    is allowed.
    """
    distance = 4.0 / (2 * FRICTION * GRAVITY)
    half_time = 1.0 / (FRICTION * GRAVITY)
    rows = []
    for on in ENGINES:
        times, states = slide(on)
        passed = float(np.interp(-1.0, -states[:, 7], times))
        rows.append(Row(f"stopping distance, {LABELS[on]}", states[-1, 0], distance, 0.01 * distance, "m"))
        rows.append(Row(f"time to half the speed, {LABELS[on]}", passed, half_time, 0.05 * half_time, "s"))
    return Outcome(rows, draw_slide, "Speed of a box that slides with μ = 0.6.")


def on_slope(on: str, slope: float, until: float) -> np.ndarray:
    """Places (m) at each second of a box that was laid on a height field of this slope."""
    heights = [[slope * x for x in (-10.0, 0.0, 10.0)]] * 3
    pose = {"position": (0, 0, HALF_HEIGHT / cos(atan(slope))), "pitch": -atan(slope)}
    sim = simulate(
        brick(pose=pose), on, world={"terrain": {"kind": "heightfield", "size": (20, 20), "heights": heights}}
    )
    return history(sim, until, 1.0)[1][:, :3]


@case("On a slope", "Coulomb friction: a body stays where it is if tan α < μ, and else slides with g (sin α − μ cos α)")
def standing_on_slope() -> Outcome:
    """A box on a height field stays where it is if tan α < μ = 0.6: less than 1 mm/s from 2 s to 10 s is standing. On a
    steeper slope it slides, ½ g (sin α − μ cos α) t² from where it was laid down, to two percent.
    """
    rows = []
    for slope, on in product((0.1, 0.2, 0.4, 0.55), ENGINES):
        places = on_slope(on, slope, 10.0)
        speed = float(np.linalg.norm(places[-1] - places[2]) / 8.0)
        rows.append(Row(f"speed on a slope of {slope:g}, {LABELS[on]}", 1e3 * speed, 0.0, 1.0, "mm/s"))
    for slope, on in product((0.7, 0.8), ENGINES):
        places, along = on_slope(on, slope, 2.0), atan(slope)
        slid, expected = np.linalg.norm(places[-1] - places[0]), 2.0 * GRAVITY * (sin(along) - FRICTION * cos(along))
        rows.append(
            Row(f"slid in 2 s on a slope of {slope:g}, {LABELS[on]}", float(slid), expected, 0.02 * expected, "m")
        )
    return Outcome(rows)


IMPACT_TIME = 1e-3  # s, time constant of contacts in hard impacts, as documented


def hard_landing(speed: float) -> float:
    """How deep (m) a box that falls flat on the floor sinks in, at a step of 0.5 ms."""
    fast = brick(pose={"position": (0, 0, 1.0)}, motion={"velocity": (0, 0, -speed)})
    _, states = history(simulate(fast, "mujoco", 0.0005), 1.0 / speed + 0.02, 0.0005)
    return HALF_HEIGHT - float(states[:, 2].min())


def collision() -> tuple[np.ndarray, float]:
    """Momentum (kg m/s) of two boxes after they have met, off their middles, and how much of their energy is left."""
    boxes = {
        "light": brick(mass=0.5, pose={"position": (0, 0, 5)}, motion={"velocity": (20.0, 0, 0)}),
        "heavy": brick(mass=1.5, pose={"position": (1, 0.02, 5), "yaw": 0.3}, motion={"velocity": (-20.0, 0, 0)}),
    }
    fields = {"name": "collision", "engine": {"kind": "mujoco"}, "world": {"gravity": 0.0}, "log": {"rate": 25}}
    sim = Simulation(Scenario.model_validate(fields | {"vehicles": boxes}))
    sim.run(until=0.1)
    light, heavy = sim.vehicles.values()
    energy = sum(0.5 * one.mass * one.velocity @ one.velocity for one in (light, heavy))
    return light.mass * light.velocity + heavy.mass * heavy.velocity, energy / (0.5 * 2.0 * 20.0**2)


@case("Hitting hard", "Conservation of momentum; a critically damped spring of time constant T is deepest at v T/e")
def hitting_hard() -> Outcome:
    """Two boxes of 0.5 and 1.5 kg meet in the air with 20 m/s each. Their momentum must stay what it was, and their
    energy may not grow.

    A box that falls flat on the floor of the MuJoCo engine meets a critically damped spring, which in hard impacts has
    T = 1 ms. It is deepest at v T/e. The spring is sampled every 0.1 ms and its force is limited at first touch, so ten
    percent are allowed.
    """
    momentum, energy = collision()
    rows = [
        Row(f"momentum of two boxes, {axis}", float(ours), before, 1e-9, "kg m/s")
        for axis, ours, before in zip("xyz", momentum, (-20.0, 0.0, 0.0), strict=True)
    ]
    rows.append(Row("energy left to them, at most 1", energy, 0.5, 0.5))
    for speed in (10.0, 30.0, 60.0):
        deepest = 1e3 * speed * IMPACT_TIME / e
        rows.append(Row(f"sink at {speed:g} m/s", 1e3 * hard_landing(speed), deepest, 0.1 * deepest, "mm"))
    return Outcome(rows)
