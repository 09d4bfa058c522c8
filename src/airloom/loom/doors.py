"""Where the loom listens: always on a Unix socket of its own, on TCP too if asked, plain or by TLS; beyond this machine
with a token.
"""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

from airloom.loopback import LOOPBACK
from airloom.tls import Certificate, TlsDoor


class DoorError(Exception):
    """The loom cannot listen where it was asked to; the message is meant for the user."""


class Doors:
    def __init__(
        self, listen: str | None = None, token: str | None = None, certificate: Certificate | None = None
    ) -> None:
        """`listen` is `tcp:host:port` or `tls:host:port`, port 0 for any free one."""
        place = _parsed(listen) if listen else None
        self._folder = Path(tempfile.mkdtemp(prefix="airloom-loom-"))
        self._path = self._folder / "loom"
        self.address = f"unix:{self._path}"
        """For members on this machine."""
        self.remote_address: str | None = None
        self.token = token_for(listen, token) if listen else token or ""
        """What members that come over TCP must know; empty if there is nothing to know."""
        self._tls: TlsDoor | None = None
        self.listeners = [_local_listener(self._path)]
        try:
            if place:
                self._open_tcp(*place, certificate)
        except BaseException:
            self.close()
            raise

    def _open_tcp(self, scheme: str, host: str, port: int, certificate: Certificate | None) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            listener = socket.create_server((host, port), family=family, backlog=128)
        except OSError as error:
            raise DoorError(f"the loom cannot listen on {host}, port {port}: {error.strerror}") from None
        self.remote_address = f"{scheme}:{host}:{listener.getsockname()[1]}"
        if scheme == "tls":
            with listener:
                listener = self._open_tls(listener, certificate or Certificate.own())
        listener.setblocking(False)
        self.listeners.append(listener)

    def _open_tls(self, listener: socket.socket, certificate: Certificate) -> socket.socket:
        """Where those come out who come in by TLS."""
        path = self._path.with_name("tls")
        inside = _local_listener(path)
        self._tls = TlsDoor(listener, path, certificate)
        self.remote_address = f"{self.remote_address}#{certificate.fingerprint}"
        return inside

    def knows(self, token: str, came_by: socket.socket) -> bool:
        """Whether somebody with this token may come in by that door; files have their own permissions."""
        local = came_by is self.listeners[0]
        return local or not self.token or secrets.compare_digest(token.encode(), self.token.encode())

    def close(self) -> None:
        for listener in self.listeners:
            listener.close()
        if self._tls:
            self._tls.close()
        with suppress(OSError):
            self._path.with_name("tls").unlink(missing_ok=True)
            self._path.unlink()
            self._folder.rmdir()


def _local_listener(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(os.fspath(path))
    path.chmod(0o600)
    listener.listen(128)
    listener.setblocking(False)
    return listener


def token_for(listen: str, token: str | None) -> str:
    """The token that members must know who come to that place: beyond this machine there always is one."""
    _, host, _ = _parsed(listen)
    return token or ("" if host in LOOPBACK else secrets.token_urlsafe(16))


def _parsed(listen: str) -> tuple[str, str, int]:
    scheme, _, rest = listen.partition(":")
    host, _, port = rest.rpartition(":")
    if scheme not in ("tcp", "tls") or not host or not port.isdecimal() or int(port) > 65535:
        raise DoorError(f"'{listen}' is no place to listen: write tcp:HOST:PORT or tls:HOST:PORT")
    return scheme, host.strip("[]"), int(port)
