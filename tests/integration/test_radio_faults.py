"""Radios that fail as the scenario says, on the built-in medium and on ns-3."""

from __future__ import annotations

import pytest

import airloom as al
from airloom.radio.ns3 import Ns3Missing
from airloom.radio.ns3.installation import ADVICE, find_ns3
from airloom.scenario import ScenarioError, load

SCENARIO = """
name: failing
duration: 3
engine: batch
radio:
  stations: {{base: {{position: [10, 0, 2]}}}}
  {medium}
vehicles:
  a: {{extends: multirotor, pose: {{position: [0, 0, 0.05]}}}}
  b: {{extends: multirotor, pose: {{position: [20, 0, 0.05]}}}}
systems:
  trouble: {{kind: radio_fault, {fault}}}
"""


def has_ns3():
    try:
        find_ns3()
    except Ns3Missing:
        return False
    return True


NS3 = pytest.param("ns3: {}", marks=pytest.mark.skipif(not has_ns3(), reason=ADVICE), id="ns-3")
LR_WPAN = pytest.param("ns3: {link: lr-wpan}", marks=pytest.mark.skipif(not has_ns3(), reason=ADVICE), id="lr-wpan")
both_media = pytest.mark.parametrize("medium", [pytest.param("jitter: 0.01", id="built-in"), NS3])
all_media = pytest.mark.parametrize("medium", [pytest.param("jitter: 0.01", id="built-in"), NS3, LR_WPAN])


@pytest.fixture
def scenario(tmp_path):
    def write(fault, medium="jitter: 0.01"):
        path = tmp_path / "failing.yaml"
        path.write_text(SCENARIO.format(fault=fault, medium=medium))
        return path

    return write


def talked(path, until=1.5, every=0.05):
    """What each node heard, when all say something again and again; and what was told on /events."""
    told = []
    with al.Simulation.load(path) as sim:
        sim.bus.subscribe("/events", lambda topic, event, time_ns: told.append((event.source, event.text)))
        heard = {name: [] for name in sim.radio}
        k = 0
        while sim.time < until:
            for name in sim.radio:
                heard[name] += sim.radio[name].receive()
                if sim.time < until - 0.3:
                    sim.radio[name].send(bytes([k]) * 20)
            k += 1
            sim.run(until=every * k)
        return heard, [event for event in told if event[1].startswith("trouble")]


def times(packets, sender=None):
    return [p.sent_ns / 1e9 for p in packets if sender in (None, p.sender)]


def within(packets, sender=None):
    return [time for time in times(packets, sender) if 0.5 <= time < 0.9]


@all_media
def test_a_radio_that_is_off_neither_sends_nor_hears(scenario, medium):
    heard, told = talked(scenario("fault: off, node: base, at: 0.5, duration: 0.4", medium))
    assert not within(heard["base"])
    assert not within(heard["a"], "base")
    assert len(within(heard["a"], "b")) >= 7
    assert len([time for time in times(heard["a"], "base") if time >= 0.9]) >= 5
    assert told == [("base", "trouble begins: radio off"), ("base", "trouble ends")]


@all_media
def test_a_jammer_silences_who_is_near_it(scenario, medium):
    """Log-distance: −47 − 30 log₁₀ d. Near base and b there is more noise than signal, at a much less than noise."""
    fault = "fault: jamming, position: [10, 0, 2], power: {}, at: 0.5, duration: 0.4"
    strong, told = talked(scenario(fault.format(10), medium))
    assert not within(strong["base"])
    weak, _ = talked(scenario(fault.format(-60), medium))
    assert len(within(weak["base"])) >= 14
    assert told[0] == ("*", "trouble begins: a jammer of 10 dBm at (10, 0, 2) m")


@all_media
def test_a_link_that_goes_one_way(scenario, medium):
    heard, told = talked(scenario("fault: one_way, node: a, to: b, at: 0.5, duration: 0.4", medium))
    assert not within(heard["b"], "a")
    assert len(within(heard["a"], "b")) >= 7
    assert len(within(heard["base"], "a")) >= 7
    assert told[0] == ("a", "trouble begins: nothing gets to b")


