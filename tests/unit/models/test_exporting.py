"""Vehicles are written for other simulators, and come back as they were."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from tests import models

from airloom.models.description import ModelError, Pose
from airloom.models.exporting import export_model
from airloom.models.importing import import_model, read_description
from airloom.scenario.loader import load_vehicle

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


def test_wings_and_hulls_that_are_not_written_are_told(tmp_path):
    told = export_model("plane", "sdf", tmp_path / "plane").notes.ignored
    assert any("surfaces, aerodynamics and servos" in text for text in told)
    assert any("hull" in text for text in export_model("rov", "urdf", tmp_path / "rov").notes.ignored)
