"""airloom schema"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airloom.cli.screen import complain, say


def register(app: typer.Typer) -> None:
    app.command()(schema)


class FileKind(StrEnum):
    scenario = "scenario"
    vehicle = "vehicle"
    world = "world"
    sensor = "sensor"
    controller = "controller"
    estimator = "estimator"
    autopilot = "autopilot"
    system = "system"


def schema(
    kind: Annotated[
        FileKind, typer.Argument(metavar="KIND", help=f"Of which files: {', '.join(FileKind)}.")
    ] = FileKind.scenario,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write it; printed if left out.", show_default=False)
    ] = None,
) -> None:
    """Print the JSON schema of scenario files, or of others, for editors.

    With it an editor checks and completes what you type.

    In VS Code, with the YAML extension of Red Hat: write it to a file, and name that in your scenario's first line.

      airloom schema --out scenario.schema.json
      # yaml-language-server: $schema=scenario.schema.json

    The same for the file of a vehicle of your own:

      airloom schema vehicle --out vehicle.schema.json
    """
    from airloom.scenario.schema import file_schema

    text = json.dumps(file_schema(kind.value), indent=2, ensure_ascii=False)
    if out is None:
        typer.echo(text)
        return
    try:
        out.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        complain(f"cannot write {out}: {error.strerror}")
        raise typer.Exit(2) from None
    say(f"Written: {out}")
    say(f"For VS Code (with Red Hat's YAML extension), make this the first line of your {kind.value} file:")
    say(f"  # yaml-language-server: $schema={out.resolve()}", "cyan")
