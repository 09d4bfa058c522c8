"""An aeroplane by hand: what its sticks mean in each mode, and what is refused while it stands on the ground."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.hands import Hand

from airloom.commands import Mode
from airloom.simulation import Simulation

SCENARIO = """
name: hand
engine: batch
vehicles:
  plane: {extends: plane, pose: {position: [0, 0, %g]}, motion: {velocity: [%g, 0, 0]}}
"""
CRUISE, SLOWEST = 13.5, 11.1  # m/s


class PlaneHand(Hand):
    def __init__(self, folder: Path, height: float = 60.0, speed: float = 14.0) -> None:
        file = folder / "hand.yaml"
        file.write_text(SCENARIO % (height, speed), encoding="utf-8")
        super().__init__(Simulation.load(file), "plane")

    @property
    def airspeed(self) -> float:
        return float(self.vehicle.reading("airspeed").numbers[0])


def test_by_velocity_it_cruises_turns_climbs_and_hurries(tmp_path: Path) -> None:
    hand = PlaneHand(tmp_path)
    hand.press("circle")
    hand.hold(8)
    assert hand.airspeed == pytest.approx(CRUISE, abs=0.5)
    assert hand.vehicle.position[2] == pytest.approx(60, abs=2)
    hand.hold(3, left_x=-1.0)
    assert hand.vehicle.euler[0] < -0.5  # x ahead, y to the left: to the left it banks below zero
    hand.hold(5, right_y=-1.0)
    assert hand.vehicle.velocity[2] > 2
    hand.hold(8, left_y=-1.0)
    assert hand.airspeed > CRUISE + 3
    hand.hold(18, left_y=1.0)
    assert hand.airspeed == pytest.approx(SLOWEST, abs=0.7)


@pytest.mark.parametrize("button", ["square", "triangle"])
def test_released_sticks_let_it_fly_on_without_falling(tmp_path: Path, button: str) -> None:
    hand = PlaneHand(tmp_path)
    hand.press(button)
    hand.hold(10)
    assert hand.vehicle.position[2] > 45
    assert hand.airspeed > SLOWEST
    hand.hold(1.5, left_x=-0.5)
    assert hand.vehicle.euler[0] < -0.15


def test_a_button_takes_off_from_its_wheels_to_a_safe_height(tmp_path: Path) -> None:
    hand = PlaneHand(tmp_path, 0.21, 0.0)
    hand.press("r2")
    hand.hold(20)
    assert hand.vehicle.position[2] > 20


@pytest.mark.parametrize("button", ["cross", "circle"])
def test_on_the_ground_it_is_not_flown_off_by_a_mode(tmp_path: Path, button: str) -> None:
    hand = PlaneHand(tmp_path, 0.21, 0.0)
    hand.press(button)
    assert hand.vehicle.mode is Mode.IDLE
    assert "plane: stands on the ground, and cannot fly from there; take off first" in hand.sim.warnings[0]


def test_it_begins_anew_in_flight(tmp_path: Path) -> None:
    hand = PlaneHand(tmp_path)
    hand.sim.run(until=2)
    hand.press("share")
    hand.hold(5)
    assert hand.vehicle.position[2] == pytest.approx(30, abs=4)
    hand.press("left_stick")
    assert hand.vehicle.velocity == pytest.approx([14, 0, 0])
    assert np.linalg.norm(hand.vehicle.position - [0, 0, 60]) < 1
