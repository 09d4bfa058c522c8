"""What tests of the command line share."""

from __future__ import annotations

import shlex
import sys

import pytest


@pytest.fixture
def typed(monkeypatch, capsys):
    """Type a command, in this process; `out` and `err` that it printed. It must end with the code that is wanted."""
    from airloom.cli import main

    def run(line, code=0):
        monkeypatch.setattr(sys, "argv", ["airloom", *shlex.split(line)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        assert (end.value.code or 0) == code, printed
        return printed

    return run


@pytest.fixture
def airloom(typed):
    """Type a command; all that it printed, on one line."""

    def run(line, code=0):
        printed = typed(line, code)
        return " ".join((printed.out + printed.err).replace("│", " ").split())

    return run
