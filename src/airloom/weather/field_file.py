"""Files with wind on a grid: NumPy's .npz, and NetCDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from airloom.basics.arrays import read_arrays
from airloom.basics.given import regular_file
from airloom.reading.box import read_boxed
from airloom.reading.fields import CLASSIC, HDF5, variables
from airloom.scenario.values import FASTEST_WIND
from airloom.scenario.weather import WeatherError

AXES = ("time", "z", "y", "x")
NEEDED, ALL = ("x", "y", "z", "u", "v"), ("x", "y", "z", "time", "u", "v", "w")
METRES, SECONDS = {"m", "metre", "metres", "meter", "meters"}, {"s", "sec", "second", "seconds"}
SPEEDS = {"m/s", "m s-1", "m s^-1", "m s**-1", "ms-1", "metre second-1", "meter second-1"}
UNITS = dict.fromkeys("xyz", METRES) | {"time": SECONDS} | dict.fromkeys("uvw", SPEEDS)
MOST_NUMBERS = 200_000_000


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
        if beginning.startswith((CLASSIC, HDF5)):
            found = read_boxed(variables, file, list(ALL), refusal=WeatherError)
            return {name: _checked(file, name, **variable) for name, variable in found.items()}
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


def _checked(file: Path, name: str, values: np.ndarray, units: str, packed: bool) -> np.ndarray:
    """Numbers in the units we need: packed ones are refused rather than guessed."""
    if packed:
        raise WeatherError(f"{file}: {name} is packed (scale_factor, add_offset); unpack it first")
    if units and units.strip().lower() not in UNITS[name]:
        expected = {"x": "m", "y": "m", "z": "m", "time": "s"}.get(name, "m/s")
        raise WeatherError(f"{file}: {name} is in '{units}', but {expected} is needed; convert it first")
    return values
