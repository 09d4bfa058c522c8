"""Radios with less bandwidth: the same at a slower clock, over a longer way."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from airloom.radio.builtin import medium_of
from airloom.radio.medium import EVERYBODY, Frame
from airloom.radio.phy import air_time
from airloom.scenario.radio import Radio

SECOND = 1_000_000_000
TELEMETRY = {"bandwidth": 200e3, "frequency": 915e6, "power": 30.0, "lifetime": 10.0}
FREE = {"path_loss": {"kind": "free-space"}}


def heard(radio: dict, distance: float, frames: int = 1, size: int = 100):
    two = medium_of(Radio.model_validate(radio), 2)
    two.send([Frame(k, 0, EVERYBODY, size, k * SECOND) for k in range(frames)])
    return two.advance(frames * SECOND, np.array([[0.0, 0, 10], [distance, 0, 10]]))


@pytest.mark.parametrize("parts", [1, 2, 4, 100])
def test_all_times_are_as_many_times_longer(parts):
    (arrival,) = heard({"bandwidth": 20e6 / parts}, 20.0)
    assert arrival.heard_ns == parts * (50_000 + air_time(136, 6))


@pytest.mark.parametrize(("parts", "sensitivity"), [(1, -82.0), (2, -85.0), (4, -88.0)])
def test_half_the_bandwidth_is_heard_with_half_the_power(parts, sensitivity):
    """The least that must be noticed in 20, 10 and 5 MHz: IEEE 802.11-2020, 17.3.10.6."""
    farthest = 10.0 ** ((16.0206 - 46.6777 - sensitivity) / 30.0)
    assert heard({"bandwidth": 20e6 / parts}, 0.998 * farthest)
    assert not heard({"bandwidth": 20e6 / parts}, 1.003 * farthest)


def test_a_telemetry_radio_reaches_its_documented_sensitivity():
    """Friis at 915 MHz: 30 dBm − 31.68 dB − 20 log₁₀ d is −104 dBm at 131 km, where no ground is in the way here.

    Of the Si4430/31/32-B1 at 100 kb/s: its data sheet, table 3.
    """
    radio = {**TELEMETRY, "sensitivity": -104.0, "channel": FREE}
    farthest = 10.0 ** ((30.0 - 20.0 * np.log10(4 * np.pi * 915e6 / 299_792_458.0) + 104.0) / 20.0)
    assert farthest == pytest.approx(130.7e3, rel=0.01)
    assert len(heard(radio, 0.99 * farthest, frames=20)) == 20
    assert not heard(radio, 1.01 * farthest, frames=20)


def test_rates_go_with_the_bandwidth():
    slow, fast = (heard({**TELEMETRY, "rate": rate}, 100.0)[0].heard_ns for rate in (0.06, 0.54))
    assert slow == 100 * (50_000 + air_time(136, 6))
    assert fast == 100 * (50_000 + air_time(136, 54))
    with pytest.raises(ValidationError, match=r"6 Mb/s is none of 802.11g at this bandwidth; 0.06, 0.09, "):
        Radio.model_validate({**TELEMETRY, "rate": 6})
    with pytest.raises(ValidationError, match="20 MHz over a whole number"):
        Radio.model_validate({"bandwidth": 7e6})


def test_how_time_is_cut_makes_no_difference():
    results = []
    for cuts in (1, 7, 100):
        four = medium_of(Radio.model_validate({**TELEMETRY, "channel": {"fading": {"kind": "nakagami"}}}), 4)
        four.send([Frame(k, k % 4, EVERYBODY, 60, 23_999_987 * k) for k in range(40)])
        places = np.array([[100.0 * k, 0, 10] for k in range(4)])
        times = [SECOND * (k + 1) // cuts for k in range(cuts)]
        results.append([arrival for time in times for arrival in four.advance(time, places)])
    assert len(results[0]) > 20
    assert results[0] == results[1] == results[2]
