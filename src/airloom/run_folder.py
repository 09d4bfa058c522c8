"""The folder a run leaves: `log.mcap`, `scenario.yaml`, `summary.json`, figures; `control.*` while it is linked."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

RUNS = Path("runs")
LAST = "last"
_LOG, _SUMMARY, _SCENARIO = "log.mcap", "summary.json", "scenario.yaml"
_EARLIER_LOG = re.compile(r"log-([0-9]{1,9})\.mcap")
_AUTOPILOT_FOLDER = re.compile(r"autopilot-\w+")
_MEMBER_OUTPUT = re.compile(r"member-\w+\.txt")
_SOCKET, _SOCKET_NOTE, _WINDOW = "control.sock", "control.path", "control.state"


class RunFolderError(Exception):
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
    def create(cls, scenario: str, out: Path | str | None = None) -> RunFolder:
        """`runs/<scenario>-<n>` with the next free n, or the folder `out`.

        `out` may hold an earlier run, which is replaced, but nothing else.
        """
        return cls(_next_numbered(scenario) if out is None else _cleared(Path(out)))

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        """A run by its folder, by its log file, or by the word `last`: the newest in `runs`."""
        if str(path) == LAST and not Path(path).exists():
            return cls(_newest())
        given = Path(path)
        if given.is_file():
            return cls(given.parent, log=given)
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

    def figure(self, name: str) -> Path:
        return self.path / f"{name}.png"

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """All at once: a reader finds the whole summary or none. NaN and infinity become null.

        Halves of characters, as paths may hold, become escapes, which are JSON's own.
        """
        text = json.dumps(_plain(summary), indent=2, ensure_ascii=False, allow_nan=False)
        unfinished = self.summary.with_suffix(".json.unfinished")
        try:
            unfinished.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
            os.replace(unfinished, self.summary)
        except OSError as error:
            raise RunFolderError(f"cannot write {self.summary}: {error.strerror}") from error

    def read_summary(self) -> dict[str, Any]:
        """Empty if the run was cut off before it could write one."""
        if not self.summary.is_file():
            return {}
        try:
            return json.loads(self.summary.read_text(encoding="utf-8"))
        except ValueError as error:
            raise RunFolderError(f"{self.summary} is not valid JSON: {error}") from error


def _next_numbered(scenario: str) -> Path:
    number = 1 + max((_number(path, scenario) for path in RUNS.glob(f"{scenario}-*")), default=0)
    while True:
        path = RUNS / f"{scenario}-{number}"
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            if RUNS.is_file():
                raise RunFolderError(f"cannot make the folder '{RUNS}': a file has that name") from None
            number += 1
        except OSError as error:
            raise RunFolderError(f"cannot make the folder '{path}': {error.strerror}; choose one with --out") from error
        else:
            return path


def _number(path: Path, scenario: str) -> int:
    number = path.name.removeprefix(f"{scenario}-")
    return int(number) if re.fullmatch(r"[0-9]{1,9}", number) else 0


def _cleared(path: Path) -> Path:
    """The folder, made if need be, without the files of an earlier run."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        found = sorted(path.iterdir())
        foreign = [entry.name for entry in found if not _is_ours(entry)]
        if foreign:
            raise RunFolderError(
                f"the folder '{path}' holds something else than a run ({_few(foreign)}): "
                "choose a new or empty folder, or one with an earlier run to replace"
            )
        for entry in found:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    except FileExistsError:
        raise RunFolderError(f"'{path}' is a file: choose a folder for the run") from None
    except OSError as error:
        raise RunFolderError(f"cannot use the folder '{path}': {error.strerror}") from error
    return path


def _is_ours(entry: Path) -> bool:
    if entry.name in (_SOCKET, _SOCKET_NOTE, _WINDOW):
        return entry.is_socket() or entry.is_file()
    is_run = (entry.parent / _LOG).is_file() or (entry.parent / _SUMMARY).is_file()
    beside = entry.suffix == ".png" or entry.name == _SCENARIO or _beside_a_log(entry.name)
    ours = entry.name.startswith((_LOG, _SUMMARY)) or (is_run and beside)
    is_autopilots = is_run and _AUTOPILOT_FOLDER.fullmatch(entry.name) is not None and entry.is_dir()
    return (is_autopilots or (ours and entry.is_file())) and not entry.is_symlink()


def _beside_a_log(name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in (_EARLIER_LOG, _MEMBER_OUTPUT))


def _newest() -> Path:
    logs = list(RUNS.glob(f"*/{_LOG}"))
    if not logs:
        raise RunFolderError(f"there is no last run: the folder '{RUNS}' here holds none")
    return max(logs, key=lambda log: (log.stat().st_mtime_ns, log.parent.name)).parent


def _known_runs() -> str:
    names = [log.parent.name for log in sorted(RUNS.glob(f"*/{_LOG}"), key=lambda log: -log.stat().st_mtime_ns)]
    return f"; in '{RUNS}' there are {_few(names)}" if names else ""


def _few(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
