"""Stacks of boats and underwater vehicles: in currents, waves and pushes, on both engines, in missions."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.commands import CommandError, Mode, PositionYaw, VelocityYawRate
from airloom.missions.tasks import MissionError
from airloom.scenario import ScenarioError, load_vehicle
from airloom.scenario.models import Scenario
from airloom.simulation import Simulation

SEA = {"significant_height": 0.3, "peak_period": 3.0, "direction": 0.8}


def at_sea(name, engine="batch", seed=0, depth=0.0, water=None, **changes):
    vehicle = load_vehicle(name).model_dump() | {"pose": {"position": (0.0, 0.0, depth)}} | changes
    world = {"terrain": {"kind": "plane", "height": -20.0}, "water": water or {}}
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
    assert np.hypot(*(boat.position[:2] - [25, 0])) < 6.0
    assert abs(boat.position[2]) < 0.4


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
