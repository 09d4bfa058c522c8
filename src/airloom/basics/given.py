"""Files that a user names, on the command line or in another file: each is looked at here before it is read.

A pipe would be waited for until somebody writes, and a device such as `/dev/zero` never ends.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from airloom.basics.text import sound

MEGABYTE = 1024 * 1024

Mistake = Callable[[str], Exception]
"""Makes the exception of whoever reads from the message for the user."""


def regular_file(
    file: Path | str, mistake: Mistake, most: int | None = None, advice: str = "", shown: str = ""
) -> Path:
    """The path, if a regular file of at most so many bytes is there; the message calls it as it is `shown`."""
    name = shown or sound(str(file))
    try:
        found = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        raise mistake(f"{name}: no such file") from None
    except OSError as error:
        raise mistake(f"{name}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise mistake(f"{name!r} is no name that a file can have") from None
    if stat.S_ISDIR(found.st_mode):
        raise mistake(f"{name}: is a folder; a file is expected")
    if not stat.S_ISREG(found.st_mode):
        raise mistake(f"{name}: is not a regular file but a pipe or a device; write what it holds to a file, give that")
    if most is not None and found.st_size > most:
        raise mistake(_too_large(name, most, advice))
    return Path(file)


def bytes_of(file: Path | str, mistake: Mistake, most: int, advice: str = "", shown: str = "") -> bytes:
    path = regular_file(file, mistake, most, advice, shown)
    try:
        with path.open("rb") as stream:
            data = stream.read(most + 1)  # it may be written to at this moment
    except OSError as error:
        raise mistake(f"{shown or sound(str(file))}: cannot be read: {error.strerror}") from None
    if len(data) > most:
        raise mistake(_too_large(shown or sound(str(file)), most, advice))
    return data


def text_of(file: Path | str, mistake: Mistake, most: int, advice: str = "", shown: str = "") -> str:
    """UTF-8, with or without a mark at its beginning that says so."""
    data = bytes_of(file, mistake, most, advice, shown)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"{shown or sound(str(file))}, line {data.count(10, 0, error.start) + 1}"
        raise mistake(f"{where}: the text is not UTF-8; save the file with UTF-8 encoding") from None


def json_of(file: Path | str, mistake: Mistake, most: int, advice: str = "", shown: str = "") -> Any:
    """What a file of JSON holds; numbers in it may be NaN and infinite."""
    text = text_of(file, mistake, most, advice, shown)
    try:
        return json.loads(text)
    except ValueError as error:
        raise mistake(f"{shown or sound(str(file))}: is no valid JSON: {error}") from None
    except RecursionError:
        raise mistake(f"{shown or sound(str(file))}: is nested too deeply") from None


def _too_large(name: str, most: int, advice: str) -> str:
    size = f"{most / MEGABYTE:g} MB" if most >= MEGABYTE else f"{most} bytes"
    return f"{name}: is larger than {size}" + (f"; {advice}" if advice else ", the most that is read")
