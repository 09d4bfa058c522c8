"""What there is to see of a radio: lines, packets on their way, and where a node is heard."""

import numpy as np
import pytest

from airloom.bus import messages
from airloom.radio.coverage import AMPLE, coverage
from airloom.radio.links import Links, links_message
from airloom.radio.packets import Packets, Sent, packets_message
from airloom.radio.quality import quality_colours
from airloom.radio.shown import FLIGHT, LATE, Watched, as_texts, told_in
from airloom.scenario import load
from airloom.world.land import Land

PLACES = {"a": np.array([0.0, 0.0, 1.0]), "b": np.array([10.0, 0.0, 1.0]), "base": np.array([0.0, 20.0, 5.0])}


def links(end=1.0, **pairs):
    """`ab=(4, 3)`: of four packets from a to b, three came."""
    names = tuple(PLACES)
    senders, receivers = (
        np.array([{"a": 0, "b": 1, "s": 2}[pair[k]] for pair in pairs], dtype=int) for k in (0, 1)
    )  # fmt: skip
    meant, delivered = np.array(list(pairs.values())).T
    positions, nothing = np.array(list(PLACES.values())), np.zeros(len(pairs))
    broadcasts = np.zeros(3, dtype=int)
    end_ns = round(end * 1e9)
    one = Links(end_ns, 0.5, names, positions, broadcasts, senders, receivers, meant, delivered, nothing, nothing)
    return "/radio/links", end + 1.0, messages.serialize(links_message(one))


def test_each_half_of_a_line_has_the_colour_of_what_is_heard_at_its_end():
    watched = Watched()
    watched.take([links(ab=(10, 10), ba=(10, 0))])
    seen = watched.lines(PLACES)
    assert seen.ends.tolist() == [[[0, 0, 1], [5, 0, 1]], [[10, 0, 1], [5, 0, 1]]]
    assert seen.colours.tolist() == quality_colours(np.array([0.0, 1.0])).tolist()


def test_lines_are_those_of_the_last_seconds_and_of_the_chosen_node():
    watched = Watched()
    watched.take([links(1.0, sb=(9, 9)), links(3.5, ab=(4, 1), sa=(4, 4)), links(4.0, ab=(4, 3))])
    assert len(watched.lines(PLACES).ends) == 4, "a link that is older than two seconds is gone"
    of_b = watched.lines(PLACES, only="b")
    assert of_b.colours.tolist() == quality_colours(np.array([0.0, 0.5])).tolist()
    assert not len(watched.lines({"a": PLACES["a"]}).ends), "one that is nowhere has no lines"


def test_a_packet_moves_from_its_sender_to_who_hears_it():
    watched = Watched()
    heard = [(0, 1_000_000_000, 7, 1, 2_000_000_000, -60.0)]
    told = packets_message(2_000_000_000, Packets.of(("a", "b"), [Sent(7, 0, 10, 1_000_000_000)], heard))
    watched.take([("/radio/packets", 2.0, messages.serialize(told))])
    on_the_way = [watched.packets(PLACES, 2.0 + LATE + share * FLIGHT).ends for share in (0.0, 0.5, 0.9)]
    assert [ends[0, 0, 0] for ends in on_the_way] == pytest.approx([0.0, 5.0, 9.0])
    assert not len(watched.packets(PLACES, 2.0 + LATE - 0.01).ends)
    assert not len(watched.packets(PLACES, 2.0 + LATE + FLIGHT).ends)


def test_what_was_told_goes_through_json_unchanged():
    told = [links(ab=(1, 1))]
    assert told_in(as_texts(told)) == told


def covered(sender=(0.0, 0.0, 2.0), height=2.0, **settings):
    scenario = load("hover", {"radio": {"channel": {"path_loss": {"kind": "free-space"}}}, **settings})
    radio, land = scenario.radio, Land(scenario.world)
    picture, spare = coverage(radio, 0, land, np.array(sender), height)
    rows, columns = spare.shape
    x = picture.corner[0] + (np.arange(columns) + 0.5) * picture.cell
    y = picture.corner[1] + (np.arange(rows) + 0.5) * picture.cell
    return radio, picture, spare, x, y


def test_coverage_is_what_friis_says():
    radio, picture, spare, x, y = covered(**{"radio.power": -10})
    distance = np.maximum(np.hypot(*np.meshgrid(x, y)), 1.0)
    loss = 20 * np.log10(4 * np.pi * distance * radio.frequency / 299_792_458.0)
    expected = -10.0 - loss - -82.0
    clear = np.abs(expected) > 0.01
    assert (np.isfinite(spare) == (expected > 0))[clear].all()
    assert np.allclose(spare[np.isfinite(spare)], expected[np.isfinite(spare)], atol=1e-6)
    edge = np.isfinite(spare).any(axis=0)
    assert edge[1:-1].all(), "the map reaches just as far as the signal"
    assert ((picture.colours[..., 3] > 0) == np.isfinite(spare)).all()
    ample = np.nan_to_num(spare) > AMPLE
    assert ample.any()
    assert (picture.colours[ample][:, :3] == quality_colours(np.array(1.0))).all()


def test_a_wall_casts_a_shadow_on_the_map():
    wall = {"shape": "box", "size": [2, 60, 30], "position": [20, 0, 15]}
    _, _, spare, x, y = covered(**{"radio.power": 5, "world.obstacles": {"wall": wall}})
    row = np.argmin(np.abs(y))
    behind, mirrored = (spare[row, np.argmin(np.abs(x - at))] for at in (40.0, -40.0))
    assert mirrored > 10.0
    assert not behind > mirrored - 10.0


def test_who_hears_higher_up_hears_over_a_wall():
    wall = {"shape": "box", "size": [2, 200, 10], "position": [20, 0, 5]}
    low, high = (
        covered(height=height, **{"radio.power": 5, "world.obstacles": {"wall": wall}})[2] for height in (1.0, 60.0)
    )
    assert np.isfinite(high[:, 60:]).sum() > np.isfinite(low[:, 60:]).sum()
