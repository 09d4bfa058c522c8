"""Files of numbers that users give: grids, wind, clouds, meshes, prescriptions, jobs, tables, parameters, talks."""

from __future__ import annotations

import gzip
import io
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import count as count_from_zero
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from tests.fields import RECTANGLE, polygon
from tests.models import DAE
from tests.surveys import EAST, NORTH, raster

from airloom.autopilots.parameter_files import ParameterFileError, read_parameters
from airloom.autopilots.transcript import FORMAT, VERSION, Transcript, TranscriptError
from airloom.farm import FarmError, plan_field, read_job
from airloom.farm.field import read_field
from airloom.farm.job import job_text
from airloom.farm.prescription import read_prescription
from airloom.joystick import mapping
from airloom.models.description import ModelError
from airloom.models.meshes import bounds
from airloom.models.weighing import weigh_file
from airloom.scenario import ScenarioError
from airloom.scenario.coefficients import CoefficientsError, read_polar, read_propeller
from airloom.scenario.models import HeightField
from airloom.scenario.objects import MeshObject, ObjectError
from airloom.scenario.terrain import TerrainError
from airloom.scenario.weather import WeatherError
from airloom.terrain.build import build_terrain
from airloom.terrain.points import read_cloud
from airloom.weather.field_file import read_field as read_wind
from airloom.world.grid import grid_of
from airloom.world.objects.mesh_file import complaints_of
from airloom.world.survey import Surveyed
from torture.filed import fed_as_file, file_called
from torture.guided import Guided
from torture.mutations import Mutations
from torture.trial import Tally, trial

BRICK = trimesh.creation.box((0.3, 0.2, 0.1))


def _npy(array: np.ndarray) -> bytes:
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def _npz(arrays: dict[str, bytes], is_packed: bool = False) -> bytes:
    """Of .npy files, whatever is in them."""
    from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

    held = io.BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED if is_packed else ZIP_STORED) as archive:
        for name, data in arrays.items():
            archive.writestr(f"{name}.npy", data)
    return held.getvalue()


# -- the ground and the air --------------------------------------------------------------------------------------------


@trial("height files (.npy)", "grids of heights of several types with bytes changed", full=10**5, reduced=5000)
def heights(count: int, seed: int) -> Tally:
    hills = np.random.default_rng(1).uniform(0, 9, (7, 5))
    corpus = [_npy(hills.astype(kind)) for kind in ("f4", "f8", "i2", ">f8", "u1")] + [_npy(np.asfortranarray(hills))]

    def read(file: Path) -> None:
        grid_of(HeightField(kind="heightfield", size=(10.0, 10.0), file=str(file)))

    return fed_as_file("heights.npy", read, Guided.of_bytes(seed, corpus), count, TerrainError)


@trial("height files (.csv)", "a table of heights with lines, numbers and bytes changed", full=10**5, reduced=5000)
def tables_of_heights(count: int, seed: int) -> Tally:
    corpus = ["1,2,3\n4,5,6.5\n7,8,-9\n", "# heights\n0.5, 1e1\n2 , 3\n"]

    def read(file: Path) -> None:
        grid_of(HeightField(kind="heightfield", size=(10.0, 10.0), file=str(file)))

    return fed_as_file("heights.csv", read, Guided.of_texts(seed, corpus), count, TerrainError)


@trial(
    "wind files (.npz)", "archives with bytes changed, and sound archives of changed arrays", full=10**5, reduced=5000
)
def wind(count: int, seed: int) -> Tally:
    axes = {"time": np.arange(2.0), "z": np.arange(3.0), "y": np.arange(4.0), "x": np.arange(5.0)}
    speeds = {name: np.ones((2, 3, 4, 5), "f4") for name in "uvw"}
    arrays = {name: _npy(values) for name, values in (axes | speeds).items()}
    corpus = [_npz(arrays), _npz(arrays, is_packed=True)]
    mutations = Mutations(seed)

    def change(sound: Sequence[bytes], number: int) -> Iterator[bytes]:
        for bytewise in mutations.of_bytes(sound, number):
            if mutations.random.random() < 0.5:
                yield bytewise
                continue
            which = mutations.random.choice(list(arrays))
            (changed,) = mutations.of_bytes(list(arrays.values()), 1)
            yield _npz(arrays | {which: changed})

    guided = Guided(corpus, change, lambda data: data)
    return fed_as_file("wind.npz", lambda file: read_wind(str(file)), guided, count, WeatherError)


