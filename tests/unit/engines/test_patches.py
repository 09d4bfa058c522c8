"""MuJoCo's ground is a small piece under each vehicle: nobody may feel where it ends, or how it came there."""

from __future__ import annotations

import numpy as np
import pytest
from validation.case import body, simulate, the_body

from airloom.engines.patches import PatchSize
from airloom.scenario.models import Scenario
from airloom.scenario.terrain import TerrainFile
from airloom.simulation import Simulation
from airloom.world.grid import Grid, ceilings_of

EAST = np.linspace(-30.0, 30.0, 241)
ROLLING = 0.4 * np.sin(EAST / 2.0)[None, :] + 0.3 * np.cos(EAST / 3.0)[:, None]


def ground(tmp_path, heights):
    np.save(tmp_path / "heights.npy", heights)
    return {"terrain": {"kind": "heightfield", "size": (60, 60), "file": str(tmp_path / "heights.npy")}}


def slide(world, speed=(8.0, 1.0, 0.0), position=(-20.0, 0.03, 0.06), ticks=2000):
    sim = simulate(body(pose={"position": position}, motion={"velocity": speed}), "mujoco", world=world)
    (vehicle,) = sim.vehicles.values()
    way = []
    for _ in range(ticks // 10):
        sim.step(10)
        way.append([*vehicle.position, *vehicle.velocity])
    return np.array(way), sim


def test_a_box_slides_over_many_patches_as_over_a_plane(tmp_path):
    """Six metres, a patch being moved at every one: it comes to rest where the plane's does."""
    (over_patches, _), (over_plane, _) = slide(ground(tmp_path, np.zeros((241, 241)))), slide({})
    assert np.ptp(over_patches[:, 0]) > 5.0
    assert over_patches[-1, :3] == pytest.approx(over_plane[-1, :3], abs=0.05)
    assert over_patches[:, 2].max() < over_plane[:, 2].max() + 0.02, "no bump"


def test_two_boxes_on_one_place_do_not_feel_the_other_s_ground(tmp_path):
    """A box whose patch lies in another's rests as deep as one that is alone."""
    world = ground(tmp_path, np.zeros((241, 241)))
    depths = []
    for x in (1.0, 25.0):
        one, other = body(pose={"position": (0.0, 0.0, 0.06)}), body(pose={"position": (x, 0.0, 0.06)})
        fields = {"name": "two", "engine": {"kind": "mujoco"}, "world": world, "vehicles": {"one": one, "other": other}}
        sim = Simulation(Scenario.model_validate(fields))
        sim.run(1.0)
        depths.append(next(iter(sim.vehicles.values())).position[2])
    assert depths[0] == depths[1]


def test_contacts_follow_from_the_state_alone(tmp_path):
    """Begun anew after a flight elsewhere, everything is as it was the first time."""
    way, sim = slide(ground(tmp_path, ROLLING), position=(-20.0, 0.03, 1.0))
    first = sim.state_hash()
    sim.reset()
    sim.run(2.0)
    assert sim.state_hash() == first
    assert np.ptp(way[:, 0]) > 2.0


def test_an_edit_in_flight_changes_nothing_for_the_others(tmp_path):
    _, sim = slide(ground(tmp_path, ROLLING), position=(-20.0, 0.03, 1.0), ticks=700)
    _, edited = slide(ground(tmp_path, ROLLING), position=(-20.0, 0.03, 1.0), ticks=700)
    edited.change(edited.scenario.model_copy(update={"description": "another"}))
    sim.step(500)
    edited.step(500)
    (one,), (two,) = sim.vehicles.values(), edited.vehicles.values()
    assert one.position.tolist() == two.position.tolist()


@pytest.mark.parametrize("engine", ["mujoco", "rk4"])
def test_a_hole_in_a_survey_has_a_floor(tmp_path, engine):
    heights = np.full((241, 241), 2.0, dtype=np.float32)
    heights[:, 120:], heights[0, 0] = np.nan, -1.0
    np.save(tmp_path / "heights.npy", heights)
    np.save(tmp_path / "ceilings.npy", ceilings_of(heights))
    about = TerrainFile(
        source="made up", latitude=47.0, longitude=8.0, altitude=400.0, rows=241, columns=241, cell=(0.25, 0.25),
        corner=(-30.0, -30.0), low=-1.0, high=2.0, holes=int(np.isnan(heights).sum()),
    )  # fmt: skip
    (tmp_path / "terrain.json").write_text(about.model_dump_json())
    world = {"terrain": {"kind": "survey", "folder": str(tmp_path)}}
    for x, floor in ((10.0, -1.0), (-10.0, 2.0)):
        sim = simulate(body(pose={"position": (x, 0.0, 2.5)}), engine, world=world)
        assert sim.scenario.world.origin.altitude == 400.0
        sim.run(3.0)
        assert the_body(sim).position[2] == pytest.approx(floor + 0.05, abs=0.01)


@pytest.mark.parametrize("engine", ["mujoco", "rk4"])
@pytest.mark.parametrize("way", [(1.0, 0.0), (0.0, -1.0), (-0.6, 0.8)])
def test_nobody_gets_into_a_plateau_from_its_side(tmp_path, engine, way):
    """Thrown at its edge from the level ground around, at 10 m/s: it stays outside, and near."""
    heights = np.full((241, 241), 8.0)
    heights[120, 120] = 0.0
    away = -np.array(way) * 34.0 / max(map(abs, way))
    sim = simulate(
        body(pose={"position": (*away, 0.5)}, motion={"velocity": (10.0 * way[0], 10.0 * way[1], 0.0)}), engine,
        world=ground(tmp_path, heights),
    )  # fmt: skip
    for _ in range(60):
        sim.step(50)
        x, y, z = the_body(sim).position
        assert z > sim.fleet.land.height(x, y) - 0.1
    assert 29.5 < max(abs(x), abs(y)) < 45.0


def test_a_patch_is_small_however_large_the_ground_is():
    heights = np.broadcast_to(np.float32(0.0), (8001, 8001))
    grid = Grid(heights, np.zeros((500, 500), np.float32), (-2000.0, -2000.0), (0.5, 0.5), 0.0, 0.0)
    size = PatchSize.of(grid, 0.4)
    assert size.rows == size.columns <= 16
    assert size.columns >= 2 * size.need + size.stride
    assert PatchSize.of(Grid.of(np.zeros((3, 2)), (0.0, 0.0), (1.0, 1.0)), 5.0)[2:] == (5, 4)
