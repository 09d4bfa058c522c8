"""Worlds with things in them: what is hit stops a vehicle, what is below is seen, equal runs have equal bits."""

from __future__ import annotations

import numpy as np
import pytest

import airloom as al
from airloom.net.json_lines import RequestError
from airloom.runs.link.editing import Scene
from airloom.scenario import known, load

HOUSE = {"house": {"kind": "house", "position": [10, 0], "size": [8, 8, 5], "roof": "flat"}}


def thrown(objects, position, velocity, **changes) -> al.Simulation:
    """An X500 without a controller, thrown like a stone."""
    drone = {
        "extends": "x500", "controller": None, "sensors": {"range": {"kind": "rangefinder", "max_distance": 100.0}},
        "pose": {"position": position}, "motion": {"velocity": velocity},
    }  # fmt: skip
    overrides = {"vehicles": {"drone": drone}, "systems": {}, "world": {"objects": objects}, **changes}
    return al.Simulation(load("hover", overrides))


@pytest.mark.parametrize("speed", [5.0, 30.0])
def test_a_vehicle_that_flies_into_a_house_stops_there(speed):
    sim = thrown(HOUSE, [5.0, 0.0, 3.0], [speed, 0.0, 0.0])
    reached = []
    for _ in range(15):
        sim.run(sim.time + 0.1)
        reached.append(sim.vehicles["drone"].position[0])
    assert 5.3 < max(reached) < 6.0, "the wall is at 6 m"
    free = thrown({}, [5.0, 0.0, 3.0], [speed, 0.0, 0.0])
    free.run(0.7)
    assert free.vehicles["drone"].position[0] > 8.0


def test_who_starts_inside_a_house_is_told_so():
    inside, beside = (thrown(HOUSE, [x, 0.0, 2.0], [0.0, 0.0, 0.0]) for x in (10.0, 3.0))
    assert any("starts inside 'house'" in warning for warning in inside.warnings)
    assert beside.warnings == []


def test_a_vehicle_comes_to_rest_on_a_roof_and_its_rangefinder_sees_it():
    sim = thrown(HOUSE, [10.0, 0.0, 9.0], [0.0, 0.0, 0.0])
    sim.step(10)
    assert float(sim.vehicles["drone"].readings["range"][0]) == pytest.approx(9.0 - 5.27, abs=0.05)
    sim.run(2.0)
    assert sim.vehicles["drone"].position[2] == pytest.approx(5.05, abs=0.02)


def test_wires_are_in_the_way():
    line = {"line": {"kind": "power_line", "path": [[0, -20], [0, 20]], "height": 6, "wires": 1, "sag": 0.0}}
    sim = thrown(line, [0.0, 0.0, 8.0], [0.0, 0.0, 0.0])
    sim.run(0.8)
    assert sim.vehicles["drone"].position[2] > 5.5
    sim = thrown({}, [0.0, 0.0, 8.0], [0.0, 0.0, 0.0])
    sim.run(0.8)
    assert sim.vehicles["drone"].position[2] < 5.0


@pytest.mark.parametrize("collision", ["hull", "boxes", "exact"])
@pytest.mark.parametrize("velocity", [(0.0, 0.0, 0.0), (0.0, 0.0, -20.0)])
def test_a_vehicle_falls_on_a_mesh_and_not_through_it(tmp_path, collision, velocity):
    import trimesh

    trimesh.creation.box((3.0, 3.0, 1.0)).export(tmp_path / "box.stl")
    own = {"kind": "mesh", "file": str(tmp_path / "box.stl"), "collision": collision, "position": [0, 0, 0.5]}
    hashes = set()
    for _ in range(2):
        sim = thrown({"own": own}, [0.2, 0.1, 3.0], velocity)
        sim.run(1.5)
        assert sim.vehicles["drone"].position[2] == pytest.approx(1.05, abs=0.02)
        hashes.add(sim.state_hash())
    assert len(hashes) == 1


def test_a_user_hears_of_a_missing_texture_when_the_run_begins(tmp_path):
    (tmp_path / "t.obj").write_text("mtllib gone.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    sim = thrown({"own": {"kind": "mesh", "file": str(tmp_path / "t.obj"), "collision": "none"}}, [5, 5, 1], [0, 0, 0])
    assert ["texture" in text for text in sim.warnings] == [True]


@pytest.mark.parametrize("name", ["village", "vineyard", "mountains"])
def test_bundled_worlds_stand_on_their_ground(name):
    assert name in known("world")
    sim = al.Simulation(load("hover", {"world": name, "engine": "batch"}))
    land = sim.fleet.land
    assert len(land.things) > 50
    assert abs(land.height(0.0, 0.0)) < 1e-3
    for thing in land.things[:: max(len(land.things) // 20, 1)]:
        low, high = thing.mesh.extent
        middle = (low + high) / 2
        assert low[2] < land.height(middle[0], middle[1]) + 2.0 < high[2] + 2.0
    triangles = sum(len(thing.mesh.faces) for thing in land.things)
    assert triangles < 140_000, "a page without a graphics card must still move"
    assert np.isfinite(land.array).all()


def test_nobody_is_put_into_a_thing():
    sim = thrown(HOUSE, [0.0, 0.0, 1.0], [0.0, 0.0, 0.0])
    scene = Scene(sim.scenario)
    scene.put("drone", scene.vehicles["drone"], [10.0, 1.0, 2.0], 0.3)
    with pytest.raises(RequestError, match="house is in the way"):
        scene.must_fit("drone", sim.vehicles, sim.fleet.land.things)
    scene.put("drone", scene.vehicles["drone"], [10.0, 1.0, 5.1], 0.3)
    scene.must_fit("drone", sim.vehicles, sim.fleet.land.things)
