"""Batteries: what is drawn, what is left, and what happens when nothing is."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest
from scipy.integrate import solve_ivp

import airloom as al
from airloom.physics.battery import cell_voltage, current_for
from airloom.scenario.errors import ScenarioError
from airloom.watch.flight import FlightWatch

ENGINES = pytest.mark.parametrize("engine", ["batch", "mujoco"])


def hovering(engine: str = "batch", **battery: Any) -> al.Simulation:
    vehicle = {"extends": "x500", "pose": {"position": [0, 0, 3]}, "battery": {"load": 0.0, **battery}}
    overrides = {"vehicles": {"cf": None, "x": vehicle}, "systems": {}, "engine": engine}
    sim = al.Simulation.load("hover", overrides=overrides)
    sim.vehicles["x"].command(al.PositionYaw((0, 0, 3)))
    return sim


@pytest.mark.parametrize(("share", "volts"), [(0.0, 2.654), (0.1, 3.67457), (0.5, 3.80336), (1.0, 4.1029)])
def test_a_cell_has_the_published_voltage(share: float, volts: float) -> None:
    """Chen and Rincón-Mora's polynomial, worked out by hand."""
    assert cell_voltage(share) == pytest.approx(volts, abs=5e-5)


def test_no_more_can_be_drawn_than_a_battery_gives() -> None:
    """At half of its voltage it gives most: U²/(4 R)."""
    assert current_for(99.0, 20.0, 1.0) * (20.0 - current_for(99.0, 20.0, 1.0)) == pytest.approx(99.0)
    assert current_for(1000.0, 20.0, 1.0) == 10.0
    assert current_for(40.0, 20.0, 0.0) == 2.0


@ENGINES
def test_a_hover_takes_what_its_torques_take(engine: str) -> None:
    """m g = 4 k ω², and each shaft takes k_m k ω³."""
    sim = hovering(engine)
    sim.run(until=5.0)
    battery, mass = sim.vehicles["x"].battery, 2.0643076
    omega = sqrt(mass * 9.81 / 4 / 8.54858e-6)
    power = 0.016 * mass * 9.81 * omega / 0.75
    assert battery.voltage * battery.current == pytest.approx(power, rel=2e-3)
    open_circuit = 4 * cell_voltage(battery.share)
    assert battery.voltage == pytest.approx(open_circuit - 0.015 * battery.current, rel=1e-6)


def test_it_lasts_as_long_as_its_equation_says() -> None:
    """dQ/dt = −I(P, Q), integrated by another's method over the last tenth of a small battery."""
    sim = hovering(capacity=0.2, charge=0.5)
    sim.run(until=2.0)
    battery = sim.vehicles["x"].battery
    power, left = battery.voltage * battery.current, battery.charge * 3600.0

    def drawn(t: float, charge: Any) -> list[float]:
        return [-current_for(power, 4 * cell_voltage(max(charge[0], 0.0) / 720.0), 0.015)]

    def empty(t: float, charge: Any) -> float:
        return charge[0]

    empty.terminal = True  # type: ignore[attr-defined]
    seconds = solve_ivp(drawn, (0, 100), [left], events=empty, rtol=1e-9, max_step=0.1).t_events[0][0]
    sim.run(until=2.0 + 0.99 * seconds)
    assert battery.share > 0.0
    sim.run(until=2.0 + 1.01 * seconds)
    assert battery.share == 0.0


@ENGINES
def test_an_empty_one_stops_the_rotors_and_is_told(engine: str) -> None:
    sim = hovering(engine, capacity=0.005)
    FlightWatch(sim)
    sim.run(until=4.0)
    vehicle = sim.vehicles["x"]
    assert vehicle.position[2] < 0.2
    assert vehicle.rotor_speeds == pytest.approx(0.0, abs=1e-6)
    assert any("x: has an empty battery" in text for text in sim.warnings)


def test_a_run_begun_anew_has_it_full_and_equal_runs_have_equal_charges() -> None:
    sim = hovering()
    sim.run(until=1.0)
    first, charge = sim.state_hash(), sim.vehicles["x"].battery.charge
    sim.reset()
    assert sim.vehicles["x"].battery.share == 1.0
    sim.vehicles["x"].command(al.PositionYaw((0, 0, 3)))
    for _ in range(100):
        sim.run(until=sim.time + 0.01)
    assert (sim.state_hash(), sim.vehicles["x"].battery.charge) == (first, charge)


def test_its_message_is_as_ros_has_it() -> None:
    sim = hovering()
    told = []
    sim.bus.subscribe("/x/battery", lambda topic, message, time_ns: told.append(message))
    sim.run(until=1.0)
    assert len(told) == 11
    assert told[0].percentage == 1.0
    assert told[0].voltage == pytest.approx(4 * 4.1029, rel=1e-5)
    last, battery = told[-1], sim.vehicles["x"].battery
    assert last.current == pytest.approx(-battery.current, rel=1e-6)
    assert (last.charge, last.capacity) == pytest.approx((battery.charge, 5.0))
    assert (last.power_supply_technology, last.present) == (3, True)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"x.battery": {"capacity": 5, "cells": 4}}, "resistance"),
        ({"x.battery.charge": 1.5}, "charge"),
        ({"x.battery.cells": 0}, "cells"),
        ({"x.battery": None}, "measures a battery, and the vehicle has none; give it a battery"),
        ({"x.rotor.moment_constant": 0.0}, "rotor front_right would turn without any power"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], text: str) -> None:
    overrides = {"vehicles": {"cf": None, "x": {"extends": "x500"}}, "systems": {}}
    with pytest.raises(ScenarioError, match=text):
        al.Simulation.load("hover", overrides={**overrides, **{f"vehicles.{k}": v for k, v in changes.items()}})
