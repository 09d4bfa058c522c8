"""Bytes from a browser to viser and back, never more of them in memory than fit into a few buffers."""

from __future__ import annotations

from airloom.net import streams
from airloom.net.front_door import STALL
from airloom.net.streams import Ends

MAX_FRAME = 8 * 1024 * 1024


class Oversized(Exception):
    """A browser announced a websocket frame that nobody needs."""


async def relay(browser: Ends, viser: Ends) -> None:
    """Pass on what either side says until one of them ends, or stops reading."""
    await streams.relay(browser, viser, FrameGauge().watch, STALL)


class FrameGauge:
    """Follows the frames in a stream of websocket bytes, to see how long each is before it has come."""

    def __init__(self) -> None:
        self._header = b""
        self._payload = 0
        """Bytes of the frame that are still to come."""

    def watch(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            if self._payload:
                passed = min(self._payload, len(data) - at)
                self._payload -= passed
                at += passed
            else:
                wanted = _header_size(self._header) - len(self._header)
                self._header += data[at : at + wanted]
                at += wanted
                self._close_header()

    def _close_header(self) -> None:
        if len(self._header) < _header_size(self._header):
            return
        self._payload = _payload_size(self._header)
        if self._payload > MAX_FRAME:
            raise Oversized
        self._header = b""


def _header_size(header: bytes) -> int:
    """How long a header is, as far as its beginning tells."""
    if len(header) < 2:
        return 2
    masked, length = header[1] >> 7, header[1] & 127
    return 2 + {126: 2, 127: 8}.get(length, 0) + 4 * masked


def _payload_size(header: bytes) -> int:
    length = header[1] & 127
    extended = {126: 2, 127: 8}.get(length, 0)
    return int.from_bytes(header[2 : 2 + extended]) if extended else length
