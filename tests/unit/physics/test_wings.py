"""Forces of wings against the same laws written with vectors, at states that no aeroplane should be in."""

from __future__ import annotations

from math import acos, asin, atan2, cos, exp, pi, sin

import numpy as np
import pytest

from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.servos import SERVO_ROWS
from airloom.physics.wings import FIRST_SERVO, add_wings, move_wings
from airloom.scenario.surfaces import Aerodynamics, Servo, Surface
from airloom.vehicles.wings import wing_numbers

DENSITY = 1.225
CENTER = np.array([0.03, -0.01, 0.02])
DELTA = 0.2


class Winged:
    """As much of a vehicle as has to do with wings."""

    def __init__(self, surfaces=None, aerodynamics=None, servo: Servo | None = None) -> None:
        self.surfaces, self.aerodynamics = surfaces or {}, aerodynamics
        self.servos = {"idle": Servo(), "flap": servo or Servo()}
        self.rotors, self.blowing = {}, []


def laid_out(numbers):
    """In all lanes; the air is in one only."""
    return np.repeat(numbers, LANES).astype(float)


def wrench(vehicle, velocity, rates, lane=3, delta=DELTA):
    """Force and torque about the centre of mass, body."""
    w, p = np.zeros(row.WIDTH), laid_out(wing_numbers(vehicle, 0.001))
    for first, values in ((row.UX, velocity), (row.WX, rates), (row.CX, CENTER), (row.DENSITY, [1.0])):
        w[first + lane : first + len(values) * LANES : LANES] = values
    w[row.SERVO + LANES + lane] = delta / 0.5
    for _ in range(2000):
        move_wings(w, p)
    add_wings(w, p)
    found = w[row.FX + lane : row.FX + 6 * LANES : LANES]
    others = np.delete(w[row.FX : row.FX + 6 * LANES].reshape(6, LANES), lane, axis=1)
    assert not others.any()
    return found[:3], found[3:]


def by_gazebo(it: Surface, velocity, rates):
    """LiftDrag, from its own definition by vectors and angles."""
    arm = np.array(it.position) - CENTER
    v = velocity + np.cross(rates, arm)
    forward, up = np.array(it.forward), np.array(it.up)
    span = np.cross(forward, up)
    in_plane = v - (v @ span) * span
    lift_way, drag_way = np.cross(span, in_plane), -in_plane
    lift_way, drag_way = lift_way / np.linalg.norm(lift_way), drag_way / np.linalg.norm(drag_way)
    sweep = cos(asin(span @ v / np.linalg.norm(v))) ** 2
    turn = acos(np.clip(lift_way @ up, -1, 1))
    alpha = it.alpha_0 + (turn if lift_way @ forward >= 0 else -turn)
    while abs(alpha) > pi / 2:
        alpha += -pi if alpha > 0 else pi

    def coefficient(slope, stalled, keeps_sign):
        if abs(alpha) <= it.stall:
            return slope * alpha * sweep
        c = (np.sign(alpha) * slope * it.stall + stalled * (alpha - np.sign(alpha) * it.stall)) * sweep
        return c if not keeps_sign else np.sign(alpha) * max(np.sign(alpha) * c, 0.0)

    lift = coefficient(it.lift, it.lift_stalled, True) + it.lift_by_servo * DELTA
    moment = coefficient(it.moment, it.moment_stalled, True) + it.moment_by_servo * DELTA
    drag = abs(coefficient(it.drag, it.drag_stalled, False)) + it.drag_0 * sweep
    push = 0.5 * DENSITY * (in_plane @ in_plane) * it.area
    force = push * (lift * lift_way + drag * drag_way)
    return force, np.cross(arm, force) + push * moment * span


WING = Surface(
    position=(0.2, 0.7, 0.1), forward=(0.6, 0.0, 0.8), up=(-0.8, 0.0, 0.6), area=0.6, alpha_0=0.06, stall=0.34,
    lift=4.7, lift_stalled=-3.8, drag_0=0.02, drag=0.64, drag_stalled=-0.9, moment=-1.8, moment_stalled=0.3,
    servo="flap", lift_by_servo=-0.3, moment_by_servo=0.7,
)  # fmt: skip


def random_states(count, seed=1):
    generator = np.random.default_rng(seed)
    return zip(20 * generator.standard_normal((count, 3)), 3 * generator.standard_normal((count, 3)), strict=True)


