"""Parts of coverage: ways around obstacles, what is seen, maps that are told, centroids."""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest

from airloom.radio.packet import Packet
from airloom.scenario import load
from airloom.swarm import CoverageParameters, Covering
from airloom.swarm.coverage.area import Area, AreaParameters, standing_in
from airloom.swarm.coverage.frontier import cheapest, close
from airloom.swarm.coverage.hearsay import directly
from airloom.swarm.coverage.lloyd import centroid
from airloom.swarm.coverage.maps import Map
from airloom.swarm.coverage.sight import FREE, OPAQUE, UNKNOWN, look
from airloom.swarm.coverage.ways import Ways, in_sight
from airloom.swarm.surroundings import Obstacle

WALL = Obstacle(corners=[(-2, -30), (2, -30), (2, 10), (-2, 10)])


def area(*obstacles, size=(60, 60), cell=1.0, clearance=0.0):
    return Area(AreaParameters(size=size, cell=cell), obstacles, clearance)


def spread(where, *places):
    ways, points = Ways(where.shape), where.to_cells(np.array(places, float))
    ways.spread(where.closed, points, np.ones(len(places), bool))
    return ways


def test_without_obstacles_lengths_are_those_of_straight_lines():
    where, places = area(), np.random.default_rng(1).uniform(-30, 30, (7, 2))
    ways = spread(where, *places)
    away = np.linalg.norm(where.middles()[:, :, None] - places, axis=-1)
    assert ways.lengths == pytest.approx(away.min(axis=2))
    assert (ways.owners == away.argmin(axis=2)).all()


def test_the_way_around_a_wall_is_that_of_a_taut_rope():
    where = area(WALL)
    ways = spread(where, (-20, -10))
    row, column = where.within((20.5, -10.5))
    around = hypot(17.5, 20.5) + 5 + hypot(18, 21)  # by the middles of the cells at the wall's end
    assert ways.lengths[row, column] == pytest.approx(around)
    assert where.to_metres(ways.turn(row, column)) == pytest.approx((-2.5, 10.5))


def test_behind_a_wall_nothing_is_seen_and_its_face_is():
    where = area(WALL)
    known, fresh = np.zeros(where.shape, np.uint8), np.zeros(64, bool)
    look(where.opaque, *where.to_cells(np.array([-10.0, -10.0])), 25.0, known, fresh)
    assert known[where.within((-9.5, -20.5))] == FREE
    assert known[where.within((-1.5, -10.5))] == OPAQUE
    assert known[where.within((1.5, -10.5))] == UNKNOWN
    assert known[where.within((8.5, -10.5))] == UNKNOWN
    assert known[where.within((-9.5, 25.5))] == UNKNOWN  # too far
    assert not in_sight(where.opaque, 20.0, 20.0, 40.0, 20.0)


def test_one_that_is_outside_gets_in():
    where = area(clearance=2.0)
    assert np.isfinite(spread(where, (-80, 0)).lengths).all()


def test_maps_become_alike_although_pieces_are_lost():
    random = np.random.default_rng(3)
    truth = random.integers(FREE, OPAQUE + 1, (37, 51)).astype(np.uint8)
    one, other = Map(truth.shape), Map(truth.shape)
    one.known[:20] = truth[:20]
    other.known[15:, 7:] = truth[15:, 7:]
    one.fresh[:], other.fresh[:] = True, True
    for _ in range(150):
        for speaker, hearer in ((one, other), (other, one)):
            piece = speaker.told()
            assert piece is None or len(piece) <= 361
            if piece and random.random() < 0.5:
                hearer.hear(piece)
    both = np.where((np.arange(37)[:, None] < 20) | (np.arange(51) >= 7), truth, UNKNOWN)
    assert (one.known == both).all()
    assert (other.known == both).all()


@pytest.mark.parametrize("junk", [b"", b"M", b"M" + bytes(17), b"M" + b"\xff" * 18, b"x" * 19])
def test_what_is_no_map_is_passed_over(junk):
    one = Map((10, 10))
    one.hear(junk)
    assert not one.known.any()


def test_frontiers_part_the_members():
    """Two at one place: the one that is not nearer to its goal than the other goes elsewhere."""
    known = np.zeros((20, 40), np.uint8)
    known[:, 10:30] = FREE
    closed = np.zeros(known.shape, bool)
    close(known, 0.0, closed)
    ways, points = Ways(known.shape), np.array([[21.0, 10.0], [21.0, 10.0]])
    ways.spread(closed, points, np.array([True, False]))
    numbers = known, closed, ways.lengths, ways.owners, 0, np.array([[0.0, 0.0], [29.5, 10.5]])
    _, freely = cheapest(*numbers, np.array([False, False]), 8.0, 21.0, 10.0, 0.0)
    _, parted = cheapest(*numbers, np.array([False, True]), 8.0, 21.0, 10.0, 0.0)
    assert freely == 29
    assert parted in (10, 29)
    row, column = cheapest(*numbers, np.array([False, True]), 8.0, 21.0, 10.0, 0.0)
    assert hypot(row - 10.5, column - 29.5) > 4 or column == 10


def test_a_centroid_in_an_obstacle_is_moved_to_the_nearest_place_of_its_cell():
    where = area(Obstacle(corners=[(0, 0)], radius=10))
    ways = spread(where, (-20, 0))
    x, y = where.to_metres(centroid(ways, 0, np.ones(where.shape)))
    assert hypot(x, y) == pytest.approx(10.5, abs=1.0)


def test_obstacles_of_the_world_count_if_they_reach_up_to_the_members():
    world = load("coverage").world
    assert len(standing_in(world, 15.0, 2.0)) == 3
    assert len(standing_in(world, 27.5, 2.0)) == 1


def test_those_out_of_reach_hear_of_each_other_and_nobody_of_itself():
    nodes = ["left", "middle", "right"]
    parameters = CoverageParameters.model_validate({"area": {"size": [60, 60], "cell": 2}, "height": 8})
    members = {name: Covering(parameters, area(cell=2.0), [name], nodes) for name in nodes}
    said = {name: [] for name in nodes}
    for count in range(8):
        now = count * 200_000_000
        for k, name in enumerate(nodes):
            members[name].measured(0, now, np.array([25.0 * k - 25, 0, 8, 0, 0, 0]))
            heard = [
                Packet(other, "*", word, now, now, -60.0)
                for other in nodes[max(k - 1, 0) : k] + nodes[k + 1 : k + 2]
                for word in said[other]
            ]
            members[name].hear([0] * len(heard), heard)
            members[name].steer(now)
        said = {name: members[name].words(0) for name in nodes}
    states, there = members["left"]._neighbours.at(now)
    assert there.tolist() == [[False, True, True]]
    assert states[0, 2, :2] == pytest.approx((25, 0))


@pytest.mark.parametrize("junk", [b"", b"H", b"H" + bytes(47), b"H" + b"\xff" * 48, b"x" * 49])
def test_what_is_no_hearsay_is_passed_over(junk):
    assert directly(Packet("a", "*", junk, 0, 0, -60.0), ["a", "b"]) == []
