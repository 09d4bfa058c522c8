"""A signal while a command starts: it comes at the very import of some module, so that no clock decides."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

INTERRUPTED_AT_AN_IMPORT = """
import os, signal, sys

def watch(event, args):
    if event == "import" and args[0] == WHERE and not came:
        came.append(args[0])
        os.kill(os.getpid(), NUMBER)

came = []
WHERE, NUMBER = sys.argv.pop(1), int(sys.argv.pop(1))
signal.signal(signal.SIGINT, signal.default_int_handler)
from airloom.cli import main
sys.addaudithook(watch)
main()
assert came, f"{WHERE} was never imported"
"""

STOPPED = 128 + signal.SIGINT
COMMANDS = {
    "run hover --headless": STOPPED,
    "run hover": STOPPED,
    "exec script.py": STOPPED,
    "branch field tcp:127.0.0.1:7700": STOPPED,
    "fly": STOPPED,
    "film last film.mp4": STOPPED,
    "plot": STOPPED,
    "check script.py": STOPPED,
    "list": STOPPED,
    "schema": STOPPED,
    "doctor": STOPPED,
    "bench": STOPPED,
    "--help": STOPPED,
    "view": 0,
    "replay": 0,
    "serve hover": 0,
}
"""And the exit code that Ctrl-C gives: 0 where it is the way to end it, as it is later."""

HEAVY = {
    "numpy": ["run hover --headless", "view", "serve hover", "plot", "replay", "check script.py"],
    "numba": ["run hover --headless", "serve hover", "bench", "schema"],
    "viser": ["view", "film last film.mp4"],
}
"""Modules that take long to import, and commands that do so."""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text("print('hello')\n")
    return tmp_path


def interrupted(command, where, number=signal.SIGINT):
    return subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT_AN_IMPORT, where, str(int(number)), *command.split()],
        capture_output=True, text=True, timeout=180, stdin=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip


def check_it_ended_well(done, code):
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr == "Stopped.\n"


@pytest.mark.parametrize(("command", "code"), COMMANDS.items())
def test_at_the_first_import(command, code):
    check_it_ended_well(interrupted(command, "typer"), code)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["run hover", "view"])
def test_other_signals_at_the_first_import(command, number):
    check_it_ended_well(interrupted(command, "typer", number), 128 + number)


@pytest.mark.parametrize(
    ("where", "command"), [(where, command) for where, commands in HEAVY.items() for command in commands]
)
def test_among_the_heavy_imports(here, where, command):
    check_it_ended_well(interrupted(command, where), COMMANDS[command])
    assert sorted(path.name for path in here.iterdir()) == ["script.py"]
