"""airloom serve"""

from __future__ import annotations

import gc
import os
import shlex
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from airloom.cli.options import (
    Replace,
    ScenarioName,
    TlsCert,
    TlsKey,
    certificate,
    flag,
    new_folder,
    own_certificate,
    parsed_settings,
    parsed_token,
)
from airloom.cli.screen import say, warn
from airloom.cli.signals import abandoned_by_signals, ended_between_requests

if TYPE_CHECKING:
    from airloom.net.tls import Certificate
    from airloom.scenario import Scenario
    from airloom.serve.session import Session
    from airloom.simulation import Simulation

DEFAULT_SOCKET = Path("airloom.sock")
LOCAL = "127.0.0.1"
PORT_TAKEN = "port {port} of {host} is in use; try --tcp {free}, or --tcp 0 for any free one"


class Keep(NamedTuple):
    """Where log and summary go."""

    folder: Path
    replace: bool


def register(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    scenario: ScenarioName,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the scenario; may be given several times."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="For the noise; the scenario's seed if left out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for log and summary; nothing is kept if left out.")
    ] = None,
    replace: Replace = False,
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
    ] = LOCAL,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            parser=parsed_token,
            help="What a client must show; beyond this computer one is made up if left out.",
        ),
    ] = None,
    tls: Annotated[bool, flag("--tls", help="Speak TLS on the TCP port.")] = False,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Let a controller in another program drive a scenario, step by step.

    Time stands still until the client asks for a step. It speaks lines of JSON, one reply a request:

      {"method": "describe"}
      {"method": "reset", "seed": 1}
      {"method":"command","vehicle":"cf","kind":"position_yaw","position":[0,0,1]}
      {"method": "step", "ticks": 4, "observe": "cf"}

    A step may bring its command with it, and so be a whole turn of a control loop in one round trip.

    One client at a time; what it leaves, the next one finds. Who leaves in a long step ends it there.

    With --out the folder holds what `airloom run` leaves, but no figures; every reset begins another log.

    Ctrl-C ends it, a long step too; a second Ctrl-C at once.

    [bold]Examples[/bold]

      airloom serve hover --set systems={}                  you command it
      airloom serve hover --set vehicles.cf.controller=null
      airloom serve hover --tcp 5555 --host 0.0.0.0 --tls   for other computers
      airloom serve hover --out results/mine                to be viewed later
    """
    from airloom.scenario import load

    if sum((socket_ is not None, tcp is not None, stdio)) > 1:
        raise typer.BadParameter("choose one of --socket, --tcp and --stdio")
    if host != LOCAL and tcp is None:
        raise typer.BadParameter("only a TCP port has an address; give --tcp PORT too", param_hint="--host")
    if token is not None and stdio:
        raise typer.BadParameter("standard input and output need none", param_hint="--token")
    shown = certificate(tls_cert, tls_key) or (own_certificate() if tls else None)
    if shown and tcp is None:
        raise typer.BadParameter("only a TCP port needs it; give --tcp PORT too", param_hint="--tls")
    chosen = load(scenario, parsed_settings(set_) | ({} if seed is None else {"seed": seed}))
    keep = None if out is None else Keep(out, replace)
    if stdio:
        _over_stdio(chosen, keep)
    elif tcp is not None:
        _over_tcp(chosen, keep, host, tcp, token, shown)
    else:
        _over_unix_socket(chosen, keep, socket_ or DEFAULT_SOCKET, token)


def _over_stdio(scenario: Scenario, keep: Keep | None) -> None:
    from airloom.serve.server import serve_stream

    replies = os.dup(1)
    os.dup2(2, 1)  # whatever anybody prints must not get between the replies
    with abandoned_by_signals(code=0), _session(scenario, keep) as session:
        serve_stream(session, 0, replies)


def _over_tcp(
    scenario: Scenario, keep: Keep | None, host: str, port: int, token: str | None, shown: Certificate | None
) -> None:
    from airloom.net.listening import tcp_listener, token_for
    from airloom.net.tls import TlsProxy

    with tcp_listener(host, port, taken=PORT_TAKEN) as listener, abandoned_by_signals(code=0):
        needed = token_for(host, token)
        if needed != token:
            say(f"Clients must show this token:  {needed}", "cyan")
        where = f"{host}:{listener.getsockname()[1]}"
        if shown is None:
            _listen(scenario, keep, listener, where, needed)
            return
        say(f"Its certificate has the SHA-256 fingerprint {shown.fingerprint}.")
        with TlsProxy(listener, shown) as door:
            _listen(scenario, keep, door.inside, where, needed)


def _over_unix_socket(scenario: Scenario, keep: Keep | None, path: Path, token: str | None) -> None:
    from airloom.net.listening import unix_listener

    tidy = partial(path.unlink, missing_ok=True)
    with unix_listener(path, "--socket PATH") as listener, abandoned_by_signals(tidy, code=0):
        try:
            _listen(scenario, keep, listener, str(path), token)
        finally:
            tidy()


def _listen(scenario: Scenario, keep: Keep | None, listener: socket.socket, where: str, token: str | None) -> None:
    from airloom.serve.server import serve_socket

    with _session(scenario, keep) as session:
        say(f"Serving {scenario.name} at {where}; Ctrl-C ends it.", "cyan")
        serve_socket(session, listener, token)
    warn("Stopped.")


@contextmanager
def _session(scenario: Scenario, keep: Keep | None) -> Iterator[Session]:
    """Until a signal comes; then what it leaves is complete."""
    from airloom.runs.recorded import RecordedRun
    from airloom.serve.session import Session

    with _made(scenario) as sim:
        sim.is_excerpt = True  # it lasts as long as somebody wants it to
        run = None if keep is None else RecordedRun(sim, new_folder(scenario.name, keep.folder, keep.replace))
        session = Session(sim, run)
        if run:
            run.start_counting()
        with ended_between_requests(session), nullcontext() if run is None else run.recorded():
            yield session
    if run:
        say(f"Look at it again:  airloom view {shlex.quote(str(run.folder.path))}", "dim")


def _made(scenario: Scenario) -> Simulation:
    """With everything compiled, so that the first step takes no longer than the others."""
    from airloom.cli.progress import tell_of_many
    from airloom.simulation import Simulation

    tell_of_many(scenario)
    sim = Simulation(scenario)
    sim.warm_up()
    gc.collect()
    gc.freeze()  # what is loaded stays: to search it again would take longer than many steps, in the middle of one
    return sim
