"""Coroutines on simulation time: waiting, giving up, being cancelled, failing."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.commands import Mode
from airloom.missions.pilots import start_all
from airloom.missions.tasks import All, MissionError, MissionTimeout, Sleep, Until


def events_of(sim):
    found = []
    sim.bus.subscribe("/events", lambda topic, message, time: found.append((message.level, message.text)))
    return found


async def round_trip(pilot):
    await pilot.takeoff(3)
    await pilot.goto((3, 1, 4), yaw=1.0)
    await pilot.follow([(3, 1, 4), (0, 3, 3), (0, 0, 3)], speed=3)
    await pilot.follow([(0, 0, 3), (5, 0, 3)], method="pursuit", speed=3)
    await pilot.land()


@pytest.mark.parametrize("seconds", [0.001, 0.1, 0.3, 1.234])
def test_sleep_is_exact(sim, seconds):
    woken = []

    async def mission():
        for _ in range(3):
            await Sleep(seconds)
            woken.append(sim.time)

    sim.start(mission())
    sim.run(until=4)
    assert woken == pytest.approx([seconds, 2 * seconds, 3 * seconds], abs=1e-9)


def test_a_loop_around_sleep_0_lets_time_go_on(sim):
    turns = []

    async def mission():
        while True:
            await Sleep(0)
            turns.append(sim.tick)

    sim.start(mission())
    sim.step(5)
    assert turns == [1, 2, 3, 4]


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_sleep_refuses_what_is_no_duration(seconds):
    with pytest.raises(MissionError, match="cannot sleep"):
        Sleep(seconds)


def test_a_timeout_comes_in_time_and_can_be_caught(sim):
    caught = []

    async def mission():
        try:
            await Until(lambda: False, "waiting for nothing", timeout=0.25)
        except MissionTimeout as error:
            caught.append((sim.time, str(error)))

    task = sim.start(mission())
    sim.run(until=1)
    assert caught == [(0.25, "waiting for nothing took longer than 0.25 s")]
    assert task.done
    assert task.error is None


def test_cancel_runs_finally_and_brakes_the_vehicle(sim):
    cleaned = []

    async def mission(pilot):
        try:
            await pilot.takeoff(10)
        finally:
            cleaned.append(sim.time)

    task = sim.start(mission(sim.pilot("drone")))
    sim.run(until=3)
    task.cancel()
    assert cleaned == [3.0]
    assert task.cancelled
    height = sim.vehicles["drone"].setpoint.position[2]
    sim.run(until=10)
    assert sim.vehicles["drone"].position[2] == pytest.approx(height, abs=0.1)
    assert np.linalg.norm(sim.vehicles["drone"].velocity) < 0.05


def test_results_come_together(sim):
    async def after(seconds):
        await Sleep(seconds)
        return seconds

    async def mission():
        return await All([sim.start(after(s)) for s in (0.3, 0.1, 0.2)])

    task = sim.start(mission())
    sim.run(until=1)
    assert task.result == [0.3, 0.1, 0.2]


def test_one_failure_cancels_the_others_and_is_raised(sim):
    cleaned, raised = [], []

    async def fails():
        await Sleep(0.1)
        raise MissionError("no more")

    async def waits(name):
        try:
            await Sleep(5)
        finally:
            cleaned.append(name)

    async def mission():
        try:
            await All([sim.start(waits("a")), sim.start(fails()), sim.start(waits("b"))])
        except MissionError as error:
            raised.append((sim.time, str(error)))

    task = sim.start(mission())
    sim.run(until=1)
    assert raised == [(0.1, "no more")]
    assert cleaned == ["a", "b"]
    assert task.done


def test_cancelling_who_waits_cancels_what_it_waits_for(sim):
    cleaned = []

    async def waits():
        try:
            await Sleep(5)
        finally:
            cleaned.append(sim.time)

    async def mission():
        await All([sim.start(waits()), sim.start(waits())])

    task = sim.start(mission())
    sim.run(until=1)
    task.cancel()
    assert cleaned == [1.0, 1.0]
    assert task.cancelled


def test_an_exception_becomes_an_event_and_the_vehicle_flies_on(sim):
    events = events_of(sim)

    async def mission(pilot):
        await pilot.takeoff(2)
        raise ZeroDivisionError("oops")

    task = sim.start(mission(sim.pilot("drone")), "drone")
    sim.run(until=15)
    assert isinstance(task.error, ZeroDivisionError)
    line = mission.__code__.co_firstlineno + 2
    text = f"mission failed: ZeroDivisionError: oops ({__file__}:{line})"
    assert ("error", text) in events
    assert sim.vehicles["drone"].position[2] == pytest.approx(2.05, abs=0.05)
    (failure,) = sim.verdict.failures
    assert (failure.source, failure.text) == ("drone", text)


def test_awaiting_something_foreign_is_explained(sim):
    import asyncio

    async def mission():
        await asyncio.sleep(0)

    task = sim.start(mission(), "m")
    sim.step(2)
    assert "awaits" in str(task.error)


def test_a_vehicle_must_take_off_first(sim):
    task = sim.start(sim.pilot("drone").goto((1, 0, 2)))
    sim.step(2)
    assert "take off first" in str(task.error)


def test_reset_cancels_missions_and_a_second_run_is_the_same(sim):
    sim.start(round_trip(sim.pilot("drone")))
    sim.run(until=4)
    first = sim.state_hash()
    task = sim.start(round_trip(sim.pilot("drone")))
    sim.reset()
    assert task.cancelled
    assert sim.vehicles["drone"].mode is Mode.IDLE
    sim.start(round_trip(sim.pilot("drone")))
    sim.run(until=4)
    assert sim.state_hash() == first


def test_stepping_by_ticks_or_in_one_call_is_the_same(make_sim):
    hashes = []
    for stride in (1, 50_000):
        sim = make_sim(copies=2)
        tasks = start_all(sim, round_trip, sim.vehicles.values())
        while sim.tick < 50_000:
            sim.step(stride)
        hashes.append(sim.state_hash())
        assert [(task.done, task.error) for task in tasks] == [(True, None)] * 2
    assert hashes[0] == hashes[1]
