"""airloom doctor"""

from __future__ import annotations

import typer
from rich.text import Text

from airloom.cli.screen import out
from airloom.cli.signals import interrupted_by_ctrl_c

SIGNS = {"good": ("✓", "green"), "optional": ("!", "yellow"), "broken": ("✗", "red")}


def register(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor() -> None:
    """Look whether everything is installed and working.

    Where it is not, it says what to do.

    Exit code 1 only if something needed is broken; a missing extra is no fault.
    """
    from airloom.check.doctor import examine

    levels = set()
    with interrupted_by_ctrl_c(), out.status("Looking …"):
        for finding in examine():
            sign, style = SIGNS[finding.level]
            text = Text.assemble((f"{sign} ", style), f"{finding.what:<15} ", (finding.detail, "dim"))
            if finding.remedy:
                text.append(f"\n  {'':<15} → {finding.remedy}", style)
            out.print(text, soft_wrap=True)
            levels.add(finding.level)
    if "broken" in levels:
        out.print("Something that Airloom needs is broken: see the red lines.", style="red")
        raise typer.Exit(1)
    out.print("Everything needed is there. Try: [bold]airloom run hover[/bold]", style="green")
