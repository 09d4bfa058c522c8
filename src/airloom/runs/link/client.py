"""The other end of a control link: `LinkClient.find("last").ask("goto", vehicle="cf", position=[1, 2, 3])`."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from airloom.errors import UserError
from airloom.runs.folder import LAST, RUNS, RunFolder
from airloom.runs.link.place import OVER, find_socket

HOW_TO_START = "start one in another terminal, for example with: airloom run hover --until 600"


class LinkError(UserError):
    """There is no link, or no longer; the message is meant for the user."""


class Refused(UserError, ValueError):
    """The simulation did not do what it was asked for; the message says why."""


class LinkClient:
    """One conversation with a running simulation."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._connect()

    def _connect(self) -> None:
        folder, path = self.folder, find_socket(self.folder)
        if path is None:
            raise LinkError(f"the run '{folder.path}' has no control link; {HOW_TO_START}")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            reason = OVER if isinstance(error, ConnectionRefusedError | FileNotFoundError) else error.strerror
            raise LinkError(f"cannot reach the run '{folder.path}': {reason}; {HOW_TO_START}") from None
        self._stream = self._socket.makefile("rb")

    @classmethod
    def find(cls, run: str | Path = LAST) -> LinkClient:
        """The link of a run by its folder, or of the newest in `runs` that answers."""
        if str(run) != LAST or Path(run).is_dir():
            return cls(RunFolder(Path(run)))
        for path in sorted(RUNS.glob("*/control.*"), key=lambda path: -path.lstat().st_mtime_ns):
            try:
                return cls(RunFolder(path.parent))
            except LinkError:
                continue
        raise LinkError(f"no run in the folder '{RUNS}' here has a control link; {HOW_TO_START}")

    def ask(self, method: str, **fields: Any) -> dict[str, Any]:
        """Send a request and wait for the reply."""
        try:
            self._socket.sendall(json.dumps({"method": method, **fields}).encode() + b"\n")
            line = self._stream.readline()
        except OSError:
            line = b""
        if not line and method == "stop":
            return {}  # it was heard, and has ended what would have answered
        if not line:
            raise LinkError(OVER)
        reply = json.loads(line)
        if not reply["ok"]:
            raise LinkError(OVER) if reply["error"] == OVER else Refused(reply["error"])
        return reply

    def renew(self) -> None:
        """Connect anew, for a reply may have been left unread."""
        self.close()
        self._connect()

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def __enter__(self) -> LinkClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
