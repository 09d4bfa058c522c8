"""airloom plot, airloom replay"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airloom.cli.options import Speed
from airloom.cli.screen import out, say
from airloom.cli.signals import interrupted_by_ctrl_c

Run = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's folder, its log file, or the word last.", show_default=True)
]


def register(app: typer.Typer) -> None:
    app.command()(plot)
    app.command()(replay)


def plot(
    run: Run = "last",
    field: Annotated[
        list[str] | None,
        typer.Option(metavar="TOPIC.FIELD", help="Draw this field over time; may be given several times."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder, or file such as flight.pdf; the run's folder if left out.", show_default=False),
    ] = None,
) -> None:
    """Draw a run: each vehicle's flight, the fleet, or chosen fields.

    A field is named by its topic and its path in the message; fields of the same name share a panel.

    [bold]Examples[/bold]

      airloom plot last
      airloom plot runs/hover-1 --out flight.pdf
      airloom plot last --field /cf/state.pose.pose.position.z
      airloom plot last --field /cf/rotors.velocity --field /cf/command.thrust
    """
    from airloom.runs import figures as plotting

    paths = plotting.plot_fields(run, field, out) if field else plotting.plot(run, out)
    for path in paths:
        say(f"Drawn: {path}")


def replay(run: Run = "last", speed: Speed = "1") -> None:
    """Play a run again in the terminal.

    It shows time, position, attitude and speed of each vehicle. Ctrl-C ends it.

    [bold]Examples[/bold]

      airloom replay last
      airloom replay runs/hover-1 --speed 10
    """
    from airloom.cli.options import parsed_speed
    from airloom.runs.replay import print_replay

    with interrupted_by_ctrl_c():
        print_replay(run, parsed_speed(speed) or float("inf"), out)
