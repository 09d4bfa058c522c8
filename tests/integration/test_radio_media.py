"""Media in a run: chosen by the scenario, part of its state, with nodes that come and go; ns-3 that is not well."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

import airloom as al
from airloom.radio.ns3 import Ns3Failed, Ns3Missing
from airloom.radio.ns3.installation import ADVICE, find_ns3
from airloom.radio.packet import PacketError
from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.scenario import ScenarioError, load

SCENARIO = """
name: talking
duration: 1
engine: batch
radio:
  stations: {base: {position: [10, 0, 2]}}
  MEDIUM
vehicles:
  a: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
  b: {extends: multirotor, pose: {position: [20, 0, 0.05]}}
MORE
"""
BUILT_IN = "jitter: 0.01"


def has_ns3():
    try:
        find_ns3()
    except Ns3Missing:
        return False
    return True


needs_ns3 = pytest.mark.skipif(not has_ns3(), reason=ADVICE)
all_media = pytest.mark.parametrize(
    "medium",
    [
        pytest.param(BUILT_IN, id="built-in"),
        pytest.param("ns3: {}", id="ns-3", marks=needs_ns3),
        pytest.param("ns3: {link: lr-wpan}", id="lr-wpan", marks=needs_ns3),
        pytest.param("ns3: {link: infrastructure, base: base}", id="infrastructure", marks=needs_ns3),
    ],
)


@pytest.fixture
def scenario(tmp_path):
    def write(medium=BUILT_IN, more="", **changes):
        text = SCENARIO.replace("MEDIUM", medium).replace("MORE", more)
        for old, new in changes.items():
            text = text.replace(old, new)
        (tmp_path / "talking.yaml").write_text(text)
        return tmp_path / "talking.yaml"

    return write


def talk(sim, since, until, every=0.04):
    """All talk to all; what each has heard."""
    heard = {name: [] for name in sim.radio}
    k = round(since / every)
    while sim.time < until:
        for name in sim.radio:
            sim.radio[name].send(f"{name}{k}".encode())
        k += 1
        sim.run(until=every * k)
        for name in sim.radio:
            heard.setdefault(name, []).extend(sim.radio[name].receive())
    return heard


@all_media
def test_state_hash_and_packets_are_the_same_again_and_differ_with_the_seed(scenario, medium):
    with al.Simulation.load(scenario(medium)) as sim:
        first = talk(sim, 0, 0.8), sim.state_hash()
        sim.reset()
        assert (talk(sim, 0, 0.8), sim.state_hash()) == first
        sim.reset(seed=1)
        assert (talk(sim, 0, 0.8), sim.state_hash()) != first
    assert sum(map(len, first[0].values())) > 80


@all_media
def test_what_is_on_its_way_is_part_of_the_state(scenario, medium):
    """Vehicles are the same; only what was said differs."""
    hashes = set()
    for content in (b"", b"x", b"y"):
        with al.Simulation.load(scenario(medium)) as sim:
            sim.run(until=0.5)
            if content:
                sim.radio["a"].send(content)
            hashes.add(sim.state_hash())
    assert len(hashes) == 3


NEWCOMER = "  c: {extends: multirotor, pose: {position: [10, 5, 0.05]}}"


@all_media
def test_vehicles_that_come_become_nodes_and_those_that_go_are_off(scenario, medium):
    with al.Simulation.load(scenario(medium)) as sim:
        talk(sim, 0, 0.8)
        sim.change(load(scenario(medium, NEWCOMER)))
        assert list(sim.radio) == ["a", "b", "base", "c"]
        heard = talk(sim, 0.8, 1.6)
        assert {packet.sender for packet in heard["c"]} == {"a", "b", "base"}
        assert len([packet for packet in heard["a"] if packet.sender == "c"]) >= 5
        without_b = load(scenario(medium, NEWCOMER), overrides={"vehicles.b": None})
        sim.radio["b"].send(bytes(100))
        sim.change(without_b)  # what it had to say is not said
        heard = talk(sim, 1.6, 2.4)
        assert not heard["b"]
        assert not [packet for packet in (*heard["a"], *heard["c"], *heard["base"]) if packet.sender == "b"]
        assert {packet.sender for packet in heard["a"]} == {"base", "c"}
        sim.reset()
        assert list(sim.radio) == ["a", "c", "base"]
        changed = talk(sim, 0, 0.8), sim.state_hash()
    with al.Simulation(without_b) as fresh:
        assert (talk(fresh, 0, 0.8), fresh.state_hash()) == changed


TALK = """
import os, signal
import airloom as al

class Talk(al.System):
    \"\"\"Everybody talks; at half a second something happens to ns-3.\"\"\"

    rate = 20.0
    harm = HARM

    def post_update(self, sim):
        for name, node in sim.radio.items():
            node.receive()
            node.send(name.encode() * 10)
        if self.harm and sim.time >= 0.5:
            helper = sim.radio.bands[""].medium._helper
            helper._socket.settimeout(0.1 * helper._timeout)  # all of it is for a busy machine, on which it begins
            os.kill(helper._process.program, self.harm)
