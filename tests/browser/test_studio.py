"""The studio in a real browser, on a real run: what a person does in the first minutes."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import numpy as np
import pytest

import airloom as al
from airloom.runs.folder import RunFolder
from airloom.runs.link.client import LinkClient, LinkError
from airloom.scenario import load

AIRLOOM = [sys.executable, "-m", "airloom"]
SCENARIO = """
name: yard
duration: 3000
engine: batch
vehicles:
  drone: {extends: multirotor, controller: modes, pose: {position: [0, 0, 0.05]}}
  other: {extends: iris, pose: {position: [0, 2, 0.06]}}
"""


class Run:
    """A real process with its studio."""

    def __init__(self, folder, port=0, options=()):
        self.folder = folder
        (folder / "yard.yaml").write_text(SCENARIO)
        self.process = subprocess.Popen(
            [*AIRLOOM, "run", "yard.yaml", "--no-figures", "--out", "run", "--port", str(port), *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
        )  # fmt: skip
        self.url = self._address()
        self.link = LinkClient(RunFolder(folder / "run"))

    def _address(self):
        for line in self.process.stdout:
            if match := re.search(r"http://\S+", line):
                return match[0]
        raise AssertionError(self.process.wait())

    @property
    def port(self):
        return int(self.url.split(":")[2].strip("/"))

    def ask(self, method, **fields):
        return self.link.ask(method, **fields)

    def place(self, name="drone"):
        return np.array(self.ask("observe", vehicle=name)["vehicles"][name]["position"])

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=120)


def until(condition, seconds=180.0):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = Run(tmp_path_factory.mktemp("studio"))
    yield run
    run.end()


@pytest.fixture(scope="module")
def asked(shared_page):
    """Every address that the page has asked for."""
    asked: list[str] = []
    shared_page.on("request", lambda request: asked.append(request.url))
    shared_page.on("websocket", lambda socket: asked.append(socket.url))
    return asked


@pytest.fixture(scope="module")
def tab(run, asked, shared_page):
    shared_page.set_viewport_size({"width": 900, "height": 700})
    shared_page.goto(run.url)
    shared_page.locator("[data-airloom=state]").wait_for()
    return shared_page


@pytest.fixture
def page(tab, run):
    """In the tab with the vehicles, the run going on."""
    run.ask("resume")
    tab.locator("[data-airloom=state]", has_text="running").wait_for()
    tab.get_by_role("tab", name="Fly").click()
    return tab


def choose(page, label, option):
    page.get_by_label(label, exact=True).first.click()
    page.get_by_role("option", name=option, exact=True).click()
    until(lambda: page.get_by_label(label, exact=True).first.input_value() == option)


def row_of(page, label):
    """The box to write into beside a label."""
    row = page.get_by_text(label, exact=True).locator("xpath=ancestor::div[.//input][1]")
    return row.locator("input:not([type=hidden])").first


def test_nothing_is_asked_of_other_hosts(run, tab, asked):
    host = f"127.0.0.1:{run.port}"
    assert len(asked) > 2
    assert [url for url in asked if host not in url and not url.startswith(("data:", "blob:"))] == []


def test_time_goes_on_and_stands_still(page, run):
    shown = page.locator("[data-airloom=time]")
    before = shown.inner_text()
    until(lambda: shown.inner_text() != before)
    page.get_by_role("button", name="Pause").click()
    page.locator("[data-airloom=state]", has_text="paused").wait_for()
    assert run.ask("info")["paused"]
    at = run.ask("info")["time"]
    page.get_by_role("button", name="1 tick").click()
    until(lambda: run.ask("info")["time"] == pytest.approx(at + 0.001, abs=1e-9))
    page.get_by_role("button", name="Play").click()
    page.locator("[data-airloom=state]", has_text="running").wait_for()
    until(lambda: run.ask("info")["time"] > at + 0.1)


def test_a_vehicle_is_chosen_and_taken_off(page, run):
    choose(page, "Selected", "drone")
    page.locator("[data-airloom=position]").wait_for()
    page.get_by_role("button", name="Take off").click()
    until(lambda: run.place()[2] > 3.0)
    page.locator("[data-airloom=position]", has_text=re.compile(r", [3-7]\.\d\d m")).wait_for()


def test_a_mode_that_is_chosen_stays(page, run):
    """Longer than a commander may be silent."""
    for mode in ("velocity yawrate", "position yaw"):
        choose(page, "Mode", mode)
        until(lambda mode=mode: run.ask("info")["vehicles"]["drone"]["mode"] == mode.replace(" ", "_"))
        began = run.ask("info")["time"]
        until(lambda began=began: run.ask("info")["time"] > began + 2.0)
        assert run.ask("info")["vehicles"]["drone"]["mode"] == mode.replace(" ", "_")


def test_click_on_a_vehicle_selects_it(page, run):
    choose(page, "Selected", "– none –")
    page.get_by_role("tab", name="View").click()
    page.get_by_role("button", name="Follow").click()
    page.get_by_role("tab", name="Fly").click()
    canvas = page.locator("canvas").first.bounding_box()
    middle = canvas["width"] / 2, canvas["height"] / 2

    def selected():
        page.mouse.click(*middle)
        time.sleep(0.5)
        return page.get_by_label("Selected", exact=True).first.input_value() == "drone"

    until(selected)


def test_click_on_the_ground_flies_there(page, run):
    choose(page, "Selected", "drone")
    run.ask("fly_to", vehicle="drone", position=[0, 0, 3])
    until(lambda: np.linalg.norm(run.place() - [0, 0, 3]) < 0.3)
    page.get_by_role("tab", name="View").click()
    look_from_above(page)
    page.get_by_role("tab", name="Fly").click()
    known = run.ask("events")["count"]
    canvas = page.locator("canvas").first.bounding_box()

    def clicked():
        page.mouse.click(0.6 * canvas["width"], 0.75 * canvas["height"])
        page.wait_for_timeout(500)
        return clicked_target(run, known)

    until(clicked)
    until(lambda: np.linalg.norm(run.place() - clicked_target(run, known)) < 0.3)
    target = clicked_target(run, known)
    assert np.linalg.norm(target[:2]) > 0.3
    assert target[2] == pytest.approx(3.0, abs=0.3)


def look_from_above(page):
    page.get_by_role("button", name="Top").click()
    page.wait_for_selector("html[data-camera=top]")


def clicked_target(run, known):
    """The last one: who clicks again while the view from above is on its way points to another place."""
    for event in reversed(run.ask("events", since=known)["events"]):
        if match := re.search(r"fly_to.*position=\[(.*?)\]", event["text"]):
            return [float(number) for number in match[1].split(",")]
    return None


def seconds_to_climb(run):
    """From rest, until a step of half a metre is done to nine tenths; on simulation time alone."""
    run.ask("pause")
    run.ask("command", vehicle="drone", kind="position_yaw", position=[0, 0, 3])
    start = run.ask("step", ticks=20_000)["time"]
    run.ask("command", vehicle="drone", kind="position_yaw", position=[0, 0, 3.5])
    while run.place()[2] < 3.45:
        assert run.ask("step", ticks=5)["time"] < start + 30
    spent = run.ask("info")["time"] - start
    run.ask("resume")
    return spent


def test_a_gain_slider_changes_the_response(page, run):
    choose(page, "Selected", "drone")
    page.get_by_text("Gains of its controller").click()
    before = run.ask("gains", vehicle="drone")["in_force"]["drone"]["position_frequency"]
    quick = seconds_to_climb(run)
    box = row_of(page, "position frequency")
    box.fill(f"{before / 2:.2f}")
    box.press("Tab")
    until(lambda: run.ask("gains", vehicle="drone")["in_force"]["drone"]["position_frequency"] < 0.6 * before)
    assert seconds_to_climb(run) > 1.4 * quick
    told = [event["text"] for event in run.ask("events")["events"]]
    assert any("tuned: position_frequency" in text for text in told)


CURVES = """colours => Object.values(window.__viserTestpoints?.uplots ?? {}).map(({ chart }) => chart)
.filter((chart) => chart.ctx.canvas.width).map((chart) => {
    const pixels = chart.ctx.getImageData(0, 0, chart.ctx.canvas.width, chart.ctx.canvas.height).data;
    const near = (k, colour) => colour.every((channel, c) => Math.abs(pixels[k + c] - channel) < 40);
    const columns = colours.map(() => new Set());
    for (let k = 0; k < pixels.length; k += 4)
        colours.forEach((colour, n) => near(k, colour) && columns[n].add((k / 4) % chart.ctx.canvas.width));
    const { x, y } = chart.scales;
    return { title: chart.root.querySelector(".u-title").textContent, x: [x.min, x.max], y: [y.min, y.max],
        width: chart.bbox.width, columns: columns.map((found) => found.size) };
})"""
BLUE, ORANGE = [28, 111, 196], [232, 89, 12]


def curves(page, *colours):
    """Each plot's title and scales, and how much of its width there are pixels of these colours in."""
    return page.evaluate(CURVES, list(colours))


