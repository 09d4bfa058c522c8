"""Where the socket of a control link is: in the run's folder, or elsewhere if the path of that is too long."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

from airloom.run_folder import RunFolder

LONGEST_SOCKET_PATH = 107  # bytes, of Linux
OVER = "the run is over"
"""What the link says at the end."""


def find_socket(folder: RunFolder) -> Path | None:
    """Where a run has its socket, if it has one."""
    if folder.socket_note.is_file():
        return Path(folder.socket_note.read_text(encoding="utf-8").strip())
    return folder.socket.resolve() if folder.socket.is_socket() else None


def place_for_socket(folder: RunFolder) -> Path:
    path = folder.socket.resolve()
    if _fits(path):
        return path
    for parent in (tempfile.gettempdir(), "/tmp"):
        place = Path(tempfile.mkdtemp(prefix="airloom-", dir=parent)) / folder.socket.name
        if _fits(place):
            return place
        place.parent.rmdir()
    raise OSError("no folder for temporary files has a path short enough for a socket")


def note_place(path: Path, folder: RunFolder) -> None:
    if path != folder.socket.resolve():
        folder.socket_note.write_text(f"{path}\n", encoding="utf-8")


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= LONGEST_SOCKET_PATH


def private_listener(path: Path) -> socket.socket:
    """For the owner only, from the first instant: Linux gives the file the mode that the socket has when bound."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.fchmod(listener.fileno(), 0o600)
    listener.bind(os.fspath(path))
    path.chmod(0o600)
    listener.listen()
    return listener


def remove_socket(path: Path, folder: RunFolder) -> None:
    with suppress(OSError):
        path.unlink()
    if path != folder.socket.resolve():
        shutil.rmtree(path.parent, ignore_errors=True)
        folder.socket_note.unlink(missing_ok=True)
