"""A boat and an underwater robot by hand: nothing to take off from, and nowhere to land."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.hands import shown

from airloom.commands import Mode
from airloom.joystick import Mapping, Stick
from airloom.simulation import Simulation

SCENARIO = """
name: hand
engine: batch
world: {terrain: {kind: plane, height: -9}, water: {}}
vehicles:
  vessel: {extends: %s, pose: {position: [0, 0, %g]}}
"""


@pytest.fixture(params=[("rov", -2), ("boat", 0)], ids=["rov", "boat"])
def stick(request, tmp_path: Path) -> Stick:
    file = tmp_path / "hand.yaml"
    file.write_text(SCENARIO % request.param, encoding="utf-8")
    sim = Simulation.load(file)
    stick = Stick(sim, sim.vehicles["vessel"], Mapping.load("ps4"), first_mode=Mode.VELOCITY_YAWRATE)
    stick.feed(shown())
    return stick


def press(stick: Stick, button: str) -> None:
    stick.feed(shown(button))
    stick.feed(shown())


def test_the_button_that_takes_off_switches_the_thrusters_on(stick: Stick) -> None:
    press(stick, "r1")
    assert not stick.vehicle.armed
    press(stick, "r2")
    assert stick.mode is Mode.VELOCITY_YAWRATE
    while stick.sim.time < 3:
        stick.feed(shown(left_y=-1.0))
        stick.sim.run(stick.sim.time + 0.02)
    assert stick.vehicle.position[0] > 1.0
    assert not stick.sim.verdict.failures


def test_what_it_cannot_do_is_refused_in_a_sentence_and_fails_nothing(stick: Stick) -> None:
    told: list[str] = []
    stick.sim.bus.subscribe("/events", lambda topic, event, time: told.append(event.text))
    press(stick, "r2")
    press(stick, "l2")
    press(stick, "square")
    stick.sim.run(0.1)
    assert any("does not land" in text for text in told)
    assert any("flies position_yaw, velocity_yawrate only" in text for text in told)
    assert not stick.sim.verdict.failures


def test_a_restart_puts_it_back_into_the_water(stick: Stick) -> None:
    home = np.array(stick.vehicle.description.pose.position)
    press(stick, "share")
    stick.sim.run(0.1)
    np.testing.assert_allclose(stick.vehicle.position, home, atol=0.1)
