"""Where a server listens: a Unix socket of its owner's, or a TCP port."""

from __future__ import annotations

import errno
import os
import socket
from contextlib import suppress
from pathlib import Path

from airloom.keeper import fits_a_socket
from airloom.net.sockets import private_listener


class PlaceTaken(Exception):
    """Nobody can listen there; the message is meant for the user."""


def unix_listener(path: Path) -> socket.socket:
    if not fits_a_socket(path):
        raise PlaceTaken(f"the path {path} is too long for a socket; give a shorter one with --socket PATH")
    if path.is_socket():
        _remove_if_left_over(path)
    elif path.exists():
        raise PlaceTaken(f"{path} exists and is no socket; choose another place with --socket PATH")
    try:
        return private_listener(path)
    except OSError as error:
        raise PlaceTaken(
            f"cannot listen at {path}: {error.strerror}; choose another place with --socket PATH"
        ) from None


def _remove_if_left_over(path: Path) -> None:
    """A server that was killed leaves its socket behind, where nobody answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(os.fspath(path))
        except ConnectionRefusedError:
            with suppress(FileNotFoundError):
                path.unlink()
            return
        except OSError as error:
            raise PlaceTaken(f"cannot listen at {path}: {error.strerror}") from None
    raise PlaceTaken(f"the socket {path} is in use by another server; end that one, or choose another --socket PATH")


def tcp_listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be listened on: {error.strerror}"
        raise PlaceTaken(
            f"port {port} of {host} {reason}; try another --tcp PORT, or --tcp 0 for any free one"
        ) from None
