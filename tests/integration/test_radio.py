"""Packets by radio: in the process, between members, and by UDP of scripts that know nothing of it."""

from __future__ import annotations

import json

import pytest

import airloom as al
from airloom.radio.packet import PacketError
from airloom.scenario import ScenarioError, load

SCENARIO = """
name: talking
duration: 2
engine: batch
radio: {stations: {base: {position: [10, 0, 2]}}}
vehicles:
  a: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
  b: {extends: multirotor, pose: {position: [30, 0, 0.05]}}
  c: {extends: multirotor, pose: {position: [500, 0, 0.05]}}
"""


@pytest.fixture
def sim(tmp_path):
    (tmp_path / "talking.yaml").write_text(SCENARIO)
    return al.Simulation.load(tmp_path / "talking.yaml")


def heard(sim):
    return {name: [packet.content for packet in sim.radio[name].receive()] for name in sim.radio}


def test_who_is_in_reach_hears_it_and_not_before_the_next_phase(sim):
    sim.run(until=0.1)
    sim.radio["a"].send(b"hello")
    assert not any(heard(sim).values())
    sim.step()
    assert not any(heard(sim).values())
    sim.run(until=0.2)
    assert heard(sim) == {"a": [], "b": [b"hello"], "c": [], "base": [b"hello"]}


def test_to_one_to_some_and_to_all(sim):
    sim.run(until=0.1)
    for to in ("b", "b*", "*", "[ab]"):
        sim.radio["base"].send(to.encode(), to)
    sim.run(until=0.3)
    assert {name: sorted(contents) for name, contents in heard(sim).items()} == {
        "a": [b"*", b"[ab]"],
        "b": [b"*", b"[ab]", b"b", b"b*"],
        "c": [],
        "base": [],
    }


def test_a_packet_tells_who_when_and_how_strong(sim):
    sim.run(until=0.1)
    sim.radio["a"].send(b"x", "b")
    sim.run(until=0.2)
    (packet,) = sim.radio["b"].receive()
    assert (packet.sender, packet.to, packet.sent_ns) == ("a", "b", 100_000_000)
    assert 100_000_000 < packet.heard_ns <= 120_000_000
    # Log-distance at 30 m with ns-3's defaults: 16.02 − 46.68 − 30 log₁₀ 30.
    assert packet.strength == pytest.approx(-74.97, abs=0.05)


@pytest.mark.parametrize(
    ("content", "to", "words"),
    [
        ("text", "b", "a packet is bytes, not str"),
        (bytes(1401), "b", "1401 bytes are more"),
        (b"x", "a", "cannot send to itself"),
        (b"x", "bb", "names nobody .* did you mean 'b'"),
    ],
)
def test_what_cannot_be_sent_is_refused(sim, content, to, words):
    with pytest.raises(PacketError, match=words):
        sim.radio["a"].send(content, to)


def test_the_same_again_after_a_reset(sim):
    def flown():
        sim.run(until=0.1)
        for k in range(20):
            sim.radio["a"].send(bytes([k]) * 100)
            sim.radio["base"].send(bytes([k]) * 50)
        sim.run(until=0.5)
        return [packet for name in sim.radio for packet in sim.radio[name].receive()]

    first = flown()
    assert len(first) > 60
    sim.reset()
    assert flown() == first


MEMBER = """
import json, sys
from airloom.member import join
log = []
with join() as me:
    for turn in me:
        for name in turn.vehicles:
            radio = turn.radio(name)
            log += [(turn.time, name, p.sender, p.content.decode(), p.sent_ns, p.heard_ns) for p in radio.receive()]
            radio.send(f"{name} at {turn.time:.2f}".encode())
        if turn.time >= 1.0:
            break
json.dump(log, open(sys.argv[1], "w"))
"""

SCRIPT = """
import json, sys, time
from airloom.member import current
me, log = current(), []
while True:
    for name in me.vehicles:
        radio = me.radio(name)
        log += [(me.time, name, p.sender, p.content.decode(), p.sent_ns, p.heard_ns) for p in radio.receive()]
        radio.send(f"{name} at {me.time:.2f}".encode())
    if me.time >= 1.0:
        break
    time.sleep(0.05)
json.dump(log, open(sys.argv[1], "w"))
"""


