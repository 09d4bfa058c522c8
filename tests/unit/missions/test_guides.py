"""Guides inside the loop: nobody but the mission decides when it goes on, whoever watches and whoever flies beside."""

from __future__ import annotations

from itertools import pairwise

import pytest

from airloom.commands import Mode, PositionYaw
from airloom.missions.tasks import MissionError, MissionTimeout
from airloom.missions.trajectory import through

SQUARE = [(0, 0, 3), (4, 0, 3), (4, 4, 3), (0, 4, 3)]


async def pursue(pilot):
    await pilot.takeoff(3)
    await pilot.follow(SQUARE, method="pursuit", speed=3)


def moments_of(sim, mission, vehicle="drone", until=20.0):
    """When each part of a mission was over."""
    moments = []

    async def noted():
        await sim.pilot(vehicle).takeoff(3)
        moments.append(sim.time)
        await mission(sim.pilot(vehicle))
        moments.append(sim.time)

    sim.start(noted())
    sim.run(until=until)
    return moments


def test_arrivals_come_on_the_common_grid(sim):
    moments = moments_of(sim, lambda pilot: pilot.goto((2, 1, 4)))
    assert len(moments) == 2
    assert [round(t / 0.1) * 0.1 for t in moments] == pytest.approx(moments, abs=1e-9)


def test_a_mission_does_not_depend_on_the_deadlines_of_others(make_sim):
    def alone(pilot):
        return pilot.goto((2, 1, 4))

    async def impatient(pilot):
        for _ in range(200):
            with pytest.raises(MissionTimeout):
                await pilot.goto((50, 50, 20), timeout=0.037)

    one, two = make_sim(copies=2), make_sim(copies=2)
    two.vehicles["drone_1"].recover()
    two.start(impatient(two.pilot("drone_1")))
    assert moments_of(one, alone, "drone_0") == moments_of(two, alone, "drone_0") != []


@pytest.mark.parametrize("raw", [True, False])
def test_who_listens_to_targets_changes_nothing(make_sim, raw):
    hashes, times = [], []
    for listens in (False, True):
        sim = make_sim()
        if listens:
            note = (lambda topic, cdr, when: times.extend(when)) if raw else lambda topic, one, when: times.append(when)
            sim.bus.subscribe("/drone/pursuit_target", note, raw=raw)
        sim.start(pursue(sim.pilot("drone")))
        sim.run(until=15)
        hashes.append(sim.state_hash())
    assert hashes[0] == hashes[1]
    assert len(times) > 100
    assert {after - before for before, after in pairwise(times)} == {20_000_000}


def test_targets_reach_those_who_act_on_them_in_time(sim):
    lags = []
    sim.bus.subscribe("/drone/pursuit_target", lambda topic, message, time: lags.append(sim.time_ns - time))
    sim.start(pursue(sim.pilot("drone")))
    sim.run(until=15)
    assert set(lags) == {0}


def test_the_guard_leaves_a_pursuit_alone_and_watches_again_after_it(sim, monkeypatch):
    vehicle = sim.vehicles["drone"]
    monkeypatch.setattr(type(vehicle), "command_timeout", 0.05)
    sim.start(pursue(sim.pilot("drone")))
    while vehicle.mode is not Mode.VELOCITY_YAWRATE:
        sim.step()
    sim.run(until=sim.time + 1)
    assert vehicle.mode is Mode.VELOCITY_YAWRATE
    sim.guides.end(vehicle)
    sim.run(until=sim.time + 0.1)
    assert vehicle.mode is Mode.POSITION_YAW
    assert "no command for 0.05 s" in sim.warnings[0]


def test_a_pursuit_ends_when_its_vehicle_is_switched_off(sim):
    task = sim.start(pursue(sim.pilot("drone")))
    while sim.vehicles["drone"].mode is not Mode.VELOCITY_YAWRATE:
        sim.step()
    sim.vehicles["drone"].kill()
    sim.run(until=sim.time + 0.2)
    assert isinstance(task.error, MissionError)
    assert "switched to idle" in str(task.error)
    assert not sim.vehicles["drone"].armed


def test_a_pursuit_that_takes_too_long_is_given_up_in_time(sim):
    async def hurried(pilot):
        with pytest.raises(MissionTimeout, match=r"drone: pursuit took longer than 0.55 s"):
            await pilot.follow(SQUARE, method="pursuit", speed=1, timeout=0.55)

    began, ended = moments_of(sim, hurried)
    assert ended - began == pytest.approx(0.55)
    assert sim.vehicles["drone"].mode is Mode.POSITION_YAW


def test_whoever_commands_after_a_trajectory_is_over_is_obeyed(sim):
    """As a choreography does, which never ends its guides."""
    drone = sim.vehicles["drone"]
    drone.command(PositionYaw((0, 0, 1)))
    sim.guides.begin(drone, through([(0, 0, 1), (0, 0, 2)], 0.0, 2.0))
    sim.run(until=5)
    assert drone.setpoint.position == pytest.approx((0, 0, 2))
    drone.command(PositionYaw((1, 0, 2)))
    sim.run(until=10)
    assert drone.setpoint.position == (1, 0, 2)
