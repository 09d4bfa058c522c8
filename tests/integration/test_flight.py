"""Everything that comes with Airloom flies, on both engines; so does a multirotor that nobody has tuned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.multirotors import HOVERING
from validation.case import body, engine, rotor

import airloom as al
from airloom.scenario.library import known
from airloom.scenario.models import Scenario
from airloom.simulation import Simulation

ENGINES = ["mujoco", "batch"]
MULTIROTORS = sorted(name for name in HOVERING if not name.startswith(("crazyflie2", "sprayer")))
"""Of those made for a room; the sprayer of 25 kg is slower."""
REAL = sorted(HOVERING - {"crazyflie2_crazys"})  # which only follows the paper


class Flight:
    """What a vehicle did: times, positions, Euler angles, every 20 ms."""

    def __init__(self, sim: Simulation, vehicle: str, until: float) -> None:
        flying = sim.vehicles[vehicle]
        times, positions, angles = [], [], []
        while sim.time < until - 1e-9:
            sim.step(round(2e7 / sim.step_ns))
            times.append(sim.time)
            positions.append(flying.position)
            angles.append(flying.euler)
        self.times, self.positions, self.angles = map(np.array, (times, positions, angles))
        assert np.isfinite(self.positions).all()
        assert np.isfinite(self.angles).all()

    def farthest(self, place: Any, begin: float, end: float = np.inf) -> float:
        """Largest distance from a place between two times."""
        chosen = (self.times >= begin) & (self.times <= end)
        return float(np.max(np.linalg.norm(self.positions[chosen] - place, axis=1)))

    def largest_tilt(self, begin: float = 0.0) -> float:
        roll, pitch, _ = self.angles[self.times >= begin].T
        return float(np.max(np.arccos(np.cos(roll) * np.cos(pitch))))


LANDING = ("pursuit", "choreography", "village", "climb-drag", "spraying", "vineyard", "base-station", "plane", "vtol")
"""Scenarios that end on the ground, rotors at rest."""
AFLOAT = ("rov", "boat")


def hover(on: str, seed: int = 0, until: float = 30.0, **changes: Any) -> Flight:
    return Flight(Simulation.load("hover", seed=seed, overrides={"engine": on, **changes}), "cf", until)


# -- the bundled scenarios ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("on", ENGINES)
def test_hover_stands_lifts_off_and_holds(on: str) -> None:
    flight = hover(on)
    assert flight.farthest((0, 0, 0.015), 0.0, 5.0) < 1e-3
    assert flight.farthest((0, 0, 1), 20.0) < 0.02
    assert flight.positions[:, 2].max() < 1.1
    assert flight.largest_tilt() < 1e-3


@pytest.mark.parametrize("on", ENGINES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hover_with_the_attitude_estimated(on: str, seed: int) -> None:
    flight = hover(on, seed, **{"vehicles.cf.estimator": "complementary"})
    assert flight.farthest((0, 0, 1), 20.0) < 0.05
    assert flight.largest_tilt() < 0.2
    assert 0.0 < abs(flight.angles[-1, 2]) < 0.1  # nothing corrects yaw: it drifts


@pytest.mark.parametrize("on", ENGINES)
def test_hover_comes_back_after_a_push_to_the_side(on: str) -> None:
    flight = hover(on, **{"systems.lateral_push.enabled": True})
    assert flight.farthest((0, 0, 1), 14.0, 15.0) < 0.02
    assert 0.1 < flight.farthest((0, 0, 1), 15.0, 17.0) < 0.6
    assert flight.farthest((0, 0, 1), 25.0) < 0.02


@pytest.mark.parametrize("on", ENGINES)
def test_hover_comes_back_after_a_twist(on: str) -> None:
    flight = hover(on, **{"systems.torque_push.enabled": True})
    assert 0.005 < flight.largest_tilt(15.0) < 0.5
    assert flight.farthest((0, 0, 1), 25.0) < 0.02
    assert flight.largest_tilt(25.0) < 0.01


@pytest.mark.parametrize("on", ENGINES)
def test_hover_with_motion_capture(on: str) -> None:
    flight = hover(on, **{"vehicles.cf.sensors.odometry": "mocap"})
    assert 1e-5 < flight.farthest((0, 0, 1), 20.0) < 0.02


@pytest.mark.parametrize("on", ENGINES)
@pytest.mark.parametrize("wind", [(0, 0, 0), (0, -5, 0)])
def test_hover_goes_aside_and_stays_up(on: str, wind: tuple[float, float, float]) -> None:
    points = [{"at": 1, "position": [0, 0, 1], "yaw": 0}, {"at": 10, "position": [2, 0, 1], "yaw": 0}]
    flight = hover(on, **{"systems.waypoints.points": points, "world.wind": list(wind)})
    assert flight.positions[flight.times > 8.0, 2].min() > 0.9
    assert flight.farthest((2, 0, 1), 18.0) < 0.02


@pytest.mark.parametrize("on", ENGINES)
def test_the_papers_crazyflie_is_slow_and_overshoots(on: str) -> None:
    flight = Flight(Simulation.load("crazys", overrides={"engine": on}), "cf", 60.0)
    assert flight.positions[:, 2].max() == pytest.approx(1.17, abs=0.02)
    assert flight.farthest((0, 0, 1), 50.0) < 0.06


def bumps(sim: Simulation) -> int:
    """Contacts of an airborne vehicle; the batch engine has none to report."""
    airborne = next(iter(sim.vehicles.values())).position[2] > 0.3
    return int(sim.engine.data.ncon) if airborne and hasattr(sim.engine, "data") else 0


@pytest.mark.parametrize("on", ENGINES)
@pytest.mark.parametrize("vehicle", MULTIROTORS)
def test_waypoints_are_reached_in_wind_without_touching_anything(on: str, vehicle: str) -> None:
    start = {"extends": vehicle, "pose": {"position": [0, 0, 0.06]}}
    sim = Simulation.load("waypoints", overrides={"engine": on, "vehicles.drone": start})
    drone, points = sim.vehicles["drone"], sim.scenario.systems["waypoints"].parameters["points"]
    touched = 0
    for point, leave in zip(points, [*(p["at"] for p in points[1:]), 60.0], strict=True):
        while sim.time < leave - 1e-9:
            sim.step(20)
            touched += bumps(sim)
        assert np.linalg.norm(drone.position - point["position"]) < 0.2
        assert abs(np.angle(np.exp(1j * (drone.euler[2] - point["yaw"])))) < 0.05
        assert np.linalg.norm(drone.velocity) < 0.2
    assert touched == 0


@pytest.mark.parametrize("on", ENGINES)
@pytest.mark.parametrize("vehicle", MULTIROTORS)
def test_figure8_is_followed(on: str, vehicle: str) -> None:
    start = {"extends": vehicle, "pose": {"position": [0, 0, 0.06]}}
    sim = Simulation.load("figure8", overrides={"engine": on, "vehicles.drone": start})
    drone, errors = sim.vehicles["drone"], []
    sim.run(until=13.0)
    while sim.time < 33.0:
        sim.step(20)
        errors.append(np.linalg.norm(drone.position - drone.setpoint.position))
    assert np.mean(errors) < 0.15
    assert np.max(errors) < 0.35


@pytest.mark.parametrize("on", ENGINES)
def test_fleet_flies_a_wave(on: str) -> None:
    changes = {"engine": on, "vehicles.drone.copies.count": 20, "vehicles.drone.copies.columns": 5}
    sim = Simulation.load("fleet", overrides=changes)
    drones, start = sim.group("drone*"), sim.group("drone*").positions
    sim.run(until=14.0)
    seen = []
    while sim.time < 26.0:
        sim.step(50)
        seen.append(drones.positions)
    places = np.array(seen)
    heights = places[:, :, 2]
    assert np.isfinite(places).all()
    assert np.max(np.abs(places[:, :, :2] - start[:, :2])) < 0.02
    assert np.mean(heights, axis=0) == pytest.approx(1.5, abs=0.05)
    assert np.all(np.ptp(heights, axis=0) > 0.5)
    early, late = heights[:, 0], heights[:, 2]  # 2 m, a third of a wavelength, apart
    assert np.corrcoef(early, late)[0, 1] == pytest.approx(-0.5, abs=0.1)


@pytest.mark.parametrize("on", ENGINES)
@pytest.mark.parametrize("vehicle", REAL)
def test_every_vehicle_takes_off_from_the_ground(on: str, vehicle: str) -> None:
    start = {"extends": vehicle, "pose": {"position": [0, 0, 0.07]}}
    points = [{"at": 1, "position": [0, 0, 1.5], "yaw": 0.5}]
    changes = {"engine": on, "vehicles.cf": start, "systems.waypoints.points": points}
    flight = Flight(Simulation.load("hover", overrides=changes), "cf", 30.0)
    assert flight.farthest((0, 0, 1.5), 25.0) < 0.02
    assert flight.angles[-1, 2] == pytest.approx(0.5, abs=0.01)
    assert flight.largest_tilt(2.0) < 0.1


SMALLER: dict[str, dict[str, Any]] = {
    "fleet": {"vehicles.drone.copies.count": 10},
    "lidar": {"vehicles.drone.sensors.lidar.pattern.columns": 60},
    "spraying": {"systems.spray.drops_per_litre": 2000},
    "vineyard": {"systems.spray.drops_per_litre": 500},
}
FLYING = sorted(set(known("scenario")) - {"overload"})
WARNED = {
    "spraying": "tank: empty",
    "motors-tank-wind": "tank: empty",
    "flock-lossy": "has fallen out of the flock",
    "coverage": "has fallen out of the ",
    "search": "has fallen out of the ",
    "base-station": "has not heard base for 3 s",
}
"""What there is to see in a scenario is also a warning."""
FALLEN = {"flock-lossy": 2, "coverage": 3, "search": 1}
"""How many lie on the ground at the end, by a fault or a low battery."""


@pytest.mark.parametrize("on", ENGINES)
@pytest.mark.parametrize("scenario", FLYING)
def test_every_scenario_runs_to_its_end(
    on: str, scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where a survey leaves its points
    sim = Simulation.load(scenario, overrides={"engine": on, **SMALLER.get(scenario, {})})
    if any(vehicle.autopilot for vehicle in sim.vehicles.values()):
        pytest.skip("needs a program that is not in the package registries; tests of its own fly it")
    sim.run()
    assert sim.time == sim.scenario.duration
    assert np.isfinite(sim.group().positions).all()
    if scenario in LANDING:
        assert not any(vehicle.armed for vehicle in sim.vehicles.values())
    elif scenario not in AFLOAT:
        low = [name for name, vehicle in sim.vehicles.items() if vehicle.position[2] <= 0.5 and name != "crippled"]
        assert len(low) == FALLEN.get(scenario, 0)
    assert [text for text in sim.warnings if WARNED.get(scenario, "nothing") not in text] == []


# -- a multirotor that nobody has tuned --------------------------------------------------------------------------------


def random_rotors(random: np.random.Generator, mass: float, size: float) -> dict[str, Any]:
    """Four to eight rotors about evenly around, each a little out of place and tilted, turning ways balanced."""
    count = int(random.integers(4, 9))
    ccw = (count + 1) // 2
    angles = 2 * np.pi * (np.arange(count) + 0.5) / count + random.uniform(-0.1, 0.1, count)
    lift, top, lag = (
        random.uniform(2.0, 3.0) * mass * 9.80665 / count,
        random.uniform(500, 1500),
        random.uniform(0.01, 0.04),
    )
    drag_torque = 0.1 * size * random.uniform(0.5, 1.5)
    rotors = {}
    for k, angle in enumerate(angles):
        arm = size * random.uniform(0.9, 1.1)
        turns = "ccw" if k % 2 == 0 else "cw"
        rotors[f"rotor_{k}"] = rotor(
            position=(arm * np.cos(angle), arm * np.sin(angle), size * random.uniform(-0.1, 0.2)),
            axis=(*random.normal(0.0, 0.04, 2), 1.0),
            turns=turns,
            thrust_constant=lift / top**2,
            max_speed=top,
            moment_constant=drag_torque * (1.0 if turns == "cw" else (count - ccw) / ccw),
            time_constant_up=lag,
            time_constant_down=2 * lag,
            drag_coefficient=0.03 * mass / count / top,
            rolling_moment_coefficient=0.001 * mass * size / count / top,
        )
    return rotors


def random_multirotor(seed: int, place: tuple[float, float, float]) -> dict[str, Any]:
    """0.1 to 10 kg, with arms and inertia that fit the mass."""
    random = np.random.default_rng(seed)
    mass = 10.0 ** random.uniform(-1, 1)
    size = 0.25 * mass ** (1 / 3) * random.uniform(0.8, 1.4)
    about = mass * (0.35 * size) ** 2
    xx, yy = about * random.uniform(0.7, 1.3, 2)
    xy, xz, yz = about * random.uniform(-0.05, 0.05, 3)
    inertia = {"xx": xx, "yy": yy, "zz": (xx + yy) * random.uniform(0.8, 0.9), "xy": xy, "xz": xz, "yz": yz}
    return body(
        mass=mass,
        center_of_mass=tuple(0.02 * size * random.uniform(-1, 1, 3)),
        inertia=inertia,
        rotors=random_rotors(random, mass, size),
        drag=0.02 * mass ** (2 / 3),
        body={"size": (size, size, 0.3 * size)},
        controller={"kind": "cascade"},
        estimator={"kind": "ideal", "rate": 500},
        sensors={"odometry": {"kind": "odometry", "rate": 500}},
        pose={"position": place},
    )


@pytest.mark.parametrize("on", ["rk4", "mujoco"])
def test_untuned_multirotors_hover(on: str) -> None:
    places = {f"drone_{k}": (10.0 * k, 0.0, 5.0) for k in range(40)}
    vehicles = {name: random_multirotor(k, place) for k, (name, place) in enumerate(places.items())}
    sim = Simulation(Scenario.model_validate({"name": "random", "engine": engine(on), "vehicles": vehicles}))
    for name, (x, y, z) in places.items():
        sim.vehicles[name].command(al.PositionYaw((x + 2, y - 1, z + 1), 0.8))
    sim.run(until=60.0)
    drones, goals = sim.group(), np.array(list(places.values())) + np.array([2, -1, 1])
    errors = np.linalg.norm(drones.positions - goals, axis=1)
    yaws = np.array([drone.euler[2] for drone in drones])
    assert {name: e for name, e in zip(drones.names, errors, strict=True) if not e < 0.05} == {}
    assert np.linalg.norm(drones.velocities, axis=1).max() < 0.02
    assert yaws == pytest.approx(0.8, abs=0.05)