SYSTEM = """
import json
import airloom as al

class Talk(al.System):
    \"\"\"What the members do, in the process.\"\"\"

    rate = 20.0

    def reset(self, sim):
        self.log = []

    def post_update(self, sim):
        for name in sim.vehicles if sim.time <= 1.0 else ():
            radio = sim.radio[name]
            self.log += [
                [sim.time, name, p.sender, p.content.decode(), p.sent_ns, p.heard_ns] for p in radio.receive()
            ]
            radio.send(f"{name} at {sim.time:.2f}".encode())
"""


def in_the_process(folder):
    (folder / "talk.py").write_text(SYSTEM)
    (folder / "talking.yaml").write_text(SCENARIO + "systems: {talk: {kind: talk.py:Talk}}\n")
    sim = al.Simulation.load(folder / "talking.yaml")
    sim.run(until=1.2)
    return sorted(sim.systems["talk"].log)


def by_member(folder, program, *command):
    (folder / "program.py").write_text(program)
    text = SCENARIO + "members:\n"
    for name in "abc":
        words = ", ".join((*command, "program.py", f"{name}.json"))
        text += f"  m{name}: {{command: [{words}], vehicles: {name}, rate: 20}}\n"
    (folder / "talking.yaml").write_text(text)
    with al.Simulation(load(folder / "talking.yaml")) as sim:
        sim.member_logs = folder
        sim.run(until=1.2)
    return sorted(entry for name in "abc" for entry in json.loads((folder / f"{name}.json").read_text()))


def test_a_system_members_and_scripts_hear_the_same(tmp_path):
    for folder in ("one", "two", "three"):
        (tmp_path / folder).mkdir()
    by_members = by_member(tmp_path / "one", MEMBER, "python")
    by_scripts = by_member(tmp_path / "two", SCRIPT, "python", "-m", "airloom", "exec")
    assert len(by_members) > 35
    assert {(name, sender) for _, name, sender, *_ in by_members} == {("a", "b"), ("b", "a")}
    assert by_members == by_scripts == in_the_process(tmp_path / "three")


UDP = """
import select, socket, sys, time
me, others = sys.argv[1], sys.argv[2:]
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
one.bind(("", 5000))
heard = []
for turn in range(20):
    one.sendto(f"hello {turn} from {me}".encode(), ("10.73.255.255", 5000))
    for other in others:
        one.sendto(f"for you {turn}".encode(), (other, 5000))
    end = time.time() + 0.05
    while (left := end - time.time()) > 0:
        if select.select([one], [], [], left)[0]:
            data, (host, port) = one.recvfrom(1000)
            heard.append(f"{data.decode()} | {host} {port}")
print("\\n".join(sorted(heard)))
print(socket.gethostbyname("b"), one.getsockname())
"""


def test_datagrams_of_scripts_go_by_radio(tmp_path):
    (tmp_path / "udp.py").write_text(UDP)
    text = SCENARIO + "members:\n"
    for name, other in ("ab", "ba", "ca"):
        command = f"[python, -m, airloom, exec, udp.py, {name}, {other}]"
        text += f"  m{name}: {{command: {command}, vehicles: {name}, rate: 100}}\n"
    (tmp_path / "talking.yaml").write_text(text)
    said = []
    for _ in range(2):
        with al.Simulation(load(tmp_path / "talking.yaml")) as sim:
            sim.member_logs = tmp_path
            sim.run()
        said.append({name: (tmp_path / f"member-m{name}.txt").read_text() for name in "abc"})
    assert said[0] == said[1]
    lines = {name: text.splitlines() for name, text in said[0].items()}
    assert sum(line.startswith("hello") and line.endswith("| 10.73.0.2 5000") for line in lines["a"]) >= 18
    assert sum(line.startswith("for you") for line in lines["b"]) == 20
    assert lines["c"] == ["", "10.73.0.2 ('0.0.0.0', 5000)"]


TWO_BANDS = """
name: talking
duration: 2
engine: batch
radio:
  stations: {base: {position: [0, 0, 2]}}
  bands:
    long: {vehicles: "[ac]", stations: [base], bandwidth: 200e3, frequency: 915e6, power: 30, lifetime: 2}
vehicles:
  a: {extends: multirotor, pose: {position: [10, 0, 0.05]}}
  b: {extends: multirotor, pose: {position: [30, 0, 0.05]}}
  c: {extends: multirotor, pose: {position: [300, 0, 0.05]}}
"""


