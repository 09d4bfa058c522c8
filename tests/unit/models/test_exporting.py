"""Vehicles are written for other simulators, and come back as they were."""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from tests import models

import airloom as al
from airloom.models.description import ModelError, Pose
from airloom.models.exporting import export_model
from airloom.models.importing import import_model, read_description
from airloom.scenario.loader import load_vehicle
from airloom.vehicles.hull import hull_volume

NUMBERS = (
    "thrust_constant", "moment_constant", "drag_coefficient", "rolling_moment_coefficient", "time_constant_up",
    "time_constant_down", "max_speed", "radius",
)  # fmt: skip


@pytest.mark.parametrize("form", ["sdf", "urdf", "mjcf"])
@pytest.mark.parametrize("name", ["x500", "sprayer", "tilted.yaml"])
def test_what_is_written_comes_back(tmp_path, monkeypatch, name, form):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tilted.yaml").write_text(
        "extends: hexarotor\ncenter_of_mass: [0.01, -0.02, 0.03]\ninertia: {xy: 0.001, yz: -0.0005}\n"
        "rotors: {left: {axis: [0, 0.3, 1]}, right: {axis: [0.1, -0.2, -1]}}\n"
    )
    written = export_model(
        name, form, tmp_path / "there", None if form == "urdf" else Pose.of((1, 2, 3), (0.1, 0.2, 0.3))
    )
    back = load_vehicle(str(import_model(written.file, tmp_path / "back").file))
    there = load_vehicle(name)
    assert back.mass == pytest.approx(there.mass, rel=1e-9)
    np.testing.assert_allclose(back.center_of_mass, there.center_of_mass, atol=1e-9)
    np.testing.assert_allclose(back.inertia.matrix(), there.inertia.matrix(), rtol=1e-8, atol=1e-12)
    for ours, theirs in zip(back.rotors.values(), there.rotors.values(), strict=True):
        np.testing.assert_allclose(ours.position, theirs.position, atol=1e-9)
        np.testing.assert_allclose(ours.axis, np.array(theirs.axis) / np.linalg.norm(theirs.axis), atol=1e-9)
        assert ours.turns == theirs.turns
        assert [getattr(ours, key) for key in NUMBERS] == pytest.approx([getattr(theirs, key) for key in NUMBERS])
    assert back.body.size == pytest.approx(there.body.size)


def test_mujoco_reads_what_we_write(tmp_path):
    file = export_model("x500", "mjcf", tmp_path / "m", Pose.of((0, 0, 1))).file
    model = mujoco.MjModel.from_xml_path(str(file))
    vehicle = load_vehicle("x500")
    assert model.body_subtreemass[1] == pytest.approx(vehicle.mass)
    data = mujoco.MjData(model)
    data.ctrl[:] = vehicle.mass * 9.81 / 4
    for _ in range(100):
        mujoco.mj_step(model, data)
    np.testing.assert_allclose(data.qpos[:3], (0, 0, 1), atol=1e-9)
    np.testing.assert_allclose(data.qvel, 0, atol=1e-9)


@pytest.mark.parametrize("moments", [(0.002, 0.002), (0.003, 0.003), (0.001, 0.003)])
def test_a_body_as_flat_as_can_be_is_written_for_mujoco(tmp_path, moments):
    across, along = moments
    corners = [(0.1, -0.1), (-0.1, -0.1), (-0.1, 0.1), (0.1, 0.1)]
    props = "".join(
        f'<link name="prop{k}_link"><inertial><origin xyz="{x} {y} 0"/><mass value="0"/></inertial></link>'
        f'<joint name="j{k}" type="fixed"><parent link="base"/><child link="prop{k}_link"/></joint>'
        for k, (x, y) in enumerate(corners)
    )
    (tmp_path / "flat.urdf").write_text(
        '<robot name="flat"><properties kf="3e-8" km="8e-10" thrust2weight="2"/><link name="base"><inertial>'
        f'<mass value="0.5"/><inertia ixx="{across}" iyy="{along}" izz="{across + along}" ixy="0" ixz="0" iyz="0"/>'
        f"</inertial></link>{props}</robot>"
    )
    ours = import_model(tmp_path / "flat.urdf", tmp_path / "flat").file
    model = mujoco.MjModel.from_xml_path(str(export_model(str(ours), "mjcf", tmp_path / "m").file))
    np.testing.assert_allclose(sorted(model.body_inertia[1]), sorted((across, along, across + along)), rtol=1e-8)