@trial(
    "terrain folders",
    "each file of a terrain folder with values and bytes changed: its grid, meshes and picture are read",
    full=10**5,
    reduced=1000,
)
def terrain_folders(count: int, seed: int) -> Tally:
    with file_called("field.tif") as survey:
        colour = raster(survey.with_name("photo.tif"), np.full((3, 40, 40), 99.0), dtype="uint8", nodata=None)
        folder = build_terrain(raster(survey, shape=(40, 40)), colour=colour)
        sound = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".json", ".npy", ".jpg")}
        about = json.loads(sound["terrain.json"])
        mutations, turns = Mutations(seed), count_from_zero()

        def change(trees: Sequence[Any], number: int) -> Iterator[bytes]:
            """A file's name and its content."""
            for _ in range(number):
                name = mutations.random.choice(list(sound))
                if name == "terrain.json":
                    yield b"terrain.json:" + next(mutations.of_trees(trees, 1))
                else:
                    yield name.encode() + b":" + next(mutations.of_bytes([sound[name]], 1))

        def read(file: Path) -> None:
            name, _, content = file.read_bytes().partition(b":")
            damaged = folder / name.decode()
            damaged.write_bytes(content)
            try:
                found = Surveyed(folder)
                assert found.grid.heights.shape == (found.about.rows, found.about.columns)
                assert len(found.levels) == len(found.about.levels)
                if found.about.colour and (name == b"colour.jpg" or next(turns) % 50 == 0):
                    found.photo()
            finally:
                damaged.write_bytes(sound[name.decode()])

        guided = Guided([about], change, lambda data: json.loads(data.partition(b":")[2]))
        return fed_as_file("changed", read, guided, count, TerrainError)


BUILT_ONE_IN = 10


def _of_clouds(name: str, corpus: Sequence[Any], guided: Callable[..., Guided], count: int, seed: int) -> Tally:
    """All are read, and some of them become terrain folders."""
    turns = count_from_zero()

    def build(file: Path) -> None:
        build_terrain(file, file.with_suffix(".made"), crs="local")

    def read(file: Path) -> None:
        if next(turns) % BUILT_ONE_IN == 0:
            build(file)
        else:
            read_cloud(file, "local", None, lambda part: None)

    with file_called(name) as sound:  # compiles
        sound.write_bytes(corpus[0] if isinstance(corpus[0], bytes) else corpus[0].encode())
        build(sound)
    return fed_as_file(name, read, guided(seed, corpus), count, TerrainError)


@trial(
    "point clouds in text",
    "points with lines, numbers and bytes changed, some of them built to a terrain folder",
    full=10**5,
    reduced=300,
)
def clouds_in_text(count: int, seed: int) -> Tally:
    points = np.random.default_rng(1).uniform([EAST, NORTH, 0], [EAST + 9, NORTH + 9, 1], (60, 3))
    plain = "\n".join(" ".join(f"{v:.3f}" for v in point) for point in points)
    named = "x,y,z,intensity\n" + "\n".join(",".join(f"{v:.3f}" for v in (*point, 7)) for point in points)
    return _of_clouds("cloud.xyz", [plain, named], Guided.of_texts, count, seed)


@trial(
    "point clouds (.pcd)",
    "headers and data of PCD files changed, some of them built to a terrain folder",
    full=10**5,
    reduced=300,
)
def pcd_clouds(count: int, seed: int) -> Tally:
    points = np.random.default_rng(1).uniform([0, 0, 0], [9, 9, 1], (60, 3)).astype("f4")
    head = (
        "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n"
        "WIDTH 60\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 60\nDATA "
    )
    text = head + "ascii\n" + "\n".join(" ".join(f"{v:.3f}" for v in point) for point in points)
    corpus = [text.encode(), head.encode() + b"binary\n" + points.tobytes(), head.encode()[200:]]
    return _of_clouds("cloud.pcd", corpus, Guided.of_bytes, count, seed)


@trial(
    "point clouds (.ply)",
    "PLY files in text and binary changed, some of them built to a terrain folder",
    full=10**5,
    reduced=300,
)
def ply_clouds(count: int, seed: int) -> Tally:
    cloud = trimesh.PointCloud(np.random.default_rng(1).uniform([0, 0, 0], [9, 9, 1], (60, 3)))
    corpus = [cloud.export(file_type="ply"), cloud.export(file_type="ply", encoding="ascii")]
    return _of_clouds("cloud.ply", corpus, Guided.of_bytes, count, seed)


