"""Noise, bias, quantisation and saturation of a reading; measured on a barometer, whose truth is known."""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from validation.case import body, simulate

from airloom.sensors.sensor_errors import SensorErrors, variances
from airloom.simulation import Simulation
from airloom.world.atmosphere import air_pressure

TRUTH = air_pressure(488.0 + 100.0, 101325.0, 288.15)


def barometer(seed: int = 0, rate: float = 500.0, **errors: Any) -> Simulation:
    """A body that floats 100 m above the origin, with a barometer."""
    sensor = {"kind": "barometer", "rate": rate, "pressure_errors": errors}
    sensors = {"odometry": {"kind": "odometry", "rate": 125}, "barometer": sensor}
    sim = simulate(body(pose={"position": (0, 0, 100)}, sensors=sensors), step=0.002, world={"gravity": 0.0})
    sim.reset(seed)
    return sim


def pressures(sim: Simulation, count: int) -> np.ndarray:
    """Readings off the bus, one after another."""
    found: list[float] = []
    sim.bus.subscribe("/body/barometer", lambda topic, message, time_ns: found.append(message.fluid_pressure))
    period = round(1e9 / 500.0 / sim.step_ns)
    sim.step((count - 1) * period)
    return np.array(found[:count])


def test_without_errors_the_truth_is_read() -> None:
    assert np.all(pressures(barometer(), 50) == TRUTH)


def test_noise_of_a_sample() -> None:
    readings = pressures(barometer(noise=3.0), 20_000)
    assert readings.std() == pytest.approx(3.0, rel=0.03)
    assert readings.mean() == pytest.approx(TRUTH, abs=0.1)


def test_noise_density_grows_with_the_root_of_the_rate() -> None:
    readings = pressures(barometer(noise_density=0.1), 20_000)
    assert readings.std() == pytest.approx(0.1 * sqrt(500.0), rel=0.03)


def test_constant_bias() -> None:
    assert np.all(pressures(barometer(bias=-7.0), 10) == TRUTH - 7.0)


def test_turn_on_bias_is_drawn_once_a_run() -> None:
    first, second = (
        pressures(barometer(seed=1, turn_on_bias=5.0), 20),
        pressures(barometer(seed=2, turn_on_bias=5.0), 20),
    )
    assert np.ptp(first) == np.ptp(second) == 0.0
    assert first[0] != second[0]
    biases = [pressures(barometer(seed=k, turn_on_bias=5.0), 1)[0] - TRUTH for k in range(200)]
    assert np.std(biases) == pytest.approx(5.0, rel=0.2)


def test_bias_walks_at_random() -> None:
    """Without a correlation time the spread of the increments over n samples is K √(n dt)."""
    readings = pressures(barometer(random_walk=2.0), 20_000)
    for n in (1, 10, 100):
        assert np.std(readings[n:] - readings[:-n]) == pytest.approx(2.0 * sqrt(n / 500.0), rel=0.02 + 0.02 * sqrt(n))


def test_bias_forgets_with_its_correlation_time() -> None:
    """A Gauss-Markov process of σ² = K² T/2 and correlation e^(−dt/T)."""
    time = 0.1
    readings = pressures(barometer(random_walk=2.0, correlation_time=time), 40_000)[1000:] - TRUTH
    assert readings.std() == pytest.approx(2.0 * sqrt(time / 2), rel=0.05)
    assert np.corrcoef(readings[25:], readings[:-25])[0, 1] == pytest.approx(exp(-0.05 / time), abs=0.06)


def test_quantisation() -> None:
    readings = pressures(barometer(noise=3.0, resolution=0.5), 2000)
    assert np.all(readings / 0.5 == np.round(readings / 0.5))
    assert np.abs(pressures(barometer(resolution=10.0), 5) - TRUTH).max() <= 5.0


def test_saturation() -> None:
    readings = pressures(barometer(noise=50.0, range=[94400.0, 94450.0]), 2000)
    assert readings.min() == 94400.0
    assert readings.max() == 94450.0


def test_a_range_may_be_symmetric() -> None:
    assert np.all(pressures(barometer(range=1000.0), 5) == 1000.0)


def test_saturation_comes_after_quantisation() -> None:
    assert np.all(pressures(barometer(range=[0.0, 94444.4], resolution=100.0), 5) <= 94444.4)


@pytest.mark.parametrize(
    "errors",
    [
        {"noise": -1.0},
        {"noise": [0.1, -0.1, 0.1]},
        {"noise": 1.0, "noise_density": 1.0},
        {"range": [3.0, 2.0]},
        {"range": -1.0},
        {"correlation_time": 0.0},
        {"resolution": -0.1},
        {"noize": 1.0},
    ],
)
def test_nonsense_is_refused(errors: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SensorErrors.model_validate(errors)


@pytest.mark.parametrize(
    "errors",
    [
        {"noise": 3.0, "bias": 100.0},
        {"noise_density": 0.2},
        {"random_walk": 20.0, "correlation_time": 0.02},
        {"noise": 6.0, "resolution": 12.0},
    ],
)
def test_the_variance_that_is_told_is_that_of_the_readings(errors: dict[str, float]) -> None:
    (told,) = variances(SensorErrors(**errors), 1, 0.002)
    assert np.var(pressures(barometer(**errors), 20000)[1000:]) == pytest.approx(told, rel=0.06)


def test_a_turn_on_bias_is_told_and_a_walk_without_bounds_is_not() -> None:
    assert variances(SensorErrors(turn_on_bias=[1.0, 2.0]), 2, 0.01).tolist() == [1.0, 4.0]
    assert variances(SensorErrors(random_walk=0.1), 1, 0.01).tolist() == [0.0]
