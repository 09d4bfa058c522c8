"""airloom docs"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airloom.basics.hints import did_you_mean
from airloom.cli.screen import new_table, out, say

PACKAGE = Path(__file__).parents[1]
ORDER = ("", "howto", "reference")


def register(app: typer.Typer) -> None:
    app.command()(docs)


def completed_page(incomplete: str) -> list[str]:
    return [name for name in pages() if name.startswith(incomplete)]


def docs(
    page: Annotated[
        str | None,
        typer.Argument(
            metavar="PAGE",
            help="Its name; all are listed if left out.",
            autocompletion=completed_page,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Read the documentation in the terminal.

    Its pages come with the package, so they are those of this version.

    [bold]Examples[/bold]

      airloom docs
      airloom docs tutorial
      airloom docs field-work
    """
    found = pages()
    if page is None:
        _list(found)
        return
    if page not in found:
        what = f"there is no page '{page}'{did_you_mean(page, found)} `airloom docs` lists them"
        raise typer.BadParameter(what, param_hint="PAGE")
    _show(found[page])


def pages() -> dict[str, Path]:
    """By their names: those of the package, or beside the sources of an editable installation."""
    folder = next(place for place in (PACKAGE / "docs", PACKAGE.parents[1] / "docs") if place.is_dir())
    found: dict[str, Path] = {}
    for group in ORDER:
        for file in sorted((folder / group).glob("*.md")):
            found[f"{group}/{file.stem}" if file.stem in found else file.stem] = file
    return found


def _list(found: dict[str, Path]) -> None:
    table = new_table("", "")
    for name, file in found.items():
        with file.open(encoding="utf-8") as text:
            title = next(line for line in text if line.startswith("# "))
        table.add_row(name, title.removeprefix("# ").strip())
    out.print(table)
    say(f"With their pictures they are in {next(iter(found.values())).parent}", "dim")


def _show(file: Path) -> None:
    from rich.markdown import Markdown

    text = file.read_text(encoding="utf-8")
    if not out.is_terminal:
        typer.echo(text)
        return
    with out.pager(styles=True):
        out.print(Markdown(text, hyperlinks=False))
