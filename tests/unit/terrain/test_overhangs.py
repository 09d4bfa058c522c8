"""What a grid of heights cannot hold: a bridge is a thing beside the ground, solid and open below."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.surveys import EAST, NORTH, cloud, raster

from airloom.scenario.models import World
from airloom.scenario.terrain import TerrainError
from airloom.terrain.build import build_terrain
from airloom.world.land import Land
from airloom.world.survey import Surveyed

DOWN, UP = np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.0, 1.0])


def land_of(folder: Path) -> Land:
    return Land(World.model_validate({"terrain": {"kind": "survey", "folder": str(folder)}}))


def look_at_bridge(land: Land, height: float, error: float) -> None:
    above, below = np.array([0.0, 0.0, 30.0]), np.array([0.0, 0.0, 2.0])
    assert 30 - land.hit(above, DOWN, 100.0) == pytest.approx(height, abs=error)
    assert 2 + land.hit(below, UP, 100.0) == pytest.approx(height, abs=error)
    assert land.hit(np.array([15.0, 0.0, 2.0]), UP, 100.0) == 100.0
    assert abs(land.height(0.0, 0.0)) < 0.3
    [bridge] = land.things
    tops = np.array([solid.extent for solid in bridge.solids])
    assert tops[:, 1, 2].max() == pytest.approx(height, abs=error)
    assert tops[:, 0, 2].min() > height - 1.0


def test_a_mesh_in_the_folder_is_a_thing(tmp_path):
    import trimesh

    folder = build_terrain(raster(tmp_path / "field.tif", np.full((80, 80), 100.0)))
    x, y = np.meshgrid(np.linspace(-5, 5, 11), np.linspace(-10, 10, 21))
    corners = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (part.ravel() for part in (corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:], corners[1:, :-1]))
    deck = trimesh.Trimesh(
        np.column_stack([x.ravel(), y.ravel(), np.full(x.size, 6.0)]),
        np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]),
    )
    (folder / "overhangs.ply").write_bytes(deck.export(file_type="ply"))
    about = json.loads((folder / "terrain.json").read_text())
    (folder / "terrain.json").write_text(json.dumps(about | {"overhangs": "overhangs.ply"}))
    look_at_bridge(land_of(folder), 6.0, 1e-3)
    (folder / "overhangs.ply").write_bytes(b"ply?")
    with pytest.raises(TerrainError, match=r"cannot be read as PLY: .*; build the terrain anew"):
        Surveyed(folder).overhangs  # noqa: B018


def test_a_scanned_bridge_is_meshed(tmp_path):
    pytest.importorskip("open3d", reason="needs the extra overhangs")
    rng = np.random.default_rng(0)
    ground = np.column_stack([rng.uniform([0, 0], [40, 40], (40_000, 2)), np.zeros(40_000)])
    deck = np.column_stack([rng.uniform([15, 5], [25, 35], (12_000, 2)), np.full(12_000, 6.0)])
    points = np.vstack([ground, deck]) + np.array([EAST, NORTH, 200.0])
    classes = np.repeat([2, 17], [len(ground), len(deck)]).astype(np.uint8)
    folder = build_terrain(cloud(tmp_path / "bridge.laz", points, classes), cell=0.5, overhangs=True)
    look_at_bridge(land_of(folder), 6.0, 0.05)
