"""The one port that Foxglove's app talks to: it checks who comes, as the studio's gateway does, and passes websockets
on to the server of Foxglove's SDK, which asks nobody and is walled up behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from airloom.net.admission import Admission, ForeignSite, Request, Turned
from airloom.net.front_door import FrontDoor
from airloom.net.listening import tcp_listener
from airloom.net.streams import CHUNK, Ends, relay
from airloom.net.walled import WalledPort

MOST_VISITORS = 32
PATIENCE = 10.0
"""Seconds for the SDK to answer."""
STALL = 20.0
"""Seconds without progress after which a reader is given up; the SDK drops what is outdated until then."""


class FoxgloveDoor(FrontDoor):
    hung_up = (*FrontDoor.hung_up, asyncio.IncompleteReadError)

    def __init__(self, host: str, port: int, origins: Collection[str], on_foreign_site: Callable[[str], None]) -> None:
        """`on_foreign_site` is called in the door's thread with the origin of a page that was turned away."""
        super().__init__(Admission(host, None, origins))
        self._host, self._on_foreign_site = host, on_foreign_site
        self._connecting = asyncio.Lock()
        self._listener = tcp_listener(host, port)
        self.port: int = self._listener.getsockname()[1]
        self._visits = 0
        self._sdk: WalledPort | None = None

    @property
    def address(self) -> str:
        """With the token, if one is asked for."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"ws://{host}:{self.port}" + (f"/?token={self._door.token}" if self._door.token else "")

    def open(self, sdk_port: int) -> None:
        self._sdk = WalledPort(sdk_port)
        self._open(self._listener)

    def close(self) -> None:
        self._close()
        self._listener.close()
        if self._sdk is not None:
            self._sdk.close()

    async def _answer(self, request: Request, browser: Ends) -> None:
        if not request.is_websocket:
            raise Turned(426, "Foxglove's app finds the simulation here, by a websocket.")
        if self._visits >= MOST_VISITORS:
            raise Turned(503, f"{MOST_VISITORS} look on already. Close one of them first.")
        self._visits += 1
        try:
            await self._pass_on(request, browser)
        finally:
            self._visits -= 1

    async def _pass_on(self, request: Request, browser: Ends) -> None:
        assert self._sdk is not None
        async with self._connecting:
            reader, writer = await _connected(self._sdk)
            writer.write(request.raw)
            async with asyncio.timeout(PATIENCE):
                first = await reader.read(CHUNK)  # then it has taken the connection, and the wall can be shut
            self._sdk.shut()
        try:
            browser[1].write(first)
            await relay(browser, (reader, writer), stall=STALL)
        finally:
            writer.transport.abort()

    def _refusal(self, turned: Turned) -> bytes:
        if isinstance(turned, ForeignSite):
            self._on_foreign_site(turned.origin)
        return f"HTTP/1.1 {turned.status} Refused\r\nConnection: close\r\n\r\n{turned}\n".encode()


async def _connected(port: WalledPort) -> Ends:
    coming = port.approach()
    async with asyncio.timeout(PATIENCE):
        await asyncio.get_running_loop().sock_connect(coming, port.address)
    return await asyncio.open_connection(sock=coming)
