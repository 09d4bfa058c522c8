"""Where the loom listens: always on a Unix socket of its own, on TCP too if asked, plain or by TLS; beyond this machine
with a token.
"""

from __future__ import annotations

import secrets
import socket

from airloom.keeper import folder_for_socket
from airloom.net.loopback import LOOPBACK
from airloom.net.sockets import private_listener
from airloom.net.tls import Certificate, TlsProxy


class ListenError(Exception):
    """The loom cannot listen where it was asked to; the message is meant for the user."""


class Listeners:
    def __init__(
        self, listen: str | None = None, token: str | None = None, certificate: Certificate | None = None
    ) -> None:
        """`listen` is `tcp:host:port` or `tls:host:port`, port 0 for any free one."""
        place = _parsed(listen) if listen else None
        self._folder = folder_for_socket("airloom-loom-", "loom")
        self._path = self._folder.path / "loom"
        self.address = f"unix:{self._path}"
        """For members on this machine."""
        self.remote_address: str | None = None
        self.token = token_for(listen, token) if listen else token or ""
        """What members that come over TCP must know; empty if there is nothing to know."""
        self._tls: TlsProxy | None = None
        local = private_listener(self._path)
        local.setblocking(False)
        self.listeners = [local]
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
            raise ListenError(f"the loom cannot listen on {host}, port {port}: {error.strerror}") from None
        self.remote_address = f"{scheme}:{host}:{listener.getsockname()[1]}"
        if scheme == "tls":
            certificate = certificate or Certificate.own()
            self.remote_address += f"#{certificate.fingerprint}"
            with listener:
                self._tls = TlsProxy(listener, certificate)
                listener = self._tls.inside
        listener.setblocking(False)
        self.listeners.append(listener)

    def knows(self, token: str, came_by: socket.socket) -> bool:
        """Whether somebody with this token may come in by that door; files have their own permissions."""
        local = came_by is self.listeners[0]
        return local or not self.token or secrets.compare_digest(token.encode(), self.token.encode())

    def close(self) -> None:
        for listener in self.listeners:
            listener.close()
        if self._tls:
            self._tls.close()
        self._folder.remove()


def token_for(listen: str, token: str | None) -> str:
    """The token that members must know who come to that place: beyond this machine there always is one."""
    _, host, _ = _parsed(listen)
    return token or ("" if host in LOOPBACK else secrets.token_urlsafe(16))


def _parsed(listen: str) -> tuple[str, str, int]:
    scheme, _, rest = listen.partition(":")
    host, _, port = rest.rpartition(":")
    if scheme not in ("tcp", "tls") or not host or not port.isdecimal() or int(port) > 65535:
        raise ListenError(f"'{listen}' is no place to listen: write tcp:HOST:PORT or tls:HOST:PORT")
    return scheme, host.strip("[]"), int(port)
