"""The rule by which loops of a multirotor follow from its file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from airloom.control.multirotor import LARGE_ERROR, MOST_LEAD, MultirotorController
from airloom.simulation import Simulation


def controller(vehicle: str = "x500", kind: Any = "modes", **changes: Any) -> MultirotorController:
    drone = {"extends": vehicle, "controller": kind, **changes}
    sim = Simulation.load("waypoints", overrides={"vehicles.drone": drone, "systems": {}, "engine": "batch"})
    found = sim.vehicles["drone"].controller
    assert isinstance(found, MultirotorController)
    return found


def lag(seconds: float) -> dict[str, float]:
    return {"time_constant_up": seconds, "time_constant_down": seconds}


def test_strong_rotors_get_all_the_lead_and_the_loop_follows_from_what_is_late() -> None:
    strong = controller(inertia={"xx": 2e-3, "yy": 2e-3, "zz": 4e-3}, rotor=lag(0.06))
    assert strong.tuned_lead == MOST_LEAD
    assert strong.frequencies()[1] == pytest.approx(0.3 / (0.06 / MOST_LEAD + 1.5 / 250))


def test_weak_rotors_get_none_and_the_loop_follows_from_their_torque() -> None:
    heavy, heavier = (controller(inertia={"xx": size, "yy": size, "zz": 1.5 * size}) for size in (1.0, 4.0))
    assert heavy.tuned_lead == heavier.tuned_lead == 1.0
    assert heavy.frequencies()[1] / heavier.frequencies()[1] == pytest.approx(2.0)


def test_in_between_the_lead_takes_what_torque_there_is() -> None:
    """The two limits meet: what the motors can follow with the lead, and what torque they have for it."""
    x500 = controller()
    lead, tilt = x500.tuned_lead, x500.frequencies()[1]
    assert 1.0 < lead < MOST_LEAD
    assert tilt == pytest.approx(0.3 / (0.01875 / lead + 0.006), rel=0.03)
    assert lead * tilt**2 * LARGE_ERROR == pytest.approx(x500._angular_authority()[:2].min(), rel=0.06)


def test_slow_motors_and_slow_loops_in_time_make_slow_loops_of_the_vehicle() -> None:
    usual = controller().frequencies()
    for slow in (controller(rotor=lag(0.1)), controller(kind={"kind": "modes", "rate": 50})):
        assert all(it < than for it, than in zip(slow.frequencies()[:2], usual[:2], strict=True))


@pytest.mark.parametrize("name", ["modes", "cascade", "crazyflie"])
def test_all_controllers_share_the_rule(name: str) -> None:
    assert controller("crazyflie2", name).frequencies() == pytest.approx(controller("crazyflie2").frequencies())


def margins(loop: Any) -> tuple[float, float]:
    """Phase margin in degrees, and by how much the gain may grow, of a loop as a function of s."""
    frequencies = np.geomspace(0.05, 50, 200_000)
    values = loop(1j * frequencies)
    phases = np.unwrap(np.angle(values))
    crossing = np.argmax(np.abs(values) < 1.0)
    turning = crossing + np.argmax(phases[crossing:] < -np.pi)
    return 180 + np.degrees(phases[crossing]), 1 / abs(values[turning])


def test_the_loops_keep_the_margins_that_are_promised() -> None:
    """In units of each loop's own frequency; behind the tilt everything late is one delay."""
    tilt = margins(lambda s: (2 * s + 1) / s**2 * np.exp(-0.3 * s))
    position = margins(lambda s: (2 * s + 1) / s**2 / (0.2 * s + 1) ** 2)
    assert tilt == pytest.approx((41, 2.4), rel=0.02)
    assert position == pytest.approx((34.5, 4.0), rel=0.02)
