import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from airloom.runs.folder import RunFolder, RunFolderError


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def a_run(scenario="hover", out=None, age=0):
    run = RunFolder.create(scenario, out)
    run.log.write_bytes(b"\x89MCAP0\r\n" + 9 * b"\x01" + b"\x04\0\0\0ros2\x07\0\0\0airloom")
    run.scenario.write_text("name: hover\n")
    stamp = 1_000_000_000 - age
    os.utime(run.log, (stamp, stamp))
    return run


def test_runs_are_numbered():
    assert [a_run().path for _ in range(2)] == [Path("runs/hover-1"), Path("runs/hover-2")]
    assert a_run("wave").path == Path("runs/wave-1")
    Path("runs/hover-9").mkdir()
    Path("runs/hover-slow-30").mkdir()
    Path("runs/hover-1").rename("runs/other")
    assert a_run().path == Path("runs/hover-10")


def test_out_is_made_with_its_parents():
    run = a_run(out="a/b")
    assert run.path == Path("a/b")
    assert run.log == Path("a/b/log.mcap")


def test_an_earlier_run_is_kept():
    first = a_run(out="mine")
    assert [a_run(out="mine").path for _ in range(2)] == [Path("mine-2"), Path("mine-3")]
    assert first.log.exists()


def test_an_earlier_run_is_replaced_if_wanted():
    first = a_run(out="mine")
    first.write_summary({"time": 1})
    first.figure("flight-cf").touch()
    (first.path / "autopilot-drone/log").mkdir(parents=True)
    assert RunFolder.create("hover", "mine", replace=True).path == Path("mine")
    assert list(Path("mine").iterdir()) == []


LEFT = ["swarm.json", "swarm.png", "swarm-flock.png", "links-time.png", "links-map-long.png", "difference.tif",
        "deposition.png", "radio/flows.xml"]  # fmt: skip


@pytest.mark.parametrize("left", LEFT)
def test_whatever_a_run_leaves_belongs_to_it(left):
    file = a_run(out="mine").path / left
    file.parent.mkdir(exist_ok=True)
    file.touch()
    RunFolder.create("hover", "mine", replace=True)
    assert not file.exists()


def test_a_run_without_a_log_is_known_by_its_summary():
    run = RunFolder.create("hover", "mine")
    run.scenario.touch()
    with pytest.raises(RunFolderError):
        RunFolder.create("hover", "mine", replace=True)
    run.write_summary({"scenario": "hover", "airloom": "0.1.0", "state_hash": "0"})
    RunFolder.create("hover", "mine", replace=True)


FOREIGN = {
    "thesis": ["thesis.tex"],
    "folder": ["log.mcap/x"],
    "photo": ["photo.png"],
    "autopilot": ["autopilot-drone/x"],
    "names as ours": ["scenario.yaml", "summary.json", "fleet.png"],
    "another's log": ["scenario.yaml", "log.mcap"],
}


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("files", FOREIGN.values(), ids=FOREIGN)
def test_a_folder_that_is_not_certainly_a_run_is_left_alone(files, replace):
    paths = [Path("mine") / file for file in files]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("precious")
    with pytest.raises(RunFolderError, match=r"holds something else than a run \(.*choose a new or empty folder"):
        RunFolder.create("hover", "mine", replace)
    assert all(path.read_text() == "precious" for path in paths)
    assert [path.name for path in Path(".").iterdir()] == ["mine"]


@pytest.mark.parametrize("stranger", ["notes.txt", "photo.png", "summary.json.backup", "log.mcap.bak"])
def test_a_run_beside_other_things_is_left_alone(stranger):
    run = a_run(out="mine")
    (Path("mine") / stranger).touch()
    with pytest.raises(RunFolderError, match=rf"\({stranger}\)"):
        RunFolder.create("hover", "mine", replace=True)
    assert run.log.exists()


def test_a_file_is_no_folder():
    Path("mine").touch()
    with pytest.raises(RunFolderError, match="'mine' is a file"):
        RunFolder.create("hover", "mine")
    Path("runs").touch()
    with pytest.raises(RunFolderError, match="cannot make the folder 'runs"):
        RunFolder.create("hover")


def test_opening():
    run = a_run(age=10)
    newest = a_run(age=0)
    a_run("wave", age=20)
    assert RunFolder.open(run.path).log == run.log
    assert RunFolder.open(str(run.log)).path == run.path
    assert RunFolder.open("last").path == newest.path
    assert RunFolder.open("wave-1").path == Path("runs/wave-1"), "as messages name it"
    Path("elsewhere.mcap").touch()
    assert RunFolder.open("elsewhere.mcap").log == Path("elsewhere.mcap")


def test_what_is_no_run_is_explained():
    with pytest.raises(RunFolderError, match="there is no last run"):
        RunFolder.open("last")
    a_run()
    with pytest.raises(RunFolderError, match="there is no run 'nothing'; in 'runs' there are hover-1"):
        RunFolder.open("nothing")
    Path("empty").mkdir()
    with pytest.raises(RunFolderError, match=r"'empty' holds no log\.mcap"):
        RunFolder.open("empty")


def test_summary():
    run = a_run()
    assert run.read_summary() == {}
    run.write_summary(
        {"position": np.array([1.0, math.nan]), "ticks": np.int64(3), "out": Path("x"), "ok": (True, None)}
    )
    assert run.read_summary() == {"position": [1.0, None], "ticks": 3, "out": "x", "ok": [True, None]}
    assert {path.name for path in run.path.iterdir()} == {"log.mcap", "scenario.yaml", "summary.json"}


def test_a_summary_that_cannot_be_written_leaves_the_old_one():
    run = a_run()
    run.write_summary({"time": 1})
    with pytest.raises(TypeError):
        run.write_summary({"time": object()})
    assert json.loads(run.summary.read_text()) == {"time": 1}
