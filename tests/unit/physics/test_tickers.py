"""Tickers: compiled functions for what goes on beside the bodies."""

import pytest

import airloom as al
from airloom.kernels import LANES, effect, row, ticker

FORCE, TICKS, SEEN_TICK = (k * LANES for k in range(3))


@ticker
def grow(w, rotors, world, tick, p):
    for i in range(LANES):
        p[TICKS + i] += 1.0
        p[SEEN_TICK + i] = tick
        p[FORCE + i] = 0.001 * p[TICKS + i]


@effect
def pull_east(w, p):
    for i in range(LANES):
        w[row.FX + i] += p[FORCE + i]


class Growing(al.System):
    """A force that grows with every tick."""

    ticker, effect = grow, pull_east

    def effect_parameters(self, vehicle):
        return [0.0, 0.0, -1.0]


def scenario(engine, folder):
    file = folder / "growing.yaml"
    file.write_text(
        f"""
name: growing
engine: {engine}
world: {{gravity: 0}}
vehicles:
  a: {{extends: multirotor, controller: null, drag: 0, pose: {{position: [0, 0, 10]}}}}
systems:
  growing: {{kind: {__file__}:Growing}}
"""
    )
    return file


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_a_ticker_is_called_once_a_tick_and_shares_its_numbers_with_the_effect(engine, tmp_path):
    sim = al.Simulation.load(scenario(engine, tmp_path))
    sim.step(100)
    numbers = sim.fleet.numbers_of(sim.fleet.crafts[0], 0)
    assert list(numbers) == pytest.approx([0.1, 100.0, 99.0])
    mass = sim.vehicles["a"].mass
    # v = Σ F dt / m with F = 1 mN × (1 … 100)
    assert sim.vehicles["a"].velocity[0] == pytest.approx(0.001 * 5050 * 0.001 / mass, rel=1e-6)


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_what_a_ticker_keeps_is_state(engine, tmp_path):
    sim = al.Simulation.load(scenario(engine, tmp_path))
    sim.step(10)
    before = sim.state_hash()
    sim.fleet.numbers_of(sim.fleet.crafts[0], 0)[1] += 1.0
    assert sim.state_hash() != before
    sim.reset()
    sim.step(10)
    assert sim.state_hash() == before


def test_an_edit_keeps_what_a_ticker_has(tmp_path):
    sim = al.Simulation.load(scenario("batch", tmp_path))
    sim.step(10)
    another = sim.scenario.vehicles["a"].model_copy(
        update={"pose": sim.scenario.vehicles["a"].pose.model_copy(update={"position": (5.0, 0.0, 10.0)})}
    )
    sim.change(sim.scenario.model_copy(update={"vehicles": {**sim.scenario.vehicles, "b": another}}))
    sim.step(10)
    a, b = (sim.fleet.numbers_of(craft, 0) for craft in sim.fleet.crafts)
    assert a[1] == 20.0
    assert b[1] == 10.0
