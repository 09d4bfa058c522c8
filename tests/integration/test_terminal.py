"""What a person reads in the terminal when names, files, disks and numbers are not as they should be."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from airloom.runs.folder import RunFolder, RunFolderError
from airloom.runs.mcap import LogReader
from airloom.runs.recorded import RecordedRun
from airloom.scenario import load
from airloom.simulation import Simulation

LONG = "x" * 300
SCENARIO = """
extends: hover
name: short
duration: 0.2
engine: batch
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("short.yaml").write_text(SCENARIO)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        f"run short.yaml --headless --out {LONG}",
        f"run {LONG}.yaml --headless",
        f"serve short.yaml --socket s --out {LONG}",
        f"serve {LONG}.yaml",
        f"plot {LONG}",
        f"replay {LONG}",
        f"fly {LONG}",
        f"view {LONG}",
        f"film {LONG} film.mp4",
        f"film short {LONG}.mp4",
        f"check {LONG}.py",
        f"exec {LONG}.py",
        f"schema --out {LONG}",
        f"bench --json {LONG}",
        f"branch field tcp:127.0.0.1:1 {LONG}.yaml",
    ],
)
def test_a_name_that_no_file_can_have(airloom, here, line):
    assert "Error" in airloom(line, 2)
    assert [path.name for path in here.iterdir()] == ["short.yaml"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--speed 1e-9", "pictures, and a film has at most 1,000,000"),
        ("--speed max", "a film cannot be unlimited"),
        ("--until nan", "before the film begins"),
        ("--from nan", "greater than or equal to 0"),
    ],
)
def test_films_that_nobody_could_watch(airloom, options, reason):
    airloom("run short.yaml --headless --no-figures --quiet --out flown")
    assert reason in airloom(f"film flown film.mp4 {options}", 2)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("notes.txt", b"import airloom", "is no Python file: the name of one ends in .py"),
        ("notes", b"", "is no Python file"),
        ("zeros.py", bytes(100), "cannot be loaded"),
        ("picture.py", b"\x89PNG\r\n\x1a\n", "cannot be loaded"),
        ("leaving.py", b"raise SystemExit(0)", "cannot be loaded: SystemExit"),
    ],
)
def test_a_check_of_what_is_no_plugin(airloom, name, content, reason):
    Path(name).write_bytes(content)
    assert reason in airloom(f"check {name}", 2)


def test_no_file_commands_the_terminal(airloom):
    hostile = r'"\e[31mred\e]0;owned\a"'
    for text in (
        f"{SCENARIO}description: [{hostile}]\n",
        f"{SCENARIO}world: {hostile}\n",
        f"{SCENARIO}{hostile}: 1\n",
        f"{SCENARIO}vehicles: {{{hostile}: crazyflie2}}\n",
        f"{SCENARIO}systems: {{w: {{kind: {hostile}}}}}\n",
    ):
        Path("hostile.yaml").write_text(text)
        said = airloom("run hostile.yaml --headless", 2)
        assert "1b[31mred" in said
        assert "\x1b" not in said


def test_what_a_plugin_says_does_not_command_the_terminal(airloom):
    Path("loud.py").write_text(
        "import airloom as al\n\nclass Loud(al.System):\n    '''Says \x1b[31mred.'''\n\n"
        "    def pre_update(self, sim):\n        sim.event('loud', '\\x1b[2Jgone', level='warning')\n"
        "        raise RuntimeError('\\x1b]0;owned')\n"
    )
    said = airloom("run short.yaml --headless --no-figures --debug --set 'systems.w={kind: loud.py:Loud}'", 1)
    assert "\\x1b[2Jgone" in said
    assert said.count("\\x1b]0;owned") > 1, "in the reason, and in the traceback"
    assert "\x1b" not in said
    assert "\x1b" not in airloom("check loud.py", 1)


def test_a_disk_that_is_full_cuts_the_log_and_says_so(here):
    """A limit of the size of files stands for it: the same happens, with another reason. Unlike a disk it counts the
    gap of 2 MiB that a log may have.
    """

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))

    command = "run hover --headless --until 120 --set log.rate=500 --no-figures --out full"
    done = subprocess.run(
        [sys.executable, "-m", "airloom", *command.split()],
        capture_output=True, text=True, timeout=180, preexec_fn=limit,
    )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert (
        "cannot write the log full/log.mcap: File too large; it is cut, but can be read as far as it goes"
        in done.stderr
    )
    run = RunFolder.open("full")
    assert run.read_summary()["status"] == "failed"
    with LogReader(run.log) as log:
        assert not log.complete
        assert len(log.topics) > 3


def test_a_summary_that_cannot_be_written_does_not_hide_why(monkeypatch):
    def fail(*_):
        raise RunFolderError("cannot write full/summary.json: No space left on device")

    run = RecordedRun(Simulation(load("short.yaml")), RunFolder.create("short", "full"))
    monkeypatch.setattr(run.folder, "write_summary", fail)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), run._log._file._file)  # where nothing can be written
    assert run.fly().status == "failed"
    assert "it is cut" in run.outcome.reason
    assert "summary.json" in run.outcome.reason


def test_a_pattern_that_matches_nothing_is_told(airloom):
    said = airloom(
        "run short.yaml --headless --no-figures --out odd "
        "--set 'log.topics=[/cf/state, /cf/rotor, /*/imu]' --set 'log.rates={/cf/odometri: 5}'"
    )
    assert "log.topics: no topic is like '/cf/rotor'; did you mean '/cf/rotors'?" in said
    assert "log.rates: no topic is like '/cf/odometri'; did you mean '/cf/odometry'?" in said
    assert "'/*/imu'" not in said
    assert "Warning" not in airloom("run short.yaml --headless --no-figures --out even")


def test_many_vehicles_are_announced(airloom):
    said = airloom(
        "run short.yaml --headless --no-log --until 0.001 --set 'vehicles.cf.copies={count: 2000}' --set systems={}"
    )
    assert "Making 2,000 vehicles …" in said


def test_step_responses_may_be_cut_by_their_reader():
    program = (
        "import sys; sys.argv[1:] = ['x500']; import runpy; runpy.run_module('airloom.testing', run_name='__main__')"
    )
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as gone:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=gone, stderr=subprocess.PIPE, text=True, timeout=180
        )
    assert (done.returncode, done.stderr) == (0, "")


def test_step_responses_of_nothing():
    command = [sys.executable, "-m", "airloom.testing", "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "no vehicle is called 'nothing'" in done.stderr
    assert "Traceback" not in done.stderr
