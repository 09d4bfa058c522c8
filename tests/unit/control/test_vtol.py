"""A quadplane: which rotors do what, hovering, transition there and back, what breaks, and a whole survey in gusts."""

from __future__ import annotations

import numpy as np
import pytest

import airloom as al
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import StackError
from airloom.control.vtol import SHARE, Vtol, VtolParameters
from airloom.scenario import load_vehicle
from airloom.scenario.models import Pose, Scenario, Vehicle, World
from airloom.scenario.surfaces import Mixer, Servo
from airloom.vehicles.airframe import Airframe
from airloom.watch.flight import FlightWatch

PUSHER = 4


def alone(model: Vehicle | None = None, **world) -> al.Simulation:
    vehicle = (model or load_vehicle("vtol")).model_copy(update={"pose": Pose(position=(0, 0, 20))})
    scenario = Scenario(
        name="alone", duration=120, engine={"kind": "batch"}, world=World(**world), vehicles={"vtol": vehicle}
    )
    return al.Simulation(scenario)


def share_of_wing(vehicle) -> float:
    return float(vehicle._column[SHARE // LANES])


def fly_east(sim: al.Simulation, seconds: float, speed: float = 12.0) -> np.ndarray:
    """Positions every 0.1 s behind a setpoint that moves."""
    vehicle, begin, places = sim.vehicles["vtol"], sim.time, []
    for k in range(int(10 * seconds)):
        vehicle.command(al.PositionYaw((speed * 0.1 * k, 0.0, 20.0), velocity=(speed, 0.0, 0.0)))
        sim.run(until=begin + 0.1 * (k + 1))
        places.append(vehicle.position.copy())
    return np.array(places)


def test_rotors_lift_or_push_by_their_axes() -> None:
    frame = Airframe(load_vehicle("vtol"), 9.80665, 0.001)
    assert frame.lifters.tolist() == [True] * 4 + [False]
    assert frame.mixer[PUSHER].tolist() == [0.0] * 4
    assert frame.allocation @ frame.mixer == pytest.approx(np.eye(4), abs=1e-9)


def test_what_has_no_pusher_is_no_vtol() -> None:
    frame = Airframe(load_vehicle("vtol"), 9.80665, 0.001)
    with pytest.raises(StackError, match="rotors across that push it"):
        Vtol(VtolParameters(), frame.with_rotors(frame.lifters))


def test_a_cruise_near_the_stall_is_refused() -> None:
    frame = Airframe(load_vehicle("vtol"), 9.80665, 0.001)
    with pytest.raises(StackError, match=r"too near the stall; give 8\.45"):
        Vtol(VtolParameters(cruise_speed=8.0), frame)


def test_hold_is_a_hover_also_in_wind() -> None:
    sim = alone(wind=[-8, 0, 0])
    vehicle = sim.vehicles["vtol"]
    vehicle.command(al.PositionYaw((0.0, 0.0, 20.0)))
    sim.run(until=20)
    assert np.linalg.norm(vehicle.position - [0, 0, 20]) < 0.5
    assert share_of_wing(vehicle) == 0.0


def test_transition_there_and_back_keeps_the_height() -> None:
    sim = alone()
    vehicle = sim.vehicles["vtol"]
    vehicle.command(al.PositionYaw((0.0, 0.0, 20.0)))
    sim.run(until=3)
    places = fly_east(sim, 40.0)
    assert np.abs(places[:, 2] - 20).max() < 3.0
    assert np.abs(places[:, 1]).max() < 1.0
    assert vehicle.velocity[0] > 9.0
    assert share_of_wing(vehicle) == 1.0
    assert (vehicle.rotor_speeds[:PUSHER] < 1.0).all()
    goal = (float(places[-1, 0]) + 60.0, 0.0, 20.0)
    vehicle.command(al.PositionYaw(goal))
    highest = 0.0
    for k in range(60):
        sim.run(until=43 + 0.25 * (k + 1))
        highest = max(highest, abs(float(vehicle.position[2]) - 20))
    assert highest < 3.0
    assert np.linalg.norm(vehicle.position - goal) < 0.5
    assert vehicle.rotor_speeds[PUSHER] < 1.0


def test_a_flap_stays_where_it_is_told_to_on_rotors_and_wing() -> None:
    plain = load_vehicle("vtol")
    mixer = Mixer(roll={"left_aileron": 1, "right_aileron": -1}, pitch={"elevator": 1}, yaw={"rudder": 1})
    servos = plain.servos | {"flaps": Servo(lowest=0.0, highest=0.6)}
    sim = alone(plain.model_copy(update={"servos": servos, "mixer": mixer}))
    vehicle = sim.vehicles["vtol"]
    vehicle.servos.command(flaps=0.5)
    vehicle.command(al.PositionYaw((0.0, 0.0, 20.0)))
    sim.run(until=3)
    assert vehicle.servos["flaps"] == pytest.approx(0.3, abs=1e-3)
    fly_east(sim, 10.0)
    assert share_of_wing(vehicle) == 1.0
    assert vehicle.servos["flaps"] == pytest.approx(0.3, abs=1e-3)


@pytest.mark.slow
def test_its_command_topic_tells_what_is_flown_on_rotors_and_on_the_wing() -> None:
    """In a steady turn on the wing and in a hover: roll and pitch (nose down is positive) as they then come about."""
    sim = alone()
    vehicle, told = sim.vehicles["vtol"], []
    sim.bus.subscribe("/vtol/command", lambda topic, it, time_ns: told.append((it.roll, it.pitch)))

    def off() -> np.ndarray:
        told.clear()
        sim.run(until=sim.time + 0.1)
        return np.abs(np.mean(told, axis=0) - vehicle.euler[:2])

    vehicle.command(al.PositionYaw((0.0, 0.0, 20.0)))
    sim.run(until=4)
    assert off().max() < 0.03
    fly_east(sim, 20.0)
    assert share_of_wing(vehicle) == 1.0
    for _ in range(120):
        east, north, _ = vehicle.velocity / np.linalg.norm(vehicle.velocity)
        vehicle.command(al.VelocityYawRate((12.0 * (east + 0.4 * north), 12.0 * (north - 0.4 * east), 0.0)))
        sim.run(until=sim.time + 0.1)
    assert share_of_wing(vehicle) == 1.0
    assert off().max() < 0.1
    assert vehicle.euler[0] > 0.2


def test_cruise_takes_a_small_part_of_the_power_of_a_hover() -> None:
    sim = alone()
    vehicle = sim.vehicles["vtol"]

    def power() -> float:
        rotors = vehicle.airframe.rotors
        speeds = vehicle.rotor_speeds
        return sum(r.moment_constant * r.thrust_constant * s**3 for r, s in zip(rotors, speeds, strict=True))

    vehicle.command(al.PositionYaw((0.0, 0.0, 20.0)))
    sim.run(until=5)
    hover = power()
    fly_east(sim, 40.0)
    assert power() < 0.1 * hover


def test_with_a_dead_pusher_the_rotors_carry_it_on() -> None:
    sim = alone()
    vehicle = sim.vehicles["vtol"]
    vehicle.command(al.PositionYaw((0.0, 0.0, 20.0)))
    sim.run(until=3)
    fly_east(sim, 20.0)
    vehicle.set_rotor_share("pusher", 0.0)
    vehicle.command(al.PositionYaw(tuple(vehicle.position + np.array([60, 0, 0]))))
    sim.run(until=45)
    assert abs(vehicle.position[2] - 20) < 2.0
    assert np.linalg.norm(vehicle.velocity) < 0.5


def test_the_airspeed_settles_soon_after_the_transition() -> None:
    sim = alone()
    vehicle = sim.vehicles["vtol"]
    vehicle.command(al.PositionYaw((0.0, 0.0, 20.0)))
    sim.run(until=1)
    sim.start(sim.pilot("vtol").goto([900, 0, 20], speed=12))
    speeds, heights = [], []
    while sim.time < 40:
        sim.run(until=sim.time + 0.5)
        speeds.append(vehicle.reading("airspeed").numbers[0])
        heights.append(vehicle.position[2])
    assert max(speeds) < 12.7
    assert np.abs(np.array(speeds[30:]) - 12).max() < 0.3
    assert np.abs(np.array(heights) - 20).max() < 1.0


def test_if_its_pusher_dies_in_cruise_it_flies_on_on_its_rotors_and_says_so() -> None:
    sim = alone()
    FlightWatch(sim)
    vehicle = sim.vehicles["vtol"]
    vehicle.command(al.PositionYaw((0.0, 0.0, 20.0)))
    sim.run(until=1)
    flight = sim.start(sim.pilot("vtol").goto([300, 0, 20], speed=12))
    sim.run(until=15)
    assert share_of_wing(vehicle) == 1.0
    vehicle.set_rotor_share("pusher", 0.0)
    lowest = 20.0
    while not flight.done and sim.time < 90:
        sim.run(until=sim.time + 0.5)
        lowest = min(lowest, float(vehicle.position[2]))
    assert flight.done
    assert flight.error is None
    assert np.linalg.norm(vehicle.position - [300, 0, 20]) < 1.5
    assert lowest > 18.0
    assert any("vtol: its pusher does not push: it flies on its rotors" in text for text in sim.warnings)


def test_speeds_between_rotors_and_wing_are_refused() -> None:
    sim = alone()
    sim.vehicles["vtol"].command(al.PositionYaw((0.0, 0.0, 20.0)))
    flight = sim.start(sim.pilot("vtol").goto([300, 0, 20], speed=8))
    flight.when_done(lambda _: None)
    sim.run(until=0.1)
    told = "vtol: flies at up to 5 m/s on its rotors and at 10.2 to 14.4 m/s on its wing, got 8"
    assert told in str(flight.error)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_survey_is_flown_in_gusts_and_ends_where_it_began(seed: int) -> None:
    sim = al.Simulation.load("vtol", overrides={"engine": "batch"}, seed=seed)
    vehicle, passed = sim.vehicles["vtol"], {(x, y): np.inf for x in range(0, 251, 25) for y in (0, 130, 260)}
    FlightWatch(sim)
    heights, shares, noses, back = [], [], [], []
    while sim.time < sim.scenario.duration and not (sim.time > 30 and not vehicle.armed):
        sim.run(until=sim.time + 0.1)
        for place in passed:
            passed[place] = min(passed[place], float(np.hypot(*(vehicle.position[:2] - place))))
        if share_of_wing(vehicle) == 1.0:
            heights.append(vehicle.position[2])
        shares.append(share_of_wing(vehicle))
        if sim.time > 60 and shares[-1] == 0.0 and vehicle.setpoint.position[2] == 30.0:
            noses.append(-vehicle.euler[1])
            back.append(vehicle.position[2])
    assert max(back) < max(back[0], 30.0) + 3.0
    assert max(noses) < 0.35
    assert not any("unasked" in text for text in sim.warnings)
    assert max(passed.values()) < 3.0, "all three lines are flown from end to end"
    assert [it.text.split(" by ")[0] for it in sim.verdict.findings] == ["mission is done; passed 6 places"]
    assert np.mean(np.array(shares) == 1.0) > 0.5
    assert min(heights) > 20.0
    assert not vehicle.armed
    assert np.linalg.norm(vehicle.position[:2]) < 2.0
