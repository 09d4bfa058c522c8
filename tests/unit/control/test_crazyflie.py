"""The Crazyflie's controller, with the gains of the CrazyS paper and with those for the real one."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest

import airloom as al
from airloom.compiled import rows as row
from airloom.scenario import ScenarioError
from airloom.simulation import Simulation
from airloom.vehicle import Vehicle

PAPER = {
    "xy_kp": 3.59, "xy_ki": 5.73, "tilt_limit": pi / 6, "yaw_kp": 0.0914, "yaw_rate_limit": 1.11 * pi,
    "z_feedforward": 6874, "z_kp": 70, "z_ki": 3.15, "z_kd": 373, "thrust_min": 5156, "thrust_max": 8163,
    "attitude_kp": 0.0611, "attitude_ki": 0.0349, "rate_kp": 1000, "yaw_rate_kp": 1000, "yaw_rate_ki": 95.6839,
    "rate": 500, "attitude_rate": 250, "position_rate": 100, "pwm_slope": 0.2685, "pwm_offset": 426.24,
}  # fmt: skip


def crazyflie(scenario: str = "crazys", **changes: Any) -> tuple[Simulation, Vehicle]:
    """In the air with the paper's numbers, no systems around it."""
    usual = {"vehicles.cf.pose.position": [0, 0, 2], "systems": {}, "engine": "batch"}
    sim = Simulation.load(scenario, overrides=usual | changes)
    return sim, sim.vehicles["cf"]


def first_targets(command: al.PositionYaw, **changes: Any) -> np.ndarray:
    """Rotor speeds asked for at the first tick after a command."""
    sim, cf = crazyflie(**changes)
    cf.command(command)
    sim.state_hash()
    return sim.fleet.rotor_column(sim.fleet.crafts[0], row.TARGET).copy()


def test_gains_are_the_papers() -> None:
    _, cf = crazyflie()
    assert {key: cf.gains[key] for key in PAPER} == pytest.approx(PAPER)


def test_hover_pwm_gives_the_hover_speed() -> None:
    """PWM 6874 → 2271.9 rad/s → 0.2647 N, the weight of 27 g."""
    targets = first_targets(al.PositionYaw((0, 0, 2)))
    assert targets == pytest.approx(np.full(4, 2271.909), abs=1e-3)
    assert 4 * 1.28192e-8 * targets[0] ** 2 == pytest.approx(0.027 * 9.8, rel=1e-3)


def test_altitude_error_in_pwm() -> None:
    """70 PWM a metre and 3.15 of its integral over the first 10 ms; limits 5156 and 8163."""
    assert first_targets(al.PositionYaw((0, 0, 3))) == pytest.approx(np.full(4, 0.2685 * (6874 + 70 + 0.0315) + 426.24))
    assert first_targets(al.PositionYaw((0, 0, 99))) == pytest.approx(np.full(4, 0.2685 * 8163 + 426.24))
    assert first_targets(al.PositionYaw((0, 0, -99))) == pytest.approx(np.full(4, 0.2685 * 5156 + 426.24))


@pytest.mark.parametrize(
    ("command", "signs"),
    [
        (al.PositionYaw((1, 0, 2)), (-1, 1, 1, -1)),  # forward: the rotors behind turn faster
        (al.PositionYaw((0, 1, 2)), (1, 1, -1, -1)),  # to the left: those on the right
        (al.PositionYaw((0, 0, 2), 0.5), (-1, 1, -1, 1)),  # counterclockwise: those that turn clockwise
    ],
)
def test_mixer_signs(command: al.PositionYaw, signs: tuple[int, ...]) -> None:
    """Eq. 9 with rotors 0 front right ccw, 1 back right cw, 2 back left ccw, 3 front left cw."""
    change = first_targets(command) - 2271.909
    assert tuple(np.sign(np.round(change, 6))) == signs
    assert np.sum(change) == pytest.approx(0.0, abs=1e-2)


def test_tilt_is_commanded_in_degrees() -> None:
    """1 m/s asks for 3.59° + 5.73° · 0.01 of pitch, a degree for 0.0611 rad/s, a rad/s for 1000 PWM, halved."""
    pitch = 3.59 + 5.73 * 0.01
    rate = 0.0611 * pitch + 0.0349 * pitch * 0.004
    change = first_targets(al.PositionYaw((1, 0, 2))) - 2271.909
    assert change[1] == pytest.approx(0.2685 * 0.5 * 1000 * rate, rel=1e-3)


@pytest.mark.parametrize("place", [(3, 0, 2), (0, -3, 2), (-2, 2, 4)])
def test_the_daily_gains_reach_a_place_without_hurry(place: tuple[float, float, float]) -> None:
    sim, cf = crazyflie("hover")
    cf.command(al.PositionYaw((0, 0, 2)))
    sim.run(until=4.0)
    cf.command(al.PositionYaw(place))
    fastest = 0.0
    while sim.time < 16.0:
        sim.step(100)
        fastest = max(fastest, float(np.max(np.abs(cf.velocity))))
    assert cf.position == pytest.approx(place, abs=0.02)
    assert 0.8 < fastest < 1.5


