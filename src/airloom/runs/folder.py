"""The folder a run leaves: `log.mcap`, `scenario.yaml`, `summary.json`, figures; `control.*` while it is linked."""

from __future__ import annotations

import glob
import json
import math
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from airloom.basics.given import MEGABYTE, json_of
from airloom.errors import UserError
from airloom.runs.last import remembered

RUNS = Path("runs")
LAST = "last"
_LOG, _SUMMARY, _SCENARIO = "log.mcap", "summary.json", "scenario.yaml"
_EARLIER_LOG = re.compile(r"log-([0-9]{1,9})\.mcap")
_AUTOPILOT_FOLDER = re.compile(r"autopilot-\w+")
_MEMBER_OUTPUT = re.compile(r"member-\w+\.txt")
_FIGURE = re.compile(
    r"(flight-\w+|fleet|seen-\w+-\w+|pursuit|fields|swarm(-\w+)?|links-(distance|time|map)(-\w+)?)\.png"
)
_SWARM, _RADIO_FOLDER = "swarm.json", "radio"
_MAP = re.compile(r"(deposition|difference)\w*\.(png|tif|npy)")
_POINTS = re.compile(r"[^/.][^/]*\.la[sz]", re.IGNORECASE)
_SOCKET, _SOCKET_NOTE, _WINDOW = "control.sock", "control.path", "control.state"
_UNFINISHED = f"{_SUMMARY}.unfinished"
_LARGEST = 256 * MEGABYTE
_LOG_MAGIC, _LOG_MAKER = b"\x89MCAP0\r\n", b"airloom"


class RunFolderError(UserError):
    """A run folder cannot be made or found; the message is meant for the user."""


class RunFolder:
    """Made by `create` for a new run, by `open` for one that has been."""

    def __init__(self, path: Path, log: Path | None = None) -> None:
        self.path = path
        self.log = log or path / _LOG
        self.summary = path / _SUMMARY
        self.scenario = path / _SCENARIO
        self.socket = path / _SOCKET
        self.window = path / _WINDOW
        self.socket_note = path / _SOCKET_NOTE
        """Says where the socket is if this folder's path is too long for one."""

    @classmethod
    def create(cls, scenario: str, out: Path | str | None = None, replace: bool = False) -> RunFolder:
        """`runs/<scenario>-<n>` with the next free n, or the folder `out`.

        If `out` holds an earlier run, that is replaced if wanted; else `<out>-<n>` is taken, n from 2 on.
        """
        if out is None:
            return cls(_next_numbered(RUNS / scenario))
        path = Path(out)
        if _is_new_or_empty(path):
            return cls(_made(path))
        _refuse_what_is_no_run(path)
        return cls(_cleared(path) if replace else _next_numbered(path, first=2))

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        """A run by its folder, by its log file, by its name in `runs`, or by the word `last`."""
        if str(path) == LAST and not Path(path).exists():
            return cls(_newest())
        given = Path(path)
        if given.is_file():
            return cls(given.parent, log=given)
        if not given.is_dir() and given.name == str(path) and (RUNS / given / _LOG).is_file():
            given = RUNS / given
        if not given.is_dir():
            raise RunFolderError(f"there is no run '{given}'{_known_runs()}")
        if not (given / _LOG).is_file():
            raise RunFolderError(f"the folder '{given}' holds no {_LOG}, so it is no run{_known_runs()}")
        return cls(given)

    def put_log_aside(self) -> None:
        """Make room for another log: `log.mcap` becomes `log-1.mcap`, or the next number."""
        earlier = [_EARLIER_LOG.fullmatch(path.name) for path in self.path.iterdir()]
        number = 1 + max((int(match[1]) for match in earlier if match), default=0)
        try:
            os.replace(self.log, self.log.with_stem(f"log-{number}"))
        except OSError as error:
            raise RunFolderError(f"cannot rename {self.log}: {error.strerror}") from error

    def discard(self) -> bool:
        """Take away what a run left that did not begin, unless a program that it started has left its last words."""
        outputs = (*self.path.glob("autopilot-*/console.txt"), *self.path.glob("member-*.txt"))
        if any(output.stat().st_size for output in outputs):
            return False
        _cleared(self.path).rmdir()
        return True

    def figure(self, name: str) -> Path:
        return self.path / f"{name}.png"

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """All at once: a reader finds the whole summary or none.

        Halves of characters, as paths may hold, become escapes, which are JSON's own.
        """
        unfinished = self.path / _UNFINISHED
        try:
            unfinished.write_text(as_json(summary) + "\n", encoding="utf-8", errors="backslashreplace")
            os.replace(unfinished, self.summary)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            raise RunFolderError(f"cannot write {self.summary}: {error.strerror}") from error

    def read_summary(self) -> dict[str, Any]:
        """Empty if the run was cut off before it could write one."""
        if not self.summary.is_file():
            return {}
        summary = json_of(self.summary, RunFolderError, _LARGEST)
        if not isinstance(summary, dict):
            raise RunFolderError(f"{self.summary}: is no summary of a run")
        return summary


