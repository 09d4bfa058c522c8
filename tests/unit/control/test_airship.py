"""An airship: Lamb's coefficients, buoyancy, Munk's moment, drag balance, and flights on both engines."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import airloom as al
from airloom.control.airship import Airship, AirshipParameters
from airloom.control.flight_stack import StackError
from airloom.scenario import load_vehicle
from airloom.scenario.ellipsoids import added_mass
from airloom.scenario.models import Motion, Pose, Scenario, Vehicle, World
from airloom.vehicles.airframe import Airframe
from airloom.watch.flight import FlightWatch

LAMB = {
    1.5: (0.305, 0.621, 0.094),
    2.0: (0.209, 0.702, 0.240),
    3.99: (0.082, 0.860, 0.608),
    6.01: (0.045, 0.918, 0.764),
}
"""Length over width: k₁, k₂, k′ (Lamb 1932, article 115)."""


@pytest.mark.parametrize("slender", LAMB)
def test_added_mass_is_that_of_lambs_table(slender: float) -> None:
    mass = added_mass((slender, 1.0, 1.0), 1.0)
    inertia = (slender**2 + 1.0) / 20.0
    assert (mass[0], mass[1], mass[5] / inertia) == pytest.approx(LAMB[slender], abs=0.003)
    assert mass[3] == 0.0


def test_a_ball_drags_half_its_mass_along() -> None:
    assert added_mass((1.0, 1.0, 1.0), 2.0) == pytest.approx([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], abs=1e-9)


def ship(wind=(0, 0, 0), engine="batch", **more) -> al.Simulation:
    vehicle = load_vehicle("airship").model_copy(update={"pose": Pose(position=(0, 0, 30)), **more})
    world = World(wind=wind)
    return al.Simulation(
        Scenario(name="ship", duration=400, engine={"kind": engine}, world=world, vehicles={"ship": vehicle})
    )


def test_it_sinks_as_its_weight_less_buoyancy_says() -> None:
    """With the air that moves along: (m − ρV) g = (m + m_A) a."""
    sim = ship(controller=None)
    frame = sim.vehicles["ship"].airframe
    heavy = frame.mass - 1.225 * pi / 6 * 4.7 * 1.4 * 1.9
    along = added_mass((4.7, 1.4, 1.9), frame.mass - heavy)[2]
    sim.run(until=0.5)
    assert sim.vehicles["ship"].velocity[2] == pytest.approx(-0.5 * heavy * 9.80665 / (frame.mass + along), rel=0.01)


def test_air_turns_it_across_its_way_as_munk_says() -> None:
    """Right after the start, without fins: (J + J_A) ω̇ = (m_Ay − m_Ax) u v."""
    hull = load_vehicle("airship").hull
    assert hull is not None
    hull = hull.model_copy(update={"quadratic_damping": (0.0,) * 6})
    motion = Motion(velocity=(3.0, 0.3, 0.0))
    sim = ship(controller=None, surfaces={}, servos={}, motion=motion, hull=hull)
    vehicle = sim.vehicles["ship"]
    air = added_mass((4.7, 1.4, 1.9), 1.225 * pi / 6 * 4.7 * 1.4 * 1.9)
    sim.run(until=0.02)
    expected = -(air[1] - air[0]) * 3.0 * 0.3 / (8.802036 + air[5])
    assert vehicle.rates[2] / 0.02 == pytest.approx(expected, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_it_keeps_its_place_with_its_nose_in_the_wind(engine: str) -> None:
    sim = ship(wind=(-1.2, -1.2, 0), engine=engine)
    vehicle = sim.vehicles["ship"]
    vehicle.command(al.PositionYaw((0.0, 0.0, 30.0)))
    sim.run(until=90)
    assert np.linalg.norm(vehicle.position - [0, 0, 30]) < 2.0
    assert np.linalg.norm(vehicle.velocity) < 0.2
    assert vehicle.euler[2] == pytest.approx(pi / 4, abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "seed"), [("batch", 0), ("batch", 11), ("batch", 12), ("mujoco", 22)])
def test_the_bundled_round_is_flown_and_ends_with_the_nose_in_the_wind(engine: str, seed: int) -> None:
    sim = al.Simulation.load("airship", seed=seed, overrides={"engine": engine})
    FlightWatch(sim)
    vehicle = sim.vehicles["airship"]
    for time, place, near in ((39, (0, 0, 15), 5.0), (138, (60, 50, 20), 2.0), (259, (0, 0, 15), 1.5)):
        sim.run(until=time)
        assert np.linalg.norm(vehicle.position - place) < near, time  # gusts carry it off while it rises
    assert vehicle.euler[2] == pytest.approx(np.arctan2(-0.5, 1.0), abs=0.6)
    assert sim.warnings == []


def legs_in_all_directions(wind: float) -> tuple[np.ndarray, np.ndarray]:
    """How far off straight legs of 60 m eight airships come, and how far from their ends they are 60 s later."""
    directions = np.radians(np.arange(0, 360, 45))
    ends = 60.0 * np.array([np.cos(directions), np.sin(directions)]).T
    ships = {
        f"to_{k}": load_vehicle("airship").model_copy(update={"pose": Pose(position=(0, 0, 30))}) for k in range(8)
    }
    world = World(wind=(0, wind, 0))
    sim = al.Simulation(Scenario(name="legs", duration=400, engine={"kind": "batch"}, world=world, vehicles=ships))
    fleet = list(sim.vehicles.values())
    for ship in fleet:
        ship.command(al.PositionYaw((0.0, 0.0, 30.0)))
    sim.run(until=40)
    for ship, end in zip(fleet, ends, strict=True):
        ship.command(al.PositionYaw((*end, 30.0)))
    aside, arrived = np.zeros(8), np.zeros(8, dtype=bool)
    for k in range(300):
        sim.run(until=40.5 + 0.5 * k)
        places = np.array([ship.position[:2] for ship in fleet])
        arrived |= np.linalg.norm(places - ends, axis=1) < 5.0
        off = np.abs(places[:, 0] * ends[:, 1] - places[:, 1] * ends[:, 0]) / 60.0
        aside = np.where(arrived, aside, np.maximum(aside, off))
    assert arrived.all()
    return aside, np.linalg.norm(places - ends, axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("wind", "most"), [(0.3, 5.0), (1.1, 3.0), (2.5, 5.0)])
def test_legs_are_straight_in_wind_from_all_sides(wind: float, most: float) -> None:
    """2.5 m/s are four fifths of what it flies; 5 m are little more than its length."""
    aside, off = legs_in_all_directions(wind)
    assert aside.max() < most
    assert off.max() < 1.0


def test_its_rudder_helps_the_turn() -> None:
    sim = ship()
    vehicle = sim.vehicles["ship"]
    vehicle.command(al.VelocityYawRate((2.0, 0.0, 0.0), 0.0, body_frame=True))
    sim.run(until=15)
    vehicle.command(al.VelocityYawRate((2.0, 0.0, 0.0), 0.3, body_frame=True))
    sim.run(until=15.5)
    assert vehicle.servos["rudder"] < -0.02


def test_one_that_is_blown_away_is_told_the_wind_and_its_top_speed() -> None:
    sim = ship(wind=(-5, 0, 0))
    FlightWatch(sim)
    sim.vehicles["ship"].command(al.PositionYaw((0.0, 0.0, 30.0)))
    sim.run(until=40)
    (told,) = [text for text in sim.warnings if "cannot hold its setpoint" in text]
    assert "the wind of 5 m/s is faster than its top speed of 3.09 m/s" in told


def test_a_vehicle_without_a_hull_in_air_is_no_airship() -> None:
    with pytest.raises(StackError, match="whose fluid is air"):
        Airship(AirshipParameters(), Airframe(load_vehicle("iris"), 9.80665, 0.001))


def test_one_too_heavy_for_its_propellers_is_refused() -> None:
    heavy = load_vehicle("airship").model_copy(update={"mass": 12.0})
    with pytest.raises(StackError, match="N too heavy for its rotors"):
        Airship(AirshipParameters(), Airframe(heavy, 9.80665, 0.001))


def test_only_an_ellipsoid_has_the_mass_of_one() -> None:
    data = load_vehicle("airship").model_dump()
    data["hull"]["shapes"] = {"ball": {"kind": "ball", "radius": 1.0}}
    with pytest.raises(ValueError, match="is for a hull of one shape, an ellipsoid"):
        Vehicle.model_validate(data)