def test_a_urdf_with_a_pose_becomes_sdf(tmp_path):
    (tmp_path / "tiny.urdf").write_text(models.GYM)
    file = export_model(str(tmp_path / "tiny.urdf"), "sdf", tmp_path / "out", Pose.of((1, 2, 0.5), (0, 0, 1.57))).file
    assert "<pose>1.0 2.0 0.5 0.0 0.0 1.57</pose>" in file.read_text()
    before, after = read_description(tmp_path / "tiny.urdf"), read_description(file)
    assert set(before.links) == set(after.links)
    assert after.links["base_link"].inertial.mass == 0.027


def test_imported_models_are_written_with_their_meshes_and_sensors(tmp_path):
    made = export_model(str(models.drone(tmp_path)), "urdf", tmp_path / "out")
    assert (tmp_path / "out/meshes/hull.stl").exists()
    again = read_description(made.file)
    sensors = {sensor.name for link in again.links.values() for sensor in link.sensors}
    assert {"imu_sensor", "gps", "front", "down"} <= sensors


def test_a_urdf_has_no_pose(tmp_path):
    with pytest.raises(ModelError, match="a URDF has no pose"):
        export_model("x500", "urdf", tmp_path / "x", Pose())


def flat(values, way=""):
    """All numbers and words of a vehicle by their place; directions have the length 1."""
    if isinstance(values, dict):
        for key, value in values.items():
            yield from flat(value, f"{way}.{key}")
    elif isinstance(values, list):
        numbers = np.array(values, dtype=float) if values and not isinstance(values[0], dict) else None
        scale = np.linalg.norm(numbers) if way.endswith((".axis", ".forward", ".up")) else 1.0
        for k, value in enumerate(values if numbers is None or numbers.ndim > 1 else (numbers / scale).tolist()):
            yield from flat(value, f"{way}[{k}]")
    else:
        yield way, values


def content(name):
    """A vehicle but for its meshes and start, and the water that its hull moves, whichever way it is given."""
    vehicle = load_vehicle(name)
    made = vehicle.model_dump(mode="json", exclude={"visuals", "rotor", "pose"})
    if vehicle.hull is not None:
        made["hull"]["added_mass"] = vehicle.hull.matrix(vehicle.center_of_mass).tolist()
        made["hull"]["volume"] = hull_volume(vehicle.hull)
        for shape in made["hull"]["shapes"].values():
            for key in ("vertices", "faces", "file"):
                shape.pop(key, None)
    return dict(flat(made))


def assert_same(back, there):
    assert set(back) == set(there)
    for key, value in there.items():
        assert back[key] == (pytest.approx(value, rel=1e-8, abs=1e-8) if isinstance(value, float) else value), key


@pytest.mark.parametrize("form", ["sdf", "urdf", "mjcf"])
@pytest.mark.parametrize("name", ["plane", "vtol", "airship", "rov", "boat", "sprayer"])
def test_all_of_a_vehicle_comes_back(tmp_path, name, form):
    written = export_model(name, form, tmp_path / "there")
    there, back = content(name), content(str(import_model(written.file, tmp_path / "back").file))
    assert_same(back, there)


def test_what_comes_back_flies_as_before(tmp_path):
    made = import_model(export_model("plane", "sdf", tmp_path / "there").file, tmp_path / "back")
    original = made.scenario.with_name("original.yaml")
    original.write_text(made.scenario.read_text().replace("plane.yaml", "plane"))
    places = []
    for scenario in (made.scenario, original):
        sim = al.Simulation.load(str(scenario), overrides={"engine": "batch", "duration": 10})
        sim.run()
        places.append(sim.vehicles["plane"].position)
    np.testing.assert_allclose(places[0], places[1], atol=1e-6)
    assert places[0][2] == pytest.approx(50, abs=3)


