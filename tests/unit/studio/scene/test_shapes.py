"""Vehicles look as their file says: extents, hubs, fronts, turning ways; meshes are whole and glTF says the same."""

import json
import struct

import numpy as np
import pytest

from airloom.scenario import load
from airloom.studio.scene import shapes
from airloom.studio.scene.fleet_view import ORANGE
from airloom.studio.scene.gltf import glb, linear
from airloom.studio.scene.hulls import hull_meshes
from airloom.world.meshes import beam, joined, ngon, painted, prism, rectangle

KINDS = ("crazyflie2", "iris", "x500", "hexarotor", "quad_plus")


def vehicle(kind: str):
    return load("hover", {"vehicles.cf": kind}).vehicles["cf"]


def volume(mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("kind", KINDS)
def test_vehicle_stands_on_the_bottom_of_its_body_and_reaches_its_hubs(kind):
    airframe = vehicle(kind)
    mesh = shapes.vehicle_mesh(airframe, ORANGE)
    low, _ = mesh.extent
    assert low[2] == pytest.approx(airframe.body.position[2] - airframe.body.size[2] / 2)
    for hub, rotor in zip(shapes.hubs(airframe), airframe.rotors.values(), strict=True):
        assert np.linalg.norm(mesh.vertices - hub, axis=1).min() < 0.2 * rotor.radius
    assert np.linalg.norm(mesh.vertices, axis=1).max() <= shapes.reach(airframe)


@pytest.mark.parametrize("kind", KINDS)
def test_discs_are_as_wide_as_the_rotors(kind):
    airframe = vehicle(kind)
    _, high = shapes.disc_mesh(airframe, ORANGE).extent
    widest = max(rotor.position[0] + rotor.radius for rotor in airframe.rotors.values())
    assert high[0] == pytest.approx(widest, rel=0.01)


def test_accent_is_in_front():
    mesh = shapes.vehicle_mesh(vehicle("x500"), ORANGE)
    is_accent = (mesh.colours[:, :3] == ORANGE).all(axis=1)
    assert is_accent.any()
    assert mesh.vertices[is_accent, 0].mean() > 0.05


def test_turning_ways_are_those_of_the_file():
    assert shapes.turning(vehicle("crazyflie2")).tolist() == [1.0, -1.0, 1.0, -1.0]


def test_a_tilted_rotor_has_a_tilted_disc():
    tilted = load("hover", {"vehicles.cf.rotors.front_left.axis": [1.0, 0.0, 0.0]}).vehicles["cf"]
    _, high = shapes.disc_mesh(tilted, ORANGE).extent
    rotor = tilted.rotors["front_left"]
    assert high[2] == pytest.approx(rotor.position[2] + rotor.radius, rel=0.01)


def test_solids_face_outwards():
    assert volume(prism(rectangle(2.0, 1.0), 0.0, 0.5, ORANGE)) == pytest.approx(1.0)
    assert volume(prism(rectangle(2.0, 1.0, 0.1), 0.0, 0.5, ORANGE)) == pytest.approx(1.0 - 4 * 0.005 * 0.5)
    assert volume(prism(ngon(1.0, 4), 0.0, 1.0, ORANGE)) == pytest.approx(2.0)
    assert volume(beam([0, 0, 0], [1, 2, 2], 0.1, 0.2, ORANGE)) == pytest.approx(3 * 0.1 * 0.2)


def test_gltf_holds_the_triangles():
    mesh = joined([prism(ngon(1.0, 5), 0.0, 1.0, ORANGE), painted(np.eye(3), [[0, 1, 2]], ORANGE)])
    data = glb(mesh)
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    document, numbers = parts_of(data)
    np.testing.assert_allclose(numbers["POSITION"], mesh.vertices, atol=1e-6)
    np.testing.assert_array_equal(numbers["index"].reshape(-1, 3), mesh.faces)
    np.testing.assert_allclose(numbers["COLOR_0"][:, :3], linear(mesh.colours[:, :3]), atol=1e-6)
    assert "NORMAL" not in numbers  # so that faces are flat
    assert document["materials"][0]["alphaMode"] == "OPAQUE"


def test_gltf_may_be_translucent_smooth_and_bring_its_light():
    mesh = painted(np.eye(3), [[0, 1, 2]], ORANGE, opacity=0.5)
    light, normals = np.array([[0.001, 0.5, 1.0]] * 3), np.array([[0.6, 0.0, 0.8]] * 3)
    document, numbers = parts_of(glb(mesh, light=light, normals=normals))
    np.testing.assert_allclose(numbers["COLOR_0"][:, :3], light, rtol=1e-6)
    np.testing.assert_allclose(numbers["COLOR_0"][:, 3], 128 / 255)
    np.testing.assert_allclose(numbers["NORMAL"], normals, rtol=1e-6)
    (material,) = document["materials"]
    assert (material["alphaMode"], document["extensionsUsed"]) == ("BLEND", list(material["extensions"]))


def parts_of(data: bytes):
    """The document in a binary glTF, and the numbers of its one mesh."""
    size = struct.unpack_from("<I", data, 12)[0]
    document, binary = json.loads(data[20 : 20 + size]), data[28 + size :]
    (primitive,) = document["meshes"][0]["primitives"]

    def numbers(accessor: int) -> np.ndarray:
        kind = document["accessors"][accessor]
        columns = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[kind["type"]]
        start = document["bufferViews"][kind["bufferView"]]["byteOffset"]
        found = np.frombuffer(binary, {5125: "<u4", 5126: "<f4"}[kind["componentType"]], columns * kind["count"], start)
        return found.reshape(-1, columns)

    accessors = {**primitive["attributes"], "index": primitive["indices"]}
    return document, {name: numbers(k) for name, k in accessors.items()}


def test_tilts_take_z_to_their_axes_by_the_shortest_way():
    axes = np.array([[0, 0, 1], [1, 0, 0], [0, -1, 0], [0, 0, -1], [0.6, 0, 0.8]], dtype=float)
    tilts = shapes.tilt(axes)
    np.testing.assert_allclose(tilts.apply(np.array([0.0, 0.0, 1.0])), axes, atol=1e-12)
    np.testing.assert_allclose(tilts.wxyz[:, 3], 0.0)


@pytest.mark.parametrize(("kind", "is_held"), [("boat", True), ("rov", False), ("airship", False)])
def test_hulls_that_lie_apart_are_held_together(kind, is_held):
    """A catamaran is one thing to see: something of it crosses its middle."""
    craft = load(kind).vehicles[kind]
    parts = len(craft.hull.shapes) + len(craft.rotors)
    drawn = hull_meshes(craft, ORANGE, 8)
    assert len(drawn) == parts + (4 if is_held else 0)
    if is_held:
        assert any(mesh.vertices[:, 1].min() < -0.3 and mesh.vertices[:, 1].max() > 0.3 for mesh in drawn)
