"""airloom serve"""

from __future__ import annotations

import os
import secrets
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airloom.cli.options import flag, parsed_settings
from airloom.cli.screen import say, warn
from airloom.cli.signals import abandoned_by_signals

if TYPE_CHECKING:
    from airloom.simulation import Simulation

DEFAULT_SOCKET = Path("airloom.sock")


def register(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="A name from `airloom list`, or a YAML file.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the scenario; may be given several times."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="For the noise; the scenario's seed if left out.")
    ] = None,
    socket_: Annotated[
        Path | None,
        typer.Option("--socket", metavar="PATH", help="Listen at a Unix socket.", show_default="airloom.sock"),
    ] = None,
    tcp: Annotated[
        int | None, typer.Option(metavar="PORT", min=0, max=65535, help="Listen on a TCP port; 0 takes any free one.")
    ] = None,
    stdio: Annotated[bool, flag("--stdio", help="Talk over standard input and output.")] = False,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where the TCP port listens; 0.0.0.0 lets other computers connect.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What a client must show; beyond this computer one is made up if left out."),
    ] = None,
) -> None:
    """Let a controller in another program drive a scenario, step by step.

    Time stands still until the client asks for a step. It speaks lines of JSON, one reply a request:

      {"method": "describe"}
      {"method": "reset", "seed": 1}
      {"method": "step", "ticks": 4, "rotors": {"vehicle": "cf", "speeds": [2272, 2272, 2272, 2272]}, "observe": "cf"}

    One client at a time; what it leaves, the next one finds. Ctrl-C ends it.

    [bold]Examples[/bold]

      airloom serve hover --set systems={}                      commands for its own controller
      airloom serve hover --set systems={} --set vehicles.cf.controller=null --tcp 5555
      airloom serve hover --tcp 5555 --host 0.0.0.0             other computers, with a token
    """
    if sum((socket_ is not None, tcp is not None, stdio)) > 1:
        raise typer.BadParameter("choose one of --socket, --tcp and --stdio")
    overrides = parsed_settings(set_)
    if stdio:
        _over_stdio(scenario, overrides, seed)
    elif tcp is not None:
        _over_tcp(scenario, overrides, seed, host, tcp, token)
    else:
        _over_unix_socket(scenario, overrides, seed, socket_ or DEFAULT_SOCKET, token)


def _over_stdio(scenario: str, overrides: dict[str, Any], seed: int | None) -> None:
    from airloom.bridges.steps.server import serve_stream

    replies = os.dup(1)
    os.dup2(2, 1)  # whatever anybody prints must not get between the replies
    sim = _made(scenario, overrides, seed)
    with sim, _until_signalled():
        serve_stream(sim, 0, replies)


def _over_tcp(
    scenario: str, overrides: dict[str, Any], seed: int | None, host: str, port: int, token: str | None
) -> None:
    from airloom.bridges.steps.places import tcp_listener
    from airloom.loopback import LOOPBACK

    listener = tcp_listener(host, port)
    if host not in LOOPBACK and not token:
        token = secrets.token_urlsafe(16)
        say(f"Clients must show this token:  {token}", "cyan")
    _listen(_made(scenario, overrides, seed), listener, f"{host}:{listener.getsockname()[1]}", token)


def _over_unix_socket(
    scenario: str, overrides: dict[str, Any], seed: int | None, path: Path, token: str | None
) -> None:
    from airloom.bridges.steps.places import unix_listener

    listener = unix_listener(path)
    try:
        _listen(_made(scenario, overrides, seed), listener, str(path), token)
    finally:
        path.unlink(missing_ok=True)


def _made(scenario: str, overrides: dict[str, Any], seed: int | None) -> Simulation:
    """With everything compiled, so that the first step takes no longer than the others."""
    from airloom.simulation import Simulation

    with abandoned_by_signals():
        sim = Simulation.load(scenario, seed, overrides)
        sim.step()
        sim.reset()
    return sim


def _listen(sim: Simulation, listener: socket.socket, where: str, token: str | None) -> None:
    from airloom.bridges.steps.server import serve_socket

    with sim, listener, _until_signalled():
        say(f"Serving {sim.scenario.name} at {where}; Ctrl-C ends it.", "cyan")
        serve_socket(sim, listener, token)
    warn("Stopped.")


def _until_signalled() -> suppress:
    """SIGTERM ends it as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return suppress(KeyboardInterrupt)
