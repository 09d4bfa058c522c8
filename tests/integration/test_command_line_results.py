"""What commands say to programs and shells, and what they leave behind; in this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from airloom.runs import last
from airloom.runs.folder import RunFolder, RunFolderError

SCENARIO = "extends: hover\nname: short\nduration: 0.2\nengine: batch\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("COLUMNS", raising=False)
    Path("short.yaml").write_text(SCENARIO)
    return tmp_path


def test_lists_for_a_program_have_one_entry_a_line(typed):
    listed = typed("list systems").out.splitlines()
    names = [line.split()[0] for line in listed[1:] if line.strip()]
    assert names == sorted(names)
    assert next(line for line in listed if line.startswith("choreography")).rstrip().endswith("land where it stood.")


def test_lists_as_json(typed):
    told = json.loads(typed("list --json").out)
    assert told["scenarios"]["hover"].startswith("A Crazyflie takes off")
    assert list(json.loads(typed("list vehicles --json").out)) == ["vehicles"]


@pytest.mark.parametrize("line", ["list foo", "schema foo", "film last a.mp4 --camera foo"])
def test_a_word_that_is_none_of_those_to_choose_from(typed, line):
    told = typed(line, code=2).err
    assert "'foo' is not one of" in told
    assert "Value error" not in told


def test_doctor_as_json_knows_where_the_machine_code_lies(typed):
    found = {one["what"]: one for one in json.loads(typed("doctor --json").out)}
    assert found["Python"]["level"] == "good"
    folder, _, state = found["machine code"]["detail"].partition(" (")
    assert Path(folder).is_absolute()
    assert "functions, " in state, "something was compiled before"


def test_a_run_for_a_program(typed):
    printed = typed("run short.yaml --headless --no-figures --json --out told")
    summary = json.loads(printed.out)
    assert summary == RunFolder.open("told").read_summary()
    assert "short finished" in printed.err
    assert json.loads(typed("run short.yaml --headless --no-figures --json -q").out)["verdict"]["good"]


@pytest.mark.parametrize(
    ("name", "setting", "why"),
    [
        ("px4", "vehicles.drone.autopilot.binary=nothing", "the autopilot of drone cannot be started: there is no"),
        ("short.yaml", "members.lost={command: [./nothing]}", "cannot be started: ./nothing: No such file"),
    ],
)
def test_a_run_that_cannot_begin_leaves_nothing(typed, here, name, setting, why):
    printed = typed(f"run {name} --headless --no-figures --set '{setting}'", code=2)
    assert "The run could not begin: " in printed.err
    assert why in printed.err
    assert "state hash" not in printed.out, "at most that it compiled"
    assert "vehicle" not in printed.out
    assert list(here.glob("runs/*")) == []


def test_what_programs_said_that_ended_at_once_is_kept(typed, here):
    Path("talks.py").write_text("print('there is no chart of this sea')")
    Path("talks.yaml").write_text(f"{SCENARIO}members: {{navigator: {{command: [python, talks.py], vehicles: all}}}}\n")
    assert "runs/short-1" in typed("run talks.yaml --headless --no-figures", code=2).err
    assert "no chart" in (here / "runs/short-1/member-navigator.txt").read_text()
    summary = RunFolder(Path("runs/short-1")).read_summary()
    assert summary["verdict"]["good"] is False
    assert "navigator" in summary["verdict"]["findings"][0]["text"]


def test_last_is_a_run_that_was_made_elsewhere(typed, here):
    with pytest.raises(RunFolderError, match="no last run"):
        RunFolder.open("last")
    typed("run short.yaml --headless --no-figures --quiet")
    typed("run short.yaml --headless --no-figures --quiet --out elsewhere/mine")
    assert RunFolder.open("last").path.resolve() == here / "elsewhere/mine"
    assert "elsewhere/mine/flight-cf.png" in typed("plot").out
    typed("run short.yaml --headless --no-figures --quiet")
    assert RunFolder.open("last").path == Path("runs/short-2")


def test_last_of_as_many_folders_as_are_noted(here, monkeypatch):
    monkeypatch.setattr(last, "MOST_NOTES", 3)
    for name in "abcde":
        place = here / name
        place.mkdir()
        monkeypatch.chdir(place)
        last.remember(place)
    assert len(list((here / "state/airloom/last_runs").iterdir())) == 3
    assert last.remembered() == place


def test_the_last_run_without_a_place_to_note_it(here, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(here / "short.yaml"))
    last.remember(here)
    assert last.remembered() is None


def test_a_scenario_is_checked_without_flying(typed, here):
    told = typed("check short.yaml --set vehicles.cf.mass=0.03").out
    assert "is understood: 0.2 s in steps of 1 ms on the batch engine" in told
    assert "can be made ready: 1 vehicle, waypoints" in told
    told = typed("check relay").out
    assert "not tried: the member chief, the member herald, the member wing" in told
    assert not (here / "runs").exists()


def test_a_scenario_with_mistakes_is_not_good(typed):
    Path("bad.yaml").write_text(SCENARIO + "vehicles: {cf: {mass: -1, mas: 2}}\nsystems: {a: {kind: pusch}}\n")
    told = typed("check bad.yaml", code=2)
    assert all(key in told.err for key in ("vehicles.cf.mass", "vehicles.cf.mas:", "systems.a.kind"))
    assert "good" not in told.out
    assert "no scenario is called 'hovr'" in typed("check hovr", code=2).err
    assert "is not flown in another" in typed("check hover --scenario fleet", code=2).err


def test_what_is_kept_on_this_machine(typed, here, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(here))
    assert "is empty" in typed("cache").out
    kept = here / "airloom/compiled/0123"
    kept.mkdir(parents=True)
    (kept / "hover.nbc").write_bytes(bytes(2_500_000))
    told = typed("cache").out
    assert "compiled" in told
    assert "2.5 MB in all" in told
    assert "Deleted" in typed("cache --clear").out
    assert not (here / "airloom").exists()
    assert (here / "short.yaml").exists()


@pytest.mark.parametrize(("line", "found"), [("run ho", "hover"), ("check sho", "short.yaml"), ("list v", "vehicles")])
def test_a_shell_completes_names(line, found):
    """As bash asks for it."""
    words = f"airloom {line}"
    asked = {"_AIRLOOM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-m", "airloom"], env={**os.environ, **asked}, capture_output=True, text=True
    )
    assert found in done.stdout.split()
