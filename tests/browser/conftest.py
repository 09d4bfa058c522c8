"""A real browser, without a screen. Tests that need one are left out where there is none."""

from __future__ import annotations

import pytest

from airloom.studio.film import GRAPHICS_IN_SOFTWARE, BrowserMissing, find_browser


@pytest.fixture(scope="session")
def browser():
    """Chromium, driven by playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the Python package playwright")
    try:
        executable = find_browser()
    except BrowserMissing as missing:
        pytest.skip(str(missing))
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=list(GRAPHICS_IN_SOFTWARE))
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """A fresh tab, small because its graphics are drawn by the processor; errors of its scripts fail the test."""
    context = browser.new_context(viewport={"width": 640, "height": 360})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []
