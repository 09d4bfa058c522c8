"""Variables of NetCDF files: classic ones by SciPy, those of version 4 by HDF5, which must be whole in one file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from airloom.reading.unreadable import Unreadable, told

CLASSIC, HDF5 = b"CDF", b"\x89HDF"
MOST_NUMBERS = 200_000_000
Variable = dict[str, Any]
"""`values`, `units`, and `packed`: whether they are to be multiplied and added to first."""


def variables(file: Path, names: list[str]) -> dict[str, Variable]:
    """Those of the names that are in the file."""
    with file.open("rb") as opened:
        is_classic = opened.read(len(CLASSIC)) == CLASSIC
    try:
        return dict((_classic if is_classic else _hdf5)(file, names))
    except (Unreadable, MemoryError):
        raise
    except Exception as error:  # whatever numbers that make no sense lead to
        raise Unreadable(f"{file} cannot be read, it may be damaged: {told(error)}") from None


def _classic(file: Path, names: list[str]) -> Iterator[tuple[str, Variable]]:
    try:
        from scipy.io import netcdf_file
    except ImportError:
        raise _needs(file, "a NetCDF file", "SciPy") from None
    with netcdf_file(str(file), "r", mmap=False) as opened:
        for name in names:
            if name in opened.variables:
                variable = opened.variables[name]
                yield name, _variable(file, name, variable, getattr(variable, "units", b"").decode(), vars(variable))


def _hdf5(file: Path, names: list[str]) -> Iterator[tuple[str, Variable]]:
    os.environ["HDF5_PLUGIN_PRELOAD"] = "::"  # filters that lie elsewhere are programs
    try:
        import h5netcdf
        import h5py
    except ImportError:
        raise _needs(file, "a NetCDF-4 file", "h5netcdf and h5py") from None
    with h5py.File(file, "r") as opened:
        _check_is_whole(file, opened)
    with h5netcdf.File(str(file), "r") as opened:
        for name in names:
            if name in opened.variables:
                variable = opened.variables[name]
                yield name, _variable(file, name, variable, str(variable.attrs.get("units", "")), variable.attrs)


def _check_is_whole(file: Path, opened: Any) -> None:
    """HDF5 follows links to other files, and data may lie in other files, wherever these are."""
    import h5py

    links: list[tuple[str, Any]] = []
    opened.visititems_links(lambda name, link: links.append((name, link)))
    for name, link in links:
        if not isinstance(link, h5py.HardLink):
            raise Unreadable(f"{file}: '{name}' is a link to somewhere else; copy what is there into the file")
        one = opened[name]
        if isinstance(one, h5py.Dataset) and (one.external or one.is_virtual):
            raise Unreadable(f"{file}: what '{name}' holds is in other files; copy it into this one")


def _variable(file: Path, name: str, variable: Any, units: str, attributes: Any) -> Variable:
    if (count := int(np.prod(variable.shape, dtype=float))) > MOST_NUMBERS:
        raise Unreadable(f"{file}: {name} has {count:,} numbers; {MOST_NUMBERS:,} are the most")
    values = np.asarray(variable[...])
    if values.dtype.kind not in "fiu":
        raise Unreadable(f"{file}: {name} must hold numbers, got {values.dtype}")
    is_packed = "scale_factor" in attributes or "add_offset" in attributes
    return {"values": values.astype(float), "units": units, "packed": is_packed}


def _needs(file: Path, what: str, library: str) -> Unreadable:
    return Unreadable(f'{file} is {what}, which needs {library}; install it with: pip install "airloom[netcdf]"')
