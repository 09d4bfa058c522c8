"""History and tab completion for a prompt."""

from __future__ import annotations

import readline
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

HISTORY = Path(platformdirs.user_state_dir("airloom")) / "fly_history"
LONGEST_HISTORY = 1000


@contextmanager
def editing(completions: Callable[[list[str]], list[str]]) -> Iterator[None]:
    """`completions` gives what may stand after the words typed so far; `input` offers it on tab."""

    def complete(start: str, number: int) -> str | None:
        words = readline.get_line_buffer()[: readline.get_begidx()].split()
        fitting = [word for word in completions(words) if word.startswith(start)]
        return _closed(fitting[number]) if number < len(fitting) else None

    readline.set_completer_delims(" ")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
    with suppress(OSError):
        readline.read_history_file(HISTORY)
    try:
        yield
    finally:
        readline.set_completer(None)
        readline.set_history_length(LONGEST_HISTORY)
        with suppress(OSError):
            HISTORY.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(HISTORY)


def _closed(word: str) -> str:
    return word if word.endswith("=") else f"{word} "
