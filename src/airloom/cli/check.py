"""airloom check"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from airloom.cli.options import completed_scenario, parsed_settings
from airloom.cli.screen import out
from airloom.cli.signals import interrupted_by_ctrl_c

if TYPE_CHECKING:
    from airloom.check.plugins import Check

SIGNS = {True: ("✓", "green"), False: ("✗", "red"), None: ("–", "yellow")}


def register(app: typer.Typer) -> None:
    app.command()(check)


def check(
    target: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|FILE.py[:CLASS]",
            help="A scenario, by name or file; or a plugin's file, with the class if it has several.",
            autocompletion=completed_scenario,
        ),
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A value of the scenario, or a parameter of the plugin; may be given several times.",
        ),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(help="Where to fly a plugin; hover on the batch engine if left out.", show_default=False),
    ] = None,
) -> None:
    """Check a scenario without flying it, or a plugin of your own by flying it.

    Of a scenario every mistake is told, and all that it describes is made ready. Exit code 2 if something is wrong.

    A plugin (system, controller, estimator, sensor) is flown several times.

    It is flown twice, in another process, after a reset, beside a second simulation, and tick by tick.

    All flights must be the same, bit by bit. Exit code 1 if a check fails.

    [bold]Examples[/bold]

      airloom check my_scenario.yaml
      airloom check my_system.py
      airloom check my_plugins.py:Gusts --set strength=2
    """
    if not _names_a_plugin(target):
        if scenario:
            raise typer.BadParameter("a scenario is not flown in another one", param_hint="--scenario")
        return _check_scenario(target, parsed_settings(set_))
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


def _names_a_plugin(target: str) -> bool:
    """By the name of its file; what else is a file and no YAML was perhaps meant to be one."""
    file = target.partition(":")[0]
    return file.endswith(".py") or (Path(file).is_file() and not file.endswith((".yaml", ".yml")))


def _check_scenario(name: str, settings: dict[str, Any]) -> None:
    from airloom.check.scenarios import examine

    out.print(Text.assemble("Checking the scenario ", (name, "bold")))
    with interrupted_by_ctrl_c():
        for one in examine(name, settings):
            out.print(_row(one))
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
