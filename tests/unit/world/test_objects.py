"""Things of a world: closed shapes with solids within them, in places that a rule gives, the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.scenario import load
from airloom.scenario.models import World
from airloom.scenario.objects import ObjectError
from airloom.world.land import Land
from airloom.world.objects import oddities
from airloom.world.objects.mesh_file import is_watertight
from airloom.world.objects.scattering import is_inside
from airloom.world.overlap import Upright, thing_within

PATH = [[0.0, 0.0], [12.0, 2.0], [20.0, 9.0]]
TRIANGLE = [[-30.0, -20.0], [40.0, -10.0], [0.0, 35.0]]
KINDS = {
    "broadleaf": {"kind": "tree"},
    "wood": {"kind": "tree", "scatter": {"kind": "grid", "columns": 2, "spacing": [8, 8]}},
    "conifer": {"kind": "tree", "form": "conifer", "height": 20},
    "poplar": {"kind": "tree", "form": "poplar", "width": 3},
    "bush": {"kind": "tree", "form": "bush"},
    "gable": {"kind": "house"},
    "hip": {"kind": "house", "roof": "hip", "yaw": 0.7},
    "flat": {"kind": "house", "roof": "flat", "size": [20, 12, 9]},
    "car": {"kind": "car", "yaw": 0.1},
    "post": {"kind": "post"},
    "rails": {"kind": "fence", "path": PATH},
    "pickets": {"kind": "fence", "form": "pickets", "path": PATH},
    "wire": {"kind": "fence", "form": "wire", "path": PATH},
    "line": {"kind": "power_line", "path": [[0, 0], [40, 0], [80, 20]]},
    "vines": {"kind": "vine_row", "path": PATH},
    "old_vines": {"kind": "vine_row", "path": [[0, 0], [60, 0]], "missing": 0.3},
}


def land_with(objects, **world) -> Land:
    return Land(World.model_validate({"objects": objects, **world}))


def edges_of(faces: np.ndarray) -> np.ndarray:
    """How often each edge is there, those of opposite ways counting against each other."""
    ends = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    signs = np.where(ends[:, 0] < ends[:, 1], 1, -1)
    _, same = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    return np.bincount(same.ravel(), signs)


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_closed_and_its_solids_are_within_it(name):
    for thing in land_with({name: KINDS[name]}).things:
        low, high = thing.mesh.extent
        assert (edges_of(thing.mesh.faces) == 0).all(), "every edge has a triangle on both sides"
        corners = thing.mesh.vertices[thing.mesh.faces]
        assert np.einsum("ij,ij->", np.cross(corners[:, 0], corners[:, 1]), corners[:, 2]) > 0.0, "it faces outwards"
        assert thing.solids
        for solid in thing.solids:
            assert (solid.extent[0] >= low - 0.02).all()
            assert (solid.extent[1] <= high + 0.02).all()
        assert low[2] < 0.05, "it stands on the ground"


def test_things_stand_on_hills():
    objects = {
        "tree": {"kind": "tree", "position": [20, 10]},
        "fence": {"kind": "fence", "path": [[-20, -20], [20, 20]]},
    }
    land = Land(load("hover", {"world": {"extends": "hills", "objects": objects}}).world)
    tree, fence = land.things
    assert tree.mesh.extent[0][2] == pytest.approx(land.height(20, 10), abs=0.4)
    heights = [land.height(*solid.position[:2]) for solid in fence.solids]
    assert [solid.position[2] for solid in fence.solids] == pytest.approx(np.array(heights) + 0.6, abs=0.15)
    assert max(heights) - min(heights) > 1.0


def test_a_height_that_is_given_counts():
    (tree,) = land_with({"tree": {"kind": "tree", "position": [0, 0, 7.5]}}).things
    assert tree.solids[0].position[2] - tree.solids[0].half[2] == pytest.approx(7.5)


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "random", "polygon": TRIANGLE, "count": 50, "apart": 3},
        {"kind": "rows", "polygon": TRIANGLE, "between": 6, "spacing": 7, "heading": 0.4},
    ],
)
def test_what_is_scattered_stands_in_its_polygon_and_the_same_every_time(rule):
    objects = {"post": {"kind": "post", "scatter": {**rule, "scale": [0.5, 1.5], "turn": 3.0}}}
    things, again = (land_with(objects).things for _ in range(2))
    middles = np.array([thing.solids[0].position for thing in things])
    assert len(things) > 20
    assert all(is_inside(np.array(TRIANGLE), x, y) for x, y, _ in middles)
    assert all(np.array_equal(a.mesh.vertices, b.mesh.vertices) for a, b in zip(things, again, strict=True))
    heights = np.array([thing.mesh.extent[1][2] for thing in things])
    assert heights.min() >= 1.0 - 1e-9
    assert heights.max() <= 3.0 + 1e-9
    assert np.ptp(heights) > 0.5
    other = land_with({"post": {"kind": "post", "scatter": {**rule, "scale": [0.5, 1.5], "seed": 1}}}).things
    assert not np.array_equal(things[0].mesh.vertices, other[0].mesh.vertices)


def test_what_stands_at_random_keeps_its_distance():
    rule = {"kind": "random", "polygon": TRIANGLE, "count": 60, "apart": 4}
    middles = np.array([t.solids[0].position[:2] for t in land_with({"p": {"kind": "post", "scatter": rule}}).things])
    apart = np.linalg.norm(middles[:, None] - middles, axis=2)
    assert apart[apart > 0].min() >= 4.0
    assert len(middles) == 60


def test_a_grid_is_turned_with_its_object():
    rule = {"kind": "grid", "columns": 3, "rows": 2, "spacing": [4, 6]}
    things = land_with({"p": {"kind": "post", "position": [10, 20], "yaw": np.pi / 2, "scatter": rule}}).things
    middles = np.array([thing.solids[0].position[:2] for thing in things])
    assert middles.mean(axis=0) == pytest.approx([10, 20])
    assert np.ptp(middles, axis=0) == pytest.approx([6, 8])
    assert things[4].name == "p_4"


def test_vines_in_rows_run_from_edge_to_edge():
    rule = {"kind": "rows", "polygon": [[0, 0], [30, 0], [30, 10], [0, 10]], "between": 2.5}
    rows = land_with({"vines": {"kind": "vine_row", "scatter": rule}}).things
    assert len(rows) == 4
    low, high = rows[1].mesh.extent
    assert low[0] == pytest.approx(0.0, abs=0.1)
    assert high[0] == pytest.approx(30.0, abs=0.1)
    assert (low[1] + high[1]) / 2 == pytest.approx(3.75, abs=0.1)


def test_gaps_of_dead_vines_are_seen_and_flown_through():
    (row,) = land_with({"old": {"kind": "vine_row", "path": [[0, 0], [300, 0]], "missing": 0.3}}).things
    land = land_with({"old": {"kind": "vine_row", "path": [[0, 0], [300, 0]], "missing": 0.3}})
    hits = [land.hit(np.array([x, -2.0, 1.2]), np.array([0.0, 1.0, 0.0]), 4.0) < 4.0 for x in np.arange(0.5, 300, 1.0)]
    assert np.mean(hits) == pytest.approx(0.7, abs=0.1)
    solid = sum(2 * solid.half[0] for solid in row.solids)
    assert solid == pytest.approx(300 * np.mean(hits), rel=0.05)


def test_wires_sag_as_told():
    (line,) = land_with({"line": {"kind": "power_line", "path": [[0, 0], [40, 0]], "height": 9, "sag": 1.5}}).things
    wires = [solid for solid in line.solids if solid.shape == "capsule"]
    lowest = min(solid.position[2] for solid in wires)
    ends = 9 - 0.5 + 0.2
    assert lowest == pytest.approx(ends - 1.5, abs=0.1)


# -- meshes of users --------------------------------------------------------------------------------------------------


@pytest.fixture
def box_file(tmp_path):
    import trimesh

    def write(name: str, **parts):
        file = tmp_path / name
        box = trimesh.creation.box((2.0, 3.0, 1.0))
        if parts.get("open"):
            box.update_faces(np.arange(len(box.faces)) > 1)
        box.export(file)
        return str(file)

    return write


@pytest.mark.parametrize("name", ["box.stl", "box.obj", "box.glb", "box.ply", "box.off", "box.dae"])
def test_meshes_are_read_in_their_scale_and_colour(box_file, name):
    own = {"kind": "mesh", "file": box_file(name), "scale": 0.5, "colour": [10, 200, 30], "position": [4, 5, 6]}
    (thing,) = land_with({"own": own}).things
    low, high = thing.mesh.extent
    assert low == pytest.approx([3.5, 4.25, 5.75])
    assert high == pytest.approx([4.5, 5.75, 6.25])
    assert thing.mesh.colours[0].tolist() == [10, 200, 30, 255]


@pytest.mark.parametrize(
    ("collision", "shapes"), [("hull", ["hull"]), ("exact", ["exact"]), ("boxes", ["box"]), ("none", [])]
)
def test_what_is_touched_of_a_mesh_is_chosen(box_file, collision, shapes):
    (thing,) = land_with({"own": {"kind": "mesh", "file": box_file("b.stl"), "collision": collision}}).things
    assert [solid.shape for solid in thing.solids] == shapes
    for solid in thing.solids:
        assert np.array(solid.extent) == pytest.approx(np.array([[-1, -1.5, -0.5], [1, 1.5, 0.5]]), abs=1e-6)


def test_boxes_fill_a_ring_but_not_its_hole(tmp_path):
    import trimesh

    file = tmp_path / "ring.stl"
    trimesh.creation.torus(2.0, 0.5).export(file)
    (thing,) = land_with({"own": {"kind": "mesh", "file": str(file), "collision": "boxes"}}).things
    low, high = (np.array([solid.extent[k] for solid in thing.solids]) for k in (0, 1))
    assert 4 < len(thing.solids) < 200
    assert not ((low[:, :2] < 0).all(axis=1) & (high[:, :2] > 0).all(axis=1)).any(), "nothing covers the hole"
    volume = np.prod(high - low, axis=1).sum()
    assert volume == pytest.approx(2 * np.pi**2 * 2.0 * 0.5**2, rel=0.4)


def test_a_user_is_told_if_fewer_stand_there_than_were_asked_for():
    wood = {
        "kind": "tree",
        "scatter": {"kind": "random", "polygon": [[0, 0], [10, 0], [10, 10]], "count": 90, "apart": 3},
    }
    land = land_with({"wood": wood, "post": {"kind": "post", "position": [30, 0]}})
    standing = len(land.things) - 1
    assert 3 <= standing < 20
    assert oddities(land.world, land.things) == [
        f"wood: only {standing} of 90 fit into the polygon; have fewer, or less apart"
    ]
    wood["scatter"]["count"] = 2
    land = land_with({"wood": wood})
    assert not oddities(land.world, land.things)


def test_a_user_is_told_what_is_odd_about_a_mesh(box_file, tmp_path):
    is_open = {"kind": "mesh", "file": box_file("open.stl", open=True), "collision": "boxes"}
    land = land_with({"own": is_open})
    assert not is_watertight(land.things[0].mesh)
    assert "not watertight" in oddities(land.world, land.things)[0]
    (tmp_path / "t.obj").write_text(
        "mtllib t.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl a\nf 1/1 2/2 3/3\n"
    )
    (tmp_path / "t.mtl").write_text("newmtl a\nmap_Kd gone.png\n")
    land = land_with({"own": {"kind": "mesh", "file": str(tmp_path / "t.obj"), "collision": "exact"}})
    assert "texture" in oddities(land.world, land.things)[0]
    assert len(land.things[0].mesh.faces) == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.stl", "hello", "no triangles|cannot be read"),
        ("a.glb", "glTFxxxxxxxxxxxx", "cannot be read as GLB"),
        ("a.obj", "", "no triangles"),
        ("a.fbx", "x", "known are .obj"),
        ("a.off", "OFF\n3 1 0\n0 0 0\nnan 0 0\n0 1 0\n3 0 1 2\n", "finite|cannot be read|no triangles"),
    ],
)
def test_files_that_are_no_meshes_are_refused(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(ObjectError, match=said):
        _ = land_with({"own": {"kind": "mesh", "file": str(tmp_path / name)}}).things


@pytest.mark.parametrize(("changes", "said"), [
    ({"scale": 1e6}, "scale: 0.001"), ({"scale": 1e-6}, "scale: 0.001"), ({"file": "gone.stl"}, "no such file"),
])  # fmt: skip
def test_absurd_sizes_and_missing_files_are_refused(box_file, changes, said):
    with pytest.raises(ObjectError, match=said):
        _ = land_with({"own": {"kind": "mesh", "file": box_file("b.stl"), **changes}}).things


def test_a_flat_mesh_has_no_hull(tmp_path):
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    own = {"kind": "mesh", "file": str(tmp_path / "flat.obj")}
    with pytest.raises(ObjectError, match="is flat, and has no hull"):
        _ = land_with({"own": own}).things


# -- what they are to others ------------------------------------------------------------------------------------------


def test_rays_meet_roofs_and_trees():
    land = land_with({"house": {"kind": "house", "roof": "flat", "size": [10, 8, 5]}})
    down = land.hit(np.array([0.0, 0.0, 20.0]), np.array([0.0, 0.0, -1.0]), 100.0)
    assert down == pytest.approx(20 - 5.27, abs=0.05)
    aside = land.hit(np.array([30.0, 0.0, 2.0]), np.array([-1.0, 0.0, 0.0]), 100.0)
    assert aside == pytest.approx(25.0, abs=0.2)


def test_whoever_is_within_a_thing_is_found():
    things = land_with({"house": {"kind": "house", "yaw": 0.6}, "tree": {"kind": "tree", "position": [30, 0]}}).things
    half = np.array([0.2, 0.2, 0.1])
    assert thing_within(things, Upright("box", np.array([1.0, 2.0, 1.0]), half, 0.0)) == "house"
    assert thing_within(things, Upright("box", np.array([30.0, 0.0, 5.0]), half, 1.0)) == "tree"
    assert thing_within(things, Upright("box", np.array([15.0, 0.0, 0.1]), half, 0.0)) is None
    assert thing_within(things, Upright("box", np.array([0.0, 0.0, 9.0]), half, 0.0)) is None
