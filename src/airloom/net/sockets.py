"""Connections as we want them: quick, and not waiting for ever on a cut cable."""

from __future__ import annotations

import socket


def make_quick_and_mortal(connection: socket.socket) -> None:
    """Small messages go at once, and a cut cable is noticed, even by who only waits: after about 25 s."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    # While something sent is not acknowledged nobody asks; the kernel repeats it for a quarter of an hour (RFC 5482).
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 25_000)
