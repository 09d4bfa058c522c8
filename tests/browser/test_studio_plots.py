"""Plots of curves that stand still, in a real browser."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from tests.browser.test_studio import BLUE, choose, drawn, until

from airloom.runs.folder import RunFolder
from airloom.runs.link.client import LinkClient


@pytest.fixture
def hover(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "airloom", "run", "hover", "--until", "160", "--speed", "12", "--no-figures",
         "--out", "run", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path,
    )  # fmt: skip
    yield next(match[0] for line in process.stdout if (match := re.search(r"http://\S+", line))), tmp_path / "run"
    process.terminate()
    process.communicate(timeout=120)


def test_a_steady_hover_is_plotted_as_long_as_it_flies(page, hover):
    """Its height differs from 1 m by rounding alone, of which the chart once made an axis that it could not draw."""
    url, folder = hover
    page.set_viewport_size({"width": 900, "height": 700})
    page.goto(url)
    page.locator("[data-airloom=state]").wait_for()
    page.get_by_role("tab", name="Plots").click()
    until(lambda: page.get_by_label("Topic", exact=True).first.input_value() == "/cf/state")
    choose(page, "Number", "pose.pose.position.z")
    page.get_by_role("button", name="New plot").click()
    link = LinkClient(RunFolder(folder))
    until(lambda: link.ask("info")["time"] > 155)
    seen = until(lambda: (plot := drawn(page, "/cf/state position.z", BLUE)) and plot["x"][1] > 150 and plot)
    assert seen["x"][0] > 60
    assert seen["y"][0] < 0.99
    assert seen["y"][1] > 1.01
