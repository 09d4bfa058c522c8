"""The same scenario and seed give the same bits, however it is run and whoever watches."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airloom as al
from airloom.engines.fleet import expand_copies
from airloom.runs.mcap import LogWriter
from airloom.scenario import load
from airloom.simulation import Simulation

ENGINES = ["mujoco", "batch"]
NOISY = {
    "vehicles.cf.estimator": "complementary",
    "vehicles.cf.sensors.odometry": "mocap",
    "systems.waypoints.points": [{"at": 0.2, "position": [0, 0, 1], "yaw": 0}],
    "systems.lateral_push.enabled": True,
    "systems.lateral_push.at": 0.9,
}
TICKS = 1500


def noisy_hover(engine: str = "batch", seed: int = 7, **changes: Any) -> Simulation:
    """A Crazyflie whose flight depends on noise: motion capture, an IMU, a filter; with systems that act on it."""
    return Simulation.load("hover", seed=seed, overrides={"engine": engine, **NOISY, **changes})


def hash_after(sim: Simulation, ticks: int = TICKS) -> str:
    sim.step(ticks)
    return sim.state_hash()


SCRIPT = """
from airloom.simulation import Simulation
sim = Simulation.load("hover", seed=7, overrides={overrides!r})
sim.step({ticks})
print(sim.state_hash())
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_two_processes_agree(engine: str) -> None:
    script = SCRIPT.format(overrides={"engine": engine, **NOISY}, ticks=TICKS)
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True) for _ in range(2)]
    assert [run.stderr for run in runs] == ["", ""]
    assert runs[0].stdout.strip() == runs[1].stdout.strip() == hash_after(noisy_hover(engine))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("chunks", [[1], [7], [13, 1, 250], [501]], ids=str)
def test_steps_may_be_cut_anyhow(engine: str, chunks: list[int]) -> None:
    sim, k = noisy_hover(engine), 0
    while sim.tick < TICKS:
        sim.step(min(chunks[k % len(chunks)], TICKS - sim.tick))
        k += 1
    assert sim.state_hash() == hash_after(noisy_hover(engine))


def test_run_and_step_agree() -> None:
    sim = noisy_hover()
    sim.run(until=0.7003)
    sim.run(until=1.5)
    assert sim.time_ns == 1_500_000_000
    assert sim.state_hash() == hash_after(noisy_hover())


def raw_listener(sim: Simulation, _: Path) -> None:
    sim.bus.subscribe("*", lambda topic, cdr, times: None, raw=True)


def object_listener(sim: Simulation, _: Path) -> None:
    sim.bus.subscribe("*", lambda topic, message, time: None)


def late_listener(sim: Simulation, folder: Path) -> None:
    sim.call_at(0.5, lambda: object_listener(sim, folder))
    sim.call_at(1.0, lambda: raw_listener(sim, folder))


def reader(sim: Simulation, _: Path) -> None:
    for time in (0.3, 0.6, 1.2):
        sim.call_at(time, lambda: (sim.state_hash(), sim.vehicles["cf"].readings, sim.vehicles["cf"].estimate))


def log(sim: Simulation, folder: Path) -> None:
    LogWriter(folder / "log.mcap", sim.bus, ["*"])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("observe", [raw_listener, object_listener, late_listener, reader, log])
