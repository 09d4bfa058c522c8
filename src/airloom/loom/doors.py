"""Where the loom listens: always on a Unix socket of its own, on TCP too if asked; beyond this machine with a token."""

from __future__ import annotations

import os
import secrets
import socket

from airloom.keeper import folder_for_socket
from airloom.loopback import LOOPBACK


class DoorError(Exception):
    """The loom cannot listen where it was asked to; the message is meant for the user."""


class Doors:
    def __init__(self, listen: str | None = None, token: str | None = None) -> None:
        """`listen` is `tcp:host:port`, port 0 for any free one."""
        place = _parsed(listen) if listen else None
        self._folder = folder_for_socket("airloom-loom-", "loom")
        self._path = self._folder.path / "loom"
        self.address = f"unix:{self._path}"
        """For members on this machine."""
        self.remote_address: str | None = None
        self.token = token_for(listen, token) if listen else token or ""
        """What members that come over TCP must know; empty if there is nothing to know."""
        local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        local.bind(os.fspath(self._path))
        self._path.chmod(0o600)
        local.listen(128)
        local.setblocking(False)
        self.listeners = [local]
        if place:
            self._open_tcp(*place)

    def _open_tcp(self, host: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            listener = socket.create_server((host, port), family=family, backlog=128)
        except OSError as error:
            self.close()
            raise DoorError(f"the loom cannot listen on {host}, port {port}: {error.strerror}") from None
        listener.setblocking(False)
        self.listeners.append(listener)
        self.remote_address = f"tcp:{host}:{listener.getsockname()[1]}"

    def knows(self, token: str, came_by: socket.socket) -> bool:
        """Whether somebody with this token may come in by that door; files have their own permissions."""
        local = came_by.family == socket.AF_UNIX
        return local or not self.token or secrets.compare_digest(token.encode(), self.token.encode())

    def close(self) -> None:
        for listener in self.listeners:
            listener.close()
        self._folder.remove()


def token_for(listen: str, token: str | None) -> str:
    """The token that members must know who come to that place: beyond this machine there always is one."""
    host, _ = _parsed(listen)
    return token or ("" if host in LOOPBACK else secrets.token_urlsafe(16))


def _parsed(listen: str) -> tuple[str, int]:
    scheme, _, rest = listen.partition(":")
    host, _, port = rest.rpartition(":")
    if scheme != "tcp" or not host or not port.isdecimal() or int(port) > 65535:
        raise DoorError(f"'{listen}' is no place to listen: write tcp:HOST:PORT, such as tcp:127.0.0.1:7700")
    return host.strip("[]"), int(port)
