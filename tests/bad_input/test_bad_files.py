"""Whatever a user names to be read: what is no file is refused at once, by whoever reads it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import trimesh
from tests import fields, models

from airloom.autopilots.parameter_files import read_parameters
from airloom.autopilots.transcript import Transcript
from airloom.basics import arrays, given, pictures
from airloom.errors import UserError
from airloom.farm.comparison import Deposit
from airloom.farm.field import Field, read_field
from airloom.farm.job import read_job
from airloom.farm.prescription import read_prescription
from airloom.joystick.mapping import Mapping
from airloom.missions.files import read_mission
from airloom.models.importing import import_model
from airloom.models.meshes import bounds
from airloom.models.meshes import load as load_mesh
from airloom.models.weighing import weigh_file
from airloom.net.tls import Certificate
from airloom.runs.mcap import LogReader
from airloom.scenario import load
from airloom.scenario.coefficients import read_polar
from airloom.scenario.models import HeightField
from airloom.scenario.terrain import read_terrain_file
from airloom.terrain.build import build_terrain
from airloom.weather.field_file import read_field as read_wind
from airloom.world.grid import grid_of
from airloom.world.objects.mesh_file import read_mesh


def _field(file: Path) -> Field:
    """One to give something on, made elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        collection = {"type": "FeatureCollection", "features": [fields.polygon(fields.RECTANGLE)]}
        (Path(folder) / "field.geojson").write_text(json.dumps(collection))
        return read_field(Path(folder) / "field.geojson")


READERS: dict[str, Callable[[Path], object]] = {
    "scenario.yaml": load,
    "vehicle.yaml": lambda file: load("hover", {"vehicles": {"one": {"extends": str(file)}}}),
    "mission.yaml": read_mission,
    "mission.plan": read_mission,
    "sticks.yaml": lambda file: Mapping.load(str(file)),
    "field.geojson": read_field,
    "job.json": read_job,
    "rates.tif": lambda file: read_prescription(file, _field(file), 10.0),
    "given.tif": Deposit.read,
    "params.parm": read_parameters,
    "transcript.gz": Transcript,
    "log.mcap": LogReader,
    "polar.txt": lambda file: read_polar(str(file)),
    "wind.npz": lambda file: read_wind(str(file)),
    "heights.npy": lambda file: grid_of(HeightField(kind="heightfield", size=(1.0, 1.0), file=str(file))),
    "heights.csv": lambda file: grid_of(HeightField(kind="heightfield", size=(1.0, 1.0), file=str(file))),
    "survey.tif": lambda file: build_terrain(file, file.with_suffix(".terrain")),
    "survey.xyz": lambda file: build_terrain(file, file.with_suffix(".terrain"), crs="EPSG:32632"),
    "survey.las": lambda file: build_terrain(file, file.with_suffix(".terrain")),
    "terrain.json": lambda file: read_terrain_file(file.parent),
    "thing.stl": lambda file: read_mesh(str(file)),
    "thing.dae": lambda file: read_mesh(str(file)),
    "part.obj": lambda file: weigh_file(file, {"mass": 1.0}),
    "part.step": lambda file: weigh_file(file, {"mass": 1.0}),
    "parts.yaml": weigh_file,
    "size.dae": bounds,
    "model.urdf": lambda file: import_model(file, file.parent / "made"),
    "model.sdf": lambda file: import_model(file, file.parent / "made"),
    "certificate.pem": lambda file: Certificate(file).context(),
    "picture.png": lambda file: pictures.read_picture(file, UserError),
}


@pytest.fixture(params=READERS)
def named(request, tmp_path) -> tuple[Callable[[Path], object], Path]:
    return READERS[request.param], tmp_path / request.param


def refused(read: Callable[[Path], object], file: Path) -> str:
    with pytest.raises(UserError) as error:
        read(file)
    assert sorted(os.listdir(file.parent)) == [file.name]
    return str(error.value)


def test_a_pipe_that_nobody_writes_to(named):
    read, file = named
    os.mkfifo(file)
    assert "is not a regular file but a pipe or a device" in refused(read, file)


def test_a_device_without_end(named):
    read, file = named
    file.symlink_to("/dev/zero")
    assert "is not a regular file but a pipe or a device" in refused(read, file)


def test_an_empty_file(named):
    read, file = named
    if file.name == "params.parm":
        pytest.skip("no parameters are parameters, too")
    file.touch()
    assert file.name in refused(read, file)


def test_a_file_of_zeros(named):
    read, file = named
    file.write_bytes(bytes(100_000))
    assert refused(read, file)


def test_what_is_larger_than_a_reader_takes(tmp_path):
    (tmp_path / "much").write_bytes(b"x" * 1001)
    with pytest.raises(UserError, match=r"much: is larger than 1000 bytes; write less"):
        given.bytes_of(tmp_path / "much", UserError, 1000, "write less")


NPY = {
    "cut": (lambda data: data[:-1], r"is cut off: it promises 6 numbers and has 5"),
    "in its header": (lambda data: data[:50], r"cannot be read as .npy"),
    "promises terabytes": (lambda data: data.replace(b"(2, 3)", b"(2,30000000000)"), "are the most"),
    "less than nothing": (lambda data: data.replace(b"(2, 3)", b"(2,-3)"), r"its shape is \(2, -3\)"),
    "objects": (lambda data: data.replace(b"'<f8'", b"'|O' "), "must hold numbers"),
    "texts": (lambda data: data.replace(b"'<f8'", b"'<U2'"), "must hold numbers"),
    "no such version": (lambda data: data[:6] + b"\x09" + data[7:], "is no .npy file that holds numbers only"),
    "another's": (lambda data: b"PK" + data, "cannot be read as .npy"),
}  # fmt: skip