def test_a_surface_pulls_as_gazebos_does_in_any_flow():
    for velocity, rates in random_states(300):
        expected = by_gazebo(WING, velocity, rates)
        found = wrench(Winged({"wing": WING}), velocity, rates)
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_a_wing_lifts_what_gazebos_own_test_expects():
    """lift_drag_system.cc: a wing at zero angle, a0 = 0.1, cla = 4, 10 m², dihedral 0.1, at 0.2 m/s through 1.2041."""
    dihedral, speed = 0.1, 0.2
    wing = Surface(
        position=(0.0, 0.0, 0.0), up=(0.0, -sin(dihedral), cos(dihedral)), area=10.0, alpha_0=0.1, stall=0.5, lift=4.0,
        drag=0.0,
    )  # fmt: skip
    force, _ = wrench(Winged({"wing": wing}), np.array([speed, 0.0, 0.0]), np.zeros(3))
    expected = 4.0 * 0.1 * 0.5 * 1.2041 * speed**2 * 10.0 * cos(dihedral)
    assert force[2] * 1.2041 / DENSITY == pytest.approx(expected, rel=1e-12)


def test_surfaces_add_up():
    tail = WING.model_copy(update={"position": (-1.0, 0.0, 0.2), "servo": None, "stall": 0.2})
    velocity, rates = np.array([15.0, 1.0, -0.5]), np.array([0.3, -0.2, 0.5])
    both = wrench(Winged({"wing": WING, "tail": tail}), velocity, rates)
    alone = np.add(wrench(Winged({"wing": WING}), velocity, rates), wrench(Winged({"tail": tail}), velocity, rates))
    assert np.allclose(both, alone, rtol=1e-12)


def test_no_air_no_force():
    assert not np.any(wrench(Winged({"wing": WING}), np.zeros(3), np.zeros(3)))


PLANE = {
    "position": (0.1, 0.0, -0.05), "area": 0.55, "span": 2.9, "chord": 0.19, "efficiency": 0.9, "stall": 0.47,
    "blend": 50,
    "drag": {"zero": 0.03, "p": 0.01, "q": 0.02, "r": 0.03, "servos": {"flap": 0.1}},
    "side": {"zero": 0.01, "alpha": 0.02, "beta": -0.98, "p": -0.1, "q": 0.04, "r": 0.2, "servos": {"flap": 0.17}},
    "lift": {"zero": 0.28, "alpha": 3.45, "beta": 0.03, "p": 0.1, "q": 5.0, "r": 0.06, "servos": {"flap": -0.36}},
    "roll": {"zero": 0.01, "alpha": 0.02, "beta": -0.12, "p": -0.26, "q": 0.01, "r": 0.14, "servos": {"flap": 0.08}},
    "pitch": {"zero": -0.02, "alpha": -0.38, "beta": 0.01, "p": 0.02, "q": -3.6, "r": 0.03, "servos": {"flap": -0.5}},
    "pitch_stalled": -0.1,
    "yaw": {"zero": 0.01, "alpha": 0.02, "beta": 0.25, "p": 0.022, "q": 0.01, "r": -0.35, "servos": {"flap": 0.06}},
}  # fmt: skip


def by_the_book(it: Aerodynamics, velocity, rates):
    """Beard and McLain's build-up with vectors in forward-right-down axes, turned back at the end."""
    flip = np.array([1.0, -1.0, -1.0])
    arm = np.array(it.position) - CENTER
    v, turn = flip * (velocity + np.cross(rates, arm)), flip * rates
    speed = np.hypot(v[0], v[2])
    alpha, beta = atan2(v[2], v[0]), asin(v[1] / np.linalg.norm(v))
    folded = alpha if abs(alpha) <= pi / 2 else np.sign(alpha) * pi - alpha
    before, beyond = exp(-it.blend * (alpha - it.stall)), exp(it.blend * (alpha + it.stall))
    sigma = (1 + before + beyond) / ((1 + before) * (1 + beyond)) if max(before, beyond) < 1e100 else 1.0
    lengths = np.array([it.span, it.chord, it.span])
    reduced = turn * lengths / (2 * speed)

    def rest(c):
        return c.beta * beta + c.servos["flap"] * DELTA

    def by_rates(c):
        return np.array([c.p, c.q, c.r]) @ reduced

    aspect = it.span**2 / it.area
    lift = (1 - sigma) * (it.lift.zero + it.lift.alpha * alpha)
    lift += sigma * 2 * np.sign(alpha) * sin(alpha) ** 2 * cos(alpha) + rest(it.lift)
    plate = 2 / (1 + exp(-0.224 - 0.115 * max(aspect, 1 / aspect))) * (0.5 - 0.5 * cos(2 * alpha))
    drag = (1 - sigma) * (it.drag.zero + lift**2 / (pi * aspect * it.efficiency)) + sigma * plate + rest(it.drag)
    side, roll, yaw = (c.zero + c.alpha * folded + rest(c) for c in (it.side, it.roll, it.yaw))
    within = np.clip(folded, -it.stall, it.stall)
    pitch = it.pitch.zero + it.pitch.alpha * within + it.pitch_stalled * (folded - within) + rest(it.pitch)
    push = 0.5 * DENSITY * speed**2 * it.area
    ahead = np.array([cos(alpha), 0.0, sin(alpha)])
    below = np.array([-sin(alpha), 0.0, cos(alpha)])
    force = push * (
        -(lift + by_rates(it.lift)) * below
        - (drag + by_rates(it.drag)) * ahead
        + np.array([0.0, side + by_rates(it.side), 0.0])
    )
    moments = np.array([roll + by_rates(it.roll), pitch + by_rates(it.pitch), yaw + by_rates(it.yaw)])
    force = flip * force
    return force, np.cross(arm, force) + flip * push * lengths * moments


