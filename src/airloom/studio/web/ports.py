"""Where the studio listens; apart from the rest of it, to be looked at before a run begins."""

from __future__ import annotations

import errno
import socket

USUAL_PORT = 8080


class GatewayError(Exception):
    """The studio cannot listen; the message is meant for the user."""


class PortTaken(GatewayError):
    def __init__(self, port: int, next_free: int) -> None:
        offer = f"; try --port {next_free}" if next_free else ""
        super().__init__(f"port {port} is in use{offer}")
        self.port, self.next_free = port, next_free


def listen(host: str, port: int, backlog: int = 1) -> socket.socket:
    """Port 0 takes any free one; `PortTaken` if somebody else listens there."""
    try:
        return _listener(host, port, backlog)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(port, _next_free(host, port)) from None
        raise GatewayError(f"cannot listen on {host}, port {port}: {error.strerror}") from None


def check(host: str, port: int | None) -> None:
    """Raise a `GatewayError` now rather than later; no port is any from the usual one on."""
    listen(host, port or 0).close()


def _listener(host: str, port: int, backlog: int = 1) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=backlog)


def _next_free(host: str, port: int) -> int:
    for candidate in range(port + 1, min(port + 100, 65536)):
        try:
            _listener(host, candidate).close()
        except OSError:
            continue
        return candidate
    return 0
