"""airloom list"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer
from rich.text import Text

from airloom.cli.options import flag
from airloom.cli.screen import new_table, out


class Kind(StrEnum):
    scenarios = "scenarios"
    vehicles = "vehicles"
    worlds = "worlds"
    sensors = "sensors"
    controllers = "controllers"
    estimators = "estimators"
    systems = "systems"

    @property
    def category(self) -> str:
        return self.value.removesuffix("s")


def register(app: typer.Typer) -> None:
    app.command("list")(list_)


def list_(
    kind: Annotated[
        Kind | None,
        typer.Argument(metavar="KIND", help=f"One of {', '.join(Kind)}; everything if left out.", show_default=False),
    ] = None,
    json_: Annotated[bool, flag("--json", help="Print names and summaries as JSON, by kind.")] = False,
) -> None:
    """List what there is: scenarios, vehicles, worlds, sensors and more.

    Their names may stand in scenario files, and on the command line.

    [bold]Examples[/bold]

      airloom list
      airloom list vehicles
      airloom list --json
    """
    kinds = list(Kind) if kind is None else [kind]
    tables = {one: _entries(one.category) for one in kinds}
    if json_:
        plain = {one.value: {name: text.plain for name, text in entries.items()} for one, entries in tables.items()}
        typer.echo(json.dumps(plain, indent=2, ensure_ascii=False))
        return
    width = max(len(name) for entries in tables.values() for name in entries)
    for one, entries in tables.items():
        table = new_table("", "", title=one.value)
        table.columns[0].min_width = width
        for name, summary in entries.items():
            table.add_row(Text(name, "cyan"), summary)
        out.print(table)
        out.print()
    if kind in (None, Kind.scenarios):
        out.print(
            "Fly a scenario with [bold]airloom run NAME[/bold], your own with [bold]airloom run FILE.yaml[/bold]."
        )


def _entries(category: str) -> dict[str, Text]:
    """Bundled files first: they come ready with numbers; then the plugins that no file is named after."""
    from airloom import plugin
    from airloom.scenario import describe, known

    entries = {name: Text(describe(path)) for name, path in known(category).items()}
    if category in plugin.GROUPS:
        entries |= {name: _summary(entry) for name, entry in plugin.names(category).items() if name not in entries}
    return dict(sorted(entries.items()))


def _summary(entry) -> Text:
    try:
        return Text(entry.load().summary())
    except Exception as error:
        return Text(f"cannot be loaded: {type(error).__name__}: {error}", "red")
