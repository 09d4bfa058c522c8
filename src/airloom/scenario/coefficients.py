"""Tables of coefficients that somebody measured or worked out: polars of profiles, and propellers in a wind tunnel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from airloom.basics.given import MEGABYTE, regular_file, text_of
from airloom.errors import UserError

LARGEST_FILE = 4 * MEGABYTE
TABLE = "give a table of a few hundred rows"
MOST_ROWS = 1000
POLAR = {"alpha": ("alpha", "aoa"), "CL": ("cl", "cltot"), "CD": ("cd", "cdtot"), "CM": ("cm", "cmtot")}
PROPELLER = {"J": ("j",), "CT": ("ct",), "CP": ("cp",)}


class CoefficientsError(UserError, ValueError):
    """A table of coefficients cannot be used; the message is meant for the user."""


def read_polar(file: str) -> np.ndarray:
    """[row, (α in rad, C_L, C_D, C_M)], α rising: XFOIL's polar files, or columns with such names."""
    path = Path(file)
    return _polar(path, _stamp(path))


def read_propeller(file: str) -> np.ndarray:
    """[row, (J, C_T, C_P)], J rising: files of the UIUC propeller database, or columns with such names."""
    path = Path(file)
    return _propeller(path, _stamp(path))


def _stamp(path: Path) -> tuple[int, int]:
    about = regular_file(path, CoefficientsError, LARGEST_FILE, TABLE).stat()
    return about.st_mtime_ns, about.st_size


@lru_cache(64)
def _polar(path: Path, stamp: tuple[int, int]) -> np.ndarray:
    lines, rows = _table(path, POLAR, {"CM"})
    _refuse(path, lines, np.abs(rows[:, 0]) > 180.0, "alpha is in degrees, from -180 to 180")
    _refuse(path, lines, rows[:, 2] < 0.0, "a drag below 0 would push")
    _refuse(path, lines, (np.abs(rows[:, 1:]) > 10.0).any(axis=1), "no profile has a coefficient beyond 10")
    if not rows[0, 0] < 0.0 < rows[-1, 0]:
        raise CoefficientsError(
            f"{path}: alpha goes from {rows[0, 0]:g} to {rows[-1, 0]:g}°; it must begin below 0 and end above"
        )
    rows[:, 0] = np.radians(rows[:, 0])
    return rows


@lru_cache(64)
def _propeller(path: Path, stamp: tuple[int, int]) -> np.ndarray:
    lines, rows = _table(path, PROPELLER, set())
    _refuse(path, lines, (rows[:, 0] < 0.0) | (rows[:, 0] > 10.0), "the advance ratio J goes from 0 to 10")
    _refuse(path, lines, (np.abs(rows[:, 1:]) > 2.0).any(axis=1), "no propeller has a coefficient beyond 2")
    return rows


def _refuse(path: Path, lines: np.ndarray, wrong: np.ndarray, why: str) -> None:
    if wrong.any():
        raise CoefficientsError(f"{path}, line {lines[wrong][0]}: {why}")


def _table(path: Path, wanted: Mapping[str, Sequence[str]], left_out: set[str]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the lines, and what stands in them in the order of `wanted`, by the first column."""
    text = text_of(path, CoefficientsError, LARGEST_FILE, TABLE).splitlines()
    header, columns = _header(path, text, wanted, left_out)
    found = []
    for number, line in enumerate(text[header + 1 :], header + 2):
        words = _words(line)
        if words and not re.fullmatch(r"[-=\s]+", line):
            found.append((number, *_numbers(path, number, words, columns)))
    if not 2 <= len(found) <= MOST_ROWS:
        raise CoefficientsError(
            f"{path}: there are {len(found)} rows below line {header + 1}; from 2 to {MOST_ROWS} are needed"
        )
    rows = np.array(found)
    rows = rows[np.argsort(rows[:, 1], kind="stable")]
    lines = rows[:, 0].astype(int)
    first = next(iter(wanted))
    same = np.flatnonzero(np.diff(rows[:, 1]) == 0.0)
    if same.size:
        one, other = sorted(lines[same[0] : same[0] + 2])
        raise CoefficientsError(f"{path}, line {other}: {first} {rows[same[0], 1]:g} stands in line {one} as well")
    return lines, rows[:, 1:]


def _words(line: str) -> list[str]:
    """Those of a line; columns are parted by blanks, tabs, commas or semicolons."""
    return [word for word in re.split(r"[\s,;]+", re.split(r"[#%!]", line)[0].strip()) if word]


def _header(
    path: Path, text: Sequence[str], wanted: Mapping[str, Sequence[str]], left_out: set[str]
) -> tuple[int, dict[str, int | None]]:
    """Its line, and in which column each of the wanted stands; None for one that is not there and may be left out."""
    for number, line in enumerate(text):
        names = [word.lower() for word in _words(line)]
        columns = {
            key: next((k for k, name in enumerate(names) if name in aliases), None) for key, aliases in wanted.items()
        }
        if all(column is not None or key in left_out for key, column in columns.items()):
            return number, columns
    raise CoefficientsError(f"{path}: no line names the columns; one must have {', '.join(wanted)} above the numbers")


def _numbers(path: Path, line: int, words: list[str], columns: dict[str, int | None]) -> list[float]:
    numbers = []
    for key, column in columns.items():
        if column is None:
            numbers.append(0.0)
            continue
        try:
            number = float(words[column])
        except IndexError:
            raise CoefficientsError(f"{path}, line {line}: {key} is missing; there are {len(words)} columns") from None
        except ValueError:
            raise CoefficientsError(f"{path}, line {line}: {key} must be a number, got '{words[column]}'") from None
        if not np.isfinite(number):
            raise CoefficientsError(f"{path}, line {line}: {key} must be finite, got '{words[column]}'")
        numbers.append(number)
    return numbers