@pytest.fixture
def both(tmp_path):
    (tmp_path / "bands.yaml").write_text(TWO_BANDS)
    return al.Simulation.load(tmp_path / "bands.yaml")


def test_a_band_is_heard_by_those_who_have_a_radio_for_it_and_farther(both):
    both.run(until=0.1)
    both.radio["base"].send(b"near")
    both.radio["base"].send(b"far", band="long")
    both.run(until=0.5)
    found = {name: sorted((p.content, p.band) for p in both.radio[name].receive()) for name in both.radio}
    assert found == {"a": [(b"far", "long"), (b"near", "")], "b": [(b"near", "")], "c": [(b"far", "long")], "base": []}


def test_one_hears_its_bands_in_the_order_of_time(both):
    both.run(until=0.1)
    for k in range(10):
        both.radio["base"].send(bytes([k]) * 50, band="long")
        both.radio["base"].send(bytes([k]) * 50)
    both.run(until=1.0)
    times = [packet.heard_ns for packet in both.radio["a"].receive()]
    assert len(times) == 20
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("node", "to", "band", "words"),
    [
        ("b", "*", "long", "b has no radio in band 'long'; it has one for the first band"),
        ("a", "b", "long", "'b' names nobody who has a radio in band 'long'"),
        ("a", "*", "lang", "no band 'lang'; did you mean 'long'"),
    ],
)
def test_bands_that_are_not_there_are_refused(both, node, to, band, words):
    with pytest.raises(PacketError, match=words):
        both.radio[node].send(b"x", to, band)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("stations: [base]", "stations: [bass]", "no station is called 'bass'; did you mean 'base'"),
        ('vehicles: "[ac]", stations: [base]', "vehicles: nobody", "nobody has a radio: no vehicle matches 'nobody'"),
        ("base: {position", "a: {position", "a vehicle has this name too"),
        ("  bands:", "  period: 0.0105\n  bands:", "0.0105 s is no whole number of steps of 0.001 s"),
    ],
)
def test_bands_that_make_no_sense_are_refused_when_loaded(tmp_path, old, new, words):
    (tmp_path / "bands.yaml").write_text(TWO_BANDS.replace(old, new))
    with pytest.raises(ScenarioError, match=words):
        load(tmp_path / "bands.yaml")


BAND_MEMBER = """
import sys
from airloom.member import join
with join() as me:
    for turn in me:
        radio = turn.radio("a")
        for p in radio.receive():
            print(p.sender, p.content[:3].decode(), p.band or "-")
        radio.send(b"member", "c", "long")
        if turn.time >= 0.3:
            break
"""

BAND_UDP = """
import socket, select, time
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
one.bind(("", 5000))
print(socket.gethostbyname("c"), socket.gethostbyname("c.long"))
one.sendto(b"to all", ("10.74.255.255", 5000))
one.sendto(b"to one", ("base.long", 5000))
one.sendto(b"near", ("base", 5000))
end = time.time() + 0.5
while (left := end - time.time()) > 0:
    if select.select([one], [], [], left)[0]:
        print(*one.recvfrom(1000))
"""


def test_members_and_datagrams_use_other_bands(tmp_path):
    (tmp_path / "member.py").write_text(BAND_MEMBER)
    (tmp_path / "udp.py").write_text(BAND_UDP)
    (tmp_path / "bands.yaml").write_text(
        TWO_BANDS
        + """
members:
  ma: {command: [python, member.py], vehicles: a, rate: 10}
  mc: {command: [python, -m, airloom, exec, udp.py], vehicles: c, rate: 100}
"""
    )
    with al.Simulation(load(tmp_path / "bands.yaml")) as sim:
        sim.member_logs = tmp_path
        sim.run(until=0.6)
        at_base = [(p.sender, p.content[8:], p.band) for p in sim.radio["base"].receive() if p.content[:3] == b"UDP"]
    assert sorted(at_base) == [("c", b"to all", "long"), ("c", b"to one", "long")]
    assert (tmp_path / "member-ma.txt").read_text() == "c UDP long\n"
    assert (tmp_path / "member-mc.txt").read_text().splitlines()[0] == "10.73.0.3 10.74.0.3"
