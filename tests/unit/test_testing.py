"""What Airloom gives to those who write tests of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import airloom as al
from airloom.simulation import Simulation
from airloom.testing import first_order, report, run_scenario, second_order, step_responses


def test_the_fixture_flies_a_scenario(airloom_run: Any) -> None:
    flown = airloom_run("hover", steps=100, overrides={"engine": "batch"})
    assert flown.sim.tick == 100
    assert len(flown.times) == len(flown.states["cf"]) == 101


def test_hooks_come_before_and_after_the_ticks() -> None:
    before, after = [], []
    flown = run_scenario(
        "hover",
        steps=25,
        every=10,
        overrides={"engine": "batch"},
        pre_update=lambda sim: before.append(sim.tick),
        post_update=lambda sim: after.append(sim.tick),
    )
    assert before == [0, 10, 20]
    assert after == [10, 20, 25]
    assert flown.times == pytest.approx([0.0, 0.01, 0.02, 0.025])


def test_a_hook_may_act() -> None:
    def go(sim: Simulation) -> None:
        sim.vehicles["drone"].command(al.VelocityYawRate((0, 0, 1)))

    calm = {"systems": {}, "engine": "batch", "vehicles.drone.pose.position": [0, 0, 10]}
    flown = run_scenario("modes", steps=2000, every=100, overrides=calm, pre_update=go)
    assert flown.velocities("drone")[-1, 2] == pytest.approx(1.0, abs=0.05)
    assert flown.positions("drone")[-1, 2] > 10.5


@pytest.mark.parametrize("damping", [0.3, 1.0, 1.7])
def test_promises_solve_their_equations(damping: float) -> None:
    times = np.linspace(0, 5, 50_001)
    y = second_order(2.0, damping, times)
    dy = np.gradient(y, times)
    ddy = np.gradient(dy, times)
    assert y[0] == pytest.approx(0.0)
    assert ddy[5:-5] == pytest.approx((4 * (1 - y) - 4 * damping * dy)[5:-5], abs=1e-3)
    y = first_order(3.0, times)
    assert np.gradient(y, times)[5:-5] == pytest.approx(3 * (1 - y)[5:-5], abs=1e-3)


def test_steps_of_any_multirotor_can_be_measured() -> None:
    responses = step_responses("iris")
    assert [r.step.command.mode for r in responses] == [1, 1, 1, 2, 2, 2, 3, 4, 5]
    text = report(responses)
    assert text.count("\n") == len(responses)
    assert "attitude, roll, 0.1 rad" in text


def test_measured_steps_agree_with_the_promise_where_nothing_delays_them() -> None:
    by_quantity = {r.step.quantity: r for r in step_responses("x500", "uav_gazebo", ideal=True)}
    for quantity in ("position, up", "yaw", "velocity, up", "attitude, roll", "angular velocity"):
        response = by_quantity[quantity]
        assert response.difference < 0.01, quantity
        assert response.rise_time == pytest.approx(response.promised_rise_time, rel=0.01)
