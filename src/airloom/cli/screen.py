"""What all commands print with."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def complain(message: str, title: str = "Error") -> None:
    """One clear red message on stderr."""
    err.print(Text.assemble((f"{title}: ", "bold red"), (message, "red")), soft_wrap=True)


def warn(message: str) -> None:
    err.print(Text(message, "yellow"), soft_wrap=True)


def say(message: str, style: str = "") -> None:
    out.print(Text(message, style), soft_wrap=True)


def new_table(*columns: str, title: str = "") -> Table:
    """A quiet table that fits the terminal: the last column gives way."""
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        header_style="dim",
        show_header=any(columns),
    )
    for number, heading in enumerate(columns):
        is_last = number == len(columns) - 1
        table.add_column(heading, no_wrap=not is_last, overflow="fold" if is_last else "ellipsis")
    return table
