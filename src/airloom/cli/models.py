"""airloom import, airloom export, airloom weigh"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airloom.cli.screen import out, say, warn

SHOWN = 12
"""Lines of each kind on the screen; the report has them all."""


def register(app: typer.Typer) -> None:
    app.command("import")(import_)


def import_(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="SDF, URDF, xacro or MJCF: a file, or a model's folder.")
    ],
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="What to make; named after the model if left out.")
    ] = None,
    argument: Annotated[
        list[str] | None,
        typer.Option("--arg", metavar="NAME=VALUE", help="An argument of a xacro file; may be repeated."),
    ] = None,
    path: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="Where else models and packages are, which may be read; may be repeated."),
    ] = None,
) -> None:
    """Make a vehicle or a world of somebody else's model.

    It writes a folder: the vehicle or world file, its meshes, import.md with what was understood, ignored and assumed,
    and try.yaml, which flies it. What Airloom does not fly yet, such as wings, is kept in kept.yaml.

    A model is data: nothing in it is run. It may name files of its own package and of those beside it; others are
    refused unless --path allows their folder.

    [bold]Examples[/bold]

      airloom import x500/model.sdf
      airloom import firefly_base.xacro --arg namespace=firefly
      airloom import scene.xml --out my_drone
      airloom import default.sdf --path ~/models
    """
    from airloom.models.importing import REPORT, import_model

    made = import_model(model, folder, _parsed(argument or []), path or [])
    notes = made.notes
    for title, lines, style in (
        ("Understood", notes.understood, ""), ("Assumed", notes.assumed, "yellow"), ("Ignored", notes.ignored, "dim"),
    ):  # fmt: skip
        if lines:
            say(f"{title}:", "bold")
            for line in lines[:SHOWN]:
                out.print(f"  • {line}", style=style, markup=False)
            if len(lines) > SHOWN:
                say(f"  … {len(lines) - SHOWN} more in {made.file.parent / REPORT}", "dim")
    if made.kind == "vehicle" and not made.content["controller"]:
        warn("The built-in flight stack cannot fly it: controller is null.")
    say(f"Made {made.file}\nTry: airloom run {made.scenario}")


def _parsed(arguments: list[str]) -> dict[str, str]:
    for text in arguments:
        if "=" not in text:
            raise typer.BadParameter(f"'{text}' is no NAME=VALUE, such as namespace=firefly", param_hint="--arg")
    return dict(text.split("=", 1) for text in arguments)
