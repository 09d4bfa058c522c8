"""The baton: who runs when, without a simulation."""

from __future__ import annotations

import _thread
import itertools

import pytest

from airloom.loom.virtual_time import MOST_GLANCES, NS, VirtualTime

STEP = NS // 50


def world(turns=None):
    """A time that moves by 20 ms from turn to turn, and ends after some."""
    times = itertools.count(STEP, STEP) if turns is None else iter(range(STEP, (turns + 1) * STEP, STEP))
    return VirtualTime(lambda: next(times, None))


def test_a_sleep_ends_at_the_first_turn_at_or_after():
    time = world()
    time.sleep(1.003)
    assert time.now_ns == round(1.02 * NS)


def test_an_hour_takes_no_time():
    time = world()
    time.sleep(3600)
    assert time.now_ns == 3600 * NS


def test_threads_wake_in_the_order_of_their_times_and_then_of_their_waits():
    time, order = world(), []

    def sleeper(name, seconds):
        time.sleep(seconds)
        order.append(name)

    for name, seconds in [("late", 0.019), ("early", 0.001), ("equal", 0.019), ("later", 0.03)]:
        time.start(_thread.start_new_thread, sleeper, (name, seconds))
    time.outlast(lambda: len(order) == 4)
    assert order == ["early", "late", "equal", "later"]


def test_who_only_looks_sees_it_move():
    time = world()
    for _ in range(MOST_GLANCES):
        assert time.look() == 0
    assert time.look() == STEP


def test_waits_end_with_the_run():
    with pytest.raises(SystemExit):
        world(turns=3).sleep(1)