def test_an_aircraft_flies_by_the_book_in_any_flow():
    plane = Aerodynamics.model_validate(PLANE)
    for velocity, rates in random_states(300, seed=2):
        expected = by_the_book(plane, velocity, rates)
        found = wrench(Winged(aerodynamics=plane), velocity, rates)
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def all_around(turn=5e-4):
    """Velocities of 20 m/s around the circle of angles of attack, at several sideslips."""
    for beta in (0.0, 0.4, -1.0):
        for alpha in np.arange(-pi, pi + turn, turn):
            yield 20 * np.array([cos(alpha) * cos(beta), sin(beta), -sin(alpha) * cos(beta)])


def jumps(vehicle, velocities):
    """The largest step of force and torque from one velocity to the next, over the largest of all."""
    p = laid_out(wing_numbers(vehicle, 0.001))
    w, seen = np.zeros(row.WIDTH), []
    w[row.DENSITY] = 1.0
    for velocity in velocities:
        w[row.UX : row.UX + 3 * LANES : LANES], w[row.FX : row.FX + 6 * LANES] = velocity, 0.0
        add_wings(w, p)
        seen.append(w[row.FX : row.FX + 6 * LANES : LANES].copy())
    seen = np.array(seen)
    return np.abs(np.diff(seen, axis=0)).max(axis=0) / np.abs(seen).max(axis=0)


def test_an_aircraft_is_continuous_all_around():
    plane = Aerodynamics.model_validate(PLANE | {"blend": 15})
    circles = np.array_split(np.array(list(all_around())), 3)
    for circle in circles:
        assert jumps(Winged(aerodynamics=plane), circle).max() < 0.005


def test_an_aircraft_stays_what_it_is_through_the_vertical():
    """From flying down with the nose up to flying down backwards, a touch of sideslip on either side."""
    plane = Aerodynamics.model_validate(PLANE)
    across = [20 * np.array([1e-4 * k, 0.01 * k, -1.0]) for k in np.arange(-1.0, 1.0, 0.01)]
    assert jumps(Winged(aerodynamics=plane), across).max() < 0.02


def angles(servo, told, ticks, step=0.001):
    p = laid_out(wing_numbers(Winged(servo=servo), step))
    w, seen = np.zeros(row.WIDTH), []
    w[row.SERVO + LANES] = told
    for _ in range(ticks):
        move_wings(w, p)
        seen.append(p[FIRST_SERVO + SERVO_ROWS * LANES])
    return np.array(seen)


def test_a_servo_follows_with_its_lag():
    seen = angles(Servo(lowest=-0.4, highest=0.5, lag=0.1, rate=100.0), 0.5, 300)
    assert seen == pytest.approx(0.25 * (1 - np.exp(-np.arange(1, 301) * 0.01)), rel=1e-9)


def test_a_servo_is_no_faster_than_it_can_and_goes_no_farther():
    seen = angles(Servo(lowest=-0.4, highest=0.5, lag=0.0, rate=2.0), -3.0, 300)
    assert np.abs(np.diff(seen)).max() == pytest.approx(0.002)
    assert seen[-1] == pytest.approx(-0.4)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"area": 0.0}, "greater than 0"),
        ({"forward": (-0.8, 0.0, 0.6)}, "faces nowhere"),
        ({"stall": 0.05}, "stalls at 0.05 rad before its lift is zero"),
        ({"stall": -0.3}, "greater than 0"),
    ],
)
def test_surfaces_that_cannot_be_are_refused(changes, told):
    with pytest.raises(ValueError, match=told):
        Surface.model_validate(WING.model_dump() | changes)
