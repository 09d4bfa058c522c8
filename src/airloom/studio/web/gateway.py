"""The front door of the studio: the one port that browsers talk to.

It serves the page, checks who comes, passes websockets through to viser, which has no port of its own, and keeps a line
to the page in each browser (`page_lines.py`).
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from typing import Any
from urllib.parse import quote, urlencode

import viser
from websockets.exceptions import InvalidHandshake

from airloom.net.admission import Admission, Request, Turned
from airloom.net.front_door import FrontDoor
from airloom.net.streams import Ends
from airloom.studio.web.frame_sizes import Oversized, relay
from airloom.studio.web.page_lines import OnPutDown, OnSelect, OnStick, OnStickGone, PageLine
from airloom.studio.web.pages import Nothing, Pages, answer, refusal
from airloom.studio.web.ports import USUAL_PORT, listen
from airloom.studio.web.viser_server import PortlessViser

MAX_BROWSERS = 32
VISER_PROTOCOL = f"viser-v{viser.__version__}"
FAREWELL = "The simulation has ended. Waiting for it to come back…"


class Full(Turned):
    def __init__(self) -> None:
        super().__init__(503, f"{MAX_BROWSERS} browsers look at this simulation already. Close one of them first.")


class Foreign(Turned):
    """viser would refuse it, too, but with a line on the terminal for each."""

    def __init__(self) -> None:
        super().__init__(400, f"This is no page of ours: it does not speak {VISER_PROTOCOL}.")


class Gateway(FrontDoor):
    """Listens from `start` to `stop`, in a thread of its own, from which the callbacks are called."""

    hung_up = (*FrontDoor.hung_up, InvalidHandshake, Oversized)

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
        super().__init__(Admission(host, token), tls)
        self._pages = Pages()
        self._lines: dict[str, PageLine] = {}
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

        self._soon(tell)

    # -- life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Listen; `PortTaken` if somebody else does."""
        listener = listen(self.host, self.port)
        self.port = listener.getsockname()[1]
        self._cookie = f"airloom-{self.port}"  # browsers keep cookies by host, whatever the port
        self._open(listener)

    def stop(self) -> None:
        """Hang up on everybody, and return when nothing is left."""
        for tab in self.tabs():
            self._tell(tab, {"farewell": FAREWELL})
        self._close()

    def __enter__(self) -> Gateway:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- visits ------------------------------------------------------------------------------------------------------

    async def _answer(self, request: Request, browser: Ends) -> None:
        if request.is_websocket:
            await self._connect(request, browser)
        else:
            browser[1].write(self._reply(request))

    def _refusal(self, turned: Turned) -> bytes:
        return refusal(turned.status, str(turned))

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


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
