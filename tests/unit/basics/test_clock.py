from __future__ import annotations

import pytest

from airloom.basics.clock import ticks_per_period, to_ns, whole_ticks

MS = 1_000_000


@pytest.mark.parametrize(
    ("seconds", "ns"), [(0.001, MS), (0.1, 100 * MS), (1e-9, 1), (0.0025, 2_500_000), (3600, 3600 * 10**9)]
)
def test_whole_nanoseconds(seconds, ns):
    assert to_ns(seconds) == ns


@pytest.mark.parametrize("seconds", [1 / 3, 1e-10, 1 / 240])
def test_a_fraction_of_a_nanosecond_is_refused(seconds):
    with pytest.raises(ValueError, match="nearest"):
        to_ns(seconds)


@pytest.mark.parametrize("seconds", [float("inf"), float("nan")])
def test_only_finite_times_are_times(seconds):
    with pytest.raises(ValueError, match="finite"):
        to_ns(seconds)


@pytest.mark.parametrize(
    ("rate", "ticks"), [(1000, 1), (500, 2), (250, 4), (5, 200), (0.5, 2000), (333.3333333, 3), (1000 / 3, 3)]
)
def test_rates_that_fit_a_millisecond(rate, ticks):
    assert ticks_per_period(rate, MS) == ticks


def test_a_misfit_names_the_nearest_rates():
    with pytest.raises(ValueError, match=r"300 Hz .* 333\.3333333 Hz and 250 Hz"):
        ticks_per_period(300, MS)


def test_the_rates_named_by_a_misfit_fit():
    assert ticks_per_period(333.3333333, MS) == 3
    assert ticks_per_period(29.41176471, MS) == 34


def test_faster_than_the_step():
    with pytest.raises(ValueError, match="fastest rate is 1000 Hz"):
        ticks_per_period(1001, MS)


@pytest.mark.parametrize("rate", [0, -1, 1e-300])
def test_rates_without_a_usable_period(rate):
    with pytest.raises(ValueError, match="Hz"):
        ticks_per_period(rate, MS)


def test_whole_ticks():
    assert whole_ticks(0.01, MS) == 10
    with pytest.raises(ValueError, match=r"0\.002 s and 0\.003 s"):
        whole_ticks(0.0025, MS)
