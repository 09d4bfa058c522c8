"""Radio in the studio in a real browser, on a recorded run: lines, packets, coverage, and the mast of a station."""

from __future__ import annotations

import io
import threading

import numpy as np
import pytest
from PIL import Image
from tests.browser.test_studio import choose, until

from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.scenario import load
from airloom.simulation import Simulation
from airloom.studio.sources.playback import Playback
from airloom.studio.sources.recorded import RecordedSource
from airloom.studio.studio import Studio

SCENE = """
name: talk
duration: 60
engine: batch
radio:
  power: 0
  stations: {base: {position: [0, 8, 3]}}
vehicles:
  a: {extends: multirotor, pose: {position: [-4, 0, 0.05]}}
  b: {extends: multirotor, pose: {position: [4, 0, 0.05]}}
log: {topics: [/clock, /events, "/*/state", "/radio/*"]}
"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory, shared_page):
    """At rest within a run in which all hear each other."""
    folder = tmp_path_factory.mktemp("radio")
    (folder / "talk.yaml").write_text(SCENE)
    sim = Simulation(load(folder / "talk.yaml"))

    def talk():
        for node in sim.radio.values():
            node.send(b"here I am")
        sim.call_at(sim.time + 0.05, talk)

    sim.call_at(0.05, talk)
    RecordedRun(sim, RunFolder.create("talk", folder / "talk")).fly()
    clock = Playback()
    with Studio([RecordedSource(RunFolder.open(folder / "talk"), clock)], port=0) as studio:
        clock.seek(3.9)
        drawing = threading.Thread(target=studio.run)
        drawing.start()
        shared_page.set_viewport_size({"width": 900, "height": 700})
        shared_page.goto(studio.gateway.url)
        shared_page.locator("[data-airloom=state]").wait_for()
        shared_page.get_by_role("tab", name="View").click()
        shared_page.get_by_label("Radio links").wait_for()
        yield shared_page
        studio.stop()
        drawing.join()


def scene(page):
    """What is left of the panels, as red, green and blue."""
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)[60:, :520]


def teal(page):
    """Pixels of links over which all is delivered, or of ground where one is heard very well."""
    red, green, blue = np.moveaxis(scene(page), -1, 0)
    return int(((np.minimum(green, blue) > red + 45) & (abs(green - blue) < 45)).sum())


def dark_blue(page):
    red, green, blue = np.moveaxis(scene(page), -1, 0)
    return int(((blue > 70) & (blue > red + 50) & (blue > green + 50)).sum())


def test_links_are_lines_that_can_be_hidden(tab):
    until(lambda: teal(tab) > 100)
    tab.get_by_label("Radio links").uncheck()
    until(lambda: teal(tab) == 0)
    tab.get_by_label("Radio links").check()
    until(lambda: teal(tab) > 100)


def test_a_station_is_a_mast_with_a_red_antenna(tab):
    def red_pixels():
        red, green, blue = np.moveaxis(scene(tab), -1, 0)
        return int(((red > 120) & (red > green + 70) & (red > blue + 60)).sum())

    until(lambda: red_pixels() > 3)


def test_packets_are_seen_on_demand(tab):
    before = dark_blue(tab)
    tab.get_by_label("Radio packets").check()
    until(lambda: dark_blue(tab) > before + 20)
    tab.get_by_role("button", name="Begin anew").click()
    until(lambda: dark_blue(tab) <= before + 5)
    tab.get_by_role("button", name="Play").click()
    until(lambda: dark_blue(tab) > before + 20 and tab.get_by_role("button", name="Pause").count())
    tab.get_by_role("button", name="Pause").click()
    tab.get_by_label("Radio packets").uncheck()
    until(lambda: dark_blue(tab) <= before + 5)


def test_coverage_is_a_picture_on_the_ground(tab):
    tab.get_by_label("Radio links").uncheck()
    until(lambda: teal(tab) == 0)
    choose(tab, "Coverage of", "base")
    until(lambda: teal(tab) > 5000)
    choose(tab, "Coverage of", "nobody")
    until(lambda: teal(tab) == 0)