def test_plots_that_are_made_while_watching_show_the_curve_from_before(page, run):
    """Their scales are numbers, and pixels have the colours of the lines."""
    until(lambda: run.ask("info")["time"] > 12.0)
    choose(page, "Selected", "drone")
    page.get_by_role("tab", name="Plots").click()
    until(lambda: page.get_by_label("Topic", exact=True).first.input_value() == "/drone/state")
    choose(page, "Number", "pose.pose.position.z")
    page.get_by_role("button", name="New plot").click()
    seen = until(lambda: drawn(page, "/drone/state position.z", BLUE))
    assert seen["x"][0] < seen["x"][1] - 5.0
    assert seen["y"][0] < seen["y"][1]
    choose(page, "Number", "pose.pose.position.x")
    page.get_by_role("button", name="To the last").click()
    seen = until(lambda: drawn(page, "/drone/state position.z, position.x", BLUE, ORANGE))
    until(lambda: drawn(page, seen["title"])["x"][1] > seen["x"][1])


def drawn(page, title, *colours):
    """The plot of this title, once each of its curves goes over half of it."""
    plots = [it for it in curves(page, *colours) if it["title"] == title]
    return next((it for it in plots if all(found > 0.5 * it["width"] for found in it["columns"])), None)


def test_spawn_and_save(page, run):
    choose(page, "Selected", "drone")
    run.ask("fly_to", vehicle="drone", position=[4, -3, 3])
    until(lambda: np.linalg.norm(run.place() - [4, -3, 3]) < 0.3)
    page.get_by_role("tab", name="View").click()
    look_from_above(page)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("tab", name="World").click()
    choose(page, "New", "x500")
    page.get_by_role("button", name="Spawn where I look").click()
    until(lambda: "x500_1" in run.ask("info")["vehicles"])
    page.get_by_text("Selected: x500_1").wait_for()  # who has not seen it yet is told that the world is another
    page.get_by_role("button", name="Spawn where I look").click()
    page.get_by_text("x500_1 is there already; choose another place").wait_for()
    name = row_of(page, "Save as")
    name.fill("grown")
    name.press("Tab")
    page.get_by_role("button", name="Save the scenario").click()
    until(lambda: (run.folder / "grown.yaml").exists())
    scenario = load(run.folder / "grown.yaml")
    assert set(scenario.vehicles) == {"drone", "other", "x500_1"}
    al.Simulation(scenario).run(until=0.2)
    page.get_by_role("button", name="Save the scenario").click()
    page.get_by_text("exists already").wait_for()
    page.get_by_role("tab", name="Fly").click()
    page.get_by_role("button", name="Play").click()
    page.locator("[data-airloom=state]", has_text="running").wait_for()


