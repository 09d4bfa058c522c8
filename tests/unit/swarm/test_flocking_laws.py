"""The laws of flocking against what follows from their equations by hand."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from airloom.swarm.braking import braking_distance, braking_speed
from airloom.swarm.flocking import propel
from airloom.swarm.onboard import limit
from airloom.swarm.reynolds import Reynolds, add_reynolds
from airloom.swarm.surroundings import Arena, Obstacle, Shills, add_obstacles, add_walls, outlines
from airloom.swarm.vasarhelyi import Vasarhelyi, add_vasarhelyi

LAW = Vasarhelyi(
    kind="vasarhelyi", r_rep=10, p_rep=0.5, v_rep=3, r_frict=20, c_frict=0.1, v_frict=0.5, p_frict=1, a_frict=2
)
SHILLS = Shills(v=5, r=0, p=1, a=2).numbers()


def acted_upon(law, add, me, other):
    """What one other, at x y vx vy, adds to the velocity that a member wants."""
    own, others = np.zeros((1, 6)), np.zeros((1, 2, 6))
    own[0, [0, 1, 3, 4]], others[0, 0, [0, 1, 3, 4]] = me, other
    out = np.zeros((1, 2))
    add(own, others, np.array([[True, False]]), np.array(law.numbers(), float), out)
    return out[0]


def test_the_braking_curve_stops_where_it_should():
    assert braking_speed(-1.0, 2.0, 1.0) == 0.0
    assert braking_speed(1.5, 2.0, 1.0) == pytest.approx(1.5)
    assert braking_speed(10.0, 2.0, 1.0) == pytest.approx(sqrt(36.0))
    for speed in (0.5, 2.0, 7.0):
        assert braking_speed(braking_distance(speed, 2.0, 1.0), 2.0, 1.0) == pytest.approx(speed)


def test_who_brakes_by_the_curve_never_needs_more_than_its_acceleration():
    r, step, speeds = 30.0, 1e-3, []
    while r > 1e-3:
        speeds.append(braking_speed(r, 2.0, 1.0))
        r -= step * speeds[-1]
    assert np.max(-np.diff(speeds)) / step == pytest.approx(2.0, rel=0.01)


def test_repulsion_grows_as_they_come_nearer_up_to_its_limit():
    assert acted_upon(LAW, add_vasarhelyi, (0, 0, 0, 0), (-8, 0, 0, 0)) == pytest.approx([1.0, 0.0])
    assert acted_upon(LAW, add_vasarhelyi, (0, 0, 0, 0), (0, 1, 0, 0)) == pytest.approx([0.0, -3.0])
    assert not acted_upon(LAW, add_vasarhelyi, (0, 0, 0, 0), (11, 0, 0, 0)).any()


def test_friction_takes_a_share_of_what_is_too_much():
    # 4 m/s apart at 21 m: D(1, 2, 1) = 1 m/s is allowed, a tenth of the other 3 m/s is taken off.
    assert acted_upon(LAW, add_vasarhelyi, (0, 0, 0, 0), (21, 0, 0, 4)) == pytest.approx([0.0, 0.3])
    # Within 20 m only v_frict is.
    assert acted_upon(LAW, add_vasarhelyi, (0, 0, 0, 0), (15, 0, 0, 4)) == pytest.approx([0.0, 0.35])
    assert not acted_upon(LAW, add_vasarhelyi, (0, 0, 0, 0), (40, 0, 0, 4)).any()


def test_reynolds_rules():
    law = Reynolds(kind="reynolds", range=50, r_separation=10, separation=0.5, alignment=0.2, cohesion=0.1)
    assert acted_upon(law, add_reynolds, (0, 0, 1, 0), (20, 0, 3, 0)) == pytest.approx([0.2 * 2 + 0.1 * 20, 0.0])
    near = acted_upon(law, add_reynolds, (0, 0, 0, 0), (0, 4, 0, 0))
    assert near == pytest.approx([0.0, 0.1 * 4 - 0.5 * 6])
    assert not acted_upon(law, add_reynolds, (0, 0, 1, 0), (51, 0, 3, 0)).any()


def turned(place, velocity, arena=None, obstacles=()):
    own, out = np.zeros((1, 6)), np.zeros((1, 2))
    own[0, :2], own[0, 3:5] = place, velocity
    if arena is not None:
        add_walls(own, arena.numbers(), SHILLS, out)
    add_obstacles(own, *outlines(list(obstacles)), SHILLS, out)
    return out[0]


@pytest.mark.parametrize("shape", ["square", "circle"])
def test_walls_turn_back_in_time_and_who_is_outside(shape):
    arena = Arena(shape=shape, radius=100, center=(10, 0))
    assert not turned((10, 0), (4, 0), arena).any()
    # 2 m from the wall D = 2 m/s is allowed, and the shill's −5 m/s differ by 9.
    assert turned((108, 0), (4, 0), arena) == pytest.approx([-7.0, 0.0])
    assert turned((130, 0), (0, 0), arena) == pytest.approx([-5.0, 0.0])


def test_obstacles_are_flown_around():
    box = Obstacle(corners=[(10, -5), (20, -5), (20, 5), (10, 5)])
    pillar = Obstacle(corners=[(15, 0)], radius=5)
    for obstacle in (box, pillar):
        assert turned((8, 0), (4, 0), obstacles=[obstacle]) == pytest.approx([-7.0, 0.0])
        assert not turned((-40, 0), (4, 0), obstacles=[obstacle]).any()
        assert turned((11, 0), (0, 0), obstacles=[obstacle])[0] < -4.9  # inside, out by the nearest side


def test_each_goes_on_and_none_too_fast():
    own, out = np.zeros((2, 6)), np.empty((2, 2))
    own[0, 3:5] = 0.3, 0.4
    propel(own, 5.0, out)
    assert out == pytest.approx(np.array([[3.0, 4.0], [0.0, 0.0]]))
    limit(2.5, out)
    assert out[0] == pytest.approx([1.5, 2.0])
