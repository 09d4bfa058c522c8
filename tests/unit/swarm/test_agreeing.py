"""Consensus and auctions: what members agree on although half of their words are lost and one of them dies."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.swarm.lossy import talk

from airloom.radio.packet import Packet, PacketError
from airloom.swarm import Agreement, Auction, Average

NAMES = [f"bird_{k}" for k in range(8)]
DEAD = "bird_3"
LIVING = [name for name in NAMES if name != DEAD]


def values(seed):
    return dict(zip(NAMES, np.random.default_rng(seed).uniform(-5, 10, len(NAMES)).tolist(), strict=True))


def step(_, member, now):
    member.step(now)


@pytest.mark.parametrize("seed", range(5))
def test_they_agree_on_a_value_between_theirs(seed):
    given = values(seed)
    members = {name: Agreement(value) for name, value in given.items()}
    talk(members, 300, step, loss=0.5, seed=seed, dies=DEAD, at=40)
    found = [members[name].value for name in LIVING]
    assert np.ptp(found) < 1e-6
    assert min(given.values()) < found[0] < max(given.values())


def test_without_loss_they_agree_on_the_mean():
    given = values(0)
    members = {name: Agreement(value) for name, value in given.items()}
    talk(members, 200, step)
    assert [member.value for member in members.values()] == pytest.approx([np.mean(list(given.values()))] * 8)


@pytest.mark.parametrize("seed", range(5))
def test_all_find_the_mean_whatever_is_lost(seed):
    given = values(seed)
    members = {name: Average(name, value) for name, value in given.items()}
    talk(members, 120, step, loss=0.5, seed=seed)
    assert [member.value for member in members.values()] == pytest.approx([np.mean(list(given.values()))] * 8, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_living_find_their_own_mean_when_one_dies(seed):
    given = values(seed)
    members = {name: Average(name, value) for name, value in given.items()}
    talk(members, 250, step, loss=0.5, seed=seed, dies=DEAD, at=50)
    mean = np.mean([given[name] for name in LIVING])
    assert [members[name].value for name in LIVING] == pytest.approx([mean] * 7, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_every_task_is_taken_once_even_those_of_the_dead(seed):
    random = np.random.default_rng(seed)
    tasks, places = random.uniform(-50, 50, (12, 2)), dict(zip(NAMES, random.uniform(-50, 50, (8, 2)), strict=True))
    members = {name: Auction(name, NAMES, tasks, most=3) for name in NAMES}
    talk(members, 60, lambda name, member, now: member.step(places[name], now), loss=0.5, seed=seed)
    assert sorted(task for member in members.values() for task in member.route) == list(range(12))
    dying = max(NAMES, key=lambda name: len(members[name].route))
    members = {name: Auction(name, NAMES, tasks, most=3) for name in NAMES}
    talk(members, 130, lambda name, member, now: member.step(places[name], now), loss=0.5, seed=seed, dies=dying, at=60)
    assert sorted(task for name in NAMES if name != dying for task in members[name].route) == list(range(12))


def test_what_is_no_word_is_passed_over():
    junk = [Packet("x", "*", content, 0, 0, -60.0) for content in (b"", b"A", b"B" * 40, b"F" + bytes(20), bytes(300))]
    members = [Agreement(1.0), Average("me", 2.0), Auction("me", ["me", "you"], [(1.0, 0.0)], most=1)]
    for member in members:
        member.hear(junk)
    assert members[0].value == 1.0


def test_an_auction_that_fits_into_no_packet_is_told():
    with pytest.raises(PacketError, match="2 members and 200 tasks do not fit into a packet of 1400 bytes"):
        Auction("a", ["a", "b"], [(0.0, 0.0)] * 200, most=1)