# -- meshes ------------------------------------------------------------------------------------------------------------


def _meshes(kind: str) -> list[bytes]:
    if kind == "dae":
        return [DAE.encode()]
    made = [BRICK.export(file_type=kind)]
    if kind in ("stl", "ply"):
        made.append(
            BRICK.export(file_type="stl_ascii") if kind == "stl" else BRICK.export(file_type="ply", encoding="ascii")
        )
    return [one.encode() if isinstance(one, str) else one for one in made]


def _of_meshes(kind: str, count: int, seed: int) -> Tally:
    """By all who read them: as a thing that stands in a world, as a part to weigh, and for their size."""

    def read(file: Path) -> None:
        refused = []
        for reader in (
            lambda: complaints_of(MeshObject(kind="mesh", file=str(file))),
            lambda: weigh_file(file, {"mass": 1.0, "by": "hull", "units": "m"}),
            lambda: weigh_file(file, {"mass": 1.0, "by": "solid", "units": "m"}),
            lambda: bounds.__wrapped__(file),
        ):
            try:
                reader()
            except (ObjectError, ModelError) as error:
                refused.append(error)
        if refused:
            raise refused[0]

    return fed_as_file(f"mesh.{kind}", read, Guided.of_bytes(seed, _meshes(kind)), count, ObjectError, ModelError)


@trial("meshes (.stl)", "in text and binary, with bytes changed: placed in a world, weighed", full=10**5, reduced=300)
def stl(count: int, seed: int) -> Tally:
    return _of_meshes("stl", count, seed)


@trial("meshes (.obj)", "with bytes changed: placed in a world, weighed", full=10**5, reduced=300)
def obj(count: int, seed: int) -> Tally:
    return _of_meshes("obj", count, seed)


@trial("meshes (.off)", "with bytes changed: placed in a world, weighed", full=10**5, reduced=300)
def off(count: int, seed: int) -> Tally:
    return _of_meshes("off", count, seed)


@trial("meshes (.ply)", "in text and binary, with bytes changed: placed in a world, weighed", full=10**5, reduced=300)
def ply(count: int, seed: int) -> Tally:
    return _of_meshes("ply", count, seed)


@trial("meshes (.glb)", "with bytes changed: placed in a world, weighed", full=10**5, reduced=300)
def glb(count: int, seed: int) -> Tally:
    return _of_meshes("glb", count, seed)


@trial("meshes (.dae)", "with bytes changed: placed in a world, weighed", full=10**5, reduced=300)
def dae(count: int, seed: int) -> Tally:
    return _of_meshes("dae", count, seed)


PARTS = """parts:
  body: {file: body.stl, units: mm, mass: 0.4, by: hull}
  arm: &arm
    file: body.stl
    units: cm
    density: 1600
    by: shell
    thickness: 0.002
    position: [0.1, 0, 0.05]
    yaw: 1.57
  leg: *arm
"""


@trial("parts to weigh", "a file of parts with lines, values and bytes changed", full=10**5, reduced=2000)
def parts(count: int, seed: int) -> Tally:
    def read(file: Path) -> None:
        (file.parent / "body.stl").write_bytes(brick)
        weigh_file(file)

    brick = BRICK.export(file_type="stl")
    return fed_as_file("parts.yaml", read, Guided.of_texts(seed, [PARTS]), count, ModelError)


# -- fields ------------------------------------------------------------------------------------------------------------

ZONES = {
    "type": "FeatureCollection",
    "features": [
        polygon([(-50, -20), (0, -20), (0, 20), (-50, 20)], rate=120.0),
        polygon([(0, -20), (50, -20), (50, 20), (0, 20)], litres_per_hectare=200),
    ],
}


def _from_field(make: Callable[[Path], Any]) -> Any:
    with file_called("field.geojson") as file:
        file.write_text(json.dumps({"type": "FeatureCollection", "features": [polygon(RECTANGLE)]}))
        return make(file)


