"""Flying by hand in the studio, on a real run: what the keys do, what is said, and who may disturb."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from tests.browser.test_studio import Run, choose, until


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = Run(tmp_path_factory.mktemp("by_hand"))
    yield run
    run.end()


@pytest.fixture(scope="module")
def tab(run, shared_page):
    shared_page.set_viewport_size({"width": 900, "height": 700})
    shared_page.goto(run.url)
    shared_page.locator("[data-airloom=state]").wait_for()
    choose(shared_page, "Selected", "drone")
    return shared_page


@pytest.fixture
def flying(tab, run):
    """The page, its keys flying the drone that hovers at 3 m."""
    run.ask("reset_pose", vehicle="drone")
    run.ask("fly_to", vehicle="drone", position=[0, 0, 3])
    until(lambda: np.linalg.norm(run.place() - [0, 0, 3]) < 0.2)
    tab.get_by_role("button", name="Fly by hand").click()
    said(tab, "You fly drone: velocity")
    yield tab
    if tab.locator("#airloom-stick.shown").count():
        tab.get_by_role("button", name="Fly by hand").click()
    tab.wait_for_selector("#airloom-stick:not(.shown)", state="attached")


def said(page, text):
    page.locator("#airloom-stick.shown .caption", has_text=text).wait_for()


def mode(run):
    return run.ask("observe", vehicle="drone")["vehicles"]["drone"]["mode"]


def test_a_key_moves_and_letting_go_stays(flying, run):
    flying.keyboard.down("ArrowUp")
    until(lambda: run.place()[0] > 1.0)
    flying.keyboard.up("ArrowUp")
    until(lambda: np.linalg.norm(run.ask("observe", vehicle="drone")["vehicles"]["drone"]["velocity"]) < 0.05)
    assert 1.0 < run.place()[0] < 8.0, "neither 10 m away nor back at home"
    assert mode(run) == "velocity_yawrate"


def told(run, text):
    return [event for event in run.ask("events", since=0)["events"] if event["text"].startswith(text)]


def press(page, key):
    """To be done again if need be: a page kept busy by graphics without a card falls silent, and the vehicle brakes."""
    page.keyboard.press(key)
    page.wait_for_timeout(300)
    return True


def is_chosen(page, run, key, caption, label):
    press(page, key)
    return mode(run) == label and page.locator("#airloom-stick.shown .caption", has_text=caption).count() == 1


def test_numbers_choose_the_mode_and_escape_stops_the_rotors(flying, run):
    for key, caption, label in (
        ("1", "position", "position_yaw"),
        ("3", "attitude", "thrust_attitude"),
        ("4", "turn rates", "thrust_velocity"),
        ("5", "torque", "thrust_torque"),
        ("2", "velocity", "velocity_yawrate"),
    ):
        until(lambda it=(key, caption, label): is_chosen(flying, run, *it))
    until(lambda: press(flying, "Escape") and mode(run) == "idle")
    said(flying, "rotors off, T takes off")
    until(lambda: press(flying, "t") and mode(run) != "idle")
    said(flying, re.compile("taking off|position|velocity"))
    until(lambda: run.place()[2] > 1.0)
    until(lambda: press(flying, "ArrowLeft") and mode(run) == "velocity_yawrate")
    said(flying, "velocity")


def test_a_click_on_the_ground_does_not_take_the_stick_away(flying, run):
    canvas = flying.locator("canvas").first.bounding_box()
    flying.mouse.click(0.6 * canvas["width"], 0.9 * canvas["height"])
    flying.get_by_text("drone is flown by hand: put the stick down").wait_for()
    time.sleep(1.0)
    assert np.linalg.norm(run.place() - [0, 0, 3]) < 0.5
    assert flying.locator("#airloom-stick.shown").count() == 1


def test_a_lost_controller_gives_the_stick_back(flying, run):
    flying.evaluate("dispatchEvent(new Event('gamepaddisconnected'))")
    flying.wait_for_selector("#airloom-stick:not(.shown)", state="attached")
    flying.get_by_role("button", name="Fly by hand").click()
    said(flying, "You fly drone: velocity")


def test_the_button_to_land_puts_the_stick_down(flying, run):
    flying.get_by_role("button", name="Land").click()
    flying.wait_for_selector("#airloom-stick:not(.shown)", state="attached")
    until(lambda: mode(run) == "idle")
    assert run.place()[2] < 0.2


def test_a_run_that_is_over_is_not_flown_and_systems_that_command_are_told(tmp_path, page):
    dance = ["--set", "systems.dance={kind: choreography, vehicles: other}"]
    run = Run(tmp_path, options=["--until", "30", *dance])
    try:
        run.ask("pause")  # until the page is there
        page.set_viewport_size({"width": 900, "height": 700})
        page.goto(run.url)
        page.locator("[data-airloom=state]", has_text="paused").wait_for()
        run.ask("speed", speed="max")
        run.ask("resume")
        page.locator("[data-airloom=state]", has_text="finished").wait_for()
        run.ask("speed", speed=1)
        choose(page, "Selected", "drone")
        page.locator("[data-airloom=over]", has_text="Begin anew to fly it again").wait_for()
        until(lambda: page.get_by_role("button", name="Fly by hand").is_disabled())
        pointed_at = "it => getComputedStyle(it).pointerEvents"
        until(lambda: page.get_by_role("button", name="Take off").evaluate(pointed_at) == "none")
        canvas = page.locator("canvas").first.bounding_box()
        page.mouse.click(0.5 * canvas["width"], 0.9 * canvas["height"])
        page.get_by_text("the run is over: begin anew").wait_for()
        page.get_by_role("button", name="Begin anew").click()
        page.locator("[data-airloom=state]", has_text="running").wait_for()
        until(lambda: page.get_by_role("button", name="Fly by hand").is_enabled())
        until(lambda: page.locator("[data-airloom=over]").count() == 0)
        choose(page, "Selected", "other")
        page.get_by_text("commanded by").wait_for()
        page.get_by_role("button", name="Take off").click()
        page.get_by_text("The scenario's dance still commands other, and may take it back.").wait_for()
        kill = page.get_by_role("button", name="Kill")
        kill.click()
        page.get_by_text("Hold it for a second to stop its rotors at once: it falls.").wait_for()
        assert not told(run, "killed")
        kill.click(delay=2000)
        until(lambda: told(run, "killed; it flies again when the scenario's dance commands it"))
        page.get_by_role("button", name="Begin anew").click()
        page.get_by_text("Hold it for a second to end this flight and begin another.").wait_for()
        page.get_by_role("button", name="Begin anew").click(delay=2000)
        page.get_by_role("tab", name="Events").click()
        page.locator("[data-airloom='another flight']").first.wait_for()
    finally:
        run.end()
