"""Whether two things are in one place."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.scenario import load_vehicle
from airloom.scenario.models import Obstacle
from airloom.world.overlap import Upright


def solid(shape, position, size=(2.0, 2.0, 2.0), yaw=0.0):
    return Upright.of_obstacle(Obstacle(shape=shape, size=size, position=position, yaw=yaw))


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        (solid("box", (0, 0, 0)), solid("box", (1.9, 0, 0)), True),
        (solid("box", (0, 0, 0)), solid("box", (2.0, 0, 0)), False),
        (solid("box", (0, 0, 0)), solid("box", (0, 0, 2.0)), False),
        (solid("box", (0, 0, 0)), solid("box", (1.9, 1.9, 0), yaw=np.pi / 4), False),
        (solid("box", (0, 0, 0)), solid("box", (2.3, 0, 0), yaw=np.pi / 4), True),
        (solid("box", (0, 0, 0)), solid("cylinder", (1.9, 0, 0)), True),
        (solid("box", (0, 0, 0)), solid("cylinder", (1.8, 1.8, 0)), False),
        (solid("box", (0, 0, 0)), solid("sphere", (0, 1.7, 1.7)), True),
        (solid("box", (0, 0, 0)), solid("sphere", (0, 1.8, 1.8)), False),
        (solid("sphere", (0, 0, 0)), solid("sphere", (1.2, 1.2, 1.2)), False),
        (solid("cylinder", (0, 0, 0)), solid("cylinder", (1.3, 1.3, 0)), True),
        (solid("cylinder", (0, 0, 0)), solid("cylinder", (1.5, 1.5, 0)), False),
    ],
)
def test_things_overlap_either_way(one, other, overlap):
    assert one.overlaps(other) is overlap
    assert other.overlaps(one) is overlap


def test_a_vehicle_is_as_large_as_its_body():
    iris = load_vehicle("iris")
    length, width, height = iris.body.size
    here = Upright.of_vehicle(iris, np.zeros(3), 0.0)
    assert here.overlaps(Upright.of_vehicle(iris, np.array([0.9 * length, 0.0, 0.0]), 0.0))
    assert not here.overlaps(Upright.of_vehicle(iris, np.array([1.01 * length, 0.0, 0.0]), 0.0))
    assert not here.overlaps(Upright.of_vehicle(iris, np.array([0.0, 0.0, 1.01 * height]), 0.0))
    assert here.overlaps(Upright.of_vehicle(iris, np.array([0.5 * (length + width) - 0.01, 0.0, 0.0]), np.pi / 2))