@trial("prescriptions", "zones in GeoJSON with values changed, left out, doubled, and bytes", full=10**5, reduced=1000)
def prescriptions(count: int, seed: int) -> Tally:
    field = _from_field(read_field)

    def read(file: Path) -> None:
        rates = read_prescription(file, field, 100.0).at(np.linspace(-60, 60, 9), np.zeros(9))
        assert np.isfinite(rates).all()

    return fed_as_file("rates.geojson", read, Guided.of_trees(seed, [ZONES]), count, FarmError)


@trial("jobs", "a job with values changed, left out, doubled, and bytes", full=10**5, reduced=1000)
def jobs(count: int, seed: int) -> Tally:
    job = json.loads(job_text(_from_field(plan_field).job))
    return fed_as_file("job.json", read_job, Guided.of_trees(seed, [job]), count, FarmError)


# -- vehicles and their parts ------------------------------------------------------------------------------------------


@trial("joystick maps", "the bundled map with lines, values and bytes changed", full=10**5, reduced=2000)
def joystick_maps(count: int, seed: int) -> Tally:
    sound = Path(mapping.__file__).with_name("ps4.yaml").read_text()

    def read(file: Path) -> None:
        mapping.Mapping.load(str(file))

    return fed_as_file("map.yaml", read, Guided.of_texts(seed, [sound]), count, ScenarioError)


POLAR = """ XFOIL         Version 6.99

 Calculated polar for: NACA 2412
 Mach =   0.000     Re =     0.200 e 6     Ncrit =   9.000

   alpha    CL        CD       CDp       CM     Top_Xtr  Bot_Xtr
  ------ -------- --------- --------- -------- -------- --------
  -8.000  -0.6100   0.02510   0.01700  -0.0450   0.9700   0.0700
   0.000   0.2400   0.01000   0.00400  -0.0530   0.6800   0.6000
   8.000   1.0500   0.01800   0.01000  -0.0480   0.2500   1.0000
"""
PROPELLER = """J         CT        CP        eta
0.100   0.1050   0.0480   0.2190
0.300   0.0850   0.0440   0.5800
0.600   0.0310   0.0270   0.6900
"""


@trial("tables of wings", "polars with lines, numbers and bytes changed", full=10**5, reduced=5000)
def polars(count: int, seed: int) -> Tally:
    corpus = [POLAR, "alpha;cl;cd\n-5;-0.4;0.02\n0;0;0.01\n6;0.6;0.02\n"]
    return fed_as_file(
        "polar.txt", lambda file: read_polar(str(file)), Guided.of_texts(seed, corpus), count, CoefficientsError
    )


@trial("tables of propellers", "propellers with lines, numbers and bytes changed", full=10**5, reduced=5000)
def propellers(count: int, seed: int) -> Tally:
    return fed_as_file(
        "propeller.txt", lambda file: read_propeller(str(file)), Guided.of_texts(seed, [PROPELLER]), count,
        CoefficientsError,
    )  # fmt: skip


@trial("parameters of autopilots", "both formats with lines, values and bytes changed", full=10**5, reduced=5000)
def parameters(count: int, seed: int) -> Tally:
    corpus = [
        "# a comment\nWPNAV_SPEED 500\nATC_RAT_RLL_P,0.135 # mine\nFRAME_CLASS=1\n\n@READONLY X\n",
        "# Vehicle-Id Component-Id Name Value Type\n1\t1\tMPC_XY_VEL_MAX\t12.5\t9\n1\t1\tCOM_ID\t1310988\t6\n",
    ]
    return fed_as_file("some.parm", read_parameters, Guided.of_texts(seed, corpus), count, ParameterFileError)


@trial("transcripts", "talks with an autopilot with bytes changed, packed and as they are", full=10**5, reduced=5000)
def transcripts(count: int, seed: int) -> Tally:
    head = json.dumps({"format": FORMAT, "version": VERSION, "vehicle": "drone"}).encode() + b"\n"
    talk = head + b"".join(
        k.to_bytes(8, "little") + bytes([k % 2]) + (20).to_bytes(4, "little") + bytes(20) for k in range(20)
    )
    mutations = Mutations(seed)

    def change(corpus: Sequence[bytes], number: int) -> Iterator[bytes]:
        for changed in mutations.of_bytes(corpus, number):
            yield changed if mutations.random.random() < 0.5 else gzip.compress(changed[:100_000], 1)

    def read(file: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in Transcript(file):
                pass

    guided = Guided([talk, gzip.compress(talk)], change, lambda data: data)
    return fed_as_file("transcript.gz", read, guided, count, TranscriptError)
