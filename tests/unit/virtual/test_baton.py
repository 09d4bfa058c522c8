"""The baton: who runs when, without a simulation."""

from __future__ import annotations

import _thread
import itertools
import time as clock

import pytest

from airloom.virtual.baton import A_LOOK, A_TOUCH, MOST_LOOKS, NS, VirtualTime

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
    for _ in range(MOST_LOOKS // A_LOOK):
        assert time.look() == 0
    assert time.look() == STEP


def test_who_only_takes_locks_sees_it_move():
    time = world()
    for _ in range(MOST_LOOKS // A_TOUCH):
        time.touch()
    assert time.now_ns == 0
    time.touch()
    assert time.now_ns == STEP


def test_looks_of_the_baton_itself_move_nothing():
    """How often it looks depends on the machine, and a wait within its choice would be one too many."""
    time, gone = world(), []
    time.start(_thread.start_new_thread, lambda: (time.sleep(1), gone.append(True)), ())

    main = _thread.get_ident()

    def ready():
        if _thread.get_ident() != main:
            for _ in range(MOST_LOOKS):
                time.look()
        return bool(gone)

    time.outlast(ready)
    assert time.now_ns == NS


def test_time_stands_still_for_a_child():
    time, real = world(), clock.monotonic
    end = real() + 0.3
    assert time.wait(lambda: real() > end, for_child=True)
    assert time.now_ns == 0


def test_a_child_gets_as_much_real_time_as_is_left_until_another_wait_ends():
    time, woken = world(), []
    began = clock.monotonic()
    time.start(_thread.start_new_thread, lambda: (time.sleep(0.2), woken.append(time.now_ns)), ())
    assert not time.wait(timeout=0.5, for_child=True)
    assert woken == [NS // 5]
    assert time.now_ns == NS // 2
    assert 0.45 < clock.monotonic() - began < 60


def test_repeated_alarms_do_not_pile_up(monkeypatch):
    rung = []
    time = world()
    time.alarm = (STEP, STEP)
    monkeypatch.setattr("signal.raise_signal", lambda _: rung.append(time.now_ns))
    time.sleep(60)
    assert rung == [k * STEP for k in range(1, 3001)]


def test_waits_end_with_the_run():
    with pytest.raises(SystemExit):
        world(turns=3).sleep(1)
