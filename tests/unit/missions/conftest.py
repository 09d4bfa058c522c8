from __future__ import annotations

from pathlib import Path

import pytest

from airloom.simulation import Simulation

VEHICLE = """
    extends: multirotor
    controller: modes
    sensors: {imu: null, gnss: null, barometer: null, magnetometer: null}
    pose: {position: [0, 0, 0.05]}
"""


@pytest.fixture
def make_sim(tmp_path):
    """A simulation of one drone (or some), with systems written as YAML."""

    def make(systems: str = "{}", copies: int = 0, folder: Path = tmp_path) -> Simulation:
        many = f"    copies: {{count: {copies}, spacing: 3}}\n" if copies else ""
        text = f"name: t\nengine: batch\nvehicles:\n  drone:{VEHICLE}{many}systems: {systems}\n"
        (folder / "s.yaml").write_text(text)
        return Simulation.load(folder / "s.yaml")

    return make


@pytest.fixture
def sim(make_sim):
    return make_sim()
