"""What tests of the command line share."""

from __future__ import annotations

import shlex
import sys

import pytest


@pytest.fixture
def airloom(monkeypatch, capsys):
    """Type a command, in this process; what it printed, on one line. It must end with the code that is wanted."""
    from airloom.cli import main

    def typed(line, code=0):
        monkeypatch.setattr(sys, "argv", ["airloom", *shlex.split(line)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        assert (end.value.code or 0) == code, printed
        return " ".join((printed.out + printed.err).replace("│", " ").split())

    return typed
