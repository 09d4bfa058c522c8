"""airloom branch"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from airloom.cli.options import TlsCert, TlsKey, certificate, parsed_settings
from airloom.cli.screen import complain, say
from airloom.cli.signals import handled_by


def register(app: typer.Typer) -> None:
    app.command()(branch)


def branch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of this branch: members with `at: NAME` start here.")],
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS", help="Of the loom or of another branch: tcp:HOST:7700, or tls:HOST:7700#FINGERPRINT."
        ),
    ],
    scenario: Annotated[
        str | None,
        typer.Argument(metavar="SCENARIO", help="The scenario as it is here; its members at NAME are started."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the scenario; may be given several times."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What the loom asks for beyond its machine; AIRLOOM_TOKEN if left out."),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="tcp:HOST:PORT", help="Where members and branches of other machines may join this one."),
    ] = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for what the members print.")] = Path("."),
) -> None:
    """Coordinate the members on this machine, for a simulation on another one.

    Only one line goes to the simulation, and everything travels over it once, however many members are here.

    [bold]Examples[/bold]

    On the machine of the simulation:

      airloom run field.yaml --loom tcp:0.0.0.0:7700 --token SECRET

    On another one, with the same scenario:

      airloom branch field tcp:simulator:7700 field.yaml --token SECRET
    """
    from airloom.loom.branch import PATIENCE, Branch, BranchError

    members = _members_here(scenario, parsed_settings(set_), name) if scenario else {}
    chosen = token if token is not None else os.environ.get("AIRLOOM_TOKEN", "")
    asked: list[int] = []
    try:
        with (
            handled_by(asked.append),
            closing(Branch(name, address, chosen, listen, certificate(tls_cert, tls_key))) as here,
        ):
            say(f"Members on this machine join at {here.listeners.address}", "cyan")
            if here.listeners.remote_address:
                say(f"Others at {here.listeners.remote_address}", "cyan")
            say(f"Looking for the loom at {address}, for {PATIENCE:g} s at most …")
            here.connect(stopping=lambda: bool(asked))
            out.mkdir(parents=True, exist_ok=True)
            here.start(members, out)
            say(f"Branch {name} at {address}: {_counted(members)}")
            say(f"Over: {here.serve(lambda: bool(asked))}")
            faults = [] if asked else here.finish()
    except BranchError as error:
        complain(str(error))
        raise typer.Exit(128 + asked[0] if asked else 1) from None
    for fault in faults:
        complain(fault)
    if asked or faults:
        raise typer.Exit(128 + asked[0] if asked else 1)


def _members_here(scenario: str, changes: dict[str, Any], name: str) -> dict[str, Any]:
    from airloom.scenario import load

    members = load(scenario, changes).members
    found = {member: (it.command, it.folder) for member, it in members.items() if it.at == name and it.command}
    if not found:
        places = sorted({it.at for it in members.values() if it.at})
        known = f"its members are at {', '.join(places)}" if places else "none of its members has `at`"
        raise typer.BadParameter(f"no member of {scenario} is to start at '{name}': {known}", param_hint="NAME")
    return found


def _counted(members: dict[str, Any]) -> str:
    return f"started {', '.join(members)}" if members else "waiting for members"
