"""The ledger of a radio: that it agrees with what nodes really heard, and is kept for those who look alone."""

import numpy as np
import pytest

from airloom.bus import messages
from airloom.radio.links import links_in, traffic
from airloom.radio.packets import packets_in
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader
from airloom.runs.recorded import RecordedRun
from airloom.scenario import load
from airloom.simulation import Simulation

SCENE = """
name: talking
duration: 3
engine: batch
radio:
  stations: {{base: {{position: [10, 0, 2]}}}}
  bands: {{long: {{vehicles: a, stations: [base], bandwidth: 200.0e+3}}}}
vehicles:
  a: {{extends: multirotor, pose: {{position: [0, 0, 0.05]}}}}
  b: {{extends: multirotor, pose: {{position: [40, 0, 0.05]}}}}
  far: {{extends: multirotor, pose: {{position: [500, 0, 0.05]}}}}
log: {{topics: [{topics}]}}
"""
NAMES = ("a", "b", "far", "base")


def talk(sim, every=0.1):
    """`a` and the base to everybody, `b` to `a` alone, and `a` by the other band, too."""

    def speak():
        for name in ("a", "base"):
            sim.radio[name].send(b"to all of you")
        sim.radio["b"].send(b"to you", to="a")
        sim.radio["a"].send(b"by the long way", band="long")
        sim.call_at(sim.time + every, speak)

    sim.call_at(0.1, speak)


@pytest.fixture
def scene(tmp_path):
    def write(topics="/radio/*"):
        path = tmp_path / "talking.yaml"
        path.write_text(SCENE.format(topics=topics))
        return load(path)

    return write


def listen(sim, topic, reading):
    found = []
    sim.bus.subscribe(topic, lambda _, message, time: found.append(reading(message)))
    return found


def test_counts_are_those_of_the_nodes(scene):
    sim = Simulation(scene())
    links, packets = listen(sim, "/radio/links", links_in), listen(sim, "/radio/packets", packets_in)
    talk(sim)
    heard = {name: [] for name in NAMES}
    while sim.time < 3.0:
        sim.run(sim.time + 0.5)
        for name in NAMES:
            heard[name] += [packet for packet in sim.radio[name].receive() if packet.band == ""]
    sim.radio.finish()
    assert links[0].names == NAMES
    sums = traffic(links)
    a, b, far = range(3)
    assert sums.meant[a].tolist() == [0, 29, 29, 29]
    assert sums.meant[b].tolist() == [29, 0, 0, 0]
    assert not sums.delivered[:, far].any()
    assert not sums.meant[far].any()
    for receiver, name in enumerate(NAMES):
        assert sums.delivered[:, receiver].sum() == len(heard[name])
    assert sums.delivered[b, a] > 25
    of_pair = [packet for packet in heard["a"] if packet.sender == "b"]
    delays = np.concatenate([one.delay[(one.sender == b) & (one.receiver == a)] for one in links])
    assert np.average([packet.heard_ns - packet.sent_ns for packet in of_pair]) * 1e-9 == pytest.approx(
        delays.mean(), rel=0.1
    )
    assert np.linalg.norm(links[2].positions[a] - links[2].positions[b]) == pytest.approx(40.0, abs=0.1)
    assert sum(len(one.sent) for one in packets) == 3 * 29
    assert sum(len(one.heard) for one in packets) == sums.delivered.sum()
    assert sorted({one.heard["strength"].max() for one in packets if len(one.heard)})[-1] == pytest.approx(
        max(packet.strength for name in NAMES for packet in heard[name]), abs=1e-3
    )


def test_what_is_sent_between_two_network_phases_does_not_all_begin_with_the_next(scene):
    """Two that are asked at once leave at different times, whoever asks and when."""
    sim = Simulation(scene())
    talk(sim)
    sim.run(3.0)
    assert len([packet for packet in sim.radio["a"].receive() if packet.sender == "base"]) > 20
    assert len([packet for packet in sim.radio["base"].receive() if packet.sender == "a"]) > 20


def test_a_band_has_links_of_its_own(scene):
    sim = Simulation(scene())
    links = listen(sim, "/radio/long/links", links_in)
    talk(sim)
    sim.run(3.0)
    sim.radio.finish()
    assert links[0].names == ("a", "base")
    assert traffic(links).delivered.tolist() == [[0, 29], [0, 0]]


def test_nothing_is_kept_for_nobody(scene):
    sim = Simulation(scene())
    talk(sim)
    sim.run(1.0)
    ledger = sim.radio.bands[""].ledger
    assert not ledger.is_kept
    assert not ledger.heard
    assert not ledger._tallies
    found = listen(sim, "/radio/links", links_in)
    sim.run(3.0)
    assert [links.end_ns for links in found][:1] == [1_500_000_000]


def test_what_waits_is_bounded(scene):
    sim = Simulation(scene())
    listen(sim, "/radio/*", lambda message: None)
    talk(sim, every=0.01)
    ledger = sim.radio.bands[""].ledger
    for _ in range(25):
        sim.run(sim.time + 0.1)
        assert len(ledger.heard) < 200
        assert len(ledger._tallies) < 6


def recorded(scenario, folder, cut=None):
    sim = Simulation(scenario)
    talk(sim)
    run = RecordedRun(sim, RunFolder.create("talking", folder))
    if cut:
        sim.longest_chunk = cut
    run.fly()
    return (folder / "log.mcap").read_bytes()


def test_logs_are_equal_however_time_is_cut(scene, tmp_path):
    whole = recorded(scene(), tmp_path / "whole")
    assert whole == recorded(scene(), tmp_path / "cut", cut=7)
    with LogReader(tmp_path / "whole/log.mcap") as log:
        links = [links_in(message) for _, _, message in log.messages(["/radio/links"])]
        assert {info.msgtype for info in log.topics.values()} == {messages.RADIO_LINKS, messages.RADIO_PACKETS}
    assert [one.end_ns for one in links] == [500_000_000 * (k + 1) for k in range(6)]


def test_a_run_that_begins_anew_tells_the_same(scene):
    sim = Simulation(scene())
    links = listen(sim, "/radio/links", links_in)
    told = []
    for _ in range(2):
        links.clear()
        talk(sim)
        sim.run(3.0)
        sim.radio.finish()
        told.append(traffic(links).delivered.tolist())
        sim.reset()
    assert told[0] == told[1]


def test_a_log_has_links_unless_others_are_asked_for(scene):
    assert "/radio/*links" in load("flock").log.topics
