"""Logs whose scenario is none, or was written to harm whoever reads it."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.bus import messages
from airloom.bus.bus import Bus
from airloom.runs.figures import plot
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogError, LogWriter
from airloom.studio.sources.playback import Playback
from airloom.studio.sources.recorded import RecordedSource

LAUGHS = "a0: &a0 [1, 1]\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}]\n" for n in range(28))
SCENARIOS = {
    "aliases that double": LAUGHS + "systems: {mapping: {value: *a28}}",
    "a day that no month has": "name: 2026-99-99",
    "brackets without end": "[" * 2_000_000,
    "a tag that runs a program": "!!python/object/apply:os.system [reboot]",
    "another's": "{sdf: {version: 1.9}}",
}


@pytest.fixture(params=SCENARIOS.values(), ids=SCENARIOS.keys())
def run(request, tmp_path):
    bus = Bus()
    with LogWriter(tmp_path / "log.mcap", bus, scenario_text=request.param):
        states = bus.advertise("/cf/odometry", messages.odometry("world", "cf"))
        states.publish_batch(np.arange(3) * 20_000_000, np.zeros((3, 13)))
    return RunFolder.open(tmp_path)


def test_it_is_no_flight_to_look_at(run):
    with pytest.raises(LogError, match=r"the scenario in .*log.mcap"):
        RecordedSource(run, Playback())


def test_it_is_plotted_without_its_scenario(run):
    assert [figure.name for figure in plot(run)] == ["flight-cf.png"]
