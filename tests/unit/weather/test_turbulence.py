"""Turbulence: how strong it is, that it is one field for all, and that it is the same however it is looked at."""

import numpy as np
import pytest

import airloom as al
from airloom.weather.dryden import FOOT, KNOT, LEVEL_RATIO, LOWEST, intensities, scales
from airloom.weather.eddies import LENGTH, SAMPLES, lines_of

CALM = {"engine": "batch", "systems": {}}


def weather(wind=(5, 0, 0), seed=0, **layer):
    turbulence = {"kind": "dryden", **layer}
    changes = {**CALM, "world.wind": list(wind), "world.weather": {"layers": {"eddies": turbulence}}}
    return al.Simulation.load("hover", seed=seed, overrides=changes).weather


def test_scales_and_intensities_are_those_of_the_standard():
    """Check values by hand, for 15 knots."""
    assert intensities(10.0, 15 * KNOT) == pytest.approx((1.4574, 0.7717), abs=1e-4)
    assert intensities(100.0, 15 * KNOT)[0] == pytest.approx(1.0649, abs=1e-4)
    assert scales(10.0) == pytest.approx((67.37, 10.0), abs=0.01)
    assert scales(100.0) == pytest.approx((262.79, 100.0), abs=0.01)
    assert scales(1000 * FOOT) == pytest.approx((1000 * FOOT,) * 2)
    assert scales(5000.0) == pytest.approx((1750 * FOOT,) * 2)


def test_lines_have_the_autocorrelation_of_the_spectrum_and_close_as_rings():
    pairs, singles = lines_of(3)
    for lines, law in (
        (pairs[:, :-1, 0], lambda s: np.exp(-s)),
        (pairs[:, :-1, 1], lambda s: np.exp(-s) * (1 - s / 2)),
        (singles[:, :-1], lambda s: np.exp(-s) * (1 - s / 2)),
    ):
        power = np.mean(np.abs(np.fft.rfft(lines.astype(float), axis=1)) ** 2, axis=0)
        found = np.fft.irfft(power)[: 3 * SAMPLES] / LENGTH
        assert np.abs(found - law(np.arange(3 * SAMPLES) / SAMPLES)).max() < 0.06  # of 4096 scales, 3 σ
    assert abs(np.diff(singles[0, [-2, -1]])) < 6 * np.abs(np.diff(singles[0])).std()


def test_the_variance_is_the_same_everywhere_and_follows_the_height():
    """Over many times and places: on the lattice, between its lines and its levels."""
    sky = weather(intensity="light")
    rng = np.random.default_rng(1)
    for height in (LOWEST * LEVEL_RATIO**3, LOWEST * LEVEL_RATIO**3.5, 60.0):
        places = np.column_stack([rng.uniform(-3e6, 3e6, (4000, 2)), np.full(4000, height)])
        winds = np.array([sky.wind(place, 0.0) for place in places]) - [5, 0, 0]
        along, up = intensities(height, 15 * KNOT)
        assert winds.std(axis=0) == pytest.approx([along, along, up], rel=0.06)
        assert np.abs(winds.mean(axis=0)).max() < 0.08 * along


def test_eddies_are_carried_along_by_the_mean_wind():
    sky = weather(wind=(4, 3, 0))
    here, there = sky.wind((10, 20, 15), 2.0), sky.wind((10 + 4 * 6, 20 + 3 * 6, 15), 8.0)
    assert here == pytest.approx(there, abs=1e-9)
    other = weather(wind=(4, 3, 0), carried_by=[0, 7, 0])
    assert other.wind((10, 20, 15), 2.0) == pytest.approx(other.wind((10, 20 + 42, 15), 8.0), abs=1e-9)


def test_the_field_has_no_steps():
    """Across the wind, up and along, over lines and levels of the lattice: 2 mm make little difference."""
    sky, walked = weather(intensity="severe"), 0.002 * np.arange(-3000, 3000)
    for direction in np.eye(3):
        walk = np.array([sky.wind((0.0, 0.0, 12.0) + way * direction, 0.0) for way in walked])
        assert np.abs(np.diff(walk, axis=0)).max() < 0.07
        assert np.ptp(walk[:, 2]) > 1.0


def test_neighbours_share_an_eddy_and_far_ones_do_not():
    sky = weather()
    times = np.arange(0.0, 4000.0, 4.0)

    def correlation(apart):
        here, there = (np.array([sky.wind((0, y, 20), t)[0] for t in times]) for y in (7.0, 7.0 + apart))
        return np.corrcoef(here, there)[0, 1]

    assert correlation(2.0) > 0.95
    assert abs(correlation(500.0)) < 0.3


def test_another_seed_is_another_day_and_the_same_seed_the_same():
    assert not np.allclose(weather(seed=1).wind((0, 0, 9)), weather(seed=2).wind((0, 0, 9)))
    assert (weather(seed=1).wind((0, 0, 9)) == weather(seed=1).wind((0, 0, 9))).all()


def test_a_live_wind_carries_the_eddies_on_from_where_they_are():
    sky = weather(wind=(5, 0, 0))
    sim = sky._sim
    sim.run(2.0)
    before = sky.wind((3, 4, 20)) - [5, 0, 0]
    sky.set_wind((0, 8, 0))
    assert sky.wind((3, 4, 20)) - [0, 8, 0] == pytest.approx(before)
    assert sky.wind((3, 4 + 8, 20), 3.0) - [0, 8, 0] == pytest.approx(before)
