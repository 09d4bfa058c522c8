"""Hard impacts on MuJoCo: nothing passes through anything, and what has come to rest stays there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from validation.case import body, engine

from airloom.scenario.models import Scenario
from airloom.simulation import Simulation

STEPS = [0.0005, 0.001, 0.004]
MASSES = [0.027, 1.0, 25.0]
CUBE = (0.1, 0.1, 0.1)
WALL = {"obstacles": {"wall": {"shape": "box", "size": (0.1, 4, 4), "position": (3, 0, 2)}}}
TABLE = {"obstacles": {"table": {"shape": "box", "size": (1, 1, 0.02), "position": (0, 0, 1)}}}


def box(mass: float, position: tuple, velocity: tuple = (0, 0, 0), size: tuple = CUBE, **turned: Any) -> dict[str, Any]:
    x, y, z = size
    solid = {"xx": mass * (y * y + z * z) / 12, "yy": mass * (x * x + z * z) / 12, "zz": mass * (x * x + y * y) / 12}
    pose = {"position": position, **turned}
    return body(mass=mass, inertia=solid, body={"size": size}, pose=pose, motion={"velocity": velocity})


def simulate(step: float, world: dict[str, Any] | None = None, on: str = "mujoco", **vehicles: Any) -> Simulation:
    fields = {"name": "impact", "step": step, "engine": engine(on), "log": {"rate": 25}, "world": world or {}}
    return Simulation(Scenario.model_validate(fields | {"vehicles": vehicles}))


def extremes(sim: Simulation, until: float, of: str = "box") -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the greatest coordinates that a vehicle's origin has on its way, tick by tick."""
    least = most = sim.vehicles[of].position
    while sim.time < until:
        sim.step()
        least, most = np.minimum(least, sim.vehicles[of].position), np.maximum(most, sim.vehicles[of].position)
    return least, most


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("speed", [5.0, 20.0, 60.0])
def test_no_box_passes_a_wall(step: float, mass: float, speed: float) -> None:
    """From places that are not a whole number of steps away, straight and turned: its middle stays in front."""
    for offset, turned in ((0.0, {}), (0.013, {"yaw": 0.3}), (0.031, {"roll": 0.5, "pitch": 0.6, "yaw": 0.7})):
        sim = simulate(step, WALL, box=box(mass, (2.5 + offset, 0, 2), (speed, 0, 0), **turned))
        _, most = extremes(sim, 0.5 / speed + 0.05)
        assert most[0] < 2.95
        assert sim.vehicles["box"].velocity[0] < 0.0


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("speed", [10.0, 60.0])
def test_a_box_sinks_little_into_the_floor(step: float, mass: float, speed: float) -> None:
    sim = simulate(step, box=box(mass, (0, 0, 1.007), (0, 0, -speed)))
    least, _ = extremes(sim, 1.0 / speed + 0.05)
    assert 0.05 - least[2] < (0.01 if speed == 10.0 else 0.035)


@pytest.mark.parametrize("step", STEPS)
def test_a_crazyflie_dropped_on_a_table_lies_on_it(step: float) -> None:
    sim = simulate(step, TABLE, box=box(0.027, (0, 0, 2.025), size=(0.092, 0.092, 0.03), roll=0.1, pitch=0.05))
    sim.run(until=4.0)
    assert sim.vehicles["box"].position[2] == pytest.approx(1.025, abs=1e-3)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("masses", [(0.027, 0.027), (25.0, 25.0), (0.027, 25.0)])
def test_boxes_do_not_pass_through_one_another(step: float, masses: tuple[float, float]) -> None:
    for gap in (1.0, 1.013):
        one, other = box(masses[0], (0, 0, 5), (20, 0, 0)), box(masses[1], (gap, 0.01, 5), (-20, 0, 0), yaw=0.2)
        sim = simulate(step, box=one, other=other)
        while sim.time < 0.1:
            sim.step()
            assert sim.vehicles["box"].position[0] < sim.vehicles["other"].position[0]
        assert sim.vehicles["other"].velocity[0] > sim.vehicles["box"].velocity[0]


