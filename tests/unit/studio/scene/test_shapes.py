"""Vehicles look as their file says: extents, hubs, fronts, turning ways; meshes are whole and glTF says the same."""

import json
import struct

import numpy as np
import pytest

from airloom.scenario import load
from airloom.studio.scene import shapes
from airloom.studio.scene.fleet_view import ORANGE
from airloom.studio.scene.meshes import beam, glb, joined, ngon, painted, prism, rectangle
from airloom.studio.scene.quaternions import about_z, multiplied, rotated, shortest_from_z

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
    size = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + size])
    binary = data[28 + size :]
    position, _, index = document["accessors"]
    assert (position["count"], index["count"]) == (len(mesh.vertices), 3 * len(mesh.faces))
    vertices = np.frombuffer(binary, "<f4", 3 * position["count"]).reshape(-1, 3)
    np.testing.assert_allclose(vertices, mesh.vertices, atol=1e-6)
    start = document["bufferViews"][2]["byteOffset"]
    np.testing.assert_array_equal(np.frombuffer(binary, "<u4", index["count"], start), mesh.faces.ravel())
    assert document["materials"][0]["alphaMode"] == "OPAQUE"


def test_many_rotations_at_once():
    axes = np.array([[0, 0, 1], [1, 0, 0], [0, -1, 0], [0, 0, -1], [0.6, 0, 0.8]], dtype=float)
    np.testing.assert_allclose(rotated(shortest_from_z(axes), np.array([0.0, 0.0, 1.0])), axes, atol=1e-12)
    quarter = about_z(np.array(np.pi / 2))
    np.testing.assert_allclose(rotated(quarter, np.array([1.0, 0.0, 0.0])), [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(rotated(multiplied(quarter, quarter), np.array([1.0, 0.0, 0.0])), [-1, 0, 0], atol=1e-12)
