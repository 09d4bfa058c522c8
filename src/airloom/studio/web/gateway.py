"""The front door of the studio: the one port that browsers talk to.

It serves the page, checks who comes, passes websockets through to viser, which has no port of its own, and keeps a line
to the page in each browser (`page_lines.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import socket
import ssl
import threading
from typing import Any
from urllib.parse import quote, urlencode

import viser
from websockets.exceptions import InvalidHandshake

from airloom.net.streams import Ends, Reception, finish
from airloom.studio.web.admission import Admission, Request, Turned
from airloom.studio.web.frame_sizes import STALL, Oversized, relay
from airloom.studio.web.page_lines import OnPutDown, OnSelect, OnStick, OnStickGone, PageLine
from airloom.studio.web.pages import Nothing, Pages, answer, refusal
from airloom.studio.web.ports import USUAL_PORT, listen
from airloom.studio.web.viser_server import PortlessViser

MAX_HEAD = 16 * 1024
MAX_BROWSERS = 32
PATIENCE = 10.0
"""Seconds for a request to arrive."""
GUESSING_DELAY = 0.5
VISER_PROTOCOL = f"viser-v{viser.__version__}"
FAREWELL = "The simulation has ended. Waiting for it to come back…"

_log = logging.getLogger(__name__)


class Full(Turned):
    def __init__(self) -> None:
        super().__init__(503, f"{MAX_BROWSERS} browsers look at this simulation already. Close one of them first.")


class Foreign(Turned):
    """viser would refuse it, too, but with a line on the terminal for each."""

    def __init__(self) -> None:
        super().__init__(400, f"This is no page of ours: it does not speak {VISER_PROTOCOL}.")


class Gateway:
    """Listens from `start` to `stop`, in a thread of its own, from which the callbacks are called."""

    def __init__(
        self,
        server: PortlessViser,
        host: str = "127.0.0.1",
        port: int = USUAL_PORT,
        token: str | None = None,
        tls: ssl.SSLContext | None = None,
        on_stick: OnStick = lambda tab, axes, buttons: None,
        on_stick_gone: OnStickGone = lambda tab: None,
        on_put_down: OnPutDown = lambda tab: None,
        on_select: OnSelect = lambda tab, name: None,
    ) -> None:
        """Port 0 takes any free one. Beyond loopback there is always a token: see `url`."""
        self._viser, self.host, self.port, self._scheme = server, host, port, "https" if tls else "http"
        self.on_stick, self.on_stick_gone = on_stick, on_stick_gone
        self.on_put_down, self.on_select = on_put_down, on_select
        self._door = Admission(host, token)
        self._pages = Pages()
        self._thread: threading.Thread | None = None
        self._lines: dict[str, PageLine] = {}
        self._reception = Reception(self._visit, tls)
        self._rooms = asyncio.Semaphore(MAX_BROWSERS)

    @property
    def url(self) -> str:
        """Where a browser goes, with the token if one is asked for."""
        name = socket.gethostname() if self.host in ("0.0.0.0", "::", "") else self.host
        query = f"?token={quote(self._door.token)}" if self._door.token else ""
        return f"{self._scheme}://{_bracketed(name)}:{self.port}/{query}"

    # -- what the studio asks of a page ------------------------------------------------------------------------------

    def tabs(self) -> list[str]:
        """The browser tabs that have a line to us."""
        return list(self._lines)

    def fly(self, tab: str, on: bool) -> None:
        """Let a tab's keys and game controller fly, or no longer."""
        self._tell(tab, {"fly": on})

    def caption(self, tab: str, text: str) -> None:
        """What stands beside the sticks of a tab that flies."""
        self._tell(tab, {"caption": text})

    def mark_camera(self, tab: str, mode: str) -> None:
        """Show a tab's own camera among the buttons, which are everybody's."""
        self._tell(tab, {"camera": mode})

    def toast(self, tab: str, text: str) -> None:
        self._tell(tab, {"toast": text})

    def record(self, tab: str, on: bool, name: str = "airloom.webm") -> None:
        """Begin a video in the browser, or end it and save it there."""
        self._tell(tab, {"record": on, "name": name})

    def _tell(self, tab: str, order: dict[str, Any]) -> None:
        def tell() -> None:
            if tab in self._lines:
                self._lines[tab].tell(order)

        with contextlib.suppress(RuntimeError):  # stopped: nobody is there to be told
            self._loop.call_soon_threadsafe(tell)

    # -- life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Listen; `PortTaken` if somebody else does."""
        listener = listen(self.host, self.port)
        self.port = listener.getsockname()[1]
        self._cookie = f"airloom-{self.port}"  # browsers keep cookies by host, whatever the port
        started = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run(listener, started)), name="gateway", daemon=True
        )
        self._thread.start()
        started.wait()

    def stop(self) -> None:
        """Hang up on everybody, and return when nothing is left."""
        if self._thread is not None:
            for tab in self.tabs():
                self._tell(tab, {"farewell": FAREWELL})
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Gateway:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

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
        except (OSError, EOFError, TimeoutError, InvalidHandshake, Oversized):
            pass  # they hung up, stopped reading, or do not speak the protocol: hanging up is all that is left to do
        except Exception as error:
            _log.error("the studio failed to serve a browser: %r", error)
            _log.debug("", exc_info=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await self._request(reader)
            self._reception.know()
            if request.is_websocket:
                await self._connect(request, (reader, writer))
            else:
                writer.write(self._reply(request))
        except Turned as turned:
            if turned.status == 401:
                await asyncio.sleep(GUESSING_DELAY)
            writer.write(refusal(turned.status, str(turned)))
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

    def _reply(self, request: Request) -> bytes:
        if self._door.key and "token" in request.query:
            secure = "; Secure" if self._scheme == "https" else ""
            # Strict would hold it back where the address was followed from another page, such as a chat or a file.
            cookie = f"{self._cookie}={self._door.key}; Path=/; HttpOnly; SameSite=Lax{secure}"
            rest = urlencode({name: value for name, value in request.query.items() if name != "token"})
            return answer(303, {"Location": f"/?{rest}" if rest else "/", "Set-Cookie": cookie})
        if request.path == "/" and self._rooms.locked():
            raise Full
        return self._pages.reply(request)

    async def _connect(self, request: Request, browser: Ends) -> None:
        tab = request.query.get("tab", "")[:64]
        if request.path == "/stick":
            await self._talk(tab, request, browser)
        elif request.path == "/":
            await self._show(request, browser)
        else:
            raise Nothing

    async def _talk(self, tab: str, request: Request, browser: Ends) -> None:
        """A tab that comes again takes the place of its former self."""
        if tab in self._lines:
            self._lines[tab].hang_up()
        elif len(self._lines) >= MAX_BROWSERS:
            raise Full
        line = self._lines[tab] = PageLine(tab, self.on_stick, self.on_stick_gone, self.on_put_down, self.on_select)
        try:
            await line.serve(request.raw, {"edition": self._pages.edition}, browser)
        finally:
            if self._lines.get(tab) is line:
                del self._lines[tab]

    async def _show(self, request: Request, browser: Ends) -> None:
        if VISER_PROTOCOL not in re.split(r"[\s,]+", request.headers.get("sec-websocket-protocol", "")):
            raise Foreign
        if self._rooms.locked():
            raise Full
        async with self._rooms:
            ends = await self._reach_viser()
            try:
                ends[1].write(request.raw)
                await relay(browser, ends)
            finally:
                ends[1].transport.abort()

    async def _reach_viser(self) -> Ends:
        try:
            return await asyncio.open_unix_connection(sock=self._viser.connect())
        except OSError:
            raise Turned(502, "There is nothing to see yet, or any more.") from None


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


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
