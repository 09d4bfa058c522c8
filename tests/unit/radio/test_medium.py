"""The built-in medium: who hears what, when, and what is counted when nobody does."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from pydantic import ValidationError

from airloom.radio.builtin import BuiltinMedium, medium_of
from airloom.radio.fading import fill_uniforms, uniforms
from airloom.radio.jitter import spread
from airloom.radio.medium import EVERYBODY, Arrival, Frame
from airloom.radio.phy import LONGEST, air_time, clear_from, error_events, error_ratios
from airloom.scenario.radio import Radio
from airloom.sensors.noise import stream_key

MS = 1_000_000
SECOND = 1000 * MS
AIR_NS = air_time(136, 6)
"""A payload of 100 bytes at 6 Mb/s."""
DIFS_NS = 50_000


def line(*x: float) -> np.ndarray:
    """Nodes along the x axis, 10 m up."""
    return np.array([[place, 0.0, 10.0] for place in x])


def medium(nodes: int, **radio: object) -> BuiltinMedium:
    return medium_of(Radio.model_validate(radio), nodes)


def broadcasts(nodes: int, count: int, every: int, size: int = 100) -> list[Frame]:
    """Of all nodes, each at moments of its own."""
    random = np.random.default_rng(1)
    times = np.sort(random.integers(0, every * count, nodes * count))
    return [Frame(k, int(random.integers(nodes)), EVERYBODY, size, int(t)) for k, t in enumerate(times)]


def carry(carrier: BuiltinMedium, frames: list[Frame], positions: np.ndarray, until: int, period: int) -> list[Arrival]:
    heard, waiting = [], list(frames)
    for now in range(0, until, period):
        due = [frame for frame in waiting if frame.time_ns < now + period]
        waiting = waiting[len(due) :]
        carrier.send(due)
        heard += carrier.advance(now + period, positions)
    return heard


def test_a_broadcast_is_heard_by_all_in_reach_after_difs_and_its_time_on_the_air():
    three = medium(3)
    three.send([Frame(7, 0, EVERYBODY, 100, 0)])
    heard = three.advance(SECOND, line(0, 30, 60))
    assert list(heard) == [Arrival(7, 1, DIFS_NS + AIR_NS, pytest.approx(16.0206 - 46.6777 - 30 * np.log10(30)))]


def test_what_ends_after_the_interval_is_heard_in_the_next():
    two = medium(2)
    two.send([Frame(0, 0, EVERYBODY, 100, 0)])
    assert not two.advance(DIFS_NS + AIR_NS, line(0, 10))
    assert len(two.advance(DIFS_NS + AIR_NS + 1, line(0, 10))) == 1


@pytest.mark.parametrize("channel", [{}, {"fading": {"kind": "nakagami"}, "shadowing": {"deviation": 4.0}}])
def test_results_do_not_depend_on_how_time_is_cut(channel):
    random = np.random.default_rng(0)
    positions = np.column_stack([random.uniform(0, 80, (12, 2)), np.full(12, 10.0)])
    frames = [
        f._replace(to=(f.sender + 1) % 12 if f.number % 3 == 0 else EVERYBODY) for f in broadcasts(12, 40, 5 * MS)
    ]
    results = []
    for period in (10 * MS, MS, 300 * MS):
        carrier = medium(12, channel=channel)
        carrier.reset(5)
        results.append((carry(carrier, frames, positions, 300 * MS, period), carrier.outcomes()))
    assert results[0][0]
    for heard, outcomes in results[1:]:
        assert heard == results[0][0]
        assert np.array_equal(outcomes, results[0][1])


def test_a_reset_gives_the_same_again_and_another_seed_something_else():
    carrier, positions, runs = medium(8, channel={"fading": {"kind": "rician"}}), line(*range(0, 160, 20)), []
    for seed in (1, 2, 1):
        carrier.reset(seed)
        runs.append(carry(carrier, broadcasts(8, 20, 5 * MS), positions, 100 * MS, 10 * MS))
    assert runs[0] == runs[2] != runs[1]


def test_hidden_nodes_collide_where_both_are_heard():
    """The outer two do not hear each other, so both send; the one between hears neither."""
    three = medium(3)
    three.send([Frame(0, 0, EVERYBODY, 100, 0), Frame(1, 2, EVERYBODY, 100, 50_000)])
    assert not three.advance(SECOND, line(0, 40, 80))
    assert three.outcomes().collisions.tolist() == [0, 1, 0]


def test_nodes_that_hear_each_other_take_turns():
    three = medium(3)
    three.send([Frame(0, 0, EVERYBODY, 100, 0), Frame(1, 2, EVERYBODY, 100, 100_000)])
    heard = three.advance(SECOND, line(0, 10, 20))
    assert {(a.number, a.receiver) for a in heard} == {(0, 1), (0, 2), (1, 0), (1, 1)}


def test_the_much_stronger_of_two_is_heard():
    three = medium(3)
    three.send([Frame(0, 0, EVERYBODY, 100, 0), Frame(1, 2, EVERYBODY, 100, 0)])
    heard = three.advance(SECOND, line(0, 40, 45))
    assert (1, 1) in {(a.number, a.receiver) for a in heard}
    assert (0, 1) not in {(a.number, a.receiver) for a in heard}


def test_a_frame_for_one_is_acknowledged_and_heard_by_nobody_else():
    three = medium(3)
    three.send([Frame(0, 0, 1, 100, 0)])
    assert [a.receiver for a in three.advance(SECOND, line(0, 10, 20))] == [1]
    assert three.outcomes().acknowledged.tolist() == [1, 0, 0]


def test_a_frame_for_one_who_is_away_is_tried_seven_times_and_given_up():
    two = medium(2)
    two.send([Frame(0, 0, 1, 100, 0)])
    assert not two.advance(SECOND, line(0, 500))
    outcomes = two.outcomes()
    assert (outcomes.sent[0], outcomes.retries[0], outcomes.given_up[0]) == (1, 6, 1)


def test_a_one_way_link_delivers_but_is_never_acknowledged():
    """The frame arrives once, however often it is repeated."""
    two = medium(2)
    two.links = np.array([[True, True], [False, True]])
    two.send([Frame(0, 0, 1, 100, 0)])
    assert len(two.advance(SECOND, line(0, 10))) == 1
    assert two.outcomes().given_up.tolist() == [1, 0]


def test_retries_bring_frames_through_where_single_ones_fail():
    lossy = {"rate": 54, "channel": {"fading": {"kind": "nakagami"}}}
    shares = []
    for to in (1, EVERYBODY):
        two = medium(2, **lossy)
        two.send([Frame(k, 0, to, 100, 10 * MS * k) for k in range(300)])
        shares.append(len(two.advance(3 * SECOND, line(0, 30))) / 300)
    assert shares[0] > 0.97 > 0.7 > shares[1]


def test_jamming_drowns_signals_and_keeps_nodes_from_sending():
    two = medium(2)
    two.jamming[1] = -70.0
    two.send([Frame(0, 0, EVERYBODY, 100, 0)])
    assert not two.advance(SECOND, line(0, 30))
    two.jamming[:] = [-50.0, -inf]
    two.send([Frame(1, 0, EVERYBODY, 100, SECOND)])
    assert not two.advance(2 * SECOND, line(0, 30))
    assert two.outcomes().sent[0] == 1
    two.jamming[:] = -inf
    two.send([Frame(2, 0, EVERYBODY, 100, 2 * SECOND)])
    assert [a.number for a in two.advance(3 * SECOND, line(0, 30))] == [2]
    assert two.outcomes().expired[0] == 1


def test_a_radio_that_is_off_neither_hears_nor_sends():
    three = medium(3)
    three.is_on[1] = False
    three.send([Frame(0, 0, EVERYBODY, 100, 0), Frame(1, 1, EVERYBODY, 100, 0)])
    assert {a.receiver for a in three.advance(SECOND, line(0, 10, 20))} == {2}
    assert three.outcomes().refused.tolist() == [0, 1, 0]


@pytest.mark.parametrize("how", ["off", "nowhere"])
def test_a_node_that_leaves_in_the_middle_of_its_packet_is_not_understood(how):
    two, places = medium(2), line(0, 10)
    two.send([Frame(k, 0, EVERYBODY, 1000, 0) for k in range(3)])
    assert not two.advance(MS, places)
    if how == "off":
        two.is_on[0] = False
    else:
        places = np.array([[nan, nan, nan], [10.0, 0.0, 10.0]])
    assert not two.advance(SECOND, places)
    assert two.outcomes().queue_drops[0] == 3
    two.is_on[0] = True
    two.send([Frame(9, 0, EVERYBODY, 100, SECOND)])
    assert [a.number for a in two.advance(2 * SECOND, line(0, 10))] == [9]


def test_two_nodes_at_one_place_hear_each_other():
    two = medium(2)
    two.send([Frame(0, 0, EVERYBODY, 100, 0)])
    (arrival,) = two.advance(SECOND, line(5, 5))
    assert arrival.strength == pytest.approx(16.0206 - 46.6777)


def test_frames_that_cannot_be_are_refused_and_counted():
    two = medium(2)
    bad = [(1, LONGEST + 1), (1, -1), (0, 10), (2, 10), (-2, 10)]
    two.send([Frame(k, 0, to, size, 0) for k, (to, size) in enumerate(bad)])
    assert not two.advance(SECOND, line(0, 10))
    assert two.outcomes().refused.tolist() == [5, 0]
    two.send([Frame(9, 0, EVERYBODY, LONGEST, SECOND)])
    assert len(two.advance(2 * SECOND, line(0, 10))) == 1


def test_ten_thousand_packets_in_a_tick_fill_the_queue_and_no_more():
    two = medium(2, queue=100)
    two.send([Frame(k, 0, EVERYBODY, 10, 0) for k in range(10_000)])
    assert len(two.advance(SECOND, line(0, 10))) == 100
    assert two.outcomes().queue_drops[0] == 9_900


def test_frames_of_many_that_were_given_at_once_are_spread():
    together = [Frame(k, k, EVERYBODY, 100, 0) for k in range(10)]
    ten = medium(10)
    ten.send(together)
    assert not ten.advance(SECOND, line(*range(10)))
    apart = spread(together, 50 * MS, seed=1)
    assert apart == spread(together[::-1], 50 * MS, seed=1)[::-1]
    ten.reset(1)
    ten.send(apart)
    assert len(ten.advance(SECOND, line(*range(10)))) > 60


def test_many_more_arrivals_than_are_collected_at_once_are_all_told():
    crowd = medium(200)
    crowd.send([Frame(k, k % 200, EVERYBODY, 20, k * MS) for k in range(200)])
    heard = crowd.advance(SECOND, np.zeros((200, 3)))
    assert len(heard) == 200 * 199
    assert list(heard) == sorted(heard, key=lambda a: a.heard_ns)
    assert [heard[0], heard[-1]] == [next(iter(heard)), list(heard)[-1]]


def test_draws_for_many_receivers_are_those_for_each():
    receivers, words, uniform = np.arange(9, dtype=np.int32), np.empty((4, 9), dtype=np.uint64), np.empty((4, 9))
    key, number = np.uint64(stream_key(3, "radio")), (5 << 32) + 7
    fill_uniforms(key, number, 2, receivers, 9, 1, words, uniform)
    assert uniform.T.tolist() == [list(uniforms(key, number, 2, receiver, 1)) for receiver in range(9)]


def test_links_of_which_nothing_is_worked_out_have_no_errors():
    ratios = error_ratios()
    for rate, clear in enumerate(clear_from(ratios)):
        for is_long in (0, 1):
            assert error_events(ratios, rate, is_long, clear[is_long]) == 0.0
            assert error_events(ratios, rate, is_long, clear[is_long] / 2.0) > 0.0


@pytest.mark.parametrize(
    ("key", "value"),
    [("rate", 7), ("queue", 0), ("channel", {"fading": {"kind": "nakagami", "distances": [200.0, 80.0]}})],
)
def test_impossible_radios_are_refused(key, value):
    with pytest.raises(ValidationError):
        Radio.model_validate({key: value})


def test_what_waited_too_long_for_a_jammed_medium_is_expired():
    two = medium(2)
    two.jamming[:] = 0.0
    two.send([Frame(k, 0, EVERYBODY, 20, 0) for k in range(3)])
    two.advance(SECOND // 4, line(0, 10))
    assert two.outcomes().expired.tolist() == [0, 0]
    two.advance(SECOND, line(0, 10))
    assert (two.outcomes().given[0], two.outcomes().sent[0], two.outcomes().expired[0]) == (3, 0, 3)
    two.jamming[:] = -np.inf
    two.advance(2 * SECOND, line(0, 10))
    assert two.outcomes().expired[0] == 3, "none is counted twice"
