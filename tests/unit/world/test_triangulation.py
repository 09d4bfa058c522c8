"""The ground as triangles: no gaps, no overlaps, no error larger than asked for."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from airloom.scenario.models import World
from airloom.world.grid import Grid
from airloom.world.land import Land
from airloom.world.triangulation import TILE, tiles_of, triangulate, usual_errors

SIZES = [(65, 65), (129, 193), (100, 70), (2, 2), (2, 150), (66, 64)]


def hills(rows: int, columns: int) -> np.ndarray:
    y, x = np.mgrid[:rows, :columns].astype(float)
    noise = np.random.default_rng(1).normal(0.0, 0.05, x.shape)
    return (5 * np.sin(x / 17) * np.cos(y / 23) + noise + np.where(x % 40 < 3, 1.5, 0.0)).astype(np.float32)


def grid_with_hole(rows: int, columns: int) -> Grid:
    heights = hills(rows, columns)
    heights[rows // 3 : rows // 2, columns // 3 : columns // 2] = np.nan
    return Grid.of(heights, (0.0, 0.0), (0.5, 0.5))


def sides(faces: np.ndarray) -> Counter[tuple[int, int]]:
    """How many triangles have each side, whichever way it is gone along."""
    pairs = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    return Counter(map(tuple, pairs.tolist()))


def areas(faces: np.ndarray, columns: int) -> np.ndarray:
    """In cells; negative if clockwise."""
    (ar, ac), (br, bc), (cr, cc) = (np.divmod(faces[:, k].astype(int), columns) for k in range(3))
    return 0.5 * ((bc - ac) * (cr - ar) - (br - ar) * (cc - ac))


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("error", [0.0, 0.2, 3.0])
def test_every_side_within_belongs_to_two_triangles_and_all_face_up(shape, error):
    grid = Grid.of(hills(*shape), (0.0, 0.0), (1.0, 1.0))
    [level] = triangulate(grid, [error])
    rows, columns = shape
    once = {side for side, times in sides(level.faces).items() if times == 1}
    assert max(sides(level.faces).values()) <= 2
    corners = np.arange(rows * columns).reshape(shape)
    border = [corners[0], corners[-1], corners[:, 0], corners[:, -1]]
    assert once == {pair for line in border for pair in zip(line[:-1].tolist(), line[1:].tolist(), strict=True)}
    assert (areas(level.faces, columns) > 0).all()
    assert areas(level.faces, columns).sum() == (rows - 1) * (columns - 1)


@pytest.mark.parametrize("shape", [(65, 65), (40, 90)])
def test_no_corner_is_farther_away_than_asked_for(shape):
    grid = Grid.of(hills(*shape), (0.0, 0.0), (1.0, 1.0))
    for level in triangulate(grid, [0.3, 3.0]):
        errors = np.abs(heights_of(level.faces, grid) - grid.heights)
        assert level.largest <= level.error
        assert errors.max() == pytest.approx(level.largest, abs=1e-5)
        assert errors.mean() == pytest.approx(level.mean, abs=1e-5)


def heights_of(faces: np.ndarray, grid: Grid) -> np.ndarray:
    """Of a mesh at the corners of the grid, by going through all triangles that a corner is in."""
    columns = grid.heights.shape[1]
    heights = np.full(grid.heights.shape, np.nan)
    for face in faces.astype(int):
        corners = np.column_stack(np.divmod(face, columns))
        low, high = corners.min(axis=0), corners.max(axis=0) + 1
        points = np.stack(np.mgrid[low[0] : high[0], low[1] : high[1]], axis=-1).reshape(-1, 2)
        shares = np.linalg.solve(np.vstack([corners.T, np.ones(3)]), np.vstack([points.T, np.ones(len(points))]))
        inside = (shares > -1e-9).all(axis=0)
        heights[tuple(points[inside].T)] = grid.heights.ravel()[face] @ shares[:, inside]
    return heights


def test_triangles_of_a_tile_stand_together_and_lie_in_it():
    grid = Grid.of(hills(150, 200), (0.0, 0.0), (1.0, 1.0))
    [level] = triangulate(grid, [0.5])
    down, across = tiles_of(grid.heights.shape)
    assert len(level.starts) == down * across + 1
    assert level.starts[-1] == len(level.faces)
    for number in range(down * across):
        r, c = np.divmod(level.tile(number), 200)
        assert r.min() >= number // across * TILE
        assert r.max() <= (number // across + 1) * TILE
        assert c.min() >= number % across * TILE
        assert c.max() <= (number % across + 1) * TILE


@pytest.mark.parametrize("error", [0.0, 1.0])
def test_holes_stay_open_and_their_edges_exact(error):
    grid = grid_with_hole(130, 100)
    [level] = triangulate(grid, [error])
    assert np.isfinite(grid.heights.ravel()[level.faces]).all()
    rows, columns = np.nonzero(np.isnan(grid.heights))
    cells_gone = (np.ptp(rows) + 2) * (np.ptp(columns) + 2)
    # Of the cells at the hole's corners half may stand: the triangle that does not touch the hole.
    missing = 129 * 99 - areas(level.faces, 100).sum()
    assert cells_gone - 2 <= missing <= cells_gone
    lengths = [np.ptp(np.divmod(side, 100), axis=1).max() for side, n in sides(level.faces).items() if n == 1]
    assert set(lengths) == {1}


def test_levels_of_one_grid_are_from_fine_to_coarse_and_flat_ground_has_few_triangles():
    levels = triangulate(grid_with_hole(200, 200), [0.05, 0.2, 2.0])
    assert sorted((len(level.faces) for level in levels), reverse=True) == [len(level.faces) for level in levels]
    [flat] = triangulate(Grid.of(np.zeros((257, 257)), (0, 0), (1, 1)), [0.01])
    assert len(flat.faces) < 4 * 4 * 257  # the border is kept; a full mesh has 131 072
    assert flat.largest == 0.0


def test_progress_reaches_one():
    parts = []
    triangulate(grid_with_hole(200, 100), [0.1], parts.append)
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


def test_little_relief_has_finer_levels():
    grid = Grid.of(np.array([[0.0, 0.2], [0.1, 0.1]]), (0, 0), (1, 1))
    assert usual_errors(grid)[0] == pytest.approx(0.001)
    assert Land(World()).levels == []


def test_a_grid_of_a_scenario_has_levels():
    terrain = {"kind": "heightfield", "size": [10, 10], "heights": hills(20, 30).tolist()}
    land = Land(World(terrain=terrain))
    assert land.levels[0].largest <= land.levels[0].error
    assert land.levels[0].faces.max() == 599
