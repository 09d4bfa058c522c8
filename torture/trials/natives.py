"""Files that libraries in C, C++ and Rust read: what crashes them, or keeps them forever, is one message of ours."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count as count_from_zero
from pathlib import Path
from random import Random

import numpy as np
from tests import fields as field_files
from tests import models
from tests.step_files import StepBox
from tests.surveys import EAST, NORTH, SHARED, cloud, raster

from airloom.errors import AirloomError
from airloom.farm.field import read_field as read_farm_field
from airloom.farm.prescription import read_prescription
from airloom.models.meshes import load as load_mesh
from airloom.reading import box
from airloom.reading.box import read_boxed
from airloom.reading.meshes import coloured
from airloom.scenario.objects import ObjectError
from airloom.terrain.points import read_cloud
from airloom.terrain.raster import opened
from airloom.weather.field_file import read_field
from torture.mutations import Mutations
from torture.trial import Tally, feed, trial

GIVEN_UP = 4.0
"""s after which a file is given up here: a user waits for a minute, of which ten thousand would take a week."""
PATIENCE = 60.0
"""s for one input: it may have to wait for a new process on a busy machine."""
ENDS = {
    "the process that reads it": "ended their reader", "nothing had come": "were given up",
    "asks for more": "wanted too much memory", "lost its way": "had it lose its way",
}  # fmt: skip
"""What a refusal says, and what the table says of it."""
FULL, REDUCED = 10**4, 100
FEW = 400  # points of a real survey
Seeds = dict[str, list[bytes]]
"""Right files, by what their names end with."""


def _fed(read: Callable[[Path], object], seeds: Seeds, count: int, seed: int) -> Tally:
    """Each kind of file gets an equal share. A new name for each, since readers keep what they have open."""
    box.PATIENCE = GIVEN_UP
    ends: Counter[str] = Counter()
    number = count_from_zero()

    with tempfile.TemporaryDirectory() as folder:

        def take(one: tuple[str, bytes]) -> None:
            file = Path(folder, f"{next(number)}{one[0]}")
            file.write_bytes(one[1])
            try:
                read(file)
            except AirloomError as error:
                ends.update(what for words, what in ENDS.items() if words in str(error))
                raise
            finally:
                file.unlink()

        for suffix, sound in seeds.items():
            for data in sound:
                take((suffix, data))
        tally = feed(take, _mutants(seeds, count, seed), (AirloomError,), PATIENCE)
    box.end_worker()
    tally.note = ", ".join(f"{amount:,} {what}" for what, amount in ends.items()) or "none ended its reader"
    return tally


def _mutants(seeds: Seeds, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Bytes changed, moved, doubled, cut, and, which matters most to such readers, numbers within headers."""
    random = Random(seed)
    changed = {suffix: Mutations(seed).of_bytes(sound, count) for suffix, sound in seeds.items()}
    suffixes = list(seeds)
    for turn in range(count):
        suffix = suffixes[turn % len(suffixes)]
        yield suffix, next(changed[suffix]) if random.random() < 0.5 else _flipped(random.choice(seeds[suffix]), random)


def _flipped(data: bytes, random: Random) -> bytes:
    """A few bits, or whole numbers at their extremes, near the beginning more often than later."""
    found = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        at = int(len(found) * random.random() ** random.choice((1, 4)))
        if random.random() < 0.5:
            found[at] ^= 1 << random.randrange(8)
        else:
            width = random.choice((1, 2, 4, 8))
            found[at : at + width] = random.choice((b"\xff", b"\0", b"\x7f")) * width
    return bytes(found[: len(data)])


def _written(suffix: str, write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"whole{suffix}")
        write(file)
        return file.read_bytes()


# -- CAD and meshes ----------------------------------------------------------------------------------------------------


@trial("STEP files", "boxes from CAD with bytes changed, read by Open CASCADE", full=FULL, reduced=REDUCED)
def step(count: int, seed: int) -> Tally:
    sound = [str(StepBox((10, 20, 30))).encode(), str(StepBox((1, 1, 200))).encode()]
    return _fed(load_mesh, {".step": sound}, count, seed)


@trial(
    "mesh files", "STL, OBJ, PLY, GLB, OFF and DAE with bytes changed; half as objects, with colours",
    full=FULL, reduced=REDUCED,
)  # fmt: skip
def meshes(count: int, seed: int) -> Tally:
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=1)
    ball.visual.vertex_colors = np.arange(4 * len(ball.vertices), dtype=np.uint8).reshape(-1, 4)
    seeds = {f".{kind}": [_written(f".{kind}", ball.export)] for kind in ("stl", "obj", "ply", "glb", "off")}
    seeds[".stl"].append(_written(".stl", models.brick))
    seeds[".dae"] = [models.DAE.encode()]
    turns = count_from_zero()

    def read(file: Path) -> None:
        if next(turns) % 2:
            read_boxed(coloured, file, refusal=ObjectError)
        else:
            load_mesh(file)

    return _fed(read, seeds, count, seed)


# -- surveys -----------------------------------------------------------------------------------------------------------


