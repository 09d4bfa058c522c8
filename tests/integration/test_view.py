"""airloom view and airloom film as a user has them: real processes, a real run."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, nullcontext

import pytest

from airloom.studio.web.ports import USUAL_PORT

AIRLOOM = [sys.executable, "-m", "airloom"]
WIDE = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with a short run of hover in `run`."""
    folder = tmp_path_factory.mktemp("view")
    command = [*AIRLOOM, "run", "hover", "--headless", "--until", "3", "--no-figures", "--quiet", "--out", "run"]
    subprocess.run(command, check=True, cwd=folder, env=WIDE, timeout=180)
    return folder


@pytest.fixture
def here(runs, tmp_path, monkeypatch):
    shutil.copytree(runs / "run", tmp_path / "runs/hover-1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def airloom(*args):
    return subprocess.run([*AIRLOOM, *args], capture_output=True, text=True, env=WIDE, timeout=120)


@contextmanager
def viewing(*args):
    """A studio under way, and its URL; Ctrl-C must end it well."""
    process = subprocess.Popen(
        [*AIRLOOM, "view", *args, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=WIDE
    )
    try:
        line = process.stdout.readline()
        assert "http://" in line, process.communicate()
        yield process, line.split()[-1]
        process.send_signal(signal.SIGINT)
        process.wait(120)
    finally:
        process.kill()
        process.communicate()


@contextmanager
def occupied(port):
    """By us, if not by others."""
    try:
        taken = socket.create_server(("127.0.0.1", port))
    except OSError:
        taken = nullcontext()
    with taken:
        yield


def page(url):
    with urllib.request.urlopen(url, timeout=30) as reply:
        return reply.read().decode()


def test_a_run_is_served_until_ctrl_c(here):
    with viewing() as (process, url):
        assert "<title>" in page(url)
    assert process.returncode == 0


def test_several_runs_and_one_that_is_cut_off(here):
    shutil.copytree("runs/hover-1", "cut")
    whole = (here / "cut/log.mcap").read_bytes()
    (here / "cut/log.mcap").write_bytes(whole[:-40])
    with viewing("runs/hover-1", "cut") as (process, url):
        assert page(url)
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=120)
    assert "log.mcap is cut off: it tells of the first 3.00 s." in complaints.replace("\n", " ")
    assert process.returncode == 0


def test_a_run_under_way_is_joined(here):
    run = subprocess.Popen(
        [*AIRLOOM, "run", "hover", "--headless", "--link", "--until", "600", "--out", "live", "--quiet"], env=WIDE
    )
    try:
        deadline = time.monotonic() + 120
        while not (here / "live/control.sock").exists() and not (here / "live/control.path").exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        with viewing("live") as (process, url):
            assert page(url)
            run.send_signal(signal.SIGINT)
            told, _ = process.communicate(timeout=120)
        assert "the run is over" in told
        assert process.returncode == 0
    finally:
        run.kill()
        run.wait()


@pytest.mark.parametrize("command", [["view"], ["film"]])
@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ("nowhere", "there is no run 'nowhere'; in 'runs' there are hover-1"),
        ("empty", "the folder 'empty' holds no log.mcap"),
        ("torn.mcap", "torn.mcap is not an MCAP log"),
    ],
)
def test_what_is_no_run_is_told_in_one_line(here, command, run, reason):
    (here / "empty").mkdir()
    (here / "torn.mcap").write_bytes(b"nonsense")
    done = airloom(*command, run, *(["film.mp4"] if command == ["film"] else []))
    assert done.returncode == 2
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["view"], ["run", "hover", "--out", "new"]], ids=["view", "run"])
def test_a_port_in_use_is_told_with_one_that_is_free(here, command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = airloom(*command, "--port", str(port))
    assert done.returncode == 2
    assert f"port {port} is in use; try --port" in done.stderr
    assert not (here / "new").exists(), "told before anything is flown"


def test_if_the_usual_port_is_in_use_the_next_is_taken(here):
    with occupied(USUAL_PORT):
        process = subprocess.Popen([*AIRLOOM, "view"], stdout=subprocess.PIPE, text=True, env=WIDE)
        told = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    port = told[1].split(":")[-1].strip("/\n")
    assert told[0] == f"Port {USUAL_PORT} is in use, so the studio takes {port}.\n"
    assert int(port) > USUAL_PORT


@pytest.mark.parametrize("text", ["notanumber", "65536", "-1"])
def test_what_is_no_port_is_told(here, text):
    done = airloom("run", "hover", f"--port={text}")
    assert done.returncode == 2
    assert f"'{text}' is no port: that is a number from 0" in done.stderr


def test_an_earlier_run_is_kept_unless_it_is_to_be_replaced(here):
    command = ["run", "hover", "--headless", "--until", "0.1", "--no-figures", "--out", "again"]
    assert airloom(*command).stderr == ""
    first = (here / "again/log.mcap").stat().st_mtime_ns
    assert "this one goes to again-2" in airloom(*command).stderr
    assert (here / "again/log.mcap").stat().st_mtime_ns == first
    assert (here / "again-2/summary.json").exists()
    assert airloom(*command, "--replace").stderr == ""
    assert (here / "again/log.mcap").stat().st_mtime_ns > first
    (here / "again/thesis.txt").write_text("precious")
    assert airloom(*command, "--replace").returncode == 2
    assert (here / "again/thesis.txt").read_text() == "precious"


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["film.mp4", "--size", "big"], "not a width and a height"),
        (["film.mp4", "--size", "641x360"], "width and height are even"),
        (["film.gif"], "a film is a .mp4 or a .webm"),
        (["film.mp4", "--vehicle", "nobody"], "the run has no vehicle 'nobody', but cf"),
        (["film.mp4", "--from", "99"], "the run is over at 3 s"),
        (["film.mp4", "--from", "2", "--until", "1"], "before the film begins"),
        (["nowhere/film.mp4"], "there is no folder 'nowhere'"),
    ],
)
def test_what_cannot_be_filmed_is_told(here, args, reason):
    pytest.importorskip("av")
    done = airloom("film", "last", *args)
    assert done.returncode == 2
    assert reason in done.stderr
    assert sorted(path.name for path in here.iterdir()) == ["runs"]


def test_a_missing_browser_is_told(here, monkeypatch):
    pytest.importorskip("av")
    monkeypatch.setitem(WIDE, "AIRLOOM_BROWSER", "no-such-browser")
    done = airloom("film", "last", "film.mp4")
    assert done.returncode == 2
    assert "no Chromium or Chrome was found" in done.stderr
    assert not (here / "film.mp4").exists()
