"""The ground as it is seen from above, with light and shadows in it."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from airloom.scenario.models import World
from airloom.scenario.terrain import TerrainFile
from airloom.studio.scene.daylight import daylight
from airloom.studio.scene.ground_picture import GroundPicture
from airloom.world.grid import ceilings_of
from airloom.world.land import Land

LEVEL = np.zeros((41, 41), dtype=np.float32)
FROM_EAST = {"sun": {"azimuth": 90.0, "elevation": 25.0}}


def survey(folder, heights, picture=None):
    np.save(folder / "heights.npy", heights)
    np.save(folder / "ceilings.npy", ceilings_of(heights))
    if picture is not None:
        Image.fromarray(picture).save(folder / "colour.png")
    about = TerrainFile(
        source="made up", latitude=47.0, longitude=8.0, altitude=400.0, rows=41, columns=41, cell=(1.0, 1.0),
        corner=(-20.0, -20.0), low=float(heights.min()), high=float(heights.max()),
        colour=None if picture is None else "colour.png",
    )  # fmt: skip
    (folder / "terrain.json").write_text(about.model_dump_json())
    return {"kind": "survey", "folder": str(folder)}


def picture_of(terrain, **world):
    made = World.model_validate({"terrain": terrain, "light": FROM_EAST, **world})
    return GroundPicture(Land(made), daylight(made))


def whole(picture):
    return picture.of(np.array([-20.0, -20.0]), np.array([20.0, 20.0])).astype(float).mean(axis=2)


def test_slopes_that_face_the_sun_are_brighter(tmp_path):
    ridge = np.tile(-np.abs(np.linspace(-6.0, 6.0, 41)), (41, 1)).astype(np.float32)
    seen = whole(picture_of(survey(tmp_path, ridge)))
    west, east = seen[:, : seen.shape[1] // 2 - 4].mean(), seen[:, seen.shape[1] // 2 + 4 :].mean()
    assert east > 1.2 * west


def test_a_wall_throws_its_shadow_away_from_the_sun(tmp_path):
    wall = LEVEL.copy()
    wall[:, 20] = 5.0
    seen = whole(picture_of(survey(tmp_path, wall)))
    place = seen.shape[1] * (np.array([-6.0, 6.0]) + 20.0) / 40.0
    behind, before = (seen[10:-10, int(at)].mean() for at in place)
    assert behind < 0.85 * before
    assert seen[10:-10, int(seen.shape[1] * 2 / 40)].mean() > 0.95 * before, "which ends somewhere"


def test_a_photograph_lies_where_it_was_taken(tmp_path):
    """Red in the north-west, blue in the south-east."""
    photo = np.full((80, 80, 3), 120, dtype=np.uint8)
    photo[:20, :20], photo[60:, 60:] = (200, 30, 30), (30, 30, 200)
    picture = picture_of(survey(tmp_path, LEVEL, photo))
    red = picture.of(np.array([-19.0, 12.0]), np.array([-12.0, 19.0])).mean(axis=(0, 1))
    blue = picture.of(np.array([12.0, -19.0]), np.array([19.0, -12.0])).mean(axis=(0, 1))
    assert red[0] > 2.0 * red[2]
    assert blue[2] > 2.0 * blue[0]


def test_things_throw_shadows(tmp_path):
    post = {"kind": "post", "position": [0.0, 0.0], "height": 6.0, "diameter": 1.0}
    bare = picture_of(survey(tmp_path, LEVEL))
    with_post = picture_of(survey(tmp_path, LEVEL), objects={"post": post})
    low, high = np.array([-8.0, -2.0]), np.array([-4.0, 2.0])
    one, other = (picture.of(low, high).astype(float) for picture in (bare, with_post))
    middle = other[len(other) // 2].mean()
    assert middle < 0.85 * one.mean()
    assert other[0].mean() == pytest.approx(one.mean(), rel=0.1)


def test_ground_that_nobody_has_photographed_has_grain_near_by(tmp_path):
    photo = np.full((80, 80, 3), 120, dtype=np.uint8)
    (tmp_path / "seen").mkdir()
    bare, photographed = (
        whole(picture_of(survey(f, LEVEL, p))) for f, p in ((tmp_path, None), (tmp_path / "seen", photo))
    )
    assert bare.std() > 1.0
    assert photographed.std() < 0.5
