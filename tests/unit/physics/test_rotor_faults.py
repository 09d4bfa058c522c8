"""Rotors that give less than they are told, or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import airloom as al
from airloom.simulation import Simulation

ENGINES = ["batch", "mujoco"]
ROTORS = ["front_right", "back_left", "front_left", "back_right"]


def hovering(faults: dict[str, Any], engine: str = "batch", **changes: Any) -> Simulation:
    systems = {
        "stay": {"kind": "waypoints", "points": [{"at": 0, "position": [0, 0, 20]}]},
        **{name: {"kind": "rotor_fault", **fault} for name, fault in faults.items()},
    }
    vehicles = {"drone": {"extends": "multirotor", "pose": {"position": [0, 0, 20]}}}
    overrides = {"vehicles": vehicles, "systems": systems, "engine": engine, "world": "empty", **changes}
    return Simulation.load("hover", overrides=overrides)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rotor", ROTORS)
def test_a_quadrotor_that_loses_a_rotor_turns_over_and_falls(rotor: str, engine: str) -> None:
    sim = hovering({"lost": {"rotor": rotor, "at": 2}}, engine)
    sim.run(until=2.0)
    drone = sim.vehicles["drone"]
    assert drone.position == pytest.approx([0, 0, 20], abs=0.3)
    sim.run(until=2.3)
    assert drone.rotor_speeds[ROTORS.index(rotor)] < 0.01
    sim.run(until=3.5)
    assert np.linalg.norm(drone.rates) > 3.0
    assert drone.position[2] < 18.0
    assert np.isfinite(drone.state).all()


def test_a_hexarotor_flies_on_with_a_weak_one() -> None:
    vehicles = {"drone": {"extends": "hexarotor", "pose": {"position": [0, 0, 20]}}}
    sim = hovering({"weak": {"rotor": "left", "at": 2, "share": 0.7}}, vehicles=vehicles)
    sim.run(until=10.0)
    assert sim.vehicles["drone"].position == pytest.approx([0, 0, 20], abs=1.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rotor_gives_its_share_of_what_it_is_told(engine: str) -> None:
    """Told by anybody: here without a controller, as autopilots do it."""
    fault = {"rotor": "back_left", "share": 0.6, "at": 0.5, "duration": 1.0}
    sim = hovering({"weak": fault}, engine, **{"vehicles.drone.controller": None, "systems.stay.enabled": False})
    drone = sim.vehicles["drone"]
    drone.set_rotor_speeds([300.0, 400.0, 500.0, 9e9])
    top = drone.airframe.rotors[3].max_speed
    for until, share in ((0.5, 1.0), (1.5, 0.6), (2.5, 1.0)):
        sim.run(until=until)
        assert drone.rotor_speeds == pytest.approx([300.0, 400.0 * share, 500.0, top], rel=1e-6)


def test_shares_of_several_multiply() -> None:
    faults = {
        "worn": {"rotor": "back_left", "share": 0.8, "at": 0},
        "weak": {"rotor": "back_left", "share": 0.5, "at": 1, "duration": 1},
    }
    sim = hovering(faults, **{"vehicles.drone.controller": None, "systems.stay.enabled": False})
    drone = sim.vehicles["drone"]
    drone.set_rotor_speeds([400.0] * 4)
    for until, share in ((1.0, 0.8), (2.0, 0.4), (3.0, 0.8)):
        sim.run(until=until)
        assert drone.rotor_speeds[1] == pytest.approx(400.0 * share, rel=1e-6)


def test_events_reset_and_equal_runs() -> None:
    faults = {
        "weak": {"rotor": "front_left", "share": 0.9, "at": 0.5, "duration": 0.5},
        "lost": {"rotor": "back_left", "at": 1.5},
    }
    sim, texts, hashes = hovering(faults), [], []
    sim.bus.subscribe("/events", lambda topic, m, time_ns: texts.append(m.text))
    for _ in range(2):
        sim.run(until=2.5)
        hashes.append(sim.state_hash())
        sim.reset()
    expected = [
        "weak begins: rotor front_left gives 0.9 of its speed", "weak ends", "lost begins: rotor back_left is lost",
    ]  # fmt: skip
    assert [text for text in texts if "mode" not in text] == 2 * expected
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("changes", [{}, {"mass": 1.05}], ids=["another comes", "this one changes too"])
def test_a_lost_rotor_stays_lost_through_an_edit(changes: dict[str, Any]) -> None:
    sim = hovering({"lost": {"rotor": "back_left", "at": 0.5}})
    sim.run(until=1.0)
    drone = sim.scenario.vehicles["drone"]
    other = drone.model_copy(update={"pose": drone.pose.model_copy(update={"position": (9.0, 9.0, 1.0)})})
    vehicles = {"other": other, "drone": drone.model_copy(update=changes)}
    sim.change(sim.scenario.model_copy(update={"vehicles": vehicles}))
    sim.vehicles["drone"].command(al.PositionYaw((0.0, 0.0, 20.0)))
    sim.vehicles["other"].command(al.PositionYaw((9.0, 9.0, 20.0)))
    sim.run(until=2.0)
    assert sim.vehicles["drone"].rotor_speeds[1] < 0.01
    assert sim.vehicles["other"].rotor_speeds[1] > 100.0


def test_one_of_a_fleet() -> None:
    vehicles = {
        "drone": {"extends": "multirotor", "pose": {"position": [0, 0, 20]}, "copies": {"count": 10, "spacing": 3}}
    }
    sim = hovering({"lost": {"vehicle": "drone_7", "rotor": "back_left", "at": 1}}, vehicles=vehicles)
    sim.group("*").command(al.PositionYaw(sim.group("*").positions))
    sim.run(until=2.0)
    speeds = np.array([vehicle.rotor_speeds for vehicle in sim.vehicles.values()])
    assert speeds[7, 1] < 1.0
    assert set(np.argwhere(speeds < 1.0)[:, 0]) == {7}, "none but the one that has lost it"
