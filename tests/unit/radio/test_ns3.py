"""ns-3 as a medium, with the ns-3 that is on this machine."""

from __future__ import annotations

import csv
import math
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from validation.contention import Contention, measure

from airloom.errors import Refusal, UserError
from airloom.radio.medium import EVERYBODY, Frame
from airloom.radio.ns3 import Ns3Medium, Ns3Missing
from airloom.radio.ns3.installation import find_ns3
from airloom.scenario.ns3_radio import Ns3Radio

try:
    find_ns3()
except Ns3Missing as missing:
    pytest.skip(str(missing), allow_module_level=True)

MS = 1_000_000  # ns
SPEED_OF_LIGHT = 299792458.0
REFERENCES = Path(__file__).parents[3] / "validation"
LINKS = {
    "802.11g": {},
    "802.11n": {"standard": "n", "rate": 26},
    "minstrel": {"rate": "minstrel"},
    "infrastructure": {"link": "infrastructure", "base": "node_0"},
    "lr-wpan": {"link": "lr-wpan"},
}
LOSSES = [
    "log-distance", "three-log-distance", "free-space", "two-ray", "range", "itu-r-1411-los", "itu-r-1411-nlos",
    "okumura-hata",
]  # fmt: skip


@pytest.fixture
def medium():
    """Makes media of so many nodes, and lets go of them."""
    made = []

    def make(nodes, seed=1, folder=None, **settings):
        names = [f"node_{number}" for number in range(nodes)]
        made.append(Ns3Medium(names, Ns3Radio(**settings), folder=folder))
        made[-1].reset(seed)
        return made[-1]

    yield make
    for one in made:
        one.close()


def line(*distances):
    """Nodes on a line, 10 m above ground."""
    return np.array([[x, 0.0, 10.0] for x in distances])


def log_distance(power, distance):
    return power - 46.6777 - 30 * math.log10(distance)


def reference(name):
    lines = (REFERENCES / name).read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def test_shares_are_those_of_the_reference(medium):
    rows = reference("ns3_range.csv")
    expected = {
        (row["fading"], row["mbit_per_second"], row["size"], row["distance"]): float(row["share"]) for row in rows
    }
    nakagami = [{"kind": "log-distance"}, {"kind": "nakagami"}]
    for (fading, rate, size, distance), losses in {
        ("none", "54", "100", "36"): None,
        ("none", "48", "1000", "38"): None,
        ("nakagami", "6", "100", "50"): nakagami,
    }.items():
        settings = {"losses": losses} if losses else {}
        air = medium(2, seed=7, rate=float(rate), **settings)
        air.send([Frame(k, 0, EVERYBODY, int(size), 2 * MS * k) for k in range(1000)])
        share = len(air.advance(2000 * MS, line(0, float(distance)))) / 1000
        wanted = expected[fading, rate, size, distance]
        assert abs(share - wanted) < 4 * math.sqrt(wanted * (1 - wanted) / 1000)


def test_contention_is_that_of_the_reference(medium):
    case = Contention("circle", 5, 300, 100, "unicast")
    (row,) = (
        row for row in reference("ns3_contention.csv") if all(row[k] == str(v) for k, v in case._asdict().items())
    )
    result = measure(medium(5), case)
    assert result.delivery == pytest.approx(float(row["delivery"]), abs=0.003)
    assert result.delay_ms == pytest.approx(float(row["delay_ms"]), rel=0.02)


def test_a_frame_takes_as_long_as_the_standard_says(medium):
    """DIFS, then preamble and symbols of 4 µs with 16 + 6 bits of service and tail, then the signal extension."""
    air = medium(2)
    air.send([Frame(0, 0, EVERYBODY, 100, 5 * MS)])
    (arrival,) = air.advance(10 * MS, line(0, 30))
    symbols = math.ceil((16 + 8 * (100 + 8 + 24 + 4) + 6) / 24)
    expected = (10 + 2 * 20) + 20 + 4 * symbols + 6 + 1e6 * 30 / SPEED_OF_LIGHT
    assert (arrival.heard_ns - 5 * MS) / 1e3 == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("link", LINKS)
def test_arrivals_tell_their_strength(medium, link):
    """On every link; through the base station it is that of the base station."""
    air = medium(3, **LINKS[link])
    air.advance(500 * MS, line(0, 8, 20))  # stations find their base
    air.send([Frame(0, 1, 2, 50, 500 * MS), Frame(1, 0, EVERYBODY, 50, 520 * MS)])
    heard = {(one.number, one.receiver): one for one in air.advance(600 * MS, line(0, 8, 20))}
    assert set(heard) == {(0, 2), (1, 1), (1, 2)}
    power = 0.0 if link == "lr-wpan" else 16.0206
    first = 20 if link == "infrastructure" else 12
    for key, distance in {(0, 2): first, (1, 1): 8, (1, 2): 20}.items():
        assert heard[key].strength == pytest.approx(log_distance(power, distance), abs=1e-3)


