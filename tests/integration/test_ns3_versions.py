"""Debian's ns-3, and pip's, for which no root is needed: our helper is compiled against both and carries equal runs."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import platformdirs
import pytest

import airloom as al
from airloom.radio.medium import EVERYBODY, Frame
from airloom.radio.ns3 import Ns3Medium, Ns3Missing
from airloom.radio.ns3.installation import USUAL, VARIABLE, find_ns3
from airloom.scenario.ns3_radio import Ns3Radio

pytestmark = pytest.mark.slow

WHEEL = Path(os.environ.get("AIRLOOM_NS3_WHEEL") or platformdirs.user_cache_path("airloom") / "ns3")
PLACES = {"3.37": USUAL, "3.44": WHEEL / "ns3"}
LINKS = {
    "802.11g": {},
    "minstrel": {"rate": "minstrel"},
    "infrastructure": {"link": "infrastructure", "base": "node_0"},
    "lr-wpan": {"link": "lr-wpan"},
}
FADING = [{"kind": "log-distance"}, {"kind": "nakagami"}]
MS = 1_000_000  # ns


@pytest.fixture(params=PLACES)
def version(request, monkeypatch):
    """Of the ns-3 that is used from now on."""
    _choose(request.param, monkeypatch)
    return request.param


def _choose(version, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(PLACES[version]))
    try:
        found = find_ns3().version
    except Ns3Missing as missing:
        how = "apt-get install libns3-dev libgsl-dev g++" if version == "3.37" else "scripts/ns3_wheel"
        pytest.skip(f"no ns-3 {version} ({how}): {missing}")
    if found != version:
        pytest.skip(f"ns-3 {found} is there instead of {version}")


def _flown(seed):
    """A flock that lives on its radio: what each has heard decides where it flies."""
    with al.Simulation.load("flock", seed=seed, overrides={"radio": {"ns3": {"losses": FADING}}}) as sim:
        sim.run(until=4.0)
        nodes = sim.radio.summary()["nodes"].values()
        return sim.state_hash(), sum(node["heard"] for node in nodes), sum(node["sent"] for node in nodes)


def test_a_flight_repeats_to_the_bit(version):
    once = _flown(1)
    assert once[1] > 100
    assert _flown(1) == once
    assert _flown(2)[0] != once[0]


@pytest.mark.parametrize("attempts", [1, 3, 7])
def test_a_frame_that_nobody_acknowledges_is_sent_as_often_as_is_asked_for(version, attempts):
    medium = Ns3Medium(["near", "far"], Ns3Radio(attempts=attempts))
    medium.reset(1)
    medium.send([Frame(0, 0, 1, 60, 0)])
    assert len(medium.advance(500 * MS, np.array([[0.0, 0.0, 10.0], [900.0, 0.0, 10.0]]))) == 0
    outcomes = medium.outcomes()
    medium.close()
    assert (outcomes.sent[0], outcomes.retries[0], outcomes.given_up[0]) == (1, attempts - 1, 1)


@cache
def _shares(version, link):
    """Of 400 frames, half of them acknowledged: the share that arrives, their mean delay in ms and strength in dBm."""
    nodes = 4
    places = np.array([[x, 0.0, 10.0] for x in (0.0, 15.0, 30.0, 45.0)])
    medium = Ns3Medium([f"node_{k}" for k in range(nodes)], Ns3Radio(losses=FADING, **LINKS[link]))
    medium.reset(3)
    try:
        medium.advance(500 * MS, places)  # stations find their base
        frames = [Frame(k, 0, EVERYBODY if k % 2 else 1 + k // 2 % 3, 60, (500 + 50 * k) * MS) for k in range(400)]
        medium.send(frames)
        heard = medium.advance(25_000 * MS, places)
        delay = np.mean([one.heard_ns - frames[one.number].time_ns for one in heard]) * 1e-6
        return len(heard) / (200 + 200 * 3), delay, float(np.mean([one.strength for one in heard]))
    finally:
        medium.close()


@pytest.mark.parametrize("link", LINKS)
def test_both_versions_agree(link, monkeypatch):
    results = []
    for version in PLACES:
        _choose(version, monkeypatch)
        results.append(_shares(version, link))
    (share, delay, strength), (other_share, other_delay, other_strength) = results
    assert 0.5 < share < 0.99
    assert other_share == pytest.approx(share, abs=0.04)
    assert other_delay == pytest.approx(delay, rel=0.05, abs=0.08)
    assert other_strength == pytest.approx(strength, abs=0.7)


def test_pips_is_found_beside_airloom(tmp_path):
    """As `pip install --no-deps ns3` leaves it: on Python's path, and nothing else is said."""
    if not (WHEEL / "ns3").is_dir():
        pytest.skip("no ns-3 of pip's: scripts/ns3_wheel installs it, if the package index has it")
    surroundings = {name: value for name, value in os.environ.items() if name != VARIABLE}
    command = "from airloom.radio.ns3.installation import find_ns3; print(find_ns3())"
    done = subprocess.run(
        [sys.executable, "-c", command], env={**surroundings, "PYTHONPATH": str(WHEEL)}, cwd=tmp_path,
        capture_output=True, text=True,
    )  # fmt: skip
    assert "version='3.44'" in done.stdout, done.stderr
    assert str(WHEEL) in done.stdout
