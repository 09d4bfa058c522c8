"""viser as the studio wants it: without a port, without a word on the terminal, without its tunnel to the outside."""

from __future__ import annotations

import asyncio
import io
import logging
import socket
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import viser
from viser._messages import ShareUrlDisconnect, ShareUrlRequest
from websockets.asyncio import server as websockets


class PortlessViser(viser.ViserServer):
    """A viser server that listens nowhere: only this process can reach it, by `connect`.

    viser asks nobody who he is, so a port of its own would let every program of this machine, and every page in its
    browsers, go round the checks of the gateway.
    """

    def __init__(self, **options: Any) -> None:
        with _websockets_served_by(self._serve):
            super().__init__(verbose=False, **options)

    def connect(self) -> socket.socket:
        """The browser's end of a new connection; ConnectionRefusedError once the server has stopped."""
        near, far = socket.socketpair()
        try:
            self.loop.call_soon_threadsafe(self._receive, far)
        except RuntimeError:  # the loop is closed
            near.close()
            far.close()
            raise ConnectionRefusedError from None
        return near

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Of viser's own thread."""
        loop = self._websock_server._background_event_loop
        assert loop is not None
        return loop

    def _serve(self, handler: Any, host: str, port: int, **options: Any) -> websockets.serve:
        """Called by viser in place of `websockets.serve`: its socket has no address and never listens."""
        self._serving = _SERVE(handler, sock=socket.socket(), start_serving=False, **options)
        server = self._serving.server
        # websockets turns everybody away while its server does not listen.
        server.is_serving = lambda: server.close_task is None  # type: ignore[method-assign]
        return self._serving

    def _receive(self, end: socket.socket) -> None:
        make_connection = self._serving.server.server._protocol_factory  # type: ignore[attr-defined]
        self._arriving = self.loop.create_task(self.loop.connect_accepted_socket(make_connection, end))


_SERVE = websockets.serve


@contextmanager
def _websockets_served_by(serve: Any) -> Iterator[None]:
    """viser passes no options of its own on to `websockets.serve`, which it looks up whenever a server starts."""
    websockets.serve = serve  # type: ignore[misc]
    try:
        yield
    finally:
        websockets.serve = _SERVE  # type: ignore[misc]


def start_viser(**options: Any) -> PortlessViser:
    """A viser server for a `Gateway` to stand in front of."""
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # a browser's nonsense is no news to the user
    warnings.filterwarnings("ignore", r"\[viser\]")
    with redirect_stdout(io.StringIO()):
        server = PortlessViser(**options)
    server.loop.call_soon_threadsafe(server.loop.set_exception_handler, _overlook)
    return without_sharing(server)


def stop_viser(server: viser.ViserServer) -> None:
    with redirect_stdout(io.StringIO()):
        server.stop()


def without_sharing(server: PortlessViser) -> PortlessViser:
    """Nothing ever leaves this machine: viser's "share" would ask a server on the Internet for a tunnel."""
    for request in (ShareUrlRequest, ShareUrlDisconnect):
        server._websock_server.unregister_handler(request)
    return server


def wait_until_sent(client: viser.ClientHandle, patience: float = 60.0) -> None:
    """Until whatever the scene has become is on its way to a client; viser sends when its thread finds time."""
    scene = client._viser_server._websock_server._broadcast_buffer
    newest, deadline = scene.message_counter - 1, time.monotonic() + patience
    while scene.generator_cursors.get(client.client_id, newest) < newest and time.monotonic() < deadline:
        time.sleep(0.002)


def tab_of(client: viser.ClientHandle) -> str | None:
    """The browser tab that a client is, by the name it gave in the address that it asked for; None once it is gone."""
    connection = client._viser_server._websock_server._live_connections.get(client.client_id)
    asked = connection.request if connection else None
    return dict(parse_qsl(urlsplit(asked.path).query)).get("tab") if asked else None


def _overlook(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A message that viser cannot carry out costs its sender an answer, and the user no traceback."""
    logging.getLogger(__name__).debug("%s", context["message"], exc_info=context.get("exception"))
