"""The guard over silent commanders: exact to the tick, per vehicle, and braking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import airloom as al
from airloom.simulation import Simulation

CALM = {"world.wind": [0, 0, 0], "world.obstacles": {}, "systems": {}, "engine": "batch"}
FORWARD = al.VelocityYawRate((1, 0, 0))


def drones(**timeouts: Any) -> Simulation:
    """A vehicle for each timeout, in flight, told to go forward at 1 s."""
    vehicles = {
        name: {
            "extends": "x500", "controller": "modes", "command_timeout": timeout,
            "pose": {"position": [0, 5.0 * k, 20]},
        }
        for k, (name, timeout) in enumerate(timeouts.items())
    }  # fmt: skip
    sim = Simulation.load("waypoints", overrides={"vehicles": {"drone": None, **vehicles}, **CALM})
    for vehicle in sim.vehicles.values():
        vehicle.command(al.PositionYaw(tuple(vehicle.position)))
    sim.run(until=1.0)
    return sim


def ticks_until_braking(sim: Simulation, name: str, most: int = 5000) -> int:
    for tick in range(most):
        if sim.vehicles[name].mode is al.Mode.POSITION_YAW:
            return tick
        sim.step()
    return most


@pytest.mark.parametrize("timeout", [0.05, 0.2, 1.0])
def test_the_timeout_is_exact_to_the_tick(timeout: float) -> None:
    sim = drones(a=timeout)
    sim.vehicles["a"].command(FORWARD)
    whole = round(timeout * 1000)
    assert ticks_until_braking(sim, "a") == whole + 2  # the tick after the timeout is the first that finds it silent
    assert sim.warnings == [
        f"{1.001 + timeout:.3f} s: a: no command for {timeout:g} s in mode velocity_yawrate: braking to a hover"
    ]


def test_however_the_ticks_are_called() -> None:
    hashes = set()
    for chunk in (1, 7, 4000):
        sim = drones(a=0.3)
        sim.vehicles["a"].command(FORWARD)
        while sim.tick < 4000:
            sim.step(min(chunk, 4000 - sim.tick))
        hashes.add(sim.state_hash())
    assert len(hashes) == 1


def test_a_command_just_in_time_is_in_time() -> None:
    sim = drones(a=0.2)
    for _ in range(10):
        sim.vehicles["a"].command(FORWARD)
        sim.step(200)
    assert sim.vehicles["a"].mode is al.Mode.VELOCITY_YAWRATE
    assert not sim.warnings


def test_every_vehicle_has_its_own_timeout() -> None:
    """Also when the one with the shorter timeout is heard later than the other."""
    sim = drones(slow=2.0, quick=0.1)
    sim.vehicles["slow"].command(FORWARD)
    sim.step(50)
    sim.vehicles["quick"].command(FORWARD)
    assert ticks_until_braking(sim, "quick") == 102
    assert sim.vehicles["slow"].mode is al.Mode.VELOCITY_YAWRATE
    assert ticks_until_braking(sim, "slow") == 2002 - 50 - 102


def test_null_waits_for_ever() -> None:
    sim = drones(a=None)
    assert sim.vehicles["a"].command_timeout is None
    sim.vehicles["a"].command(FORWARD)
    sim.run(until=20.0)
    assert sim.vehicles["a"].mode is al.Mode.VELOCITY_YAWRATE


def test_braking_ends_in_a_hover_ahead() -> None:
    sim = drones(a=1.0)
    vehicle = sim.vehicles["a"]
    vehicle.command(FORWARD)
    sim.run(until=2.0)
    here, speed = vehicle.position[0], vehicle.velocity[0]
    sim.run(until=10.0)
    assert vehicle.mode is al.Mode.POSITION_YAW
    assert np.linalg.norm(vehicle.velocity) < 0.05
    assert 0.2 < vehicle.position[0] - here < 1.5 * speed


@pytest.mark.parametrize(
    "command",
    [FORWARD, al.ThrustAttitude(20.2), al.ThrustVelocity(20.2), al.ThrustTorque(20.2)],
    ids=lambda command: command.mode.label,
)
def test_all_modes_that_need_somebody_are_watched(command: Any) -> None:
    sim = drones(a=0.1)
    sim.vehicles["a"].command(command)
    assert ticks_until_braking(sim, "a") == 102


def test_positions_and_idle_need_nobody() -> None:
    sim = drones(a=0.1)
    sim.run(until=5.0)
    sim.vehicles["a"].command(FORWARD)
    sim.vehicles["a"].kill()
    sim.run(until=6.0)
    assert sim.vehicles["a"].mode is al.Mode.IDLE
    assert not sim.warnings


def test_commands_for_another_mode_do_not_count() -> None:
    sim = drones(a=0.1)
    sim.vehicles["a"].command(FORWARD)
    sim.step(90)
    sim.vehicles["a"].command(al.PositionYaw((0, 0, 9)), switch=False)
    assert ticks_until_braking(sim, "a") == 12


def test_switching_counts_as_a_word() -> None:
    sim = drones(a=0.1)
    sim.vehicles["a"].switch_mode("velocity_yawrate")
    assert ticks_until_braking(sim, "a") == 102


def test_reset_forgets_deadlines() -> None:
    sim = drones(a=0.1)
    sim.vehicles["a"].command(FORWARD)
    sim.reset()
    sim.run(until=2.0)
    assert not sim.warnings
    sim.vehicles["a"].command(FORWARD)
    assert ticks_until_braking(sim, "a") == 102
