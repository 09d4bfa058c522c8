"""A port that browsers talk to, in a thread of its own: who comes is checked before anything else happens."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import threading
from collections.abc import Callable

from airloom.net.admission import Admission, Request, Turned
from airloom.net.streams import Ends, Reception, finish

MAX_HEAD = 16 * 1024
PATIENCE = 10.0
"""Seconds for a request to arrive."""
STALL = 20.0
"""Seconds without progress after which a reader is given up."""
GUESSING_DELAY = 0.5

_log = logging.getLogger(__name__)


class FrontDoor:
    """Subclasses say in `_answer` what is done with a request that may pass, and in `_refusal` how others are told."""

    hung_up: tuple[type[Exception], ...] = (OSError, EOFError, TimeoutError)
    """They hung up, stopped reading, or do not speak the protocol: hanging up is all that is left to do."""

    def __init__(self, admission: Admission, tls: ssl.SSLContext | None = None) -> None:
        self._door = admission
        self._cookie = ""
        """The name of that by which a browser is known again; none if it is to show the token each time."""
        self._thread: threading.Thread | None = None
        self._reception = Reception(self._visit, tls)

    async def _answer(self, request: Request, browser: Ends) -> None:
        raise NotImplementedError

    def _refusal(self, turned: Turned) -> bytes:
        raise NotImplementedError

    # -- life --------------------------------------------------------------------------------------------------------

    def _open(self, listener: socket.socket) -> None:
        started = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run(listener, started)), name=type(self).__name__.lower(), daemon=True
        )
        self._thread.start()
        started.wait()

    def _close(self) -> None:
        """Hang up on everybody, and return when nothing is left."""
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()
            self._thread = None

    def _soon(self, act: Callable[[], None]) -> None:
        """In the thread of the door; not at all once it is closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(act)

    async def _run(self, listener: socket.socket, started: threading.Event) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        server = await self._reception.open(listener, MAX_HEAD)
        started.set()
        await self._stopping.wait()
        server.close()
        await _end_all_tasks()

    # -- visits ------------------------------------------------------------------------------------------------------

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except self.hung_up:
            pass
        except Exception as error:
            _log.error("a browser could not be served: %r", error)
            _log.debug("", exc_info=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await self._request(reader)
            self._reception.know()
            await self._answer(request, (reader, writer))
        except Turned as turned:
            if turned.status == 401:
                await asyncio.sleep(GUESSING_DELAY)
            writer.write(self._refusal(turned))
        self._reception.part(writer)
        async with asyncio.timeout(STALL):
            await _part(reader, writer)

    async def _request(self, reader: asyncio.StreamReader) -> Request:
        try:
            async with asyncio.timeout(PATIENCE):
                raw = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise Turned(431, "The head of the request is too long.") from None
        except TimeoutError:
            raise Turned(408, "The request took too long.") from None
        request = Request.parse(raw)
        self._door.check(request, self._cookie)
        return request


async def _end_all_tasks() -> None:
    """All but this one, and with them those that accept a visitor just now and are no visits yet."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in others:
            task.cancel()
        await asyncio.wait(others, timeout=0.2)  # and again, if one has taken the end of its peer for its own
        await asyncio.sleep(0)  # sockets are closed one turn of the loop after their tasks


async def _part(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say that this was all, and wait until they hang up: hanging up first may tear away what they did not read yet."""
    finish(writer)
    while await reader.read(MAX_HEAD):
        pass