"""


def recorded(scenario, tmp_path, medium, harm=0):
    (tmp_path / "talk.py").write_text(TALK.replace("HARM", str(int(harm))))
    path = scenario(medium, "systems: {talk: {kind: talk.py:Talk}}")
    run = RecordedRun(al.Simulation.load(path), RunFolder.create(tmp_path / "run"), log=False)
    run.fly()
    return run


@needs_ns3
def test_a_run_on_ns3_leaves_counts_flows_and_pcap_files(scenario, tmp_path):
    run = recorded(scenario, tmp_path, "ns3: {pcap: true, flow_monitor: true}")
    assert run.outcome.status == "finished"
    about = json.loads(run.folder.summary.read_text())["radio"]
    band = about["bands"]["first"]
    assert band["medium"] == "ns-3"
    assert band["total"]["sent"] == 63
    assert band["nodes"]["base"]["heard"] == about["nodes"]["base"]["heard"] == 42
    assert {(flow["sender"], flow["receiver"]) for flow in band["flows"]} == {
        (one, other) for one in ("a", "b", "base") for other in ("a", "b", "base") if one != other
    }
    assert all(flow["heard"] == 21 and 1e-4 < flow["delay"] < 1e-2 for flow in band["flows"])
    assert sorted(path.name for path in (run.folder.path / "radio").iterdir()) == [
        "a.pcap", "b.pcap", "base.pcap", "flows.xml",
    ]  # fmt: skip
    if shutil.which("tshark"):
        command = ["tshark", "-r", str(run.folder.path / "radio/a.pcap"), "-Y", "wlan.fc.type == 2", "-T", "fields"]
        found = subprocess.run([*command, "-e", "data.data"], capture_output=True, text=True, check=True).stdout.split()
        assert sorted(set(found)) == sorted((name.encode() * 10).hex() for name in ("a", "b", "base"))
        assert len(found) == 63


def test_a_run_on_the_built_in_medium_leaves_pcap_files(scenario, tmp_path):
    dpkt = pytest.importorskip("dpkt")
    run = recorded(scenario, tmp_path, "pcap: true")
    assert run.outcome.status == "finished"
    about = json.loads(run.folder.summary.read_text())["radio"]["nodes"]
    files = sorted((run.folder.path / "radio").iterdir())
    assert [path.name for path in files] == ["a.pcap", "b.pcap", "base.pcap"]
    for path in files:
        with path.open("rb") as file:
            frames = [dpkt.radiotap.Radiotap(data).data for _, data in dpkt.pcap.Reader(file)]
        said = [bytes(frame.data_frame.data)[8:].decode() for frame in frames]
        assert set(said) == {name * 10 for name in ("a", "b", "base")}
        assert len(said) == about[path.stem]["sent"] + about[path.stem]["heard"]


@needs_ns3
@pytest.mark.parametrize(
    ("harm", "words"),
    [(signal.SIGKILL, "ns-3 was ended by SIGKILL"), (signal.SIGSTOP, "ns-3 has not answered for 7 s, and was ended")],
)
def test_ns3_that_dies_or_hangs_ends_the_run_with_one_message(scenario, tmp_path, harm, words):
    run = recorded(scenario, tmp_path, "ns3: {timeout: 7}", harm)
    assert isinstance(run.outcome.error, Ns3Failed)
    assert (run.outcome.status, run.outcome.reason) == ("failed", words)
    about = json.loads(run.folder.summary.read_text())
    assert about["simulated_time"] == 0.5
    assert about["radio"]["bands"]["first"] == {"medium": "ns-3"}


def test_without_ns3_a_run_says_what_to_do_and_ends_with_code_2(scenario):
    path = scenario("ns3: {}")
    done = subprocess.run(
        [sys.executable, "-m", "airloom", "run", str(path), "--headless", "--no-figures", "--quiet"],
        env={**os.environ, "AIRLOOM_NS3": "/nowhere"}, cwd=path.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert said.startswith(
        "The run could not begin: there is no ns-3 for developers in /nowhere: install it with `pip "
    )


@pytest.mark.parametrize(
    ("medium", "words"),
    [
        ("ns3: {rate: 7}", "802.11g has no rate of 7 Mb/s"),
        ("ns3: {}\n  power: 3", "power: with ns3, say below it what it shall do"),
        ("ns3: {link: infrastructure}", "a base station .* belongs to 'link: infrastructure'"),
        ("ns3: {link: infrastructure, base: tower}", "no node is called 'tower'"),
        ("period: 0.0015", "0.0015 s is no whole number of steps of 0.001 s"),
        ("period: 0", "greater than 0"),
    ],
)
def test_radios_that_make_no_sense_are_refused_when_loaded(scenario, medium, words):
    with pytest.raises(ScenarioError, match=words):
        load(scenario(medium))


@needs_ns3
def test_a_packet_that_is_too_long_for_the_link_is_refused(scenario):
    sim = al.Simulation.load(scenario("ns3: {link: lr-wpan}"))  # which starts no process before the first look
    with pytest.raises(PacketError, match="115 bytes are more than a packet can have on the first band, which is 114"):
        sim.radio["a"].send(bytes(115))


@all_media
def test_two_nodes_at_one_place_hear_each_other(scenario, medium):
    path = scenario(medium, **{"position: [20, 0, 0.05]": "position: [10, 0, 0.05]", "[10, 0, 2]": "[10, 0, 0.05]"})
    with al.Simulation.load(path) as sim:
        heard = talk(sim, 0, 0.8)
    assert {packet.sender for packet in heard["b"]} == {"a", "base"}


@all_media
def test_ten_thousand_packets_in_a_tick_are_carried_or_counted(scenario, medium):
    with al.Simulation.load(scenario(medium)) as sim:
        sim.run(until=0.4)
        for _ in range(10_000):
            sim.radio["a"].send(bytes(20))
        sim.run(until=2.0)
        counts = sim.radio.summary()["bands"]["first"]["nodes"]["a"]
        arrived = len(sim.radio["base"].receive())
    gone = counts["sent"] + counts["queue_drops"] + counts["expired"] + counts["given_up"] + counts["refused"]
    assert counts["given"] == 10_000
    assert 100 < arrived <= counts["sent"]
    assert counts["queue_drops"] > 1000
    assert gone >= 9_000
