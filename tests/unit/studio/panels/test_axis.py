"""What a plot's axis does with curves that hardly move, far from zero, or very small."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.studio.panels.axis import Axis, without_rounding


def test_a_curve_that_differs_by_rounding_is_a_constant():
    (column,), low, high = without_rounding([1.0 + 3e-9 * np.sin(np.arange(50))], "m")
    assert low == high == pytest.approx(1.0, abs=1e-6)
    assert set(column) == {low}


def test_gaps_stay_gaps():
    (column,), _, _ = without_rounding([np.array([np.nan, 1.0, 1.0 + 1e-12])], "m")
    assert np.isnan(column[0])
    assert column[1] == column[2]


def test_no_number_has_no_range():
    _, low, high = without_rounding([np.full(3, np.nan)], "m")
    assert np.isnan([low, high]).all()


@pytest.mark.parametrize(
    ("low", "high", "unit", "label"),
    [
        (0.0, 1.0, "m", "m"),
        (1.0, 1.0, "m", "m"),
        (101000.0, 101400.0, "Pa", "Pa"),
        (101325.01, 101325.19, "Pa", "Pa, from 101330"),
        (47.39770, 47.39771, "°", "° × 10⁻⁶, from 47.3977"),
        (4.7e-5, 4.8e-5, "T", "T × 10⁻⁶"),
        (1.0001, 1.0003, "m", "m × 10⁻⁶, from 1"),
    ],
)
def test_an_axis_says_from_where_and_in_which_power_it_counts(low, high, unit, label):
    assert Axis.of(low, high).label(unit) == label


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (1, 1), (0, 0), (1, 1.00001), (47.3977, 47.39771), (4.7e-5, 4.8e-5), (-3e-6, 2e-6), (1e5, 1e5 + 1)],
)
def test_its_numbers_differ_in_three_digits_after_the_point(low, high):
    axis = Axis.of(low, high)
    drawn = axis.draw(np.linspace(low, high, 5))
    assert axis.suits(low, high)
    assert low == high or len(set(drawn.round(3))) == 5


def test_it_stays_while_a_curve_moves_a_little():
    axis = Axis.of(1.0, 1.0001)
    assert axis.suits(1.00002, 1.00012)
    assert not axis.suits(1.0, 3.0)
    assert not Axis().suits(1.0, 1.0001)