@both_media
def test_packets_come_late_twice_and_corrupted(scenario, medium):
    well, _ = talked(scenario("fault: late, node: a, delay: 0, at: 0.5", medium))
    late, _ = talked(scenario("fault: late, node: a, delay: 0.1, at: 0.5, duration: 0.4", medium))
    delays = {p.content: p.heard_ns - p.sent_ns for p in late["a"] if p.sender == "b"}
    usual = {p.content: p.heard_ns - p.sent_ns for p in well["a"] if p.sender == "b"}
    assert {round((delays[content] - usual[content]) / 1e9, 6) for content in usual} == {0.0, 0.1}

    twice, _ = talked(scenario("fault: duplicate, node: a, at: 0.5, duration: 0.4, delay: 0.02", medium))
    assert len(within(twice["a"])) == 2 * len(within(well["a"]))
    assert len(within(twice["b"])) == len(within(well["b"]))

    corrupt, told = talked(scenario("fault: corrupt, node: a, share: 0.5, at: 0", medium))
    wrong = [p for p in corrupt["a"] if len(set(p.content)) > 1]
    assert 0.25 < len(wrong) / len(corrupt["a"]) < 0.75
    assert all(sum(byte != p.content[0] for byte in p.content) in (1, 19) for p in wrong)
    assert all(len(set(p.content)) == 1 for p in corrupt["b"])
    assert told[0] == ("a", "trouble begins: 0.5 of the packets are corrupted")


def test_a_drifting_clock_shows_wrong_times_and_lets_packets_leave_at_others(scenario):
    """Of a radio period of 10 ms, a clock that loses 2 ms in a second lets packets leave later by so much."""
    sim = al.Simulation.load(scenario("fault: drift, node: a, drift: -2000, offset: 0.5, at: 0.5", "jitter: 0"))
    told = []
    sim.bus.subscribe("/events", lambda topic, event, time_ns: told.append((event.source, event.text)))
    for k in range(1, 40):
        sim.run(until=0.05 * k)
        true = sim.time
        sim.radio["ab"[k % 2]].send(b"x")
        sim.run(until=true + 0.03)
        (packet,) = sim.radio["base"].receive()
        error = 0.5 - 2e-3 * (true - 0.5) if true > 0.5 else 0.0
        if packet.sender == "a":
            assert packet.sent_ns / 1e9 == pytest.approx(true + error, abs=1e-6)
            # Sent from outside, when the network phase was over: it waits for the next one.
            assert packet.heard_ns / 1e9 - true == pytest.approx(0.01 + (-error) % 0.01, abs=3e-4)
        else:
            (heard,) = sim.radio["a"].receive()
            assert heard.sent_ns / 1e9 == pytest.approx(true)
            assert heard.heard_ns - packet.heard_ns == pytest.approx(error * 1e9, abs=1e5)
    assert told == [("a", "trouble begins: the clock gains -2000 µs/s, after a jump of 0.5 s")]


def test_faults_are_gone_after_a_reset_and_the_same_again(scenario):
    sim = al.Simulation.load(scenario("fault: corrupt, node: b, share: 0.3, at: 0.2, duration: 0.5"))

    def flown():
        heard = []
        for k in range(1, 20):
            sim.radio["a"].send(bytes([k]) * 30)
            sim.run(until=0.05 * k)
            heard += sim.radio["b"].receive()
        return heard, sim.state_hash()

    first = flown()
    sim.reset()
    assert flown() == first


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("fault: off, node: bb, at: 1", "nobody with such a radio matches 'bb'; did you mean 'b'"),
        ("fault: off, band: far, at: 1", "no band is called 'far'"),
        ("fault: one_way, node: a, at: 1", "the fault one_way needs to"),
        ("fault: one_way, node: a, to: z, at: 1", "nobody with such a radio matches 'z'"),
        ("fault: jamming, at: 1", "the fault jamming needs position"),
        ("fault: late, at: 1", "the fault late needs delay"),
        ("fault: drift, at: 1", "needs drift or offset"),
        ("fault: off, share: 0.5, at: 1", "only late and duplicate and corrupt has share"),
        ("fault: broken, at: 1", "'off', 'jamming', 'one_way'"),
    ],
)
def test_faults_that_make_no_sense_are_refused_when_loaded(scenario, fault, words):
    with pytest.raises(ScenarioError, match=words):
        load(scenario(fault))


def test_without_a_radio_none_can_fail(tmp_path):
    text = SCENARIO.format(fault="fault: off, at: 1", medium="").replace(
        "radio:\n  stations: {base: {position: [10, 0, 2]}}", ""
    )
    (tmp_path / "failing.yaml").write_text(text)
    with pytest.raises(ScenarioError, match="the scenario has no radio that could fail"):
        load(tmp_path / "failing.yaml")
