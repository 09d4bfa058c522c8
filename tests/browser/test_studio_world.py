"""Editing in the studio, on a real run; and a studio that is killed beside it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.browser.test_studio import AIRLOOM, Run, choose, row_of, until


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = Run(tmp_path_factory.mktemp("world"))
    run.ask("pause")
    yield run
    run.end()


@pytest.fixture(scope="module")
def tab(run, shared_page):
    shared_page.set_viewport_size({"width": 900, "height": 700})
    shared_page.goto(run.url)
    shared_page.locator("[data-airloom=state]", has_text="paused").wait_for()
    return shared_page


def select(page, name):
    page.get_by_role("tab", name="Fly").click()
    choose(page, "Selected", name)


def test_a_handle_moves_what_is_selected(tab, run):
    """Seen from above, it is in the middle, with an arrow to the right; a drag that misses the arrow turns the view."""
    select(tab, "other")
    tab.get_by_role("tab", name="View").click()
    tab.get_by_role("button", name="Top").click()
    tab.get_by_role("tab", name="World").click()
    tab.get_by_label("Handles").check()
    before, canvas = run.place("other"), tab.locator("canvas").first.bounding_box()
    x, y = canvas["width"] / 2, canvas["height"] / 2

    def dragged():
        """Graphics drawn by the processor come late, so the arrow is tried at several places."""
        for along in (50, 40, 60, 70, 30):
            tab.mouse.move(x + along, y)
            tab.wait_for_timeout(500)
            tab.mouse.down()
            tab.wait_for_timeout(200)
            for step in range(1, 7):
                tab.mouse.move(x + along + 10 * step, y)
                tab.wait_for_timeout(60)
            tab.mouse.up()
            tab.wait_for_timeout(500)
            if np.linalg.norm(run.place("other") - before) > 0.05:
                return True
        return False

    until(dragged, 300)
    moved = run.place("other") - before
    assert np.linalg.norm(moved[:2]) > 0.05
    assert moved[2] == pytest.approx(0.0, abs=1e-3)
    tab.get_by_label("Handles").uncheck()


def test_an_obstacle_that_is_selected_can_be_deleted(tab, run):
    run.ask("spawn", kind="box", position=[3, 0, 0.5])
    tab.get_by_role("tab", name="Fly").click()
    tab.get_by_text("2 vehicles, 1 obstacle").wait_for()
    select(tab, "box_1")
    tab.get_by_text("1 × 1 × 1 m").wait_for()
    tab.get_by_role("tab", name="World").click()
    tab.get_by_label("Handles").check()
    tab.get_by_role("button", name="Delete").click()
    tab.get_by_text("Click on something to move, copy or delete it.").wait_for()
    tab.get_by_label("Handles").uncheck()
    tab.get_by_role("tab", name="Fly").click()
    tab.get_by_text("2 vehicles, no obstacles").wait_for()
    until(lambda: tab.get_by_label("Selected", exact=True).first.input_value() == "– none –")


def test_a_file_is_replaced_only_if_overwrite_is_ticked(tab, run):
    precious = run.folder / "precious.yaml"
    precious.write_text("my thesis")
    tab.get_by_role("tab", name="World").click()
    name = row_of(tab, "Save as")
    name.fill("precious")
    name.press("Tab")
    tab.get_by_role("button", name="Save the scenario").click()
    tab.get_by_text("precious.yaml exists already").wait_for()
    assert precious.read_text() == "my thesis"
    tab.get_by_label("Overwrite").check()
    tab.get_by_role("button", name="Save the scenario").click()
    until(lambda: "name: precious" in precious.read_text())


def test_a_page_finds_the_next_studio_of_a_run_whose_studio_was_killed(tab, run):
    tab.evaluate("window.loadedOnce = true")
    children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text()
    os.kill(int(children.split()[0]), signal.SIGKILL)
    tab.get_by_text("The connection to the studio is lost").wait_for()
    told = next(line for line in run.process.stdout if "The studio has ended" in line)
    command = re.search(r"airloom view (.*)", told)[1].split()
    again = subprocess.Popen([*AIRLOOM, "view", *command], cwd=run.folder, stdout=subprocess.PIPE, text=True)
    try:
        tab.wait_for_selector("#airloom-ended:not(.shown)", state="attached")
        run.ask("resume")
        tab.locator("[data-airloom=state]", has_text="running").wait_for()
        shown = tab.locator("[data-airloom=time]")
        before = shown.inner_text()
        until(lambda: shown.inner_text() != before)
        assert tab.evaluate("window.loadedOnce"), "it has not been loaded anew"
    finally:
        again.send_signal(signal.SIGINT)
        again.communicate(timeout=120)