@pytest.mark.parametrize("link", LINKS)
def test_equal_seeds_give_equal_bits_at_any_chunking(medium, link):
    losses = [{"kind": "log-distance"}, {"kind": "nakagami"}]

    def run(seed, period):
        air = medium(6, seed=seed, losses=losses, **LINKS[link])
        places = np.random.default_rng(3).uniform(0, 25, (6, 3))
        times = np.random.default_rng(4).integers(0, 300, 200)
        frames = [
            Frame(k, k % 6, EVERYBODY if k % 2 else (k + 1) % 6, 60, 300 * MS + MS * int(t))
            for k, t in enumerate(times)
        ]
        air.send(frames)
        return [one for now in range(0, 600, period) for one in air.advance((now + period) * MS, places)]

    once = run(5, 600)
    assert len(once) > 100
    assert run(5, 10) == once
    assert run(6, 600) != once


def test_a_frame_to_one_is_acknowledged_or_given_up(medium):
    air = medium(3)
    air.send([Frame(0, 0, 1, 100, 0), Frame(1, 0, 2, 100, 5 * MS)])
    heard = air.advance(100 * MS, line(0, 20, 200))
    assert [(one.number, one.receiver) for one in heard] == [(0, 1)]
    counts = air.outcomes()
    assert (counts.given[0], counts.sent[0], counts.acknowledged[0], counts.given_up[0]) == (2, 2, 1, 1)
    assert counts.retries[0] == 6  # seven attempts


def test_the_base_station_passes_on_and_its_reach_counts(medium):
    air = medium(3, link="infrastructure", base="node_0")
    air.send([Frame(0, 1, EVERYBODY, 50, 0)])  # nobody has found the base yet
    assert not air.advance(500 * MS, line(0, -45, 45))
    assert air.outcomes().refused[1] == 1
    air.send([Frame(1, 1, 2, 50, 500 * MS), Frame(2, 1, EVERYBODY, 50, 550 * MS)])
    heard = air.advance(600 * MS, line(0, -45, 45))  # 90 m apart, too far for themselves
    assert [(one.number, one.receiver) for one in heard] == [(1, 2), (2, 0), (2, 2)]
    air.send([Frame(3, 1, 2, 50, 600 * MS)])
    assert not air.advance(900 * MS, line(0, -45, 60))


@pytest.mark.parametrize("link", ["802.11g", "lr-wpan"])
def test_who_leaves_hears_and_says_nothing_until_he_is_back(medium, link):
    """He leaves while he sends, too."""
    air = medium(2, **LINKS[link])
    here, gone = line(0, 10), np.array([[0.0, 0.0, 10.0], [math.nan] * 3])
    air.send([Frame(0, 1, EVERYBODY, 100, 0)])
    air.advance(100_000, here)  # on the air
    air.send([Frame(1, 0, EVERYBODY, 100, 20 * MS), Frame(2, 1, 0, 100, 40 * MS)])
    assert not [one for one in air.advance(100 * MS, gone) if one.number]
    assert air.outcomes().refused[1] == 1
    air.send([Frame(3, 0, EVERYBODY, 100, 100 * MS), Frame(4, 1, 0, 100, 120 * MS)])
    assert [one.number for one in air.advance(200 * MS, here)] == [3, 4]


def test_a_full_queue_drops_and_counts(medium):
    for link, queue in (("802.11g", 500), ("lr-wpan", 100)):
        air = medium(2, **LINKS[link], queue=queue)
        air.send([Frame(k, 0, EVERYBODY, 50, 0) for k in range(10_000)])
        heard = len(air.advance(5000 * MS, line(0, 10)))
        counts = air.outcomes()
        assert 10_000 - queue - 2 <= counts.queue_drops[0] <= 10_000 - queue
        assert heard == counts.sent[0] == 10_000 - counts.queue_drops[0] - counts.expired[0]


