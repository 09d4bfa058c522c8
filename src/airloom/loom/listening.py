"""Where the loom listens: always on a Unix socket of its own, on TCP too if asked, plain or by TLS; beyond this machine
with a token.
"""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress

from airloom.keeper import folder_for_socket
from airloom.net.listening import Address, AddressError, ListenError, private_listener, tcp_listener, token_for
from airloom.net.tls import Certificate, TlsProxy


class Listeners:
    def __init__(
        self, listen: str | None = None, token: str | None = None, certificate: Certificate | None = None
    ) -> None:
        """`listen` is `tcp:host:port` or `tls:host:port`, port 0 for any free one."""
        place = parsed(listen) if listen else None
        self._folder = folder_for_socket("airloom-loom-", "loom")
        self._path = self._folder.path / "loom"
        self.address = f"unix:{self._path}"
        """For members on this machine."""
        self.remote_address: str | None = None
        self.token = (token_for(place.host, token) if place else token) or ""
        """What members that come over TCP must know; empty if there is nothing to know."""
        self._tls: TlsProxy | None = None
        local = private_listener(self._path)
        local.setblocking(False)
        self.listeners = [local]
        try:
            if place:
                self._open_tcp(place, certificate)
        except BaseException:
            self.close()
            raise

    def _open_tcp(self, place: Address, certificate: Certificate | None) -> None:
        listener = tcp_listener(place.host, place.port)
        self.remote_address = f"{place.scheme}:{place.host}:{listener.getsockname()[1]}"
        if place.scheme == "tls":
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


def parsed(listen: str) -> Address:
    """A place to listen by TCP, whose certificate is not for others to tell."""
    with suppress(AddressError):
        place = Address.parse(listen)
        if place.scheme != "unix" and not place.fingerprint:
            return place
    raise ListenError(f"'{listen}' is no place to listen: write tcp:HOST:PORT or tls:HOST:PORT")
