"""How closely multirotors follow: some of the flights of docs/tracking.md, held to bounds."""

from __future__ import annotations

import re
from math import inf, isnan
from pathlib import Path

import pytest
from tests.multirotors import HOVERING
from validation.tracking import PAIRS, VEHICLES, crazyflie_eight, fast_eight, fleet, fly, step

from airloom.scenario.library import known

PAGE = Path(__file__).parents[2] / "docs" / "tracking.md"
SLUGGISH = {"iris", "sprayer"}
"""What torque they have for their inertia allows no faster loop."""


@pytest.mark.parametrize("controller", ["crazyflie", "modes", "cascade"])
def test_a_crazyflie_follows_a_figure_eight_within_centimetres(controller: str) -> None:
    calm, windy = crazyflie_eight(controller), crazyflie_eight(controller, 3.0, "complementary")
    assert calm.rms < 0.05
    written = re.search(rf"^\| {controller} \| exact \| 0 \| ([\d.]+) \|", PAGE.read_text(), re.MULTILINE)
    assert written is not None
    assert 100 * calm.rms == pytest.approx(float(written[1]), abs=0.3), "fly docs/make_tracking.py anew"
    assert windy.rms < 0.10
    assert max(calm.height_error, windy.height_error) < 0.05


@pytest.mark.parametrize("wind", [0.0, 8.0])
def test_every_multirotor_follows_half_of_what_it_can(wind: float) -> None:
    for flown in fly(fleet(PAIRS), fast_eight(0.5), 14.0, (wind, 0.0, 0.0), skip=7.0):
        bound = 0.25 if flown.vehicle in SLUGGISH else 0.08
        assert flown.rms < (inf if flown.leans_all_it_may else bound), flown
        assert flown.height_error < 0.1, flown


@pytest.mark.parametrize(("size", "wind"), [(0.5, 0.0), (10.0, 0.0), (10.0, 8.0)])
def test_every_multirotor_settles_after_a_step(size: float, wind: float) -> None:
    for flown in fly(fleet(PAIRS), step(size), 16.0, (wind, 0.0, 0.0)):
        assert not isnan(flown.settled_after(size)), flown
        assert flown.overshoot(size) < 0.12, flown


def test_the_page_has_every_multirotor_that_is_tuned() -> None:
    assert set(VEHICLES) == HOVERING - {"crazyflie2_crazys"}
    assert {"modes", "cascade", "crazyflie"} == {controller for _, controller in PAIRS} < set(known("controller"))
    rows = re.findall(r"^\| (\w+) \| (\w+) \| [\d.]+ \| \d+ \|", PAGE.read_text(), re.MULTILINE)
    assert set(rows) == set(PAIRS)
    assert len(rows) == len(PAIRS) * (2 * 3 + 3 * 3)
