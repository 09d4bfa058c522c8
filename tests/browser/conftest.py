"""A real browser, without a screen. Tests that need one are left out where there is none."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from airloom.studio.film.film import GRAPHICS_IN_SOFTWARE, BrowserMissing, find_browser


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
def another_page(browser):
    """A second tab beside the one of the file."""
    with _tab(browser) as page:
        yield page


@pytest.fixture
def page(browser):
    """A fresh tab."""
    with _tab(browser) as page:
        yield page


@pytest.fixture(scope="module")
def shared_page(browser):
    """A tab for all tests of a file: to load viser's page takes seconds."""
    with _tab(browser) as page:
        yield page


COARSE_AND_CALM = """
if (location.pathname === "/" && !location.search) history.replaceState(null, "", "?fixedDpr=0.4");
const frame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (draw) => setTimeout(() => frame(draw), 250);
window.cancelAnimationFrame = clearTimeout;
"""
"""The processor draws the graphics: few pixels, and four pictures a second, leave it time for what is tested."""


def draw(page, pictures=1):
    """Until the page has had the time to draw so many more."""
    page.evaluate(
        """pictures => new Promise((done) => {
        const next = () => (pictures-- ? requestAnimationFrame(next) : done());
        next();
    })""",
        pictures,
    )


@contextmanager
def _tab(browser):
    """Errors of its scripts fail the test."""
    context = browser.new_context(viewport={"width": 320, "height": 240})
    context.add_init_script(COARSE_AND_CALM)
    page = context.new_page()
    page.set_default_timeout(120_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []
