"""Where the studio listens; apart from the rest of it, to be looked at before a run begins."""

from __future__ import annotations

import socket

from airloom.net.listening import tcp_listener

USUAL_PORT = 8080


def listen(host: str, port: int) -> socket.socket:
    """Port 0 takes any free one."""
    return tcp_listener(host, port, taken="port {port} is in use; try --port {free}")


def check(host: str, port: int | None) -> None:
    """Raise a `ListenError` now rather than later; no port is any from the usual one on."""
    listen(host, port or 0).close()
