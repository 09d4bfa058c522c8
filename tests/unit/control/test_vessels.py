"""Stacks of boats and underwater vehicles: in currents, waves and pushes, on both engines, in missions."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.commands import CommandError, Mode, PositionYaw, VelocityYawRate
from airloom.missions.tasks import MissionError
from airloom.scenario import ScenarioError, load_vehicle
from airloom.scenario.models import Scenario
from airloom.simulation import Simulation
from airloom.watch.water import WaterWatch

SEA = {"significant_height": 0.3, "peak_period": 3.0, "direction": 0.8}


def at_sea(
    name, engine="batch", seed=0, depth=0.0, water=None, wind=(0.0, 0.0, 0.0), terrain=None, **changes
):  # fmt: skip
    vehicle = load_vehicle(name).model_dump() | {"pose": {"position": (0.0, 0.0, depth)}} | changes
    world = {"terrain": terrain or {"kind": "plane", "height": -20.0}, "water": water or {}, "wind": wind}
    given = {"name": name, "seed": seed, "engine": {"kind": engine}, "world": world, "vehicles": {"v": vehicle}}
    sim = Simulation(Scenario.model_validate(given))
    return sim, sim.vehicles["v"]


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_an_underwater_vehicle_holds_its_place_in_a_current_and_after_a_push(engine):
    sim, rov = at_sea("rov", engine, depth=-3.0, water={"current": {"velocity": [0.3, -0.2, 0.0]}, "sea": SEA})
    rov.command(PositionYaw((0.0, 0.0, -3.0), 1.0))
    sim.run(until=15)
    rov.push(force=(60.0, 0.0, 30.0))
    sim.run(until=16)
    rov.push()
    sim.run(until=30)
    assert rov.position == pytest.approx([0, 0, -3], abs=0.2)
    assert rov.euler == pytest.approx([0, 0, 1.0], abs=0.1)


@pytest.mark.slow
def test_it_does_so_for_twenty_seeds():
    sim, rov = at_sea("rov", depth=-3.0, water={"current": {"velocity": [0.2, 0.1, 0.0]}, "sea": SEA})
    for seed in range(20):
        sim.reset(seed)
        rov.command(PositionYaw((1.0, 1.0, -4.0), -2.0))
        sim.run(until=14)
        assert rov.position == pytest.approx([1, 1, -4], abs=0.2)
        assert rov.euler[2] == pytest.approx(-2.0, abs=0.1)


def test_its_velocity_can_be_told():
    sim, rov = at_sea("rov", depth=-5.0, command_timeout=None)
    rov.command(VelocityYawRate((0.3, 0.0, 0.1), 0.2))
    sim.run(until=8)
    assert rov.velocity == pytest.approx([0.3, 0.0, 0.1], abs=0.03)
    assert rov.rates[2] == pytest.approx(0.2, abs=0.02)
    with pytest.raises(CommandError, match="flies position"):
        rov.switch_mode(Mode.THRUST_ATTITUDE)


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_a_boat_follows_lines_in_waves_and_a_current_and_holds_its_place(engine):
    sim, boat = at_sea("boat", engine, water={"current": {"velocity": [0.2, 0.2, 0.0]}, "sea": SEA})
    pilot = sim.pilot("v")
    off = []

    async def go():
        await pilot.goto((25, 0, 9.0), speed=1.5)

    task = sim.start(go())
    while not task.done and sim.time < 60:
        sim.run(until=sim.time + 1)
        off.append(abs(boat.position[1]))
    assert task.done
    assert max(off) < 1.5
    sim.run(until=sim.time + 30)
    assert np.hypot(*(boat.position[:2] - [25, 0])) < 2.0
    assert abs(boat.position[2]) < 0.4


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_a_boat_that_cannot_push_aside_stays_within_a_metre_in_current_wind_and_waves(engine):
    sim, boat = at_sea(
        "boat", engine, water={"current": {"velocity": [0.5, 0.0, 0.0]}, "sea": SEA}, drag=(0.25, 0.6, 0.0),
        wind=(0.0, 5.0, 0.0),
    )  # fmt: skip
    boat.command(PositionYaw((0.0, 0.0, 0.0), 1.0))
    sim.run(until=45)
    off = []
    while sim.time < 75:
        sim.run(until=sim.time + 1)
        off.append(np.hypot(*boat.position[:2]))
    assert max(off) < 1.0
    assert abs(abs(boat.euler[2]) - np.pi) < 0.5, "its bow is in what sets it off"


def test_a_boat_in_calm_water_looks_where_it_is_told():
    sim, boat = at_sea("boat")
    boat.command(PositionYaw((0.0, 0.0, 0.0), 1.0))
    sim.run(until=10)
    assert boat.euler[2] == pytest.approx(1.0, abs=0.05)


def test_an_underwater_vehicle_stays_level_in_a_current_that_it_cannot_hold():
    """Munk's moment is stiffer than its loop there; and with a thruster lost it is weaker still."""
    sim, rov = at_sea("rov", depth=-5.0, water={"current": {"velocity": [1.0, 0.0, 0.0]}})
    rov.command(PositionYaw((0.0, 0.0, -5.0), 0.0))
    sim.run(until=10)
    rov.set_rotor_share("front_right", 0.0)
    sim.run(until=25)
    assert np.abs(rov.euler[:2]).max() < 0.2
    assert abs(rov.position[2] + 5.0) < 1.0


