"""What an aeroplane, a quadplane and an airship are told over the link: done as such a vehicle can, or refused."""

from __future__ import annotations

import pytest

from airloom.net.json_lines import RequestError
from airloom.runs.folder import RunFolder
from airloom.runs.link.context import RequestContext
from airloom.runs.link.flying import FlyTo, GiveCommand, Goto, Recover, SwitchMode, Takeoff
from airloom.runs.recorded import RecordedRun
from airloom.simulation import Simulation

SCENARIO = """
name: craft
engine: batch
vehicles:
  plane: {extends: plane, pose: {position: [0, 0, 0.21]}}
  flier: {extends: plane, pose: {position: [0, 80, 60]}, motion: {velocity: [14, 0, 0]}}
  vtol: {extends: vtol, pose: {position: [0, 40, 0.12]}}
  ship: {extends: airship, pose: {position: [0, 20, 1.02]}}
"""
FAR = [90.0, 0.0, 40.0]
GROUNDED = "plane: stands on the ground, and cannot fly from there; take off first"


@pytest.fixture
def context(tmp_path) -> RequestContext:
    (tmp_path / "craft.yaml").write_text(SCENARIO)
    sim = Simulation.load(tmp_path / "craft.yaml")
    return RequestContext(RecordedRun(sim, RunFolder.create("craft", tmp_path / "run"), log=False))


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (Recover(vehicle="plane"), GROUNDED),
        (SwitchMode(vehicle="plane", mode="velocity_yawrate"), GROUNDED),
        (GiveCommand(vehicle="plane", kind="position_yaw", position=[9, 9, 40]), GROUNDED),
        (SwitchMode(vehicle="flier", mode="thrust_torque"), "flies position_yaw, .* only, not thrust_torque"),
        (SwitchMode(vehicle="ship", mode="thrust_attitude"), "flies position_yaw, velocity_yawrate only"),
        (Goto(vehicle="plane", position=FAR), "plane: cannot goto on the ground; take off first"),
        (Goto(vehicle="flier", position=FAR, speed=5.0), r"11.1 to 21.7 m/s \(it stalls at 9.67\), got 5"),
        (Goto(vehicle="flier", position=FAR, speed=40.0), r"11.1 to 21.7 m/s \(it stalls at 9.67\), got 40"),
        (Goto(vehicle="vtol", position=FAR, speed=20.0), "and at 10.2 to 14.4 m/s on its wing, got 20"),
        (Goto(vehicle="ship", position=FAR, speed=6.0), "ship flies at 0 to 3.09 m/s, got 6"),
    ],
)  # fmt: skip
def test_what_it_cannot_do_is_refused_in_one_sentence_and_changes_nothing(context, request_, why) -> None:
    modes = {name: vehicle.mode for name, vehicle in context.sim.vehicles.items()}
    with pytest.raises((RequestError, ValueError), match=why):
        request_.carry_out(context)
    assert {name: vehicle.mode for name, vehicle in context.sim.vehicles.items()} == modes


@pytest.mark.slow
def test_each_is_told_to_go_somewhere_and_is_about_there(context) -> None:
    sim = context.sim
    FlyTo(vehicle="plane", position=[100.0, -60.0, 1.5]).carry_out(context)  # as low as a click on the ground asks
    Goto(vehicle="flier", position=[200.0, 80.0, 70.0], speed=16.0).carry_out(context)
    Takeoff(vehicle="ship", height=8.0).carry_out(context)
    Takeoff(vehicle="vtol", height=8.0).carry_out(context)
    lowest = 100.0
    while sim.time < 60:
        sim.run(until=sim.time + 0.5)
        if sim.time > 20:
            lowest = min(lowest, float(sim.vehicles["plane"].position[2]))
    assert lowest > 20
    for name, (x, y, z), near in (
        ("plane", (100, -60, 25), 50), ("flier", (200, 80, 70), 50),
        ("ship", (0, 20, 9), 1.5), ("vtol", (0, 40, 8.1), 0.5),
    ):  # fmt: skip
        px, py, pz = sim.vehicles[name].position
        assert ((px - x) ** 2 + (py - y) ** 2) ** 0.5 < near
        assert pz == pytest.approx(z, abs=1.5)
