"""Whatever is thrown at the DDS ports: the run goes on, and ends as if nobody had been there."""

from __future__ import annotations

import random
import socket
import struct
from math import nan

import pytest
from tests.ros2_peers import Peer, own_domain, until

import airloom as al
from airloom.bus import messages
from airloom.ros2.dds import DEFAULT
from airloom.ros2.incoming import TWIST
from airloom.ros2.rtps.participant import well_known_port

pytest.importorskip("cyclonedds")
FLOOD = 100_000
RATE = {"engine": "batch", "duration": 1000, "ros2.rate": 50}


@pytest.fixture
def under_way():
    """A simulation, and its domain."""
    domain = own_domain()
    with al.Simulation.load("hover", overrides={**RATE, "ros2.domain": domain}) as sim:
        sim.step()
        yield sim, domain


def undisturbed(tick: int) -> str:
    with al.Simulation.load("hover", overrides={**RATE, "ros2.domain": own_domain()}) as sim:
        sim.step(tick)
        return sim.state_hash()


def garbage(seed: int):
    """Noise, and what begins as a message of RTPS should: of any kind, with lengths that lie."""
    draws = random.Random(seed)
    while True:
        body = draws.randbytes(draws.randrange(1, 200))
        head = b"RTPS\x02\x03\x01\x10" + draws.randbytes(12)
        part = struct.pack("<BBH", draws.choice([0x06, 0x07, 0x08, 0x0E, 0x13, 0x15, 0x16]), 1, draws.randrange(300))
        yield draws.choice([body, head + body, head + part + body])


def test_random_bytes_on_every_port_change_nothing(under_way):
    sim, domain = under_way
    ports = [well_known_port(domain, k) + side for k in range(6) for side in (0, 1)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thrower:
        for _, datagram in zip(range(20_000), garbage(7), strict=False):
            for port in random.Random(len(datagram)).sample(ports, 2):
                thrower.sendto(datagram, ("127.0.0.1", port))
            if sim.tick < 1000:
                sim.step()
    peer = Peer(sim, domain)
    assert peer.hear(peer.subscribe("/cf/state", messages.ODOMETRY), messages.ODOMETRY).child_frame_id == "cf/base_link"
    peer.close()
    assert sim.state_hash() == undisturbed(sim.tick)


def test_a_flood_that_nobody_can_obey_changes_nothing(under_way):
    """NaN for a vehicle, commands for nobody, another type than the topic's: 10⁵ messages, each sort told once."""
    sim, domain = under_way
    peer = Peer(sim, domain)
    bad = struct.pack("<4s6d", b"\0\1\0\0", nan, *[0.0] * 5)
    writers = [
        peer.publisher("/cf/cmd_vel", TWIST),
        peer.participant.writer("rt/nobody/cmd_vel", TWIST, DEFAULT),
        peer.participant.writer("rt/cf/goal_pose", TWIST, DEFAULT),
    ]
    for k in range(FLOOD):
        writers[k % 3].write(bad)
        if k % 1000 == 0:
            sim.step(20)
    until(lambda: len(sim.warnings) >= 3, peer.step)
    peer.close()
    assert sim.ros2.report()["dropped"]["/cf/cmd_vel"] > 0
    told = [warning for warning in sim.warnings if "refused" in warning]
    assert [sum(text in one for one in told) for text in ("/cf/cmd_vel", "'nobody'", "/cf/goal_pose")] == [1, 1, 1]
    assert sim.state_hash() == undisturbed(sim.tick)
