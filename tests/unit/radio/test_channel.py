"""What is in the way between two antennas."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.radio.builtin import medium_of
from airloom.radio.medium import EVERYBODY, Frame
from airloom.radio.obstruction import DIFFRACTION, FIXED, IGNORED, knife_edge, obstruction
from airloom.radio.shadowing import WAVES, fill_phases, shadowing, waves_of
from airloom.scenario.models import World
from airloom.scenario.radio import Radio
from airloom.world.land import Land

WALL = {"shape": "box", "size": [1.0, 400.0, 20.0], "position": [50.0, 0.0, 10.0]}
"""20 m high across the way, too long to go around."""


@pytest.fixture(scope="module")
def walled() -> Land:
    return Land(World.model_validate({"obstacles": {"wall": WALL}}))


def loss(land: Land, kind: int, height: float) -> float:
    return obstruction(land.array, kind, 30.0, 0.123, 0.0, 0.0, height, 100.0, 0.0, height)


def test_a_wall_takes_what_a_knife_edge_at_its_top_takes(walled):
    """The way over its two edges is bent in the middle between them, a little higher than the wall."""
    assert loss(walled, DIFFRACTION, 5.0) == pytest.approx(knife_edge(15.15, 50.0, 50.0, 0.123), abs=0.05)


def test_less_is_lost_nearer_to_the_top_and_nothing_above(walled):
    losses = [loss(walled, DIFFRACTION, height) for height in (1.0, 10.0, 19.0, 21.0)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == 0.0
    assert losses[-2] > 6.0


def test_a_narrow_pillar_is_passed_at_its_side():
    pillar = {"shape": "box", "size": [1.0, 1.0, 200.0], "position": [50.0, 0.0, 100.0]}
    land = Land(World.model_validate({"obstacles": {"pillar": pillar}}))
    assert loss(land, DIFFRACTION, 5.0) == pytest.approx(knife_edge(0.505, 50.0, 50.0, 0.123), abs=0.05)


def test_losses_can_be_fixed_or_ignored(walled):
    assert loss(walled, FIXED, 5.0) == 30.0
    assert loss(walled, IGNORED, 5.0) == 0.0


@pytest.mark.parametrize(("height", "count"), [(5.0, 0), (25.0, 1)])
def test_a_wall_stands_between_two_nodes_until_they_fly_above_it(walled, height, count):
    two = medium_of(Radio.model_validate({"power": 30.0}), 2, walled)
    two.send([Frame(0, 0, EVERYBODY, 100, 0)])
    assert len(two.advance(10**9, np.array([[0.0, 0.0, height], [100.0, 0.0, height]]))) == count


def test_a_low_antenna_over_flat_ground_reaches_less_far():
    heard = []
    for antenna in (0.0, 10.0):
        radio = Radio.model_validate({"antenna": antenna, "channel": {"path_loss": {"kind": "two-ray"}}})
        two = medium_of(radio, 2)
        two.send([Frame(0, 0, EVERYBODY, 100, 0)])
        heard.append(len(two.advance(10**9, np.array([[0.0, 0.0, 1.0], [600.0, 0.0, 1.0]]))))
    assert heard == [0, 1]


def test_both_directions_of_a_link_have_the_same_shadow_to_the_bit():
    places, phases = np.random.default_rng(0).uniform(0, 500, (20, 3)), np.empty((20, WAVES, 4))
    fill_phases(waves_of(3, 20.0), places, phases)
    for a in range(20):
        for b in range(a):
            there = shadowing(phases, a, b, 100.0, 6.0, 20.0)
            assert there == shadowing(phases, b, a, 100.0, 6.0, 20.0)
            assert abs(there) < 40.0


def test_links_that_are_short_against_the_shadows_have_the_same_spread():
    phases, losses = np.empty((2, WAVES, 4)), []
    for key in range(1500):
        fill_phases(waves_of(key, 20.0), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), phases)
        losses.append(shadowing(phases, 0, 1, 1.0, 6.0, 20.0))
    assert np.std(losses) == pytest.approx(6.0, abs=0.45)