@pytest.mark.parametrize("attitude", [{"pitch": 1.57}, {"roll": 3.1}])
def test_an_underwater_vehicle_rights_itself(attitude):
    pose = {"position": (0.0, 0.0, -5.0), **attitude}
    sim, rov = at_sea("rov", pose=pose)
    rov.command(PositionYaw((0.0, 0.0, -5.0), 0.0))
    sim.run(until=12)
    assert np.abs(rov.euler).max() < 0.15
    assert rov.position == pytest.approx([0, 0, -5], abs=0.1)


def test_a_boat_rights_itself_from_its_side_and_beyond_that_is_told_to_have_capsized():
    for roll, rights in ((1.0, True), (1.8, False)):
        sim, boat = at_sea("boat", pose={"position": (0.0, 0.0, 0.0), "roll": roll})
        WaterWatch(sim)
        sim.run(until=6)
        assert (abs(boat.euler[0]) < 0.1) == rights
        assert any("has capsized" in text for text in map(str, sim.warnings)) != rights


def test_who_starts_on_dry_land_is_told_so():
    sim, _ = at_sea("boat", depth=2.2, terrain={"kind": "plane", "height": 2.0})
    assert "starts on dry land" in str(sim.warnings)
    sim, _ = at_sea("rov", depth=-5.0)
    assert not sim.warnings


def test_boats_neither_take_off_nor_land_and_divers_stay_under_water():
    sim, _ = at_sea("rov", depth=-3.0)
    pilot = sim.pilot("v")
    for doing, why in (
        (pilot.takeoff(), "does not take off"), (pilot.land(), "does not land"),
        (pilot.goto((0, 0, 2)), "lies above the water"), (pilot.goto((0, 0, -30)), "lies in the ground"),
    ):  # fmt: skip
        with pytest.raises(MissionError, match=why):
            doing.send(None)


def test_a_stack_that_does_not_fit_says_why():
    rotors = load_vehicle("rov").model_dump()["rotors"]
    for changes, why in (
        ({"hull": None}, "has no hull"),
        ({"rotors": dict(list(rotors.items())[:4])}, "must be able to push along and about all axes"),
        ({"rotors": {name: rotor | {"in_water": None} for name, rotor in rotors.items()}}, "needs thrusters"),
        ({"rotors": {}}, "needs thrusters"),
    ):
        with pytest.raises(ScenarioError, match=why):
            at_sea("rov", **changes)


def test_all_of_it_repeats_and_resets():
    water = {"current": {"velocity": [0.2, 0.1, 0.0]}, "sea": SEA}
    hashes = []
    for chunk in (0.05, 1.0):
        sim, boat = at_sea("boat", water=water)
        boat.command(PositionYaw((5.0, 1.0, 0.0), 0.0))
        while sim.time < 2.0:
            sim.run(until=round(sim.time + chunk, 6))
        hashes.append(sim.state_hash())
    sim.reset()
    boat.command(PositionYaw((5.0, 1.0, 0.0), 0.0))
    sim.run(until=2.0)
    assert {*hashes, sim.state_hash()} == {hashes[0]}
