"""airloom check"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from airloom.cli.options import parsed_settings
from airloom.cli.screen import out
from airloom.cli.signals import interrupted_by_ctrl_c

if TYPE_CHECKING:
    from airloom.check.plugins import Check

SIGNS = {True: ("✓", "green"), False: ("✗", "red"), None: ("–", "yellow")}


def register(app: typer.Typer) -> None:
    app.command()(check)


def check(
    target: Annotated[
        str, typer.Argument(metavar="FILE[:CLASS]", help="The plugin's file; the class if it has several.")
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the plugin; may be given several times."),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(help="Where to fly it; hover on the batch engine if left out.", show_default=False),
    ] = None,
) -> None:
    """Check a plugin of your own: system, controller, estimator, sensor.

    It is flown several times: twice, in another process, after a reset, beside a second simulation, tick by tick.

    All flights must be the same, bit by bit. Exit code 1 if a check fails.

    [bold]Examples[/bold]

      airloom check my_system.py
      airloom check my_plugins.py:Gusts --set strength=2
    """
    from airloom.check.plugins import examine, subject_of

    subject = subject_of(target, scenario, parsed_settings(set_))
    out.print(Text.assemble(f"Checking the {subject.category} ", (subject.kind.rpartition(":")[2], "bold")))
    failed = 0
    with interrupted_by_ctrl_c(), out.status("Flying …"):
        for one in examine(subject):
            failed += one.passed is False
            out.print(_row(one))
    if failed:
        out.print(f"{failed} {'check' if failed == 1 else 'checks'} failed.", style="red")
        raise typer.Exit(1)
    out.print("All good.", style="green")


def _row(one: Check) -> Table:
    sign, style = SIGNS[one.passed]
    row = Table.grid(padding=(0, 1))
    text = Text(one.name)
    if one.detail:
        text.append(f": {one.detail}", "dim" if one.passed else "")
    row.add_row(Text(sign, style), text)
    if one.passed is False and one.hint:
        row.add_row("", Text(f"→ {one.hint}", "yellow"))
    return row
