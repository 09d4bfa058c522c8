"""Connections as we want them: quick, and not waiting for ever on a cut cable."""

from __future__ import annotations

import socket

PATIENCE = 11
"""Seconds without an answer after which a line counts as cut. The next hop answers, be it a proxy: see `loom/beats.py`.

Who was silent and speaks just before they are over begins them anew, since something sent is then on its way: so a cut
is noticed after twice as long at the latest.
"""


def make_quick_and_mortal(connection: socket.socket) -> None:
    """Small messages go at once, and a cut cable is noticed, even by who only waits."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, PATIENCE - 2 * 3)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 3)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)
    # While something sent is not acknowledged nobody asks; the kernel repeats it for a quarter of an hour (RFC 5482).
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, PATIENCE * 1000)
