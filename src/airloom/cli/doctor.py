"""airloom doctor"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from airloom.cli.options import flag
from airloom.cli.screen import out
from airloom.cli.signals import interrupted_by_ctrl_c

if TYPE_CHECKING:
    from airloom.check.doctor import Finding

SIGNS = {"good": ("✓", "green"), "optional": ("!", "yellow"), "broken": ("✗", "red")}


def register(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(
    json_: Annotated[bool, flag("--json", help="Print what is found as JSON, with a `level` for each.")] = False,
) -> None:
    """Look whether everything is installed and working.

    Where it is not, it says what to do.

    Exit code 1 only if something needed is broken; a missing extra is no fault.
    """
    from airloom.check.doctor import examine

    with interrupted_by_ctrl_c():
        levels = _printed_as_json(examine()) if json_ else _printed(examine())
    if "broken" in levels:
        raise typer.Exit(1)


def _printed_as_json(findings: Iterable[Finding]) -> set[str]:
    found = [asdict(finding) for finding in findings]
    typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
    return {one["level"] for one in found}


def _printed(findings: Iterable[Finding]) -> set[str]:
    levels = set()
    with out.status("Looking …"):
        for finding in findings:
            out.print(_line(finding), soft_wrap=True)
            levels.add(finding.level)
    if "broken" in levels:
        out.print("Something that Airloom needs is broken: see the red lines.", style="red")
    else:
        out.print("Everything needed is there. Try: [bold]airloom run hover[/bold]", style="green")
    return levels


def _line(finding: Finding) -> Text:
    sign, style = SIGNS[finding.level]
    text = Text.assemble((f"{sign} ", style), f"{finding.what:<15} ", (finding.detail, "dim"))
    if finding.remedy:
        text.append(f"\n  {'':<15} → {finding.remedy}", style)
    return text
