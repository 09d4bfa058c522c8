"""Figures of radio links: that they show the numbers of the log, for few nodes and for many."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from tests.unit.runs.test_figures import size_of

from airloom.radio.links import Links
from airloom.runs.figures import links_distance, links_map, links_time, plot
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader
from airloom.runs.recorded import RecordedRun
from airloom.scenario import load
from airloom.simulation import Simulation

matplotlib.use("agg")


def made_up(nodes, intervals=8, reach=50.0, spacing=20.0):
    """Nodes on a line that broadcast ten packets; those farther than `reach` hear none, the others three of four."""
    positions = np.stack([np.arange(nodes) * spacing, np.zeros(nodes), np.ones(nodes)], axis=1)
    apart = np.abs(positions[:, None, 0] - positions[:, 0])
    sender, receiver = np.nonzero((apart <= reach) & (apart > 0))
    tens = np.full(len(sender), 100)
    return [
        Links(
            (k + 1) * 500_000_000, 0.5, tuple(f"n{k}" for k in range(nodes)), positions, np.full(nodes, 100), sender,
            receiver, tens, 75 * tens // 100, 0.005 + np.zeros(len(sender)), -60.0 - apart[sender, receiver],
        )
        for k in range(intervals)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Five vehicles and a station that talk for two seconds."""
    folder = tmp_path_factory.mktemp("runs") / "talk"
    changes = {
        "engine": "batch", "duration": 2.0, "vehicles.drone.copies.count": 5,
        "radio": {"stations": {"base": {"position": [0, 30, 4]}}},
    }  # fmt: skip
    sim = Simulation(load("choreography", changes))

    def talk():
        for node in sim.radio.values():
            node.send(b"here I am")
        sim.call_at(sim.time + 0.05, talk)

    sim.call_at(0.05, talk)
    RecordedRun(sim, RunFolder.create("talk", folder)).fly()
    return RunFolder.open(folder)


@pytest.mark.slow
def test_a_run_with_radio_gets_three_figures(run, tmp_path):
    drawn = [path for path in plot(run, tmp_path) if path.name.startswith("links")]
    assert [path.name for path in drawn] == ["links-distance.png", "links-time.png", "links-map.png"]
    assert all(size_of(path)[0] == 1600 for path in drawn)


def test_a_run_without_words_gets_none(tmp_path):
    sim = Simulation(load("hover", {"engine": "batch", "duration": 0.5, "radio": {}}))
    RecordedRun(sim, RunFolder.create("quiet", tmp_path / "quiet")).fly()
    assert not [path for path in plot(tmp_path / "quiet") if path.name.startswith("links")]


def test_delivery_is_drawn_against_distance(run):
    figure = links_distance.distance_figure(LogReader(run.log), run, made_up(5, reach=30.0, spacing=10.0), "")
    delivery = figure.axes[0].lines[0]
    assert delivery.get_ydata().tolist() == [0.75, 0.75, 0.75, 0.0]
    assert np.allclose(delivery.get_xdata(), [10, 20, 30, 40], atol=1.0)
    delay = figure.axes[2].lines[0].get_ydata()
    assert np.allclose(delay, 5.0)


def test_confidence_is_wilsons():
    """Newcombe, *Statist. Med.* 17, 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    low, high = links_distance.wilson(np.array([81, 15, 0, 1]), np.array([263, 148, 20, 29]))
    assert np.allclose(low, [0.2553, 0.0624, 0.0, 0.0061], atol=1e-4)
    assert np.allclose(high, [0.3662, 0.1605, 0.1611, 0.1718], atol=1e-4)


@pytest.mark.parametrize("nodes", [2, 5, 30, 100])
def test_links_over_time_have_a_line_a_pair_or_a_node(run, nodes):
    figure = links_time.time_figure(LogReader(run.log), run, made_up(nodes), "")
    counts, lines = figure.axes[:2]
    ticks = [tick.get_text() for tick in lines.get_yticklabels()]
    assert len(ticks) <= 40
    if nodes <= 5:
        assert ticks == [f"n{a} → n{b}" for a in range(nodes) for b in range(nodes) if a != b]
    else:
        assert ticks[:1] == ["n0"]
    largest = counts.lines[1].get_ydata()
    assert (largest == nodes).all(), "the nodes form one chain"


@pytest.mark.parametrize(("nodes", "pairs"), [(2, 1), (5, 7), (100, 197)])
def test_the_map_has_a_line_for_each_pair_in_contact(run, nodes, pairs):
    figure = links_map.map_figure(LogReader(run.log), run, made_up(nodes), "")
    first = figure.axes[0]
    assert sum(len(lines.get_segments()) for lines in first.collections[:2]) == pairs
    assert f"{pairs} pair" in first.get_title()
    assert len(first.texts) == (nodes if nodes <= 12 else 0)


def without_words_of(links, node):
    """As if this node had been silent in that interval."""
    spoken = links.sender != node
    parts = ("sender", "receiver", "meant", "delivered", "delay", "strength")
    kept = {name: getattr(links, name)[spoken] for name in parts}
    return replace(links, broadcasts=np.where(np.arange(len(links.names)) == node, 0, links.broadcasts), **kept)


def counted(run, links):
    """Mean of nodes heard, largest group, groups: over time."""
    counts = links_time.time_figure(LogReader(run.log), run, links, "").axes[0]
    return [line.get_ydata() for line in counts.lines[:3]]


def test_a_pause_between_two_words_breaks_no_link(run):
    links = made_up(6, intervals=20)
    links[5] = without_words_of(links[5], 2)
    links[6] = without_words_of(links[6], 2)
    heard, largest, groups = counted(run, links)
    assert (largest == 6).all()
    assert (groups == 1).all()
    assert np.ptp(heard) == 0.0


def test_who_has_fallen_silent_is_no_group(run):
    links = [without_words_of(one, 5) if k >= 4 else one for k, one in enumerate(made_up(6, intervals=20))]
    _, largest, groups = counted(run, links)
    assert (groups == 1).all()
    assert largest[:4].tolist() == [6] * 4
    assert largest[-1] == 5
