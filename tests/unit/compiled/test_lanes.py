"""Arithmetic for lane loops: angles as exact as those of the C library, and honest about what is no number."""

from math import atan2, exp, inf, nan, pi

import numpy as np
import pytest

from airloom.compiled.lanes import angle_of, exp_of, shortest_turn


def test_an_angle_is_that_of_the_c_library() -> None:
    random = np.random.default_rng(1)
    for y, x in random.normal(size=(20000, 2)) * 10.0 ** random.uniform(-9, 9, (20000, 2)):
        assert angle_of(y, x) == pytest.approx(atan2(y, x), rel=5e-16, abs=0)


def test_an_exponential_is_that_of_the_c_library() -> None:
    for x in (0.0, -700.0, 700.0, *np.random.default_rng(2).uniform(-700, 700, 20000)):
        assert exp_of(x) == pytest.approx(exp(x), rel=5e-16, abs=0)


@pytest.mark.parametrize("y", [-2.0, 0.0, 2.0])
@pytest.mark.parametrize("x", [-2.0, 0.0, 2.0])
def test_an_angle_on_an_axis_or_a_diagonal_is_exact(y: float, x: float) -> None:
    assert angle_of(y, x) == atan2(y, x)


@pytest.mark.parametrize(("y", "x"), [(nan, 1.0), (1.0, nan), (nan, nan)])
def test_an_angle_of_no_number_is_none(y: float, x: float) -> None:
    assert np.isnan(angle_of(y, x))


def test_the_shortest_turn() -> None:
    for turn in np.linspace(-20, 20, 401):
        short = shortest_turn(turn)
        assert abs(short) <= pi + 1e-12
        assert np.exp(1j * short) == pytest.approx(np.exp(1j * turn), abs=1e-12)
    assert np.isnan(shortest_turn(inf))
