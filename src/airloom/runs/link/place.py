"""Where the socket of a control link is: in the run's folder, or elsewhere if the path of that is too long."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

from airloom.keeper import fits_a_socket, folder_for_socket
from airloom.net.listening import private_listener
from airloom.runs.folder import RunFolder

OVER = "the run is over"
"""What the link says at the end."""


def find_socket(folder: RunFolder) -> Path | None:
    """Where a run has its socket, if it has one."""
    with suppress(OSError):  # none, or just removed
        return Path(folder.socket_note.read_text(encoding="utf-8").strip())
    return folder.socket.resolve() if folder.socket.is_socket() else None


class Place:
    """Of a run's socket, until it is removed."""

    def __init__(self, folder: RunFolder) -> None:
        self.path, self._note = folder.socket.resolve(), folder.socket_note
        self._elsewhere = None if fits_a_socket(self.path) else folder_for_socket("airloom-", self.path.name)
        if self._elsewhere:
            self.path = self._elsewhere.path / self.path.name

    def listen(self) -> socket.socket:
        listener = private_listener(self.path)
        if self._elsewhere:
            self._note.write_text(f"{self.path}\n", encoding="utf-8")
        return listener

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        if self._elsewhere:
            self._elsewhere.remove()
            self._note.unlink(missing_ok=True)