def test_gains_left_out_give_the_loops_of_the_airframe() -> None:
    """What a PWM more does to all four rotors, and the roll that errors of tilt and rate ask for, by hand."""
    _, cf = crazyflie("hover")
    gains, controller = cf.gains_in_force, cf.controller
    position, tilt, _ = controller.frequencies()
    thrust = 2 * 1.909e-8 * cf.airframe.hover_speed * gains["pwm_slope"]
    assert gains["z_kp"] * 4 * thrust / 0.027 == pytest.approx(position**2)
    assert gains["z_kd"] * 4 * thrust / 0.027 == pytest.approx(2 * position)
    turn = 0.5 * 4 * 0.0325 * thrust / 1.657171e-5
    assert gains["rate_kd"] * turn == pytest.approx(controller.tuned_lead - 1)
    assert gains["rate_kp"] * turn == pytest.approx(2 * tilt * controller.tuned_lead)
    assert gains["attitude_kp"] * 180 / pi == pytest.approx(tilt / 2)
    assert gains["xy_kp"] * pi / 180 * 9.80665 == pytest.approx(2 * position, rel=2e-3)
    assert crazyflie("hover", **{"vehicles.cf.controller": {"extends": "crazyflie", "xy_kp": 9.0}})[1].gains_in_force[
        "xy_kp"
    ] == pytest.approx(9.0)


def test_hover_needs_no_integral_whatever_the_vehicle_weighs() -> None:
    """The PWM that carries the weight is found from mass and rotors unless the file gives it."""
    for mass in (0.027, 0.035):
        targets = first_targets(al.PositionYaw((0, 0, 2)), scenario="hover", **{"vehicles.cf.mass": mass})
        assert 4 * 1.909e-8 * targets[0] ** 2 == pytest.approx(mass * 9.8, rel=1e-3)


def test_gains_of_another_vehicle_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"0.394 N to hover.*weighs 0.265 N.*those of another vehicle"):
        crazyflie("hover", **{"vehicles.cf.controller": "crazys"})


@pytest.mark.parametrize("turned", [{"roll": pi}, {"pitch": pi}, {"roll": 2.0, "pitch": 1.2, "yaw": 1.0}])
def test_it_comes_upright_from_any_attitude(turned: dict[str, float]) -> None:
    sim, cf = crazyflie("hover", **{"vehicles.cf.pose": {"position": [0, 0, 10], **turned}})
    cf.command(al.PositionYaw((0, 0, 10)))
    lowest = 10.0
    while sim.time < 15.0:
        sim.step(50)
        lowest = min(lowest, float(cf.position[2]))
    assert lowest > 5.0
    assert cf.position == pytest.approx([0, 0, 10], abs=0.05)


@pytest.mark.parametrize("yaw", [0.0, 1.5, -2.5])
def test_the_daily_gains_fly_with_any_heading(yaw: float) -> None:
    start = {"position": [0, 0, 2], "yaw": yaw}
    sim, cf = crazyflie("hover", **{"vehicles.cf.pose": start})
    cf.command(al.PositionYaw((2, 1, 2), yaw))
    sim.run(until=12.0)
    assert cf.position == pytest.approx([2, 1, 2], abs=0.02)
    assert cf.euler[2] == pytest.approx(yaw, abs=0.01)


def test_unarmed_the_motors_are_told_nothing() -> None:
    sim, cf = crazyflie()
    sim.run(until=0.2)
    assert np.all(cf.rotor_speeds == 0.0)


@pytest.mark.parametrize("vehicle", ["x500", "quad_plus", "hexarotor"])
def test_other_layouts_are_refused(vehicle: str) -> None:
    with pytest.raises(ScenarioError, match="cascade"):
        crazyflie(**{"vehicles.cf": {"extends": vehicle, "controller": "crazys"}})


def test_a_vehicle_does_not_depend_on_the_rates_beside_it() -> None:
    """Its loops have their turns when its own file says so, not when those of the same block have theirs."""
    slow = {"extends": "crazyflie2", "controller": {"kind": "crazyflie", "position_rate": 50, "attitude_rate": 125}}
    fast = {"extends": "crazyflie2", "pose": {"position": [5, 0, 0.015]}}

    def flown(vehicles: dict[str, Any]) -> bytes:
        sim = Simulation.load("fleet", overrides={"vehicles": vehicles, "systems": {}, "engine": "batch"})
        for vehicle in sim.vehicles.values():
            vehicle.command(al.PositionYaw((*vehicle.position[:2] + 0.3, 1.0), yaw=0.5))
        sim.step(1500)
        column = sim.fleet.column(next(m for m in sim.fleet.crafts if m.name == "slow"))
        return column[: row.KEPT_ROWS].tobytes()

    assert flown({"drone": None, "slow": slow}) == flown({"drone": None, "fast": fast, "slow": slow})
