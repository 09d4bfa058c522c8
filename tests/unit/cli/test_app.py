"""How a command ends that cannot do what it was asked for."""

from __future__ import annotations

import errno
import subprocess
import sys

import pytest

from airloom.cli import app as command_line
from airloom.commands import CommandError
from airloom.loom.loom import LoomError
from airloom.scenario import ScenarioError

NO_ROOM = "what is printed cannot be written: No space left on device"


def ended(monkeypatch, error: Exception) -> object:
    """The exit code."""

    def app(**_: object) -> None:
        raise error

    monkeypatch.setattr(command_line, "app", app)
    with pytest.raises(SystemExit) as end:
        command_line.run_command_line()
    return end.value.code


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (ScenarioError("hover.yaml: no such key"), 2, "hover.yaml: no such key"),
        (LoomError("member 'logic' has gone"), 1, "member 'logic' has gone"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "x" * 5000), 2, "a name may have 255 bytes"),
        (
            OSError(errno.ENOSPC, "No space left on device", "a.png"),
            1,
            "a.png cannot be written: No space left on device",
        ),
    ],
)
def test_its_message_is_all_that_is_told(monkeypatch, capfd, error, code, told):
    assert ended(monkeypatch, error) == code
    said = capfd.readouterr()
    assert told in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


@pytest.mark.parametrize("command", [["list"], ["--version"], ["run", "--help"], ["doctor"]])
def test_what_is_printed_on_a_full_disk(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "airloom", *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=300
        )
    assert done.returncode == 1
    assert " ".join(done.stderr.split()) == f"Error: {NO_ROOM}; make room on the disk"


def test_what_a_program_does_wrong_keeps_its_traceback(monkeypatch):
    """A plugin that gives a wrong command is to be mended where it gives it."""
    with pytest.raises(CommandError, match="too much"):
        ended(monkeypatch, CommandError("too much thrust"))
