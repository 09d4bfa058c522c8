"""The ground's height and slope, rays that meet it, and heights that cannot be used."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from validation.case import body, simulate

from airloom.scenario.models import HeightField, World
from airloom.scenario.terrain import TerrainError
from airloom.world.grid import grid_of
from airloom.world.ground import ground, ray
from airloom.world.land import Land

ROUGH = np.random.default_rng(7).normal(0.0, 1.0, (6, 5)).astype(np.float32)
LANDS: list[Land] = []  # their arrays must live


def world(**fields: Any) -> np.ndarray:
    LANDS.append(Land(World.model_validate(fields)))
    return LANDS[-1].array


def field(heights: Any = ROUGH, size: tuple[float, float] = (8.0, 10.0), **fields: Any) -> np.ndarray:
    terrain = {"kind": "heightfield", "size": size, "heights": np.asarray(heights).tolist()}
    return world(terrain=terrain | fields)


def test_a_plane_is_flat() -> None:
    flat = world(terrain={"kind": "plane", "height": 2.5})
    assert ground(flat, 1e6, -1e6) == (2.5, 0.0, 0.0)


def test_heights_are_met_at_the_grid_points() -> None:
    """Rows run north, columns east, the first in the south-west."""
    rough = field(center=(1.0, -2.0))
    for r in range(6):
        for c in range(5):
            assert ground(rough, 1.0 - 4.0 + 2.0 * c, -2.0 - 5.0 + 2.0 * r)[0] == pytest.approx(ROUGH[r, c])


def test_the_slope_is_that_of_the_height() -> None:
    rough, random, h = field(), np.random.default_rng(1), 1e-6
    for x, y in random.uniform((-4, -5), (4, 5), (200, 2)):
        height, east, north = ground(rough, x, y)
        if ground(rough, x + h, y)[1] == east == ground(rough, x, y + h)[1]:
            assert (ground(rough, x + h, y)[0] - height) / h == pytest.approx(east, abs=1e-6)
            assert (ground(rough, x, y + h)[0] - height) / h == pytest.approx(north, abs=1e-6)


def test_outside_the_field_lies_the_lowest_height() -> None:
    assert ground(field(), 6.001, 0.0) == (ROUGH.min(), 0.0, 0.0)
    assert ground(field(), np.nan, 0.0)[0] == ROUGH.min()


@pytest.mark.parametrize(("x", "y"), [(4.0, 1.0), (-4.0, -3.0), (0.0, 5.0), (2.0, -5.0), (4.0, 5.0), (-4.0, -5.0)])
def test_within_a_cell_beyond_the_edge_the_ground_falls_to_its_lowest_height(x: float, y: float) -> None:
    rough, out = field(), np.array([x * (abs(x) == 4.0), y * (abs(y) == 5.0)])
    out = 2.0 * np.sign(out)
    at_edge, low = ground(rough, x, y)[0], ROUGH.min()
    for share in (1e-9, 0.25, 0.5, 1.0 - 1e-9):
        expected = at_edge + share * (low - at_edge)
        assert ground(rough, *(np.array([x, y]) + share * out))[0] == pytest.approx(expected, abs=1e-6)


def test_cells_are_split_as_mujoco_splits_them() -> None:
    terrain = {"kind": "heightfield", "size": (8.0, 10.0), "heights": ROUGH.tolist()}
    sim = simulate(body(pose={"position": (0, 0, 500)}), "mujoco", world={"terrain": terrain})
    model, data, hit = sim.engine.model, sim.engine.data, np.zeros(1, np.int32)
    for x, y in np.random.default_rng(2).uniform((-4, -5), (4, 5), (300, 2)):
        down = mujoco.mj_ray(model, data, np.array([x, y, 20.0]), np.array([0.0, 0.0, -1.0]), None, 1, -1, hit)
        assert ground(field(), x, y)[0] == pytest.approx(20.0 - down, abs=1e-5)


DOWN, EAST = (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("start", "direction", "distance"),
    [
        ((0, 0, 5), DOWN, 5.0),
        ((0, 0, 5), EAST, 100.0),
        ((0, 0, 5), (0.6, 0.0, -0.8), 6.25),
        ((0, 0, 200), DOWN, 100.0),
        ((0, 0, -1), DOWN, 100.0),
    ],
)
def test_rays_to_a_plane(start: tuple, direction: tuple, distance: float) -> None:
    assert ray(world(), *map(float, start), *direction, 100.0) == pytest.approx(distance)


SOLIDS = {
    "box": {"shape": "box", "size": (2, 4, 6), "position": (10, 0, 3), "yaw": np.pi / 2},
    "pillar": {"shape": "cylinder", "size": (2, 2, 8), "position": (-10, 0, 4)},
    "ball": {"shape": "sphere", "size": (2, 2, 2), "position": (0, 10, 5)},
}


@pytest.mark.parametrize(
    ("start", "direction", "distance"),
    [
        ((0, 0, 3), EAST, 8.0),  # the box is turned: its side of 4 m lies along x
        ((0, 0, 7), EAST, 100.0),  # over it
        ((10, 0, 9), DOWN, 3.0),
        ((0, 0, 4), (-1.0, 0.0, 0.0), 9.0),
        ((0, 0.5, 4), (-1.0, 0.0, 0.0), 10.0 - sqrt(0.75)),
        ((-10, 0, 12), DOWN, 4.0),
        ((0, 0, 5), (0.0, 1.0, 0.0), 9.0),
        ((0, 10, 20), DOWN, 14.0),
        ((0.5, 0, 5), (0.0, 1.0, 0.0), 10.0 - sqrt(0.75)),
        ((0, 10, 5), EAST, 0.0),  # from inside
        ((0, 20, 5), (0.0, 1.0, 0.0), 100.0),  # behind
    ],
)
def test_rays_to_obstacles(start: tuple, direction: tuple, distance: float) -> None:
    assert ray(world(obstacles=SOLIDS), *map(float, start), *direction, 100.0) == pytest.approx(distance)


def test_rays_to_a_ridge() -> None:
    """A wall of one row of heights, met by a level ray at half its height, half-way up its slope."""
    ridge = field([[0, 0, 4, 0, 0]] * 3, size=(8.0, 8.0))
    assert ray(ridge, -3.0, 0.5, 2.0, *EAST, 50.0) == pytest.approx(2.0)
    assert ray(ridge, -3.0, 0.5, 4.5, *EAST, 50.0) == 50.0


@pytest.mark.parametrize("height", [3.9, 3.5, 2.0, 0.1])
def test_rays_do_not_pass_through_a_thin_ridge(height: float) -> None:
    """However a ray crosses the cells, it meets a ridge that stands in its way."""
    ridge = field([[0, 0, 4, 0, 0]] * 3, size=(8.0, 8.0))
    for y in np.linspace(-3.9, 0.0, 14):
        direction = np.array([3.0, -y, 0.0]) / np.hypot(3.0, y)
        expected = (3.0 - (2.0 - 0.5 * height)) / direction[0]
        assert ray(ridge, -3.0, y, height, *direction, 50.0) == pytest.approx(expected)


def test_rays_see_the_ground_before_the_edge_of_the_field() -> None:
    """A ray that comes down just inside the edge does not slip out under the ground beyond it."""
    plateau = field([[3, 3, 3], [3, 3, 3], [3, 3, 0]], size=(8.0, 8.0))
    assert ray(plateau, 0.0, -2.0, 3.5, 0.99, 0.0, -sqrt(1 - 0.99**2), 50.0) == pytest.approx(0.5 / sqrt(1 - 0.99**2))


def test_rays_over_the_edge_of_the_field() -> None:
    """The ground falls there to its lowest height: a ray that leaves goes on to it, one that comes meets the fall."""
    plateau = field([[3, 3, 3], [3, 3, 3], [3, 3, 0]], size=(8.0, 8.0))
    assert ray(plateau, -3.0, -2.0, 4.0, -0.8, 0.0, -0.6, 50.0) == pytest.approx(4.0 / 0.6)
    assert ray(plateau, -9.0, -2.0, 1.5, *EAST, 50.0) == pytest.approx(3.0)


def test_heights_come_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ROUGH)
    np.savetxt(tmp_path / "a.csv", ROUGH, delimiter=",")
    for name in ("a.npy", "a.csv"):
        terrain = HeightField(kind="heightfield", size=(1.0, 1.0), file=str(tmp_path / name))
        assert grid_of(terrain).heights == pytest.approx(ROUGH)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.npy", None, "no such file"),
        ("text.csv", "1,2\n3,four\n", "cannot be read"),
        ("line.csv", "1,2,3\n", "2 × 2"),
        ("hole.csv", "1,2\n3,nan\n", "not finite"),
        ("picture.png", "x", ".npy or a .csv"),
    ],
)
def test_unusable_heights_are_explained(tmp_path: Path, name: str, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(TerrainError, match=message):
        grid_of(HeightField(kind="heightfield", size=(1.0, 1.0), file=str(tmp_path / name)))


def test_a_ray_from_high_above_meets_the_ground() -> None:
    assert ray(field(), 0.3, 0.4, 50.0, *DOWN, 100.0) == pytest.approx(50.0 - ground(field(), 0.3, 0.4)[0])
    assert ray(field(), 0.3, 0.4, 50.0, 0.0, 0.0, 1.0, 100.0) == 100.0