def _next_numbered(stem: Path, first: int = 1) -> Path:
    number = max((1 + _number(path, stem.name) for path in stem.parent.glob(f"{glob.escape(stem.name)}-*")), default=0)
    number = max(number, first)
    while True:
        path = stem.with_name(f"{stem.name}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            if stem.parent.is_file():
                raise RunFolderError(f"cannot make the folder '{stem.parent}': a file has that name") from None
            number += 1
        except OSError as error:
            raise RunFolderError(f"cannot make the folder '{path}': {error.strerror}; choose one with --out") from error
        else:
            return path


def _number(path: Path, stem: str) -> int:
    number = path.name.removeprefix(f"{stem}-")
    return int(number) if re.fullmatch(r"[0-9]{1,9}", number) else 0


def _is_new_or_empty(path: Path) -> bool:
    try:
        return not path.exists() or (path.is_dir() and not any(path.iterdir()))
    except OSError as error:
        raise _unusable(path, error) from error


def _made(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(path, error) from error
    return path


def _refuse_what_is_no_run(path: Path) -> None:
    """What is not certainly a run is never touched."""
    if not path.is_dir():
        raise RunFolderError(f"'{path}' is a file: choose a folder for the run")
    try:
        names = sorted(entry.name for entry in path.iterdir())
        drawn = _figures_asked_for(path / _SCENARIO)
        foreign = [name for name in names if not (_is_ours(path / name) or name in drawn)]
        if not foreign and not _is_run(path):
            foreign = names
    except OSError as error:
        raise _unusable(path, error) from error
    if foreign:
        raise RunFolderError(
            f"the folder '{path}' holds something else than a run ({_few(foreign)}): choose a new or empty folder"
        )


def _figures_asked_for(scenario: Path) -> set[str]:
    """The files of figures that the scenario of a run names."""
    from airloom.scenario.document import LARGEST_RESOLVED, read
    from airloom.scenario.errors import ScenarioError
    from airloom.scenario.tree import child_of

    try:
        figures = child_of(read(scenario, LARGEST_RESOLVED), "figures")
    except ScenarioError:
        return set()
    return {f"{name}.png" for name in figures.value} if figures and isinstance(figures.value, dict) else set()


def _cleared(path: Path) -> Path:
    """The folder without the run in it."""
    try:
        for entry in path.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    except OSError as error:
        raise _unusable(path, error) from error
    return path


def _unusable(path: Path, error: OSError) -> RunFolderError:
    return RunFolderError(f"cannot use the folder '{path}': {error.strerror}")


def _is_run(path: Path) -> bool:
    """By what is in its files, for their names are common."""
    return (path / _SCENARIO).is_file() and (_is_our_log(path / _LOG) or _is_our_summary(path / _SUMMARY))


def _is_our_log(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(64)
    return head.startswith(_LOG_MAGIC) and _LOG_MAKER in head


def _is_our_summary(path: Path) -> bool:
    try:
        summary = json_of(path, RunFolderError, _LARGEST)
    except RunFolderError:
        return False
    return isinstance(summary, dict) and {"scenario", "airloom", "state_hash"} <= summary.keys()


def _is_ours(entry: Path) -> bool:
    """By its name and kind."""
    if entry.is_symlink():
        return False
    if entry.name in (_SOCKET, _SOCKET_NOTE, _WINDOW):
        return entry.is_socket() or entry.is_file()
    if entry.is_dir():
        return entry.name == _RADIO_FOLDER or _AUTOPILOT_FOLDER.fullmatch(entry.name) is not None
    patterns = (_EARLIER_LOG, _MEMBER_OUTPUT, _FIGURE, _MAP, _POINTS)
    names = (_LOG, _SUMMARY, _SCENARIO, _UNFINISHED, _SWARM)
    return entry.name in names or any(one.fullmatch(entry.name) for one in patterns)


def _newest() -> Path:
    elsewhere = remembered()
    logs = [*RUNS.glob(f"*/{_LOG}"), *(elsewhere.glob(_LOG) if elsewhere else ())]
    if not logs:
        raise RunFolderError(f"there is no last run: the folder '{RUNS}' here holds none, nor was one made with --out")
    return max(logs, key=lambda log: (log.stat().st_mtime_ns, log.parent.name)).parent


def _known_runs() -> str:
    names = [log.parent.name for log in sorted(RUNS.glob(f"*/{_LOG}"), key=lambda log: -log.stat().st_mtime_ns)]
    return f"; in '{RUNS}' there are {_few(names)}" if names else ""


def _few(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def as_json(summary: Mapping[str, Any]) -> str:
    """NaN and infinity become null."""
    return json.dumps(plain(summary), indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
