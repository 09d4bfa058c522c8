"""Files with wind on a grid: NumPy's .npz, and NetCDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from airloom.basics.arrays import read_arrays
from airloom.basics.given import regular_file
from airloom.scenario.values import FASTEST_WIND
from airloom.scenario.weather import WeatherError

AXES = ("time", "z", "y", "x")
NEEDED, ALL = ("x", "y", "z", "u", "v"), ("x", "y", "z", "time", "u", "v", "w")
METRES, SECONDS = {"m", "metre", "metres", "meter", "meters"}, {"s", "sec", "second", "seconds"}
SPEEDS = {"m/s", "m s-1", "m s^-1", "m s**-1", "ms-1", "metre second-1", "meter second-1"}
UNITS = dict.fromkeys("xyz", METRES) | {"time": SECONDS} | dict.fromkeys("uvw", SPEEDS)
MOST_NUMBERS = 200_000_000
CLASSIC, HDF5 = b"CDF", b"\x89HDF"


class Field(NamedTuple):
    time: np.ndarray
    z: np.ndarray
    y: np.ndarray
    x: np.ndarray
    wind: np.ndarray
    """float32 [time, z, y, x, component]"""


def read_field(file: str) -> Field:
    """The wind in a file; raises a WeatherError that says what is wrong with it."""
    found = _variables(Path(file))
    missing = [name for name in NEEDED if name not in found]
    if missing:
        raise WeatherError(
            f"{file} has no variable {' and no '.join(missing)}; it has {', '.join(sorted(found)) or 'none'}, and "
            "needs x, y, z (m), u, v (m/s), and may have time (s) and w (m/s)"
        )
    found.setdefault("time", np.zeros(1))
    found.setdefault("w", np.zeros_like(found["u"]))
    axes = {name: _axis(file, name, found[name]) for name in AXES}
    shape = tuple(len(axes[name]) for name in AXES)
    for name in "uvw":
        values = found[name]
        if values.shape != shape and values.shape != shape[1:] * (shape[0] == 1):
            raise WeatherError(
                f"{file}: {name} has the shape {values.shape}, but its axes time, z, y, x make {shape}: "
                f"{shape[0]} × {shape[1]} × {shape[2]} × {shape[3]}"
            )
        if not np.isfinite(values).all():
            raise WeatherError(f"{file}: {name} holds values that are no finite numbers; fill the gaps first")
        if np.abs(values).max() > FASTEST_WIND:
            raise WeatherError(
                f"{file}: {name} reaches {np.abs(values).max():.4g} m/s; no wind is over {FASTEST_WIND:g}"
            )
    wind = np.stack([found[name].reshape(shape).astype(np.float32) for name in "uvw"], axis=-1)
    return Field(**axes, wind=wind)


def _axis(file: str, name: str, values: np.ndarray) -> np.ndarray:
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise WeatherError(f"{file}: {name} must be a list of finite numbers, got the shape {values.shape}")
    if (np.diff(values) <= 0).any():
        at = int(np.argmax(np.diff(values) <= 0))
        raise WeatherError(
            f"{file}: {name} must grow, but {values[at + 1]:g} follows {values[at]:g}; turn round an axis that falls, "
            "and the wind along it"
        )
    return values


def _variables(file: Path) -> dict[str, np.ndarray]:
    regular_file(file, WeatherError)
    try:
        with file.open("rb") as opened:
            beginning = opened.read(8)
        if beginning.startswith(b"PK"):
            found = read_arrays(file, ALL, WeatherError, MOST_NUMBERS)
            return {name: _numbers(file, name, values) for name, values in found.items()}
        if beginning.startswith(CLASSIC):
            return _classic(file)
        if beginning.startswith(HDF5):
            return _hdf5(file)
    except WeatherError:
        raise
    except (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, OverflowError) as error:
        raise WeatherError(f"{file} cannot be read, it may be damaged: {error}") from None
    raise WeatherError(f"{file} is neither an .npz nor a NetCDF file")


def _numbers(file: Path, name: str, values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise WeatherError(f"{file}: {name} must hold numbers, got {array.dtype}")
    return array.astype(float)


def _classic(file: Path) -> dict[str, np.ndarray]:
    try:
        from scipy.io import netcdf_file
    except ImportError:
        raise _needs(file, "a NetCDF file", "SciPy") from None
    with netcdf_file(str(file), "r", mmap=False) as opened:
        return {
            name: _checked(file, name, variable[:], getattr(variable, "units", b"").decode(), vars(variable))
            for name, variable in opened.variables.items()
            if name in ALL
        }


def _hdf5(file: Path) -> dict[str, np.ndarray]:
    try:
        import h5netcdf
        import h5py  # noqa: F401  without which the other cannot read
    except ImportError:
        raise _needs(file, "a NetCDF-4 file", "h5netcdf and h5py") from None
    with h5netcdf.File(str(file), "r") as opened:
        return {
            name: _checked(file, name, variable[...], str(variable.attrs.get("units", "")), variable.attrs)
            for name, variable in opened.variables.items()
            if name in ALL
        }


def _needs(file: Path, what: str, library: str) -> WeatherError:
    return WeatherError(f'{file} is {what}, which needs {library}; install it with: pip install "airloom[netcdf]"')


def _checked(file: Path, name: str, values: Any, units: str, attributes: Any) -> np.ndarray:
    """Numbers in the units we need: packed ones are refused rather than guessed."""
    if "scale_factor" in attributes or "add_offset" in attributes:
        raise WeatherError(f"{file}: {name} is packed (scale_factor, add_offset); unpack it first")
    if units and units.strip().lower() not in UNITS[name]:
        expected = {"x": "m", "y": "m", "z": "m", "time": "s"}.get(name, "m/s")
        raise WeatherError(f"{file}: {name} is in '{units}', but {expected} is needed; convert it first")
    return _numbers(file, name, values)