def test_observers_change_nothing(engine: str, observe: Callable[[Simulation, Path], None], tmp_path: Path) -> None:
    sim = noisy_hover(engine)
    observe(sim, tmp_path)
    assert hash_after(sim) == hash_after(noisy_hover(engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_reset_starts_the_same_run_again(engine: str) -> None:
    sim = noisy_hover(engine)
    first = hash_after(sim)
    sim.reset()
    assert sim.time_ns == 0
    assert hash_after(sim) == first
    sim.reset(seed=8)
    assert hash_after(sim) == hash_after(noisy_hover(engine, seed=8)) != first


@pytest.mark.parametrize("engine", ENGINES)
def test_reset_forgets_what_users_set(engine: str) -> None:
    sim = noisy_hover(engine)
    first = hash_after(sim)
    cf = sim.vehicles["cf"]
    cf.push(force=(0.1, 0, 0), torque=(1e-5, 0, 0))
    cf.set_wind((1, 2, 3))
    cf.place((5, 5, 5), yaw=1.0)
    cf.command(al.PositionYaw((3, 3, 3), 1.0))
    sim.call_at(2.0, lambda: cf.push(force=(1, 0, 0)))
    sim.step(100)
    sim.reset()
    assert hash_after(sim) == first


@pytest.mark.parametrize("engine", ENGINES)
def test_seeds_differ_where_noise_is_in_the_loop(engine: str) -> None:
    one, two = noisy_hover(engine, seed=1), noisy_hover(engine, seed=2)
    assert hash_after(one) != hash_after(two)
    assert not np.array_equal(one.vehicles["cf"].state, two.vehicles["cf"].state)


@pytest.mark.parametrize("engine", ENGINES)
def test_seeds_do_not_matter_where_no_noise_is_in_the_loop(engine: str) -> None:
    calm = {"vehicles.cf.estimator": "ideal", "vehicles.cf.sensors.odometry": {"kind": "odometry", "rate": 500}}
    one, two = noisy_hover(engine, seed=1, **calm), noisy_hover(engine, seed=2, **calm)
    assert hash_after(one) != hash_after(two)  # the IMU still reads noise
    assert np.array_equal(one.vehicles["cf"].state, two.vehicles["cf"].state)
    silent = {**calm, "vehicles.cf.sensors.imu": None}
    assert hash_after(noisy_hover(engine, seed=1, **silent)) == hash_after(noisy_hover(engine, seed=2, **silent))


@pytest.mark.parametrize("engine", ENGINES)
def test_another_sensor_changes_no_other(engine: str) -> None:
    more = {"vehicles.cf.sensors.second_imu": "hil_imu", "vehicles.cf.sensors.gnss": "hil_gnss"}
    one, two = noisy_hover(engine), noisy_hover(engine, **more)
    one.step(TICKS), two.step(TICKS)
    few, many = one.vehicles["cf"].readings, two.vehicles["cf"].readings
    assert set(many) - set(few) == {"second_imu", "gnss"}
    assert all(np.array_equal(few[name], many[name]) for name in few)
    assert np.array_equal(one.vehicles["cf"].state, two.vehicles["cf"].state)


# -- many vehicles -----------------------------------------------------------------------------------------------------

FLEET = {
    "engine": {"kind": "batch"},
    "vehicles.drone.copies": {"count": 20, "columns": 5, "spacing": 1},
    "vehicles.drone.sensors.odometry": "mocap",
    "systems.wave.start": 0.2,
    "systems.wave.rise": 0.5,
}


def fleet(**changes: Any) -> Simulation:
    return Simulation.load("fleet", seed=3, overrides={**FLEET, **changes})


def fleet_of(names: list[str], integrator: str = "rk4") -> Simulation:
    """Only these of the twenty, in this order, each in its own place."""
    scenario = load("fleet", {**FLEET, "engine": {"kind": "batch", "integrator": integrator}})
    all_of_them = expand_copies(scenario.vehicles)
    return Simulation(scenario.model_copy(update={"vehicles": {name: all_of_them[name] for name in names}}), seed=3)


def states(sim: Simulation, ticks: int = 1200) -> dict[str, bytes]:
    sim.step(ticks)
    return {name: vehicle.state.tobytes() + vehicle.rotor_speeds.tobytes() for name, vehicle in sim.vehicles.items()}


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_a_vehicle_does_not_depend_on_its_neighbours_or_its_lane(integrator: str) -> None:
    names = [f"drone_{k}" for k in range(20)]
    together = states(fleet_of(names, integrator))
    assert states(fleet_of(names[::-1], integrator)) == together
    for name in ("drone_0", "drone_7", "drone_19"):
        assert states(fleet_of([name], integrator))[name] == together[name]
    assert len(set(together.values())) == 20


def test_threads_do_not_matter() -> None:
    one, two = fleet(), fleet(engine={"kind": "batch", "threads": 2})
    assert hash_after(one, 1000) == hash_after(two, 1000)


def test_observed_threads_do_not_matter(tmp_path: Path) -> None:
    one, two = fleet(), fleet(engine={"kind": "batch", "threads": 2})
    raw_listener(two, tmp_path)
    assert hash_after(one, 1000) == hash_after(two, 1000)


# -- those who act on what they see ------------------------------------------------------------------------------------


def kicked_hover(engine: str, chunk: int) -> tuple[str, list[int]]:
    """Somebody kicks the vehicle when a message shows it above 0.1 m, and again at each third of a second."""
    sim, kicks = noisy_hover(engine), []
    cf = sim.vehicles["cf"]

    def look(topic: Any, message: Any, time_ns: int) -> None:
        if message.pose.pose.position.z > 0.1 and not kicks:
            kicks.append(sim.time_ns)
            cf.push(force=(0.004, 0, 0))

    sim.bus.subscribe("/cf/odometry", look)
    sim.call_at(1.0, lambda: cf.push(force=(0, 0.004, 0)))
    while sim.tick < TICKS:
        sim.step(min(chunk, TICKS - sim.tick))
    return sim.state_hash(), kicks


@pytest.mark.parametrize("engine", ENGINES)
def test_reactions_come_at_the_same_tick(engine: str) -> None:
    results = [kicked_hover(engine, chunk) for chunk in (1, 9, 10_000)]
    assert len(results[0][1]) == 1
    assert results[0] == results[1] == results[2]


def test_messages_reach_a_reactive_subscriber_in_time() -> None:
    """An odometry of 100 Hz, 10 ms late, is delivered at the tick at which it is published."""
    sim, seen = noisy_hover(), []
    sim.bus.subscribe("/cf/odometry", lambda topic, message, time_ns: seen.append((time_ns, sim.time_ns)))
    sim.step(200)
    assert [published for published, _ in seen] == [10_000_000 * k for k in range(1, 21)]
    assert all(published == now for published, now in seen)


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_call_at_comes_before_the_first_tick_at_or_after_its_time(chunk: int) -> None:
    sim, calls = noisy_hover(), []
    for time in (0.0, 0.0101, 0.5, 0.5):
        sim.call_at(time, lambda: calls.append(sim.time_ns))
    while sim.tick < 1000:
        sim.step(min(chunk, 1000 - sim.tick))
    assert calls == [0, 11_000_000, 500_000_000, 500_000_000]


def test_call_at_keeps_the_order_of_calls_at_one_time() -> None:
    sim, calls = noisy_hover(), []
    for name in "abc":
        sim.call_at(0.1, lambda name=name: calls.append(name))
    sim.step(200)
    assert calls == ["a", "b", "c"]
