"""Commands and gains that cannot be: a clear message for whoever sent them, and the vehicle flies on as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import airloom as al
from airloom.scenario import ScenarioError, load
from airloom.simulation import Simulation

CALM = {"world.wind": [0, 0, 0], "world.obstacles": {}, "systems": {}, "engine": "batch"}
NAN, INF = float("nan"), float("inf")


def drones(*controllers: str) -> Simulation:
    """Vehicles a, b, … in a hover."""
    vehicles = {
        name: {"extends": "x500", "controller": controller, "pose": {"position": [0, 5.0 * k, 20]}}
        for k, (name, controller) in enumerate(zip("abcd", controllers, strict=False))
    }
    sim = Simulation.load("waypoints", overrides={"vehicles": {"drone": None, **vehicles}, **CALM})
    for vehicle in sim.vehicles.values():
        vehicle.command(al.PositionYaw(tuple(vehicle.position)))
    sim.run(until=2.0)
    return sim


@pytest.fixture(scope="module")
def sim() -> Simulation:
    return drones("modes", "cascade")


def refused(sim: Simulation, act: Callable[[al.Vehicle], Any], vehicle: str = "a") -> str:
    """The message; the state and all that is in force stay as they were."""
    before = sim.state_hash()
    with pytest.raises(al.CommandError) as error:
        act(sim.vehicles[vehicle])
    assert sim.state_hash() == before
    return str(error.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: al.PositionYaw((0, 0, NAN)), "PositionYaw: position must be three finite numbers, got (0, 0, nan)"),
        (lambda: al.PositionYaw((0, 0)), "PositionYaw: position must be three finite numbers, got (0, 0)"),
        (lambda: al.PositionYaw((0, 0, 1, 2)), "position must be three finite numbers"),
        (lambda: al.PositionYaw(3), "position must be three finite numbers, got 3"),
        (lambda: al.PositionYaw("abc"), "position must be three finite numbers, got 'abc'"),
        (lambda: al.PositionYaw((0, 0, 10**400)), "position must be three finite numbers"),
        (lambda: al.PositionYaw((0, 0, 1), yaw=INF), "PositionYaw: yaw must be a finite number, got inf"),
        (lambda: al.PositionYaw((0, 0, 1), velocity=None), "velocity must be three finite numbers, got None"),
        (lambda: al.VelocityYawRate((0, 0, 1), yaw_rate="fast"), "yaw_rate must be a finite number, got 'fast'"),
        (lambda: al.ThrustAttitude(NAN), "ThrustAttitude: thrust must be a finite number, got nan"),
        (lambda: al.ThrustAttitude(9, attitude_rates=(1,)), "attitude_rates must be three finite numbers, got (1,)"),
        (lambda: al.ThrustTorque(9, torque=np.zeros((3, 1))), "torque must be three finite numbers"),
        (lambda: al.PositionYaw((0, 1e12, 1)), "got (0, 1000000000000.0, 1); no number may be greater than 1e+06"),
        (lambda: al.VelocityYawRate((0, 0, 1), yaw_rate=-1e308), "got -1e+308; no number may be greater than 1e+06"),
    ],
)
def test_commands_hold_finite_numbers(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(al.CommandError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize(
    "act",
    [
        lambda vehicle: vehicle.place((0, 0, 1e308)),
        lambda vehicle: vehicle.place((0, 0, 1), yaw=1e300),
        lambda vehicle: vehicle.place((0, 0, 1), velocity=(1e12, 0, 0)),
    ],
)
def test_places_beyond_the_world(sim: Simulation, act: Callable[[al.Vehicle], None]) -> None:
    assert "cannot be placed at" in refused(sim, act)


def test_a_fleet_is_not_sent_beyond_the_world(sim: Simulation) -> None:
    message = r"b: PositionYaw: position must be three finite numbers, .*; no number may be greater than 1e\+06"
    with pytest.raises(al.CommandError, match=message):
        sim.group("*").command(al.PositionYaw(np.array([[0, 0, 1], [0, 0, 1e12]])))


def test_a_setpoint_below_the_ground_is_told_once() -> None:
    sim = drones("modes", "cascade")
    vehicle = sim.vehicles["a"]
    for z in (1.0, -0.5, -0.5, -0.6, 1.0, -2.0):
        vehicle.command(al.PositionYaw((1, 2, z)))
    sim.group("a").command(al.PositionYaw((3, 2, -2.0)))
    assert sim.warnings == [
        "2.000 s: a: is told to be at (1, 2, -0.5), 0.5 m below the ground, which it cannot reach",
        "2.000 s: a: is told to be at (1, 2, -2), 2 m below the ground, which it cannot reach",
    ]
    vehicle.command(al.PositionYaw((1, 2, 1)))
    sim.group("*").command(al.PositionYaw(np.array([[3, 2, 0.0], [3, 2, -1.5]])))
    assert sim.warnings[2:] == [
        "2.000 s: b: is told to be at (3, 2, -1.5), 1.5 m below the ground, which it cannot reach"
    ]


@pytest.mark.parametrize("kind", [al.ThrustAttitude, al.ThrustVelocity, al.ThrustTorque])
@pytest.mark.parametrize("thrust", [-1.0, 35.0, 1e6])
def test_thrust_beyond_the_rotors(sim: Simulation, kind: Any, thrust: float) -> None:
    message = refused(sim, lambda vehicle: vehicle.command(kind(thrust)))
    assert message == f"a can give a thrust of 0 to 34.2 N, got {thrust:.3g} N"


@pytest.mark.parametrize("mode", ["fly", "", "6", 6, -1, None, [1], NAN])
def test_unknown_modes(sim: Simulation, mode: Any) -> None:
    message = refused(sim, lambda vehicle: vehicle.switch_mode(mode))
    assert f"no control mode is called '{mode}'; known are 0 idle, 1 position_yaw, 2" in message


@pytest.mark.parametrize("mode", range(2, 6))
def test_modes_that_the_controller_does_not_fly(sim: Simulation, mode: int) -> None:
    message = refused(sim, lambda vehicle: vehicle.switch_mode(mode), "b")
    assert message.startswith(f"b's controller flies position_yaw only, not {al.Mode(mode).label}")
    assert "the controller 'modes' flies them all" in message


def test_something_that_is_no_command(sim: Simulation) -> None:
    message = refused(sim, lambda vehicle: vehicle.command((0, 0, 1)))
    assert message == "a takes a command such as al.PositionYaw, got tuple"


def test_an_unknown_vehicle(sim: Simulation) -> None:
    with pytest.raises(KeyError, match="no vehicle is called 'z'; vehicles: a, b"):
        sim.pilot("z")


@pytest.mark.parametrize(
    ("gains", "message"),
    [
        ({"attitude_frequency": 0}, "a: cannot set attitude_frequency: input should be greater than 0"),
        ({"position_damping": -1}, "a: cannot set position_damping: input should be greater than 0"),
        ({"velocity_gain": NAN}, "a: cannot set velocity_gain: input should be a finite number"),
        ({"velocity_gain": "big"}, "a: cannot set velocity_gain: input should be a valid number"),
        ({"attitude_frequency": 300}, "a: cannot set attitude_frequency: attitude_frequency 300 rad/s with "),
        ({"attitude_frequency": 300}, "is unstable at the control rate of 250 Hz: lower the frequency or raise the"),
        ({"yaw_frequency": 100, "yaw_damping": 0.05}, "yaw_frequency 100 rad/s with yaw_damping 0.05 is unstable"),
        ({"angular_velocity_gain": 600}, "angular_velocity_gain 600 1/s is unstable at the control rate of 250 Hz"),
        ({"atitude_frequency": 5}, "a: cannot set atitude_frequency: known are rate, position_frequency"),
        ({"rate": 500}, "a: rate cannot change while running"),
    ],
)  # fmt: skip
def test_gains_that_cannot_be(sim: Simulation, gains: dict[str, Any], message: str) -> None:
    before = sim.vehicles["a"].gains
    assert message in refused(sim, lambda vehicle: vehicle.tune(**gains))
    assert sim.vehicles["a"].gains == before


def test_a_scenario_with_unstable_gains_is_refused() -> None:
    with pytest.raises(ScenarioError, match="attitude_frequency 300 rad/s with attitude_damping 1 is unstable"):
        load("modes", {"vehicles.drone.controller": {"kind": "modes", "attitude_frequency": 300}})


def test_a_group_is_tuned_altogether_or_not_at_all() -> None:
    sim = drones("modes", "modes", "cascade")
    before = {name: vehicle.gains for name, vehicle in sim.vehicles.items()}
    with pytest.raises(al.CommandError, match="c: cannot set position_damping"):
        sim.group("*").tune(position_damping=0.8)
    assert {name: vehicle.gains for name, vehicle in sim.vehicles.items()} == before
    sim.group("[ab]").tune(position_damping=0.8)
    assert [sim.vehicles[name].gains["position_damping"] for name in "ab"] == [0.8, 0.8]
    assert sim.vehicles["c"].gains == before["c"]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ({"at": 1, "mode": "hover"}, "no control mode is called 'hover'"),
        ({"at": 1, "mode": "position_yaw", "torque": [0, 0, 0]}, "mode position_yaw takes position, yaw, velocity"),
        ({"at": 1, "mode": "thrust_torque", "torque": [0, 0, 0]}, "mode thrust_torque takes thrust, torque, world"),
        ({"at": 1, "mode": "idle", "yaw": 1}, "mode idle takes no yaw"),
        ({"at": -1, "mode": "idle"}, "at: must be at least 0"),
    ],
)
def test_a_script_with_orders_that_cannot_be(order: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        load("modes", {"systems.script.orders": [order]})
    assert message in str(error.value)


def test_after_all_that_the_vehicles_still_hover(sim: Simulation) -> None:
    sim.run(until=6.0)
    assert sim.group().positions == pytest.approx(np.array([[0, 0, 20], [0, 5, 20]]), abs=0.05)
