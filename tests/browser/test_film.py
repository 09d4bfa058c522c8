"""Videos and pictures without a screen."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from tests.open_ports import open_ports

pytest.importorskip("viser")
av = pytest.importorskip("av")
from PIL import Image  # noqa: E402

from airloom.runs.folder import RunFolder  # noqa: E402
from airloom.runs.recorded import RecordedRun  # noqa: E402
from airloom.scenario import load  # noqa: E402
from airloom.simulation import Simulation  # noqa: E402
from airloom.studio.film import film  # noqa: E402
from airloom.studio.web import viser_server as tamed  # noqa: E402

SIZE = (320, 180)
PATIENCE = 240.0  # s


def painted(level):
    return np.full((SIZE[1], SIZE[0], 3), level, np.uint8)


def brightness(path):
    with av.open(str(path)) as video:
        return [frame.to_ndarray(format="rgb24").mean() for frame in video.decode(video=0)]


@pytest.mark.parametrize("name", ["film.mp4", "film.webm"])
def test_a_video_holds_the_pictures_in_their_order(tmp_path, name):
    with film.Filmer(tmp_path / name, SIZE, fps=10) as filmer:
        for level in (0, 60, 120, 180, 240):
            filmer.frame(painted(level))
    assert brightness(tmp_path / name) == pytest.approx([0, 60, 120, 180, 240], abs=6)
    with av.open(str(tmp_path / name)) as video:
        assert video.streams.video[0].average_rate == 10


def test_no_picture_no_film(tmp_path):
    film.Filmer(tmp_path / "film.mp4", SIZE).close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "size", "reason"), [("film.gif", SIZE, ".mp4 or a .webm"), ("f.mp4", (321, 180), "even")]
)
def test_what_no_film_can_be_is_told(tmp_path, name, size, reason):
    with pytest.raises(film.FilmError, match=reason):
        film.Filmer(tmp_path / name, size)
    assert list(tmp_path.iterdir()) == []


def test_a_codec_that_is_missing_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(av, "codecs_available", set())
    with pytest.raises(film.FilmError, match="libx264"):
        film.Filmer(tmp_path / "film.mp4", SIZE)


def test_a_browser_that_is_missing_is_told(monkeypatch):
    monkeypatch.setenv("AIRLOOM_BROWSER", "no-such-browser")
    with pytest.raises(film.BrowserMissing, match="apt install chromium"):
        film.find_browser()


def test_a_browser_that_ends_at_once_is_told(monkeypatch, studio):
    monkeypatch.setenv("AIRLOOM_BROWSER", "true")
    with pytest.raises(film.FilmError, match="ended at once"), film.headless_client(studio):
        pass


@pytest.fixture(scope="module")
def studio():
    server = tamed.start_viser()
    yield server
    tamed.stop_viser(server)


def remember_profiles(monkeypatch):
    make, profiles = tempfile.TemporaryDirectory, []

    def remember(**options):
        directory = make(**options)
        profiles.append(directory.name)
        return directory

    monkeypatch.setattr(tempfile, "TemporaryDirectory", remember)
    return profiles


@pytest.fixture
def _with_a_browser():
    try:
        film.find_browser()
    except film.BrowserMissing as missing:
        pytest.skip(str(missing))


@pytest.mark.usefixtures("_with_a_browser")
def test_a_film_shows_each_moment_and_leaves_no_browser(studio, tmp_path, monkeypatch):
    profiles = remember_profiles(monkeypatch)
    wall = studio.scene.add_box("/wall", dimensions=(2.0, 2.0, 2.0), color=(255, 0, 0))

    def show(moment):
        wall.visible = moment % 2 == 0

    film.film(studio, tmp_path / "film.mp4", range(6), show, SIZE, fps=5)
    levels = brightness(tmp_path / "film.mp4")
    assert len(levels) == 6
    assert max(levels[0::2]) < min(levels[1::2]) - 2
    (profile,) = profiles
    assert not os.path.exists(profile)
    assert not [line for line in _commands() if profile in line]


@pytest.mark.usefixtures("_with_a_browser")
def test_nobody_else_sees_what_is_filmed(studio, monkeypatch):
    tokens = []
    make = secrets.token_urlsafe
    monkeypatch.setattr(secrets, "token_urlsafe", lambda length: tokens.append(make(length)) or tokens[-1])
    with film.headless_client(studio):
        (door,) = [port for port in open_ports(os.getpid()) if port.protocol == "tcp"]
        shown = "\n".join(_commands(below=os.getpid()))
        for path in ("/", "/airloom.js"):
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(f"http://127.0.0.1:{door.port}{path}", timeout=PATIENCE)
    assert "--type=renderer" in shown
    assert not [token for token in tokens if token in shown], "everybody can read the arguments of a process"


@pytest.mark.usefixtures("_with_a_browser")
def test_a_still_is_a_picture(studio, tmp_path):
    film.still(studio, tmp_path / "still.png", SIZE)
    with Image.open(tmp_path / "still.png") as image:
        assert image.size == SIZE


@pytest.mark.usefixtures("_with_a_browser")
def test_a_browser_is_ended_when_the_filming_fails():
    def fail():
        with film.headless_browser("about:blank") as browser:
            browsers.append(browser)
            time.sleep(1)
            raise KeyError

    browsers = []
    with pytest.raises(KeyError):
        fail()
    assert browsers[0].poll() is not None
    assert not [line for line in _commands() if _profile(browsers[0].args) in line]


@pytest.mark.usefixtures("_with_a_browser")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_browser_is_ended_with_the_program_that_films(number):
    program = (
        "import json, time; from airloom.studio.film.film import headless_browser\n"
        "with headless_browser('about:blank') as browser: print(json.dumps(browser.args), flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as owner:
        profile = _profile(json.loads(owner.stdout.readline()))
        _wait_until(lambda: any("--type=renderer" in line and profile in line for line in _commands()))
        owner.send_signal(number)
    _wait_until(lambda: not any(profile in line for line in _commands()))
    _wait_until(lambda: not os.path.exists(profile))


@pytest.mark.usefixtures("_with_a_browser")
def test_filming_ended_by_sigterm_ends_as_by_ctrl_c(tmp_path):
    airloom = [sys.executable, "-m", "airloom"]
    run = [*airloom, "run", "hover", "--headless", "-q", "--no-figures", "--until", "5", "--out", "run"]
    subprocess.run(run, cwd=tmp_path, check=True)
    film = [*airloom, "film", "run", "film.webm", "--size", "160x90", "--fps", "240"]
    with subprocess.Popen(film, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as filming:
        _wait_until(lambda: any("--type=renderer" in line for line in _commands(below=filming.pid)))
        filming.terminate()
        said, warned = filming.communicate(timeout=PATIENCE)
    assert filming.returncode == 128 + signal.SIGTERM, warned
    count = int(re.search(r"Stopped after (\d+) of 1201 pictures", warned)[1])
    assert (tmp_path / "film.webm").exists() == (count > 0)
    if count:
        assert f"Made film.webm: {count} pictures" in said
        assert len(brightness(tmp_path / "film.webm")) == count


def _profile(command):
    return next(part for part in command if part.startswith("--user-data-dir=")).partition("=")[2]


def _wait_until(is_so):
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.usefixtures("_with_a_browser")
def test_the_command_makes_what_its_options_say(tmp_path):
    eye = {"kind": "depth_camera", "rate": 5, "width": 32, "height": 18}
    topics = ["/clock", "/*/state", "/*/rotors", "/cf/depth/image"]
    changes = {"duration": 3.0, "engine": "batch", "vehicles.cf.sensors.depth": eye, "log.topics": topics}
    RecordedRun(Simulation(load("hover", changes)), RunFolder.create("hover", tmp_path / "run")).fly()
    command = [sys.executable, "-m", "airloom", "film", "run"]
    small, span = ["--size", "64x36"], ["--from", "1", "--until", "3", "--speed", "2", "--fps", "3"]
    chasing = ["--camera", "chase", "--vehicle", "cf", "--eye", "depth", "--from", "2"]
    for out in (["film.mp4", *small, *span], ["still.png", "--size", "160x90", *chasing]):
        subprocess.run([*command, *out], check=True, cwd=tmp_path, timeout=600)
    assert len(brightness(tmp_path / "film.mp4")) == 4, "two seconds at twice the speed, three pictures a second"
    with Image.open(tmp_path / "still.png") as image:
        assert image.size == (160, 90)
        assert image.getpixel((157, 87)) == (245, 245, 245), "the frame of what the eye saw"


def _commands(below=1):
    """Of the processes that descend from another: films of others may be made beside this one."""
    for process in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline") as file:
                command = file.read()
            if below in _ancestors(int(process)):
                yield command
        except OSError:
            continue


def _ancestors(process):
    while process > 1:
        with open(f"/proc/{process}/stat") as file:
            process = int(file.read().rpartition(")")[2].split()[1])
        yield process
