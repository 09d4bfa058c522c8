"""viser as the studio wants it: on loopback, without a word on the terminal, without its tunnel to the outside."""

from __future__ import annotations

import asyncio
import io
import logging
import time
import warnings
from contextlib import redirect_stdout
from typing import Any

import viser
from viser._messages import ShareUrlDisconnect, ShareUrlRequest


def start_viser(**options: Any) -> viser.ViserServer:
    """A viser server on a loopback port of its own, for a `Gateway` to stand in front of."""
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # a browser's nonsense is no news to the user
    warnings.filterwarnings("ignore", r"\[viser\]")
    with redirect_stdout(io.StringIO()):
        server = viser.ViserServer("127.0.0.1", 0, verbose=False, **options)
    loop = server._websock_server._background_event_loop
    assert loop is not None
    loop.call_soon_threadsafe(loop.set_exception_handler, _overlook)
    return without_sharing(server)


def stop_viser(server: viser.ViserServer) -> None:
    with redirect_stdout(io.StringIO()):
        server.stop()


def without_sharing(server: viser.ViserServer) -> viser.ViserServer:
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


def port_of(client: viser.ClientHandle) -> int | None:
    """The port a client's connection comes from, that of the gateway's end (`Gateway.tab_at`); None once it is gone."""
    connection = client._viser_server._websock_server._live_connections.get(client.client_id)
    return connection.remote_address[1] if connection else None


def _overlook(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A message that viser cannot carry out costs its sender an answer, and the user no traceback."""
    logging.getLogger(__name__).debug("%s", context["message"], exc_info=context.get("exception"))
