"""What all commands print with."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console, ConsoleDimensions, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that command a terminal, turn the order of its text, or cannot be encoded."""


def harmless(text: str) -> str:
    """With every character that a terminal would obey written out, such as \\x1b."""
    return _HARMFUL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


UNLIMITED = 10_000
"""Columns that no line of ours fills."""


class _HarmlessConsole(Console):
    """Prints names, values and messages from anybody's files without obeying what is hidden in them.

    Lines are wrapped for a terminal only: a program that reads them expects one entry a line.
    """

    @property  # type: ignore[misc]  # nobody sets it
    def size(self) -> ConsoleDimensions:
        size = super().size
        return size if self.is_terminal or "COLUMNS" in os.environ else size._replace(width=UNLIMITED)

    def render_str(self, text: str, **how: Any) -> Text:
        """Before it is measured, so that a table has room for what is written out."""
        return super().render_str(harmless(text), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=harmless(segment.text))


out = _HarmlessConsole(highlight=False)
err = _HarmlessConsole(stderr=True, highlight=False)


@contextmanager
def results_only() -> Iterator[None]:
    """Standard output is left to a result for programs; what is said to people meanwhile goes to standard error."""
    out.stderr = True
    try:
        yield
    finally:
        out.stderr = False


def complain(message: str, title: str = "Error") -> None:
    """One clear red message on stderr."""
    err.print(Text.assemble((f"{title}: ", "bold red"), (message, "red")), soft_wrap=True)


def warn(message: str) -> None:
    err.print(Text(message, "yellow"), soft_wrap=True)


def say(message: str, style: str = "") -> None:
    out.print(Text(message, style), soft_wrap=True)


def new_table(*columns: str, title: str = "", numbers: Container[int] = ()) -> Table:
    """A quiet table that fits the terminal: its columns of `numbers` are never cut, the texts beside them give way."""
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
    for k, heading in enumerate(columns):
        table.add_column(heading, no_wrap=k in numbers, overflow="fold", justify="right" if k in numbers else "left")
    return table
