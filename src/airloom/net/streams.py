"""Connections of a server that waits for many at once (asyncio): how they are received, and passed on."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from typing import cast

from airloom.net import reserve
from airloom.net.listening import BACKLOG

CHUNK = 64 * 1024
MOST_STRANGERS = 64
"""That are there at once; one more takes the place of the one that has been there longest."""
AT_ONCE = 4
"""Connections that are received in one go. asyncio needs a few goes to receive them, and to let go of others, so that
several times as many file numbers must be in reserve.
"""
PATIENCE = 10.0  # s for somebody to finish a handshake

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Reception:
    """Receives visits, by TLS if there is a context for it. Who comes is a stranger until it is taken for known."""

    def __init__(self, serve: Serve, tls: ssl.SSLContext | None = None) -> None:
        self._serve, self._tls = serve, tls
        if tls:  # of who hangs up in the handshake it warns that our protocol does not know yet that this is TLS
            logging.getLogger("asyncio").setLevel(logging.ERROR)
        self.visits: set[asyncio.Task] = set()
        self._strangers: dict[asyncio.Task, asyncio.StreamWriter] = {}
        """Who came first is first."""

    @property
    def strangers(self) -> set[asyncio.Task]:
        return set(self._strangers)

    async def open(self, listener: socket.socket, longest_line: int = CHUNK) -> asyncio.Server:
        server = await asyncio.start_server(self._welcome, sock=listener, limit=longest_line, backlog=AT_ONCE)
        listener.listen(BACKLOG)
        return server

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._tls:
            cast(asyncio.Transport, writer.transport).pause_reading()  # what comes next belongs to the handshake
        visit = asyncio.create_task(self._visit(reader, writer))
        self.visits.add(visit)
        self._strangers[visit] = writer
        visit.add_done_callback(partial(self._over, writer))
        if len(self._strangers) > MOST_STRANGERS or not reserve.is_kept():
            oldest = next(iter(self._strangers))
            self._strangers.pop(oldest).transport.abort()
            oldest.cancel()

    def know(self) -> None:
        """Take the visit that calls this for somebody who may stay."""
        self._strangers.pop(_this(), None)

    def part(self, writer: asyncio.StreamWriter) -> None:
        """Take the visit that calls this for somebody who may go: all was said."""
        self._strangers[_this()] = writer

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._tls:
            try:
                await writer.start_tls(self._tls, ssl_handshake_timeout=PATIENCE)
            except OSError:  # they hung up, took too long, or do not speak it
                return
        await self._serve(reader, writer)

    def _over(self, writer: asyncio.StreamWriter, visit: asyncio.Task) -> None:
        self.visits.discard(visit)
        self._strangers.pop(visit, None)
        writer.transport.abort()


def _this() -> asyncio.Task:
    task = asyncio.current_task()
    assert task is not None
    return task


def finish(writer: asyncio.StreamWriter) -> None:
    """Say that this was all; TLS can only be closed."""
    if writer.can_write_eof():
        writer.write_eof()
    else:
        writer.close()


async def relay(
    near: Ends, far: Ends, watch: Callable[[bytes], None] = lambda data: None, stall: float | None = None
) -> None:
    """Pass on what either side says until one of them ends; `watch` sees what the near one says.

    Who takes nothing for `stall` seconds is given up. Never more is in memory than fits into a few buffers.
    """
    ways = (
        asyncio.ensure_future(_pump(near[0], far[1], watch, stall)),
        asyncio.ensure_future(_pump(far[0], near[1], lambda data: None, stall)),
    )
    try:
        ended, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ended:
            way.result()
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _pump(
    source: asyncio.StreamReader, sink: asyncio.StreamWriter, watch: Callable[[bytes], None], stall: float | None
) -> None:
    while data := await source.read(CHUNK):
        watch(data)
        sink.write(data)
        async with asyncio.timeout(stall):
            await sink.drain()