def test_old_frames_expire_and_every_frame_is_accounted_for(medium):
    air = medium(4, queue=200, lifetime=0.05)
    air.send([Frame(k, k % 4, EVERYBODY, 500, k * MS // 8) for k in range(8000)])
    air.advance(2000 * MS, line(0, 1, 2, 3))
    counts = air.outcomes()
    assert (counts.expired > 500).all()
    assert (counts.given == counts.sent + counts.queue_drops + counts.expired).all()


def test_hidden_senders_collide(medium):
    """Both outer nodes reach the one in the middle, and do not hear each other."""
    air = medium(3)
    times = np.random.default_rng(1).integers(0, 1000 * MS, (2, 500))
    frames = [Frame(k, 2 * (k % 2), EVERYBODY, 500, int(time)) for k, time in enumerate(times.flat)]
    air.send(frames)
    assert len(air.advance(1100 * MS, line(0, 45, 90))) < 700
    assert air.outcomes().collisions[1] > 300
    assert air.outcomes().noise_losses[1] == 0


@pytest.mark.parametrize("model", LOSSES)
def test_every_channel_model_has_a_finite_signal_at_one_place(medium, model):
    air = medium(2, losses=[{"kind": model}, {"kind": "nakagami"}, {"kind": "normal"}])
    air.send([Frame(k, 0, EVERYBODY, 50, k * MS) for k in range(20)])
    heard = air.advance(20 * MS, line(0, 0))
    assert heard
    assert all(math.isfinite(one.strength) for one in heard)


def test_free_space_and_two_rays_are_as_by_hand(medium):
    frequency, height, distance = 2.4e9, 10.0, 3000.0
    wave = SPEED_OF_LIGHT / frequency
    friis = 20 * math.log10(wave / (4 * math.pi * distance))
    crossover = 4 * math.pi * height**2 / wave
    two_rays = 10 * math.log10(height**4 / distance**4) if distance > crossover else friis
    for model, gain in (("free-space", friis), ("two-ray", two_rays)):
        air = medium(2, power=36.0, rate=1, standard="b", losses=[{"kind": model, "frequency": frequency}])
        air.send([Frame(0, 0, EVERYBODY, 50, 0)])
        (arrival,) = air.advance(20 * MS, line(0, distance))
        assert arrival.strength == pytest.approx(36.0 + gain, abs=1e-3)


@pytest.mark.parametrize(("link", "link_type"), [("802.11g", 127), ("lr-wpan", 195)])
def test_pcap_files_hold_what_was_said(medium, tmp_path, link, link_type):
    air = medium(2, **LINKS[link], pcap=True, folder=tmp_path / "a folder")
    air.send([Frame(0, 0, 1, 20, 5 * MS)], [b"what the vehicle said"[:20]])
    air.advance(50 * MS, line(0, 10))
    air.close()
    files = [tmp_path / "a folder" / f"node_{number}.pcap" for number in (0, 1)]
    for file in files:
        magic, *_, found = struct.unpack("<IHHiIII", file.read_bytes()[:24])
        assert (magic in (0xA1B2C3D4, 0xA1B23C4D), found) == (True, link_type)
        assert b"what the vehicle sai" in file.read_bytes()
    if shutil.which("tshark"):
        command = ["tshark", "-r", files[1], "-T", "fields", "-e", "frame.protocols", "-e", "data.data"]
        said, acknowledged = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        protocol = "wlan" if link == "802.11g" else "wpan"
        assert protocol in said
        assert b"what the vehicle sai".hex() in said
        assert acknowledged.split()[0].endswith(protocol)


def test_the_flow_monitor_counts_from_each_to_each(medium, tmp_path):
    air = medium(3, flow_monitor=True, folder=tmp_path)
    air.send([Frame(k, 0, EVERYBODY, 100, 5 * k * MS) for k in range(10)] + [Frame(10, 1, 0, 40, 2 * MS)])
    air.advance(100 * MS, line(0, 20, 60))
    flows = {(flow.sender, flow.receiver): flow for flow in air.flows()}
    assert set(flows) == {("node_0", "node_1"), ("node_0", "node_2"), ("node_1", "node_0")}
    near, far = flows["node_0", "node_1"], flows["node_0", "node_2"]
    assert (near.sent, near.heard, near.bytes_heard, far.sent, far.heard) == (10, 10, 1000, 10, 0)
    assert near.delay == pytest.approx(264e-6, rel=0.3)
    air.close()
    text = (tmp_path / "flows.xml").read_text()
    assert "<FlowMonitor>" in text
    assert 'sender="node_0" receiver="node_2"' in text


def test_impossible_frames_are_refused(medium):
    air = medium(2)
    for frame in (
        Frame(0, 0, 0, 10, 0),
        Frame(0, 2, 0, 10, 0),
        Frame(0, 0, 2, 10, 0),
        Frame(0, 0, 1, 2297, 0),
        Frame(0, 0, 1, -1, 0),
    ):
        with pytest.raises(Refusal):
            air.send([frame])
    air.send([Frame(0, 0, 1, 0, 0)], [b""])  # as on the built-in medium, nothing may be said
    assert len(air.advance(10 * MS, line(0, 10))) == 1
    assert air.facts["longest"] == air.radio.longest == 2296
    other = medium(2, link="lr-wpan")
    assert other.facts["longest"] == other.radio.longest
    other.send([Frame(0, 0, 1, other.radio.longest, 0)])
    assert len(other.advance(50 * MS, line(0, 10))) == 1


def test_a_base_that_is_no_node_is_refused():
    with pytest.raises(UserError, match="'tower' is no node; nodes are a, b"):
        Ns3Medium(["a", "b"], Ns3Radio(link="infrastructure", base="tower"))


def test_it_is_asked_only_when_something_can_happen(medium, monkeypatch):
    """Not while nobody sends; but when a frame is still on its way, and when somebody has left."""
    air, asked = medium(2), []
    ask = air._helper.ask
    monkeypatch.setattr(air._helper, "ask", lambda *words: asked.append(words[0]) or ask(*words))

    def advance(first, end, places):
        asked.clear()
        heard = [one for now in range(first, end) for one in air.advance((now + 1) * MS, places)]
        return len(heard), len(asked)

    advance(0, 1, line(0, 10))
    assert advance(1, 200, line(0, 10)) == (0, 0)
    air.send([Frame(0, 0, EVERYBODY, 100, 201 * MS - 1000)])
    heard, times = advance(200, 400, line(0, 11))
    assert heard == 1
    assert 1 < times < 10
    assert advance(400, 500, line(0, math.nan)) == (0, 1)