@trial("point clouds", "LAS, LAZ, PLY, PCD and text with bytes changed, of a real survey", full=FULL, reduced=REDUCED)
def points(count: int, seed: int) -> Tally:
    import trimesh
    from pypcd4 import Encoding, PointCloud

    generated = np.random.default_rng(1).uniform([EAST, NORTH, 0], [EAST + 20, NORTH + 20, 1], (FEW, 3))
    made = PointCloud.from_xyz_points(generated.astype(np.float32))
    seeds = {suffix: [_written(suffix, lambda file: cloud(file, generated))] for suffix in (".las", ".laz")}
    real = SHARED / "points/autzen_trim.las"
    if real.exists():
        import laspy

        few = laspy.read(real)
        few.points = few.points[:FEW]
        for suffix, sound in seeds.items():
            sound.append(_written(suffix, few.write))
    seeds[".ply"] = [_written(".ply", trimesh.PointCloud(generated).export)]
    seeds[".pcd"] = [_written(".pcd", lambda file, how=how: made.save(file, how)) for how in Encoding]
    seeds[".xyz"] = ["\n".join(" ".join(f"{x:.3f}" for x in point) for point in generated).encode()]
    return _fed(lambda file: read_cloud(file, "EPSG:32632", None, lambda part: None), seeds, count, seed)


@trial("survey rasters", "GeoTIFF in several packings, and ASCII grids with bytes changed", full=FULL, reduced=REDUCED)
def rasters(count: int, seed: int) -> Tally:
    def read(file: Path) -> None:
        survey = opened(file, "EPSG:32632", band=1)
        survey.altitude(*survey.middle)
        survey.read(*survey.window)

    tiled = {"tiled": True, "blockxsize": 16, "blockysize": 16}
    packings: list[dict] = [{}, {"compress": "deflate", "predictor": 3}, {"compress": "lzw", **tiled}]
    packings.append({"compress": "jpeg", "dtype": "uint8", "nodata": 0})
    packings.append({"compress": "lerc", "unit": "ft"})
    tifs = [_written(".tif", lambda file, how=how: raster(file, **how)) for how in packings]
    if (real := SHARED / "terrain/dem.tif").exists():
        tifs.append(real.read_bytes())
    grid = "ncols 9\nnrows 7\nxllcorner 395000\nyllcorner 4990000\ncellsize 0.5\nNODATA_value -9999\n"
    grid += "\n".join(" ".join(str(300 + column) for column in range(9)) for _ in range(7))
    return _fed(read, {".tif": tifs, ".asc": [grid.encode()]}, count, seed)


@trial("prescription rasters", "GeoTIFFs of rates for a field with bytes changed", full=FULL, reduced=REDUCED)
def prescriptions(count: int, seed: int) -> Tally:
    from affine import Affine
    from pyproj import Transformer

    to_map = Transformer.from_crs("EPSG:4326", "EPSG:32632", always_xy=True)
    east, north = to_map.transform(*field_files.position(-60, 30))
    rates = np.tile(np.arange(60.0), (30, 1))
    there = {"transform": Affine(2, 0, east, 0, -2, north)}
    packings: list[dict] = [{}, {"compress": "deflate"}]
    tifs = [_written(".tif", lambda file, how=how: raster(file, rates, **there, **how)) for how in packings]
    with tempfile.TemporaryDirectory() as folder:
        field = read_farm_field(
            field_files.write(Path(folder, "field.geojson"), field_files.polygon(field_files.RECTANGLE))
        )
    return _fed(lambda file: read_prescription(file, field, 0.0, "EPSG:32632"), {".tif": tifs}, count, seed)


# -- weather -----------------------------------------------------------------------------------------------------------


@trial("NetCDF files", "fields of wind, classic and HDF5, with bytes changed", full=FULL, reduced=REDUCED)
def netcdf(count: int, seed: int) -> Tally:
    sound = [_written(".nc", write) for write in (_classic, _hdf5)]
    return _fed(lambda file: read_field(str(file)), {".nc": sound}, count, seed)


AXES = ("time", "z", "y", "x")


def _variables() -> dict[str, np.ndarray]:
    axes = {name: np.linspace(0.0, 10.0, count) for name, count in zip(AXES, (2, 3, 4, 5), strict=True)}
    return axes | {name: np.full((2, 3, 4, 5), 3.0) for name in "uvw"}


def _classic(file: Path) -> None:
    from scipy.io import netcdf_file

    with netcdf_file(str(file), "w") as made:
        for name, values in _variables().items():
            if values.ndim == 1:
                made.createDimension(name, len(values))
            made.createVariable(name, "d", (name,) if values.ndim == 1 else AXES)[:] = values


def _hdf5(file: Path) -> None:
    import h5netcdf

    with h5netcdf.File(str(file), "w") as made:
        for name, values in _variables().items():
            if values.ndim == 1:
                made.dimensions[name] = len(values)
            options = {} if values.ndim == 1 else {"compression": "gzip", "chunks": (1, 3, 4, 5)}
            made.create_variable(name, (name,) if values.ndim == 1 else AXES, data=values, **options)