@pytest.mark.parametrize("shape", ["cylinder", "sphere"])
def test_round_obstacles_stop_as_well(shape: str) -> None:
    world = {"obstacles": {"post": {"shape": shape, "size": (0.3, 0.3, 4), "position": (3, 0, 2)}}}
    sim = simulate(0.004, world, box=box(1.0, (2.3, 0.01, 2), (60, 0, 0)))
    _, most = extremes(sim, 0.05)
    assert most[0] < 2.95


@pytest.mark.parametrize("step", STEPS)
def test_a_hillside_stops_a_fast_box(step: float) -> None:
    heights = [[0.5 * x for x in (0.0, 10.0, 20.0)]] * 3
    world = {"terrain": {"kind": "heightfield", "size": (20, 20), "heights": heights}}
    sim = simulate(step, world, box=box(1.0, (0, 0, 5.7), (60, 0, 0)))
    lowest = 1.0
    while sim.time < 0.1:
        sim.step()
        x, _, z = sim.vehicles["box"].position
        lowest = min(lowest, z - (5.0 + 0.5 * x))
    assert lowest > 0.0


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("mass", MASSES)
def test_what_has_come_to_rest_stays_and_sleeps(step: float, mass: float) -> None:
    sim = simulate(step, TABLE, box=box(mass, (0, 0, 1.3), roll=0.2, pitch=0.1))
    sim.run(until=2.0)
    before = sim.vehicles["box"].position
    assert 1.06 - before[2] == pytest.approx(0.0, abs=2e-4)
    sim.run(until=3.0)
    assert np.array_equal(sim.vehicles["box"].position, before)
    assert not sim.vehicles["box"].velocity.any()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("mass", [0.027, 25.0])
def test_a_box_on_a_slope_creeps_less_than_a_tenth_of_a_millimetre_a_second(step: float, mass: float) -> None:
    heights = [[0.4 * x for x in (-10.0, 0.0, 10.0)]] * 3
    world = {"terrain": {"kind": "heightfield", "size": (20, 20), "heights": heights}}
    sim = simulate(step, world, box=box(mass, (0, 0, 0.054), pitch=-np.arctan(0.4)))
    sim.run(until=1.0)
    before = sim.vehicles["box"].position
    sim.run(until=3.0)
    assert np.linalg.norm(sim.vehicles["box"].position - before) < 2e-4
    assert np.linalg.norm(sim.vehicles["box"].rates) < 1e-3


def test_a_stack_of_unequal_boxes_stands() -> None:
    boxes = {f"box{k}": box(mass, (0, 0, 0.05 + 0.1 * k)) for k, mass in enumerate((0.5, 25.0, 0.027, 1.0))}
    sim = simulate(0.001, **boxes)
    sim.run(until=3.0)
    for k, vehicle in enumerate(sim.vehicles.values()):
        assert vehicle.position == pytest.approx([0, 0, 0.05 + 0.1 * k], abs=2e-3)


def test_impacts_are_the_same_however_the_steps_are_called() -> None:
    def flown(chunk: int) -> str:
        sim = simulate(0.001, WALL, box=box(1.0, (2.0, 0, 2), (60, 0, 0), yaw=0.3), other=box(0.1, (2.5, 0, 2)))
        while sim.tick < 500:
            sim.step(min(chunk, 500 - sim.tick))
        return sim.state_hash()

    assert flown(1) == flown(77) == flown(500)


@pytest.mark.parametrize("on", ["rk4", "euler"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("mass", [0.027, 25.0])
def test_ground_of_the_batch_engine_stops_a_fast_box(on: str, step: float, mass: float) -> None:
    """Its soft ground yields deeply, but lets nothing through and gives no energy."""
    fields = box(mass, (0, 0, 1.0), (0, 0, -60.0), roll=0.4, pitch=0.3)
    sim = simulate(step, on=on, box=fields)
    least, _ = extremes(sim, 0.3)
    assert least[2] > -1.0
    assert 0.0 < sim.vehicles["box"].velocity[2] < 30.0
    sim.run(until=12.0)
    assert sim.vehicles["box"].position[2] == pytest.approx(0.05, abs=3e-3)
