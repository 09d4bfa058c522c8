"""Messages over several hops: they arrive once, although words are lost, and their senders learn of it."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.radio.packet import Packet
from airloom.swarm import Mesh

NAMES = [f"n{k}" for k in range(6)]


def flood(meshes, rounds, loss, seed, cut=lambda now: False):
    """A chain: each hears the one before and the one after. What each took, and when."""
    random, taken = np.random.default_rng(seed), []
    said = {name: [] for name in NAMES}
    for count in range(rounds):
        heard = {name: [] for name in NAMES}
        for k, name in enumerate(NAMES):
            for other in NAMES[max(k - 1, 0) : k] + NAMES[k + 1 : k + 2]:
                if not (cut(count) and {name, other} == {"n2", "n3"}):
                    heard[other] += [
                        Packet(name, "*", one, 0, 0, -60.0) for one in said[name] if random.random() >= loss
                    ]
        for name in NAMES:
            taken += [(name, message, count) for message in meshes[name].hear(heard[name])]
            said[name] = meshes[name].words(count * 50_000_000)
    return taken


@pytest.mark.parametrize("seed", range(5))
def test_a_message_arrives_once_over_all_hops_and_is_answered(seed):
    meshes = {name: Mesh(name, NAMES) for name in NAMES}
    meshes["n5"].say(b"found it", "n0")
    meshes["n5"].say(b"and this", "n0")
    taken = flood(meshes, 1500, 0.5, seed)
    assert sorted(message.content for _, message, _ in taken) == [b"and this", b"found it"]
    assert {name for name, _, _ in taken} == {"n0"}
    assert all(message.sender == "n5" and message.hops == 5 for _, message, _ in taken)
    assert meshes["n5"].unanswered == 0


def test_a_message_waits_until_there_is_a_way():
    meshes = {name: Mesh(name, NAMES) for name in NAMES}
    meshes["n5"].say(b"found it", "n0")
    ((_, _, when),) = flood(meshes, 200, 0.0, 0, cut=lambda count: count < 100)
    assert 100 <= when < 130


def test_nobody_passes_on_the_same_twice():
    meshes = {name: Mesh(name, NAMES) for name in NAMES}
    meshes["n5"].say(b"found it", "n0")
    flood(meshes, 18, 0.0, 0)
    assert [meshes[name].relayed for name in NAMES] == [0, 2, 2, 2, 2, 0]  # the message and its answer