def test_what_is_selected_can_be_deleted(page, run):
    page.get_by_role("button", name="Pause").click()
    choose(page, "Selected", "other")
    page.get_by_role("tab", name="World").click()
    page.get_by_role("button", name="Delete").click()
    until(lambda: "other" not in run.ask("info")["vehicles"])
    page.get_by_role("tab", name="Fly").click()
    page.get_by_text("Click on one of the").wait_for()
    page.get_by_role("button", name="Play").click()
    page.locator("[data-airloom=state]", has_text="running").wait_for()


def test_two_browsers_see_the_same(page, run, another_page):
    another_page.set_viewport_size({"width": 500, "height": 500})
    another_page.goto(run.url)
    another_page.locator("[data-airloom=state]", has_text="running").wait_for()
    page.get_by_role("button", name="Pause").click()
    another_page.locator("[data-airloom=state]", has_text="paused").wait_for()


def test_the_page_comes_back_after_a_restart(tmp_path, page, run):
    port = run.port
    run.end()
    page.get_by_text("Waiting for it to come back").wait_for()
    with pytest.raises(LinkError):
        run.ask("info")
    again = Run(tmp_path, port)
    try:
        page.wait_for_selector("#airloom-ended:not(.shown)", state="attached")
        shown = page.locator("[data-airloom=time]")
        before = shown.inner_text()
        until(lambda: shown.inner_text() != before)
        page.locator("[data-airloom=state]", has_text="running").wait_for()
    finally:
        again.end()
