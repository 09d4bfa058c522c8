"""Solids whose mass, centre and inertia are known, and meshes with gaps."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests import models
from tests.step_files import StepBox

from airloom.models.description import ModelError
from airloom.models.solids import diagnose, measure, welded
from airloom.models.weighing import total, weigh_file
from airloom.reading.cad import facets
from airloom.reading.unreadable import Unreadable
from airloom.world.meshes import ball, box, joined

GREY = (1, 1, 1)


def of(mesh):
    return welded(mesh.vertices, mesh.faces)


def test_a_hollow_cube():
    """The inner faces point inwards: what they enclose is taken away."""
    inner = box((0.5, 0.5, 0.5), GREY)
    hollow = joined([box((1, 1, 1), GREY), type(inner)(inner.vertices, inner.faces[:, ::-1], inner.colours)])
    vertices, faces = of(hollow)
    assert diagnose(vertices, faces).is_solid
    made = measure(vertices, faces, "solid")
    assert made.amount == pytest.approx(1 - 0.125, rel=1e-12)
    expected = (1 / 6 - 0.125 * 0.25 / 6) * np.eye(3)
    np.testing.assert_allclose(made.weighing(0.875).inertia, expected, atol=1e-12)


def test_inside_out_is_turned():
    mesh = box((1, 2, 3), GREY)
    vertices, faces = welded(mesh.vertices + 5.0, mesh.faces[:, ::-1])
    assert "inside out" in str(diagnose(vertices, faces))
    made = measure(vertices, faces, "solid")
    assert made.amount == pytest.approx(6)
    np.testing.assert_allclose(made.center, 5)


def test_a_thin_shell_of_a_ball():
    """2/3 m r², from below, as the facets lie within."""
    vertices, faces = ball(4)
    made = measure(vertices, faces, "shell").weighing(1.0)
    np.testing.assert_allclose(np.diag(made.inertia), 2 / 3, rtol=3e-3)


def test_voxels_say_how_sure_they_are():
    vertices, faces = ball(4)
    made = measure(vertices, faces, "voxel")
    assert abs(made.amount / (4 / 3 * np.pi) - 1) < made.uncertainty < 0.1
    np.testing.assert_allclose(np.diag(made.weighing(1.0).inertia), 0.4, rtol=0.01)


def test_a_mesh_with_a_hole_is_diagnosed_and_repaired_as_chosen(tmp_path):
    file = models.brick(tmp_path / "open.stl", open_side=True)
    with pytest.raises(ModelError, match="not closed: 4 open edges") as error:
        weigh_file(file, {"units": "mm", "mass": 1.0})
    assert "--by hull" in str(error.value)
    (hull,) = weigh_file(file, {"units": "mm", "mass": 1.0, "by": "hull"})
    np.testing.assert_allclose(np.diag(hull.inertial.inertia), np.array([0.0964, 0.0964, 0.18]) / 12, rtol=1e-9)
    assert hull.spread[1] > 1.2


def test_units_are_asked_for(tmp_path):
    with pytest.raises(ModelError, match=r"it looks like mm, which makes it 0\.3 m long: --units mm"):
        weigh_file(models.brick(tmp_path / "brick.stl"), {"mass": 1.0})


def test_a_format_in_metres_is_not_believed_to_hold_a_ship(tmp_path):
    import trimesh

    trimesh.creation.box((200, 100, 4)).export(tmp_path / "plate.glb")
    with pytest.raises(ModelError, match=r"is 200 m long by the units of its format; it looks like mm.*--units mm"):
        weigh_file(tmp_path / "plate.glb", {"density": 1600})
    [plate] = weigh_file(tmp_path / "plate.glb", {"density": 1600, "units": "mm"})
    assert plate.inertial.mass == pytest.approx(0.128)


def test_mass_is_asked_for(tmp_path):
    with pytest.raises(ModelError, match="either its mass"):
        weigh_file(models.brick(tmp_path / "brick.stl"), {"units": "mm"})


def test_parts_make_a_whole(tmp_path):
    """Two bricks, one turned on its side, far apart."""
    models.brick(tmp_path / "brick.stl", (100, 20, 10))
    (tmp_path / "parts.yaml").write_text(
        "parts:\n  one: {file: brick.stl, units: mm, density: 2000, position: [0.5, 0, 0]}\n"
        "  two: {file: brick.stl, units: mm, mass: 0.04, position: [-0.5, 0, 0], yaw: 1.5707963267948966}\n"
    )
    whole = total(weigh_file(tmp_path / "parts.yaml"))
    long, thin = 0.04 / 12 * (0.1**2 + 0.01**2), 0.04 / 12 * (0.02**2 + 0.01**2)
    assert whole.mass == pytest.approx(0.08)
    np.testing.assert_allclose(whole.center, 0, atol=1e-12)
    np.testing.assert_allclose(np.diag(whole.inertia)[:2], [thin + long, long + thin + 0.08 * 0.25], rtol=1e-9)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ("{}", "expected `parts:`"),
        ("parts: {a: {file: nowhere.stl, mass: 1}}", "nowhere.stl: no such file"),
        ("parts: {a: {file: brick.stl, mass: -1}}", "a.mass"),
        ("parts: {a: {file: brick.stl, mass: 1, units: parsec}}", "units must be"),
        ("parts: {a: {file: brick.stl, density: 1, units: mm, by: shell}}", "needs a thickness"),
        ("parts: {a: {file: parts.yaml, mass: 1, units: mm}}", "meshes are read as"),
        ("parts: [", "not closed"),
        ("parts: {a: *b}", "no anchor"),
        ("parts: {a: 2026-99-99}", "a"),
    ],
)
def test_mistakes_in_parts(tmp_path, parts, told):
    models.brick(tmp_path / "brick.stl")
    (tmp_path / "parts.yaml").write_text(parts)
    with pytest.raises(ModelError, match=told):
        weigh_file(tmp_path / "parts.yaml")


@pytest.mark.parametrize(("unit", "metres"), [("SI_UNIT(.MILLI.,.METRE.)", 1e-3), ("SI_UNIT($,.METRE.)", 1.0)])
def test_a_part_as_cad_saves_it(tmp_path, unit, metres):
    """STEP has units, so nobody is asked."""
    pytest.importorskip("cascadio")
    sides = np.array([0.2, 0.1, 0.004])
    (tmp_path / "plate.step").write_text(str(StepBox(tuple(sides / metres), unit)))
    (plate,) = weigh_file(tmp_path / "plate.step", {"density": 1600.0})
    assert plate.diagnosis.is_solid
    assert plate.inertial.mass == pytest.approx(1600 * sides.prod(), rel=1e-6)
    np.testing.assert_allclose(plate.inertial.center, sides / 2, rtol=1e-6)
    expected = plate.inertial.mass / 12 * (sides @ sides - sides**2)
    np.testing.assert_allclose(np.diag(plate.inertial.inertia), expected, rtol=1e-6)


def test_a_step_file_that_is_cut_off(tmp_path, capfd):
    """One message; what the library prints is kept away."""
    pytest.importorskip("cascadio")
    (tmp_path / "cut.stp").write_text(str(StepBox((1, 1, 1)))[:2000])
    with pytest.raises(ModelError, match="does not read it as STEP"):
        weigh_file(tmp_path / "cut.stp", {"density": 1.0})
    assert capfd.readouterr() == ("", "")


def test_what_step_files_need_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cascadio", None)
    (tmp_path / "plate.step").write_text(str(StepBox((1, 1, 1))))
    with pytest.raises(Unreadable, match=r"airloom\[step\].*save it as STL or GLB"):
        facets(tmp_path / "plate.step")
