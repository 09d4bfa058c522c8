"""airloom exec"""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

EPOCH = "2026-01-01T00:00:00Z"


def register(app: typer.Typer) -> None:
    app.command("exec", context_settings={"allow_interspersed_args": False})(execute)


def execute(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT", exists=True, dir_okay=False, help="A Python program.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGUMENTS", help="Passed on to it.")] = None,
    rate: Annotated[
        float | None,
        typer.Option(metavar="HZ", min=1e-9, help="How often its time moves; as the scenario says if left out."),
    ] = None,
    every: Annotated[
        float | None, typer.Option(metavar="S", min=1e-9, help="The same as a period: seconds from move to move.")
    ] = None,
    epoch: Annotated[str, typer.Option(metavar="TIME", help="What the clock says at 0 s of the simulation.")] = EPOCH,
) -> None:
    """Run a Python script on simulation time, as a member of a run.

    Its clocks, sleeps, timeouts, timers, threads and asyncio follow the simulation, however fast this machine is.

    The script is a member of a scenario, which starts it:

      members: {logic: {command: \\[python, -m, airloom, exec, logic.py], rate: 50}}
    """
    from airloom.member import ADDRESS, NotAdmitted
    from airloom.virtual.execution import execute

    if not os.environ.get(ADDRESS):
        raise NotAdmitted(
            "a script lives on the time of a run, and there is none here. Make it a member of a scenario:\n"
            f"  members: {{logic: {{command: [python, -m, airloom, exec, {script}]}}}}\n"
            f"and start that with airloom run; or set {ADDRESS} to the address of a loom"
        )
    if rate and every:
        raise typer.BadParameter("give --rate or --every, not both")
    if not isfinite(rate or every or 1.0):
        raise typer.BadParameter("must be a finite number", param_hint="--rate" if rate else "--every")
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as a Python program finds it
    execute(script, arguments or [], 1 / every if every else rate, _unix_ns(epoch))


def _unix_ns(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"'{text}' is no time like {EPOCH}", param_hint="--epoch") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.replace(microsecond=0).timestamp()) * 1_000_000_000 + moment.microsecond * 1000
