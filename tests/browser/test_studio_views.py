"""Cameras, pictures and videos of the studio in a real browser, on recorded runs."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from PIL import Image
from tests.browser.conftest import draw
from tests.browser.test_studio import choose, until

from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.scenario import load
from airloom.simulation import Simulation
from airloom.studio.scene.cameras import FIELD_OF_VIEW
from airloom.studio.sources.playback import Playback
from airloom.studio.sources.recorded import RecordedSource
from airloom.studio.sources.source import POSITION
from airloom.studio.studio import Studio

COUNT = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A dance that leaves its start."""
    path = tmp_path_factory.mktemp("runs") / "dance"
    changes = {"duration": 14.0, "engine": "batch", "vehicles.drone.copies.count": COUNT}
    RecordedRun(Simulation(load("choreography", changes)), RunFolder.create("dance", path)).fly()
    return RunFolder.open(path)


@pytest.fixture(scope="module")
def clock():
    return Playback()


@pytest.fixture(scope="module")
def studio(folder, clock):
    """Paused at the end of two runs, before anybody has looked."""
    with Studio([RecordedSource(folder, clock), RecordedSource(folder, clock)], port=0) as studio:
        clock.seek(clock.end - 0.01)
        drawing = threading.Thread(target=studio.run)
        drawing.start()
        yield studio
        studio.stop()
        drawing.join()


@pytest.fixture(scope="module")
def tab(studio, shared_page):
    shared_page.set_viewport_size({"width": 900, "height": 700})
    shared_page.goto(studio.gateway.url)
    shared_page.locator("[data-airloom=state]").wait_for()
    shared_page.wait_for_timeout(2000)
    return shared_page


@pytest.fixture
def page(tab):
    tab.get_by_role("tab", name="View").click()
    return tab


def camera(studio):
    (client,) = studio._server.get_clients().values()
    return client.camera


def reach(studio):
    """How far to the edges the outermost vehicles are: 1 is the edge."""
    seen, (client,) = camera(studio), studio._server.get_clients()
    placement = studio.state.cameras._cameras[client].placement
    positions = studio.state.source.snapshot().vehicles[:, POSITION].astype(float)
    forward = (seen.look_at - seen.position) / np.linalg.norm(seen.look_at - seen.position)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    to = np.array([placement.to_scene(position) for position in positions]) - seen.position
    half = np.tan(FIELD_OF_VIEW / 2) * (to @ forward)
    return max(np.abs(to @ right / half).max() / seen.aspect, np.abs(to @ np.cross(right, forward) / half).max())


def test_who_comes_late_to_a_narrow_window_sees_everybody(tab, studio):
    until(lambda: camera(studio).aspect < 1.0)  # the panels have taken their part
    until(lambda: 0.5 < reach(studio) < 1.0)


def test_everything_is_titled_by_both_runs_and_nothing_covers_it(tab, clock):
    tab.get_by_text("dance and dance").wait_for()
    assert tab.get_by_text("Software WebGL").count() == 0 or not tab.get_by_text("Software WebGL").first.is_visible()
    tab.get_by_role("button", name="Begin anew").click()
    clock.change_speed(0.1)  # or it might be over before it is stopped
    tab.get_by_role("button", name="Play").click()
    tab.locator("[data-airloom=state]", has_text="playing").wait_for()
    tab.get_by_role("button", name="Pause").click()
    tab.locator("[data-airloom=state]", has_text="paused").wait_for()
    clock.change_speed(1.0)


def marked(page):
    """The buttons of cameras that look pressed."""
    colour = "it => getComputedStyle(it).backgroundColor"
    buttons = {name: page.get_by_role("button", name=name, exact=True) for name in ("Orbit", "Follow", "Chase", "Top")}
    return [name for name, button in buttons.items() if button.evaluate(colour) == "rgb(28, 111, 196)"]


def slope(seen):
    return seen.position[2] / np.linalg.norm(seen.position)


def test_buttons_choose_the_camera_and_show_which(page, studio):
    page.get_by_role("tab", name="Fly").click()
    choose(page, "Selected", "drone_3")
    page.get_by_role("tab", name="View").click()
    seen = camera(studio)
    for name, height in (
        ("Follow", (0.3, 0.95)), ("Chase", (0.3, 0.4)), ("Top", (0.99, 1.0)), ("Follow", (0.3, 0.95)),
    ):  # fmt: skip
        page.get_by_role("button", name=name, exact=True).click()
        until(lambda name=name: marked(page) == [name])
        assert studio.state.cameras.mode(next(iter(studio._server.get_clients()))) == (name.lower(), "drone_3")
        until(lambda height=height: np.linalg.norm(seen.look_at) < 1e-3 and height[0] < slope(seen) <= height[1] + 1e-6)
    page.get_by_role("button", name="See all vehicles").click()
    until(lambda: marked(page) == ["Orbit"])
    until(lambda: reach(studio) < 1.0)


def test_top_without_a_selection_sees_all(page, studio):
    page.get_by_role("tab", name="Fly").click()
    choose(page, "Selected", "– none –")
    page.get_by_role("tab", name="View").click()
    page.get_by_role("button", name="Top", exact=True).click()
    until(lambda: marked(page) == ["Top"])
    seen = camera(studio)
    until(lambda: np.linalg.norm((seen.position - seen.look_at)[:2]) < 0.01 * seen.position[2])
    until(lambda: reach(studio) < 1.0)


def test_names_of_many_are_told_to_be_of_one(page, studio):
    page.get_by_text("Of the selected vehicle alone: there are more than 8.").wait_for()
    page.get_by_label("Names").uncheck()
    page.get_by_text("Of the selected vehicle alone").wait_for(state="hidden")
    page.get_by_label("Names").check()


def test_a_picture_is_saved(page, studio, tmp_path):
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("button", name="Save a picture").click()
    assert download.value.suggested_filename.startswith("dance-")
    download.value.save_as(tmp_path / "picture.png")
    with Image.open(tmp_path / "picture.png") as picture:
        assert (picture.format, picture.size) == ("PNG", (1920, 1080))
        assert len(picture.convert("RGB").resize((96, 54)).getcolors(96 * 54)) > 20, "something is to be seen"


def test_a_video_is_saved(page, studio, tmp_path):
    av = pytest.importorskip("av")
    page.get_by_role("button", name="Record a video").click()
    page.wait_for_selector("#airloom-filming.shown")
    page.get_by_role("button", name="Begin anew").click()
    page.get_by_role("button", name="Play").click()
    draw(page, pictures=12)
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("button", name="Record a video").click()
    assert download.value.suggested_filename == "dance.webm"
    download.value.save_as(tmp_path / "dance.webm")
    with av.open(str(tmp_path / "dance.webm")) as video:
        assert len(list(video.decode(video=0))) > 1
