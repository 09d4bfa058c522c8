"""Made-up ground: the same from the same seed, level at its rim, 0 m in its middle, with colours everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.scenario.models import World
from airloom.world.generated import colours_of, generated_grid
from airloom.world.land import Land
from airloom.world.noise import layered_noise, smooth_noise, uniform

SMALL = {
    "meadow": {"kind": "meadow", "size": [120, 90], "cell": 3, "roads": [{"path": [[-40, 0], [40, 5]]}]},
    "vineyard": {"kind": "vineyard", "size": [120, 120], "cell": 3, "field": [50, 40]},
    "mountains": {"kind": "mountains", "size": [1000, 1000], "cell": 25, "height": 400},
}


def world(kind: str, **changes) -> World:
    return World.model_validate({"terrain": {**SMALL[kind], **changes}})


@pytest.mark.parametrize("kind", SMALL)
def test_ground_is_the_same_from_the_same_seed_and_low_along_its_rim(kind):
    grid = generated_grid(world(kind).terrain)
    again = generated_grid(world(kind, cell=SMALL[kind]["cell"]).terrain)
    other = generated_grid(world(kind, seed=1).terrain)
    assert np.array_equal(grid.heights, again.heights)
    assert not np.array_equal(grid.heights, other.heights)
    for rim in (grid.heights[0], grid.heights[-1], grid.heights[:, 0], grid.heights[:, -1]):
        assert rim == pytest.approx(grid.low, abs=1e-4)
    assert Land(world(kind)).height(0.0, 0.0) == pytest.approx(0.0, abs=1e-6)
    assert grid.high > grid.low + 1.0


def test_a_vineyard_rises_as_steeply_as_told():
    land = Land(world("vineyard", slope=0.2, roughness=0.0, size=[400, 400], cell=4))
    rise = (land.height(0.0, 20.0) - land.height(0.0, -20.0)) / 40.0
    assert rise == pytest.approx(0.2, abs=0.05)


def test_leaves_can_be_in_the_heights_as_a_survey_has_them():
    fine = {"size": [40, 40], "cell": 0.2, "field": [20, 20], "slope": 0.0, "roughness": 0.0}
    bare, leafy = (generated_grid(world("vineyard", canopy=canopy, **fine).terrain) for canopy in (0.0, 1.8))
    over = leafy.heights - leafy.heights.min() - (bare.heights - bare.heights.min())
    across = over[:, over.shape[1] // 2]
    assert np.ptp(across) == pytest.approx(1.8, abs=0.5)
    assert 7 <= np.sum(np.diff((across > across.min() + 0.9).astype(int)) == 1) <= 10, "rows 2.2 m apart on 20 m"


@pytest.mark.parametrize("kind", SMALL)
def test_ground_has_a_colour_everywhere(kind):
    terrain = world(kind).terrain
    grid = generated_grid(terrain)
    x, y = np.meshgrid(grid.east, grid.north)
    colours = colours_of(terrain, x, y, grid.heights.astype(float), np.zeros(grid.heights.shape))
    assert colours.shape == (*grid.heights.shape, 3)
    assert np.isfinite(colours).all()
    assert colours.min() >= 0.0
    assert colours.max() <= 255.0
    assert np.ptp(colours.reshape(-1, 3), axis=0).min() > 10.0


def test_noise_does_not_depend_on_how_much_of_it_is_asked_for():
    x, y = np.linspace(-30, 50, 400), np.linspace(10, -70, 400)
    whole = layered_noise(5, x[None, :], y[:, None], 3)
    assert whole[17, 33] == pytest.approx(float(layered_noise(5, x[33], y[17], 3)), abs=1e-12)
    assert smooth_noise(5, np.array([2.0]), np.array([3.0])) == pytest.approx([0.0])
    assert -1.2 < whole.min() < -0.3
    assert 0.3 < whole.max() < 1.2
    share = uniform(3, np.arange(10_000))
    assert share.mean() == pytest.approx(0.5, abs=0.02)
    assert (uniform(3, np.arange(10)) == share[:10]).all()
