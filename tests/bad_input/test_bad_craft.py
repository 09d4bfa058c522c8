"""Wings and hulls in the wrong hands: one message that says what is wrong, before anything moves."""

from __future__ import annotations

from typing import Any

import pytest

from airloom.scenario import ScenarioError, load_vehicle
from airloom.simulation import Simulation

TWO = [[0, 0], [-20, 20]]
FORMATION = {"kind": "formation", "sensor": "odometry", "places": TWO, "way": TWO}


@pytest.mark.parametrize(
    ("scenario", "changes", "told"),
    [
        ("hover", {"vehicles.cf.controller": "plane"}, "an aeroplane needs servos that roll it and pitch it"),
        ("boat", {"vehicles.boat.mass": 55_000}, "it has 55000 kg, and its hull carries 202 kg at most"),
        ("boat", {"world.water.density": 1.025}, "world.water.density: must be at least 100, got 1.025"),
        ("boat", {"systems.patrol.items": [{"takeoff": 5}]}, "item 1: boat: does not take off"),
        ("rov", {"systems.inspection.items": [{"goto": [1, 0, -3]}, {"land": None}]}, "item 2: rov: does not land"),
        (
            "plane",
            {"radio": {}, "systems": {"f": FORMATION}},
            "systems.f.kind: a formation needs vehicles that can stop in the air, and plane with the controller",
        ),
        ("plane", {"systems": {"w": {"kind": "wave"}}}, "systems.w.vehicles: a wave needs vehicles that can stop"),
        ("plane", {"systems": {"c": {"kind": "choreography"}}}, "a choreography needs vehicles that can stop"),
        ("rov", {"systems": {"c": {"kind": "choreography"}}}, "rov with the controller 'rov' cannot"),
    ],
)  # fmt: skip
def test_what_cannot_be_flown_is_refused(scenario: str, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        Simulation.load(scenario, overrides=changes)
    assert told in str(raised.value)


@pytest.mark.parametrize("name", ["vtol", "airship"])
def test_what_can_hover_may_dance(name: str) -> None:
    Simulation.load(name, overrides={"systems": {"c": {"kind": "choreography"}}})


@pytest.mark.parametrize(
    ("name", "told"),
    [("planee", "no vehicle is called 'planee'; did you mean 'plane'?"), ("no.yaml", "there is no file")],
)
def test_a_name_that_somebody_typed_is_not_called_a_setting(name: str, told: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        load_vehicle(name)
    assert str(raised.value).startswith(told)
