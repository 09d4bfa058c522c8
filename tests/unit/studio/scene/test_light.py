"""Light without a browser: colours that come out as wished, a sky without a seam, shadows where the sun throws them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from airloom.scenario import load
from airloom.scenario.models import Obstacle, World
from airloom.studio.scene import tones
from airloom.studio.scene.daylight import daylight
from airloom.studio.scene.gltf import linear
from airloom.studio.scene.ground_picture import GroundPicture
from airloom.studio.scene.shade import shade_cloth, shade_of
from airloom.studio.scene.shadows import fallen, lying, obstacle_shadow, vehicle_shadow
from airloom.studio.scene.shapes import reach
from airloom.studio.scene.sky import BRIGHTEST, encoded, sky_image
from airloom.studio.scene.things import thing_nodes
from airloom.world.ground import ground
from airloom.world.land import Land

LANDS = []  # their arrays must live
DAY = daylight(World())
SUNLIGHT = DAY.sunlight


def shown(light):
    """What three.js makes of light: its film's curve, then sRGB."""
    v = tones.EXPOSURE * np.asarray(light) @ tones._IN.T
    film = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081)
    return encoded(np.clip(film @ tones._OUT.T, 0.0, 1.0))


def world(name):
    scenario = load("hover", {"world": name})
    land = Land(scenario.world)
    LANDS.append(land)
    return land.world, land.array


@pytest.mark.parametrize("colour", [(206, 224, 240), (28, 84, 172), (150, 150, 144), (20, 20, 20)])
def test_light_comes_out_as_the_colour_that_was_wished(colour):
    assert shown(tones.light_seen_as(np.array(colour))) == pytest.approx(colour, abs=0.5)


