"""A finished run in a real browser, and on film."""

from __future__ import annotations

import threading
from itertools import pairwise

import numpy as np
import pytest

from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.scenario import load
from airloom.simulation import Simulation
from airloom.studio.sources.playback import Playback
from airloom.studio.sources.recorded import RecordedSource
from airloom.studio.studio import Studio

PATIENCE = 120_000  # ms: graphics drawn by the processor take their time


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "flight"
    sim = Simulation(load("hover", {"duration": 6.0}))
    RecordedRun(sim, RunFolder.create("hover", path)).fly()
    return RunFolder.open(path)


@pytest.fixture
def studio(folder):
    clock = Playback()
    with Studio([RecordedSource(folder, clock), RecordedSource(folder, clock)], port=0) as studio:
        drawing = threading.Thread(target=studio.run)
        drawing.start()
        yield studio, clock
        studio.stop()
        drawing.join()


def test_a_run_is_played_sought_and_plotted(page, studio):
    running, clock = studio
    page.goto(running.gateway.url)
    page.get_by_text("6 s", exact=False).first.wait_for(timeout=PATIENCE)
    assert page.locator("[data-airloom=legend]").inner_text(timeout=PATIENCE).split() == ["flight", "flight"]
    page.wait_for_function("document.querySelector('[data-airloom=state]').innerText == 'finished'", timeout=PATIENCE)
    page.get_by_role("tab", name="Plots").click(timeout=PATIENCE)
    page.locator(".uplot canvas").first.wait_for(timeout=PATIENCE)
    page.locator(".u-title", has_text="/cf/state, /cf/setpoint position.z").wait_for(timeout=PATIENCE)
    page.get_by_role("button", name="Remove").click(timeout=PATIENCE)
    page.get_by_text("Choose a topic").wait_for(timeout=PATIENCE)
    page.get_by_role("tab", name="Events").click(timeout=PATIENCE)
    page.get_by_text("mode idle → position_yaw").wait_for(timeout=PATIENCE)
    clock.seek(1.0)
    page.get_by_text("Nothing has happened yet").wait_for(timeout=PATIENCE)


@pytest.mark.parametrize("camera", ["orbit", "chase"])
def test_a_film_shows_the_flight(folder, tmp_path, browser, camera):
    av = pytest.importorskip("av")
    from airloom.studio.film.film import Filmer
    from airloom.studio.film.film_set import FilmSet

    clock, out, size = Playback(), tmp_path / "film.mp4", (320, 180)
    times = np.array([5.0, 5.5, 6.0])
    with (
        FilmSet(RecordedSource(folder, clock), clock, camera, "cf") as scene,
        Filmer(out, size, 10) as filmer,
        scene.filmed(times, size) as pictures,
    ):
        for picture in pictures:
            filmer.frame(picture)
    with av.open(str(out)) as video:
        frames = [frame.to_ndarray(format="rgb24").astype(float) for frame in video.decode(video=0)]
    assert len(frames) == len(times)
    changes = [np.abs(one - other).max() for one, other in pairwise(frames)]
    assert min(changes) > 60  # the vehicle rises
