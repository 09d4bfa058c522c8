"""Ground contact of the batch engine, and what both engines have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from validation.case import ENGINES, body, history, simulate, the_body

from airloom.physics.contact import CONTACT_FREQUENCY

BOX = {"xx": 0.1 / 12, "yy": 0.1 / 12, "zz": 0.18 / 12}


def box(z: float, **changes: Any) -> dict[str, Any]:
    return body(inertia=BOX, pose={"position": (0, 0, z), **changes.pop("turned", {})}, **changes)


@pytest.mark.parametrize("mass", [0.03, 1.0, 20.0])
def test_the_sink_does_not_depend_on_the_mass(mass: float) -> None:
    inertia = {axis: mass * moment for axis, moment in BOX.items()}
    sim = simulate(body(mass=mass, inertia=inertia, pose={"position": (0, 0, 0.06)}))
    sim.run(until=3.0)
    assert 0.05 - the_body(sim).position[2] == pytest.approx(9.80665 / CONTACT_FREQUENCY**2, rel=1e-6)


@pytest.mark.parametrize("on", ENGINES)
def test_contact_never_pulls(on: str) -> None:
    """A body that leaves the ground flies on as if there had been none."""
    sim = simulate(box(0.05, motion={"velocity": (0, 0, 2.0)}), on)
    sim.run(until=0.2)
    expected = 0.05 + 2.0 * 0.2 - 0.5 * 9.80665 * 0.04
    assert the_body(sim).position[2] == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("on", ENGINES)
def test_a_fall_loses_energy(on: str) -> None:
    times, states = history(simulate(box(1.05), on), 4.0, 0.005)
    bounce = states[(times > 0.6), 2].max()
    assert bounce < 0.6
    assert states[:, 2].min() > 0.0
    assert np.linalg.norm(states[-1, 7:]) < 1e-3


@pytest.mark.parametrize("on", ENGINES)
@pytest.mark.parametrize("turned", [{"roll": np.pi}, {"roll": np.pi / 2}, {"pitch": 0.7, "roll": 0.5}])
def test_a_body_can_lie_on_any_face(on: str, turned: dict[str, float]) -> None:
    sim = simulate(box(0.6, turned=turned), on)
    sim.run(until=6.0)
    fallen = the_body(sim)
    assert np.linalg.norm(fallen.velocity) < 1e-3
    assert min(abs(fallen.position[2] - height) for height in (0.05, 0.15)) < 2e-3


@pytest.mark.parametrize("on", ENGINES)
def test_a_raised_plane_carries(on: str) -> None:
    sim = simulate(box(3.2), on, world={"terrain": {"kind": "plane", "height": 3.0}})
    sim.run(until=3.0)
    assert the_body(sim).position[2] == pytest.approx(3.05, abs=1e-3)


@pytest.mark.parametrize("on", ENGINES)
def test_a_box_off_the_origin_rests_on_its_own_face(on: str) -> None:
    vehicle = box(0.5, body={"size": (0.3, 0.3, 0.1), "position": (0, 0, -0.2)}, center_of_mass=(0, 0, -0.2))
    sim = simulate(vehicle, on)
    sim.run(until=4.0)
    assert the_body(sim).position[2] == pytest.approx(0.25, abs=1e-3)


@pytest.mark.parametrize("step", [0.002, 0.004, 0.008])
def test_long_steps_stay_stable(step: float) -> None:
    sim = simulate(box(0.3), step=step)
    sim.run(until=4.0)
    assert np.linalg.norm(the_body(sim).velocity) < 1e-6
    assert 0.0 < 0.05 - the_body(sim).position[2] < 0.01


@pytest.mark.parametrize("on", ENGINES)
def test_spinning_on_the_ground_stops(on: str) -> None:
    sim = simulate(box(0.0495, motion={"rates": (0, 0, 5.0)}), on)
    sim.run(until=3.0)
    assert abs(the_body(sim).rates[2]) < 1e-3


@pytest.mark.parametrize("on", ["rk4", "euler"])
def test_what_stands_on_a_slope_stays_to_the_bit_and_slides_when_it_is_too_steep(on: str) -> None:
    def slid(slope: float) -> float:
        heights = [[slope * x for x in (-10.0, 0.0, 10.0)]] * 3
        world = {"terrain": {"kind": "heightfield", "size": (20, 20), "heights": heights}}
        sim = simulate(box(0.1, turned={"pitch": -np.arctan(slope)}), on, world=world)
        sim.run(until=1.5)
        before = the_body(sim).position
        sim.run(until=2.5)
        return float(np.linalg.norm(the_body(sim).position - before))

    assert slid(0.2) < 1e-9
    assert slid(0.55) < 1e-9
    assert slid(0.65) > 0.1