def test_the_sky_has_no_seam_where_the_haze_over_the_ground_ends():
    """Haze is not bent by the film's curve, the sky is: at the horizon they are the same."""
    picture = np.asarray(Image.open(io.BytesIO(sky_image(DAY))), dtype=float)
    horizon = shown(BRIGHTEST * linear(picture[len(picture) // 2].mean(axis=0)))
    assert horizon == pytest.approx(DAY.haze, abs=3.0)
    assert picture[0].mean(axis=0)[2] > 2.0 * picture[0].mean(axis=0)[0], "it is blue above"


def test_shadows_fall_along_the_sunlight_on_ground_and_roofs():
    _, flat = world("empty")
    (point, *rest) = fallen(flat, np.array([[1.0, 2.0, 3.0], [0.0, 0.0, -1.0], [0.0, 0.0, 1e5]]), SUNLIGHT)
    assert point[2] == pytest.approx(0.0, abs=1e-9)
    assert np.cross(point - [1.0, 2.0, 3.0], SUNLIGHT) == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    assert np.isnan(rest).all()
    obstacles, array = world("obstacles")
    house = obstacles.obstacles["house"]
    roof = house.position[2] + house.size[2] / 2
    (point,) = fallen(array, np.array([[*house.position[:2], roof + 0.5]]), SUNLIGHT)
    assert point[2] == pytest.approx(roof)


def test_shadows_lie_on_slopes():
    _, hills = world("hills")
    places = np.array([[12.0, 7.0, 0.0], [-9.0, 15.0, 0.0]])
    for (_, east, north), (w, x, y, z) in zip(
        (ground(hills, *place[:2]) for place in places), lying(hills, places, np.array([0.3, -2.0])), strict=True
    ):
        up = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        normal = np.array([-east, -north, 1.0])
        assert up == pytest.approx(normal / np.linalg.norm(normal), abs=1e-6)


@pytest.mark.parametrize("shape", ["box", "cylinder", "sphere"])
def test_the_shadow_of_an_obstacle_begins_at_its_foot_and_is_as_long_as_the_sun_is_low(shape):
    _, flat = world("empty")
    obstacle = Obstacle(shape=shape, size=(2.0, 2.0, 2.0), position=(5.0, 1.0, 1.0), yaw=0.4)
    mesh = obstacle_shadow(obstacle, flat, SUNLIGHT)
    outline = mesh.vertices[:, :2]
    away = SUNLIGHT[:2] / np.linalg.norm(SUNLIGHT[:2])
    along = (outline - [5.0, 1.0]) @ away
    assert along.min() == pytest.approx(-1.0, abs=0.6)
    assert along.max() > 2.0
    corner, second, third = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    assert (np.cross(second - corner, third - corner)[:, 2] > -1e-9).all(), "all of it faces the sky"


def test_the_shadow_of_a_vehicle_is_flat_and_as_wide_as_the_vehicle():
    vehicle = load("hover").vehicles["cf"]
    mesh = vehicle_shadow(vehicle)
    assert np.ptp(mesh.vertices[:, 2]) == 0.0
    assert 0.7 * reach(vehicle) < np.linalg.norm(mesh.vertices, axis=1).max() < 1.1 * reach(vehicle)


def test_no_shadow_falls_when_the_sun_is_below_the_horizon():
    _, flat = world("empty")
    night = daylight(World.model_validate({"light": {"sun": {"elevation": -20.0}}}))
    assert not night.casts_shadows
    assert np.isnan(fallen(flat, np.array([[0.0, 0.0, 2.0]]), night.sunlight)).all()
    assert night.day < 0.1 < daylight(World()).day
    assert night.sun_strength == 0.0
    assert np.max(night.haze) < 20


def test_a_low_sun_is_warm_and_the_file_s_own_colours_count():
    evening = daylight(World.model_validate({"light": {"sun": {"elevation": 4.0}}}))
    red, _, blue = evening.sun_colour
    assert red > 1.8 * blue
    assert evening.haze[0] > evening.haze[2]
    own = {"sky": [10, 20, 30], "fog": {"distance": 90.0, "colour": [1, 2, 3]}, "brightness": 0.5}
    light = daylight(World.model_validate({"light": own}))
    assert light.sky[90.0] == pytest.approx([10, 20, 30])
    assert light.haze == pytest.approx([1, 2, 3])
    assert light.haze_to == 90.0
    assert light.sun_strength == pytest.approx(0.5)


def land_with(objects, **parts) -> Land:
    return Land(World.model_validate({"objects": objects, **parts}))


def test_the_shadow_of_a_thing_lies_away_from_the_sun_and_is_as_long_as_it_is_low():
    land = land_with(
        {"post": {"kind": "post", "height": 10, "diameter": 0.6}}, light={"sun": {"azimuth": 180, "elevation": 45}}
    )
    shade = shade_of(land, daylight(land.world).sunlight)
    rows, columns = np.nonzero(shade.picture > 128)
    tall, wide = shade.picture.shape
    north = shade.high[1] - (rows + 0.5) / tall * (shade.high[1] - shade.low[1])
    east = shade.low[0] + (columns + 0.5) / wide * (shade.high[0] - shade.low[0])
    assert north.max() == pytest.approx(10.0, abs=0.4), "the sun is in the south, so it falls to the north"
    assert np.abs(east).max() < 0.5
    vertices, faces, places, picture = shade_cloth(shade, land)
    assert picture.shape == (tall, wide, 4)
    assert faces.max() < len(vertices) == len(places)


def test_made_up_ground_has_shadows_in_its_picture():
    terrain = {"kind": "meadow", "size": [60, 60], "cell": 6, "relief": 0.0, "roughness": 0.0}
    tower = {"tower": {"kind": "house", "roof": "flat", "size": [8, 8, 12]}}
    bare, built = (land_with(objects, terrain=terrain) for objects in ({}, tower))
    corners = np.array([-30.0, -30.0]), np.array([30.0, 30.0])
    light, dark = (GroundPicture(land, daylight(land.world)).of(*corners).astype(float) for land in (bare, built))
    assert light.shape == dark.shape == (400, 400, 3), "0.15 m is fine enough"
    shaded = (dark.mean(axis=2) < 0.8 * light.mean(axis=2)).mean()
    assert 0.02 < shaded < 0.2


def test_many_things_are_few_nodes():
    objects = {
        "wood": {"kind": "tree", "scatter": {"kind": "grid", "columns": 9, "rows": 9, "spacing": [9, 9]}},
        "house": {"kind": "house", "position": [100, 0]},
        "car": {"kind": "car", "position": [120, 0]},
    }
    land = land_with(objects)
    nodes = thing_nodes(land, daylight(land.world))
    assert sorted(nodes) == ["edged", "leafy"]
    assert all(node[:4] == b"glTF" for node in nodes.values())
