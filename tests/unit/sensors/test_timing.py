"""When sensors sample, and when their readings arrive."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from validation.case import body, simulate, the_body

from airloom.simulation import Simulation

NS = 1_000_000


def falling(**sensors: Any) -> Simulation:
    """A body that rises with 1 m/s without gravity: its height tells when it was measured."""
    sensors = {"odometry": {"kind": "odometry", "rate": 125}, **sensors}
    vehicle = body(pose={"position": (0, 0, 100)}, motion={"velocity": (0, 0, 1.0)}, sensors=sensors)
    return simulate(vehicle, world={"gravity": 0.0})


def heights(sim: Simulation, sensor: str, ticks: int, chunk: int = 10_000) -> list[tuple[int, int, float]]:
    """Time published (ms), time stamped (ms) and height of each odometry reading."""
    found = []

    def take(topic: Any, message: Any, time_ns: int) -> None:
        stamp = message.header.stamp
        found.append((time_ns // NS, stamp.sec * 1000 + stamp.nanosec // NS, message.pose.pose.position.z - 100.0))

    sim.bus.subscribe(f"/body/{sensor}", take)
    while sim.tick < ticks:
        sim.step(min(chunk, ticks - sim.tick))
    return found


@pytest.mark.parametrize(("rate", "period"), [(1000, 1), (500, 2), (125, 8), (50, 20), (1, 1000)])
def test_a_sensor_samples_at_its_rate_from_time_zero(rate: int, period: int) -> None:
    readings = heights(falling(extra={"kind": "odometry", "rate": rate}), "extra", 2000)
    assert [published for published, _, _ in readings] == list(range(0, 2001, period))
    assert all(published == stamped for published, stamped, _ in readings)
    assert [height for _, _, height in readings] == pytest.approx([1e-3 * t for t in range(0, 2001, period)])


@pytest.mark.parametrize("delay", [1, 7, 20, 50, 333])
@pytest.mark.parametrize("chunk", [1, 17, 10_000])
def test_a_delayed_reading_comes_late_and_says_when_it_was_measured(delay: int, chunk: int) -> None:
    sensor = {"kind": "odometry", "rate": 50, "delay": delay / 1000}
    readings = heights(falling(extra=sensor), "extra", 1000, chunk)
    assert [stamped for _, stamped, _ in readings] == list(range(0, 1001 - delay, 20))
    assert all(published - stamped == delay for published, stamped, _ in readings)
    assert [height for _, _, height in readings] == pytest.approx([1e-3 * stamped for _, stamped, _ in readings])


def test_the_latest_reading_is_the_delayed_one() -> None:
    sim = falling(extra={"kind": "odometry", "rate": 50, "delay": 0.03})
    sim.step(29)
    assert the_body(sim).readings["extra"].size == 0
    sim.step(1)
    assert the_body(sim).readings["extra"][2] == pytest.approx(100.0)
    sim.step(25)
    assert the_body(sim).readings["extra"][2] == pytest.approx(100.02)


def test_the_flight_stack_sees_the_delayed_reading() -> None:
    late = {"kind": "odometry", "rate": 125, "delay": 0.04}
    sim = falling(odometry=late)
    sim.step(200)
    assert the_body(sim).estimate.position[2] == pytest.approx(100.16)


def test_the_flight_stack_reads_the_first_sensor_of_a_kind() -> None:
    sim = falling(second={"kind": "odometry", "rate": 125, "position_errors": {"bias": 5.0}})
    sim.step(200)
    vehicle = the_body(sim)
    assert vehicle.estimate.position == pytest.approx(vehicle.position)
    assert vehicle.readings["second"][:3] == pytest.approx(vehicle.position + 5.0)


def test_reset_forgets_readings_and_those_on_their_way() -> None:
    sim = falling(extra={"kind": "odometry", "rate": 50, "delay": 0.1})
    sim.step(500)
    sim.reset()
    assert the_body(sim).readings["extra"].size == 0
    sim.step(99)
    assert the_body(sim).readings["extra"].size == 0
    sim.step(1)
    assert the_body(sim).readings["extra"][2] == pytest.approx(100.0)


def test_reset_starts_the_noise_again() -> None:
    sim = falling(extra={"kind": "odometry", "rate": 50, "position_errors": {"noise": 0.1, "random_walk": 0.1}})
    sim.step(500)
    first = the_body(sim).readings["extra"]
    sim.reset()
    sim.step(500)
    assert np.array_equal(the_body(sim).readings["extra"], first)