@pytest.mark.parametrize("damage", NPY)
@pytest.mark.parametrize("mapped", [False, True])
def test_damaged_arrays(tmp_path, damage, mapped):
    file, (damaged, told) = tmp_path / "a.npy", NPY[damage]
    np.save(file, np.arange(6.0).reshape(2, 3))
    assert arrays.read_array(file, UserError, 6, mapped=mapped).tolist() == [[0, 1, 2], [3, 4, 5]]
    file.write_bytes(damaged(file.read_bytes()))
    with pytest.raises(UserError, match=told):
        arrays.read_array(file, UserError, 1000, mapped=mapped)


def test_an_archive_of_more_than_there_is_room_for(tmp_path):
    """A file of some kilobytes that unpacks to as much as one likes."""
    file = tmp_path / "wind.npz"
    np.savez_compressed(file, u=np.zeros(10**6), objects=np.array([{}], dtype=object))
    assert set(arrays.read_arrays(file, ["u", "v"], UserError, 10**6)) == {"u"}
    with pytest.raises(UserError, match=r"wind.npz: u holds 1,000,000 numbers; 999,999 are the most"):
        arrays.read_arrays(file, ["u"], UserError, 999_999)
    with pytest.raises(UserError, match=r"objects must hold numbers"):
        arrays.read_arrays(file, ["objects"], UserError, 10)


def test_axes_that_span_more_than_there_is_memory(tmp_path):
    file, axis = tmp_path / "wind.npz", np.arange(20_000.0)
    np.savez(file, x=axis, y=axis, z=axis, u=np.zeros(1), v=np.zeros(1))
    with pytest.raises(UserError, match=r"u has the shape \(1,\), but its axes"):
        read_wind(str(file))


def nodes_in_nodes(times: int) -> str:
    """Each of them twice in the next."""
    names = [f"n{k}" for k in range(times)]
    inner = "".join(
        f'<node id="{name}">' + 2 * f'<instance_node url="#{names[k - 1] if k else "leaf"}"/>' + "</node>"
        for k, name in enumerate(names)
    )
    scenes = f"<library_nodes>{inner}<node id='leaf'/></library_nodes><library_visual_scenes>"
    shown = f'<instance_node url="#{names[-1]}"/></node></visual_scene>'
    return models.DAE.replace("<library_visual_scenes>", scenes).replace("</node>\n  </visual_scene>", shown)


@pytest.mark.parametrize("read", [bounds, load_mesh, lambda file: read_mesh(str(file))])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (lambda: nodes_in_nodes(28), "its nodes are in each other so often that they make"),
        (lambda: nodes_in_nodes(3).replace("#leaf", "#n2"), "its nodes are within themselves"),
        (lambda: '<!DOCTYPE a [<!ENTITY b "c">]>' + nodes_in_nodes(1), "declares a document type or entities"),
    ],
)
def test_a_mesh_whose_nodes_double(tmp_path, read, text, told):
    file = tmp_path / "many.dae"
    file.write_text(text())
    with pytest.raises(UserError, match=told):
        read(file)


FLAT_CORNERS = "v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n"


@pytest.mark.parametrize(
    ("text", "told"), [(FLAT_CORNERS, "corners that are not in space"), ("v 1 2\n", "cannot be read")]
)
@pytest.mark.parametrize("read", [load_mesh, lambda file: read_mesh(str(file))])
def test_a_mesh_whose_corners_have_two_numbers(tmp_path, read, text, told):
    file = tmp_path / "flat.obj"
    file.write_text(text)
    with pytest.raises(UserError, match=told):
        read(file)


@pytest.mark.parametrize("read", [load_mesh, lambda file: read_mesh(str(file))])
def test_a_mesh_whose_triangles_have_corners_that_are_not_there(tmp_path, read):
    file = tmp_path / "wrong.glb"
    content = trimesh.creation.box().export(file_type="glb")
    at = content.index(trimesh.creation.box().faces.astype("<u4").tobytes())
    file.write_bytes(content[:at] + (9999).to_bytes(4, "little") + content[at + 4 :])
    with pytest.raises(UserError, match="has triangles whose corners are not there"):
        read(file)


def test_a_cloud_without_a_header(tmp_path):
    file = tmp_path / "missingheader.pcd"
    file.write_text("1 2 3\n" * 50)
    assert "is damaged, or no PCD file: " in (told := refused(READERS["survey.las"], file))
    assert "pydantic" not in told


def test_a_cloud_that_is_longer_than_there_is_memory_for(tmp_path):
    """A strip from here to the moon, of points that are far from each other."""
    file = tmp_path / "strip.xyz"
    file.write_text("".join(f"{k * 1e8} {k % 2 * 1e-4} 0\n" for k in range(9)))
    told = "the surface would have 333334 × 1 corners, and needs 2 × 2"
    assert told in refused(lambda survey: build_terrain(survey, crs="local"), file)


def test_points_beyond_all_measure_are_left_out(tmp_path):
    file = tmp_path / "far.xyz"
    file.write_text("1e30 0 0\n" * 9)
    assert "none of its 9 points has coordinates" in refused(lambda survey: build_terrain(survey, crs="local"), file)