def without_what_is_ours(file):
    """As Gazebo sees it: the element for Airloom alone is gone."""
    text = file.read_text()
    begin, end = text.index("<airloom:vehicle"), text.index("</airloom:vehicle>") + len("</airloom:vehicle>")
    file.write_text(text[:begin] + text[end:])
    return file


def test_gazebos_own_words_hold_wings_and_servos(tmp_path):
    file = without_what_is_ours(export_model("vtol", "sdf", tmp_path / "there").file)
    back, there = load_vehicle(str(import_model(file, tmp_path / "back").file)), load_vehicle("vtol")
    for key in ("surfaces", "servos", "rotors"):
        ours, theirs = (
            dict(flat({name: each.model_dump(mode="json") for name, each in getattr(vehicle, key).items()}))
            for vehicle in (back, there)
        )
        assert_same(ours, theirs)
    assert back.controller.kind == "cascade"  # Gazebo has no word for who flies it


def test_gazebos_own_words_hold_hulls_and_thrusters(tmp_path):
    file = without_what_is_ours(export_model("rov", "sdf", tmp_path / "there").file)
    back, there = load_vehicle(str(import_model(file, tmp_path / "back").file)), load_vehicle("rov")
    assert hull_volume(back.hull) == pytest.approx(hull_volume(there.hull), rel=1e-9)
    np.testing.assert_allclose(back.hull.matrix(), there.hull.matrix(), atol=1e-9)
    assert (back.hull.damping, back.hull.quadratic_damping) == (there.hull.damping, there.hull.quadratic_damping)
    for ours, theirs in zip(back.rotors.values(), there.rotors.values(), strict=True):
        assert ours.in_water.reverse == pytest.approx(theirs.in_water.reverse)
        assert (ours.thrust_constant, ours.max_speed) == pytest.approx((theirs.thrust_constant, theirs.max_speed))


def test_what_a_format_has_no_words_for_is_told(tmp_path):
    plane = export_model("plane", "sdf", tmp_path / "plane")
    assert {"wheels", "rotors.*.advance", "aerodynamics.blend"} <= set(plane.beyond)
    assert not {"servos", "surfaces", "aerodynamics"} & set(plane.beyond)
    assert {"servos", "aerodynamics"} <= set(export_model("plane", "mjcf", tmp_path / "mjcf").beyond)
    boat = export_model("boat", "urdf", tmp_path / "boat")
    assert any("Buoyancy" in text for text in boat.notes.ignored)
    assert "hull" not in boat.beyond
    assert "hull" in export_model("boat", "mjcf", tmp_path / "mjcf_boat").beyond


def test_tables_in_files_stay_behind_and_are_told(tmp_path):
    (tmp_path / "wing.csv").write_text("alpha,CL,CD,CM\n-10,-0.8,0.03,0\n0,0,0.01,0\n10,0.8,0.03,0\n")
    (tmp_path / "v.yaml").write_text(
        "extends: vtol\nsurfaces: {extra: {position: [0, 0, 0], area: 0.1, polar: wing.csv}}\n"
    )
    told = export_model(str(tmp_path / "v.yaml"), "sdf", tmp_path / "out")
    assert any("surfaces.extra.polar, a table in the file wing.csv" in text for text in told.notes.ignored)
    assert str(tmp_path) not in told.file.read_text()


@pytest.mark.parametrize("form", ["sdf", "urdf"])
def test_a_body_as_flat_as_can_be_is_written_as_one_without_its_rotors(tmp_path, monkeypatch, form):
    """As the Firefly of RotorS: its rotors are links of their own, and what is left must be a body, too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flat.yaml").write_text("extends: hexarotor\ninertia: {xx: 0.02, yy: 0.03, zz: 0.05}\n")
    written = export_model("flat.yaml", form, tmp_path / "written").file
    inertia = next(element for element in ElementTree.parse(written).iter("inertia"))
    found = {part.tag: part.text for part in inertia} or inertia.attrib
    moments = np.array([[float(found["i" + "".join(sorted(a + b))]) for b in "xyz"] for a in "xyz"])
    small, middle, large = np.linalg.eigvalsh(moments)
    assert large <= small + middle
