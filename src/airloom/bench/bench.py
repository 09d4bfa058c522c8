"""How fast is Airloom on this machine? Rates are the best of several repeats, in flight, warm, without a log."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from itertools import product
from statistics import median
from typing import Any

import mujoco
import numpy as np

from airloom.basics.version import VERSION
from airloom.commands import PositionYaw
from airloom.engines.mujoco import MujocoEngine
from airloom.missions.pilot import Pilot
from airloom.missions.pilots import start_all
from airloom.runs.folder import plain
from airloom.simulation import Simulation

FLEET_SIZES = (1, 10, 100, 1000, 10000)
PIECE = 0.05  # s of processor time of one, before the other has its go
HEIGHT = 50.0
SETTLED = 5.0
"""Seconds of simulation time after which everything flies."""


@dataclass(frozen=True)
class Measurement:
    name: str
    value: float
    unit: str
    target: float | None = None
    less_is_better: bool = False
    share_of_bare: float | None = None
    """Speed relative to the same without Airloom: a bare loop of mj_step over the same model in the same state, an
    echo of the same bytes."""

    @property
    def is_reached(self) -> bool | None:
        if self.target is None:
            return None
        return bool(self.value < self.target if self.less_is_better else self.value >= self.target)


@dataclass(frozen=True)
class Effort:
    """How long to measure: seconds each, and how often."""

    seconds: float = 1.0
    repeats: int = 5
    with_first_start: bool = True


QUICK = Effort(seconds=0.2, repeats=2, with_first_start=False)

Benchmark = Callable[[Effort], Measurement]


def benchmarks(effort: Effort) -> dict[str, Benchmark]:
    """Name → what measures it."""
    found: dict[str, Benchmark] = {
        "hover, mujoco": partial(_scenario, "hover, mujoco", "hover", {}, 200.0),
        "hover, batch": partial(_scenario, "hover, batch", "hover", {"engine": "batch"}, 500.0),
        "fleet of 100, mujoco": partial(_scenario, "fleet of 100, mujoco", "fleet", {}, 12.0),
        "fleet of 1000, batch": partial(_scenario, "fleet of 1000, batch", "fleet", _fleet_of(1000), 5.0),
        "flock of 30, radio": partial(_scenario, "flock of 30, radio", "flock", {}, 20.0),
    }
    for engine, style in product(("mujoco", "batch"), MISSIONS):
        name = f"100 missions, {style}, {engine}"
        found[name] = partial(_mission_share, name, engine, style)
    found |= {f"batch, N = {count}": partial(_vehicle_steps, count) for count in FLEET_SIZES}
    found["1000 planes, batch"] = _planes
    found |= {f"studio, {count} vehicles": partial(_studio, count) for count in (100, 1000)}
    found["three browsers"], found["click to motion"] = _three_browsers, _click_to_motion
    found["step from outside"] = _step_from_outside
    found |= {f"loom, {count} members": partial(_loom_round, count) for count in (1, 4, 16, 64)}
    found["between turns"], found["30 members at 50 Hz"] = _between_turns, _thirty_members
    found["frame of ArduPilot"], found["frame of PX4"] = _frame_of_ardupilot, _frame_of_px4
    found["far above terrain"] = partial(_over_terrain, "far above terrain", 1, 100.0, 5.0)
    found["ten near terrain"] = partial(_over_terrain, "ten near terrain", 10, 5.0, 20.0)
    if find_spec("rasterio"):
        found["terrain of 2000², built"], found["terrain of 2000², loaded"] = _terrain_built, _terrain_loaded
    if find_spec("embreex"):
        found["depth camera"], found["lidar"] = _depth_camera, _lidar
        found["eye that nobody wants"] = _unwanted_eye
    for name, nodes, rate, side in (
        ("1000 radios × 10 Hz", 1000, 10.0, 1000.0),
        ("1000 radios in 300 m", 1000, 10.0, 300.0),
        ("40 radios × 1 kHz", 40, 1000.0, 20.0),
    ):
        found[name] = partial(_radio, name, nodes, rate, side)
    if _has_ns3():
        found["flock on ns-3"] = _beside_ns3
    for engine in ("mujoco", "batch"):
        found[f"100 in turbulence, {engine}"] = partial(_in_turbulence, f"100 in turbulence, {engine}", engine)
        found[f"ten sloshing tanks, {engine}"] = partial(_sloshing, f"ten sloshing tanks, {engine}", engine)
    found["100 000 drops"] = _drops
    found["vineyard"] = partial(_vineyard, "vineyard", False, 20.0)
    if find_spec("embreex"):
        found["vineyard, camera"] = partial(_vineyard, "vineyard, camera", True, 3.0)
    if find_spec("cyclonedds"):
        found["100 vehicles for ROS 2"], found["beside ROS 2"] = _ros2, _beside_ros2
        if find_spec("embreex"):
            found["depth and cloud for ROS 2"] = _clouds_for_ros2
    found["second start"] = _second_start
    if effort.with_first_start:
        found["first start"] = _first_start
    found["memory of hover"] = _memory
    return found


def machine() -> dict[str, Any]:
    return {
        "airloom": VERSION,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "mujoco": mujoco.__version__,
        "numpy": np.__version__,
    }


def as_json(measurements: list[Measurement]) -> dict[str, Any]:
    rows = [plain({**asdict(one), "is_reached": one.is_reached}) for one in measurements]
    return {"machine": machine(), "measurements": rows}


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


# -- rates ---------------------------------------------------------------------------------------------------------


def _scenario(name: str, scenario: str, overrides: dict[str, Any], target: float, effort: Effort) -> Measurement:
    """Seconds of simulation time a second."""
    sim = Simulation.load(scenario, overrides=overrides)
    sim.run(SETTLED + 2.0)
    step = sim.step_ns * 1e-9
    rate = best_rate(sim.step, effort) * step
    bare = best_rate(_bare_loop(sim.engine), effort) * step if isinstance(sim.engine, MujocoEngine) else None
    return Measurement(name, rate, "× real time", target, share_of_bare=rate / bare if bare else None)


def _bare_loop(engine: MujocoEngine) -> Callable[[int], None]:
    """MuJoCo alone: the same bodies at the same places, held up by constant forces."""
    model = engine.model
    data = mujoco.MjData(model)
    data.qpos[:] = engine.data.qpos
    data.qfrc_applied[2::6] = -model.opt.gravity[2] * model.body_mass[model.jnt_bodyid]
    return lambda ticks: mujoco.mj_step(model, data, ticks)


def _vehicle_steps(count: int, effort: Effort) -> Measurement:
    """RK4 with the cascade controller in the loop, every vehicle hovering at its place."""
    sim = hovering_fleet(count)
    rate = best_rate(sim.step, effort) * count / 1e6
    return Measurement(f"batch, N = {count}", rate, "M vehicle-steps/s", 7.0 if count >= 100 else None)


def _planes(effort: Effort) -> Measurement:
    """RK4, every aeroplane circling with its own flight stack, odometry and airspeed in the loop."""
    count = 1000
    sim = circling_fleet(count)
    return Measurement("1000 planes, batch", best_rate(sim.step, effort) * count / 1e6, "M vehicle-steps/s", 3.0)


def circling_fleet(count: int) -> Simulation:
    vehicle = {
        "extends": "plane",
        "pose": {"position": [0, 0, HEIGHT]},
        "motion": {"velocity": [14, 0, 0]},
        "copies": {"count": count, "spacing": 5},
    }
    overrides = {"engine": "batch", "systems": {}, "vehicles": {"drone": None, "plane": vehicle}}
    sim = Simulation.load("hover", overrides=overrides)
    fleet = sim.group()
    fleet.command(PositionYaw(fleet.positions))
    sim.run(SETTLED)
    return sim


def hovering_fleet(count: int, engine: str = "batch", controller: str = "cascade", **changes: Any) -> Simulation:
    """Multirotors with odometry at 250 Hz, settled at their setpoints."""
    vehicle = {
        "extends": "multirotor",
        "controller": controller,
        "sensors": {"imu": None, "gnss": None, "barometer": None, "magnetometer": None},
        "pose": {"position": [0, 0, HEIGHT]},
        "copies": {"count": count, "spacing": 5},
    }
    overrides = {"engine": engine, "systems": {}, "vehicles": {"drone": vehicle}, **changes}
    sim = Simulation.load("hover", overrides=overrides)
    fleet = sim.group()
    fleet.command(PositionYaw(fleet.positions))
    sim.run(SETTLED)
    return sim


async def _smooth_mission(pilot: Pilot) -> None:
    x, y, _ = pilot.vehicle.position
    while True:
        await pilot.goto((x + 1, y, HEIGHT + 1))
        await pilot.follow([(x + 1, y, HEIGHT + 1), (x, y + 1, HEIGHT + 2), (x, y, HEIGHT)], speed=1.5)
        await pilot.sleep(1)


async def _pursuit_mission(pilot: Pilot) -> None:
    x, y, _ = pilot.vehicle.position
    while True:
        square = [(x, y, HEIGHT), (x + 4, y, HEIGHT), (x + 4, y + 4, HEIGHT), (x, y + 4, HEIGHT), (x, y, HEIGHT)]
        await pilot.follow(square, speed=1.5, method="pursuit")
        await pilot.sleep(1)


MISSIONS = {"smooth": _smooth_mission, "pursuit": _pursuit_mission}


def _mission_share(name: str, engine: str, style: str, effort: Effort) -> Measurement:
    """What of a run a hundred coroutines take, compared with the same vehicles in hover."""
    hovering, flying = (hovering_fleet(100, engine, "modes") for _ in range(2))
    start_all(flying, MISSIONS[style], flying.vehicles.values())
    flying.run(flying.time + SETTLED)
    ticks, slower = ticks_that_take(effort.seconds, hovering.step), []
    for _ in range(effort.repeats):
        before = processor_seconds(hovering.step, ticks)
        slower.append(1.0 - before / processor_seconds(flying.step, ticks))
    return Measurement(name, 100.0 * median(slower), "% of the run", 10.0, less_is_better=True)


def _studio(count: int, effort: Effort) -> Measurement:
    from airloom.bench.studio import processor_share

    share = processor_share(count, 5 * effort.seconds)
    return Measurement(f"studio, {count} vehicles", share, "% of a core", 15.0 if count <= 100 else 30.0, True)


def _depth_camera(effort: Effort) -> Measurement:
    """640 × 480 with noise over ground of 500 000 triangles, 15 m up, looking half down."""
    from airloom.bench.eyes import frames_a_second

    return Measurement("depth camera, 640 × 480", frames_a_second("depth", effort), "frames/s", 20.0)


def _lidar(effort: Effort) -> Measurement:
    """The same ground with 16 beams all around, ten times a second."""
    from airloom.bench.eyes import frames_a_second

    return Measurement("lidar, 300 000 points/s", frames_a_second("lidar", effort) / 10.0, "× real time", 1.0)


def _radio(name: str, nodes: int, rate: float, side: float, effort: Effort) -> Measurement:
    from airloom.bench.radio import times_real_time

    return Measurement(name, times_real_time(nodes, rate, side, effort), "× real time", 1.0)


def _has_ns3() -> bool:
    from airloom.radio.ns3.installation import Ns3Missing, find_ns3

    try:
        find_ns3()
    except Ns3Missing:
        return False
    return True


def _beside_ns3(effort: Effort) -> Measurement:
    from airloom.bench.radio import beside_ns3

    return Measurement("flock on ns-3, beside it", 100.0 * beside_ns3(effort), "% of its time", 10.0, True)


def _unwanted_eye(effort: Effort) -> Measurement:
    from airloom.bench.eyes import slower_with_an_eye

    return Measurement("eye that nobody wants", 100.0 * slower_with_an_eye(effort), "% of the run", 2.0, True)


def _three_browsers(effort: Effort) -> Measurement:
    from airloom.bench.studio import slowdown

    price = slowdown(3, 2 * effort.seconds, 2 * effort.repeats)
    return Measurement("three browsers", 100 * (price.processor - 1), "% more processor time", 5.0, less_is_better=True)


def _click_to_motion(effort: Effort) -> Measurement:
    from airloom.bench.studio import click_to_motion

    return Measurement("click to motion", click_to_motion(), "ms", 200.0, less_is_better=True)


def _step_from_outside(effort: Effort) -> Measurement:
    from airloom.bench.serve import measured_round_trips

    trips = measured_round_trips(5 * effort.seconds)
    unit = f"µs a round trip, 99 % under {trips.most:.3g}"
    return Measurement("step from outside", trips.median, unit, 100.0, True, trips.echo / trips.median)


def _ros2(effort: Effort) -> Measurement:
    from airloom.bench.ros2 import shares_of_a_core

    share = 100 * shares_of_a_core(effort).bridge
    return Measurement("100 vehicles for ROS 2", share, "% of a core at 50 Hz", 15.0, less_is_better=True)


def _beside_ros2(effort: Effort) -> Measurement:
    """Of the thread that simulates."""
    from airloom.bench.ros2 import shares_of_a_core, times_the_effort_when_free

    share, times = 100 * shares_of_a_core(effort).simulation, times_the_effort_when_free(effort)
    unit = f"% of a core more to simulate, {times:.2g} × when free"
    return Measurement("beside ROS 2", share, unit, 5.0, less_is_better=True)


def _clouds_for_ros2(effort: Effort) -> Measurement:
    from airloom.bench.ros2 import share_of_clouds_heard

    heard = 100 * share_of_clouds_heard(10 * effort.seconds)
    return Measurement("depth and cloud for ROS 2", heard, "% of 640 × 480 at 10 Hz heard", 100.0)


def _loom_round(members: int, effort: Effort) -> Measurement:
    from airloom.bench.loom import times_the_bare_exchange

    ratio, microseconds = times_the_bare_exchange(members, 4 * effort.seconds)
    unit = f"× the bare exchange, {microseconds:.3g} µs a round"
    return Measurement(f"loom, {members} members", ratio, unit, 1.5, less_is_better=True)


def _between_turns(effort: Effort) -> Measurement:
    from airloom.bench.loom import cost_between_turns

    return Measurement("between turns", cost_between_turns(4 * effort.seconds), "% slower", 5.0, less_is_better=True)


def _thirty_members(effort: Effort) -> Measurement:
    from airloom.bench.loom import speed_with_members

    speed = speed_with_members(30, 50.0, 4 * effort.seconds)
    return Measurement("30 members at 50 Hz", speed, "× real time", 2.0)


def _frame_of_ardupilot(effort: Effort) -> Measurement:
    from airloom.bench.autopilots import frame_of_ardupilot

    ours, bare = frame_of_ardupilot(4 * effort.seconds)
    return Measurement("frame of ArduPilot", ours, "µs of our processor time", 20.0, True, bare / ours)


def _frame_of_px4(effort: Effort) -> Measurement:
    from airloom.bench.autopilots import frame_of_px4

    ours, bare = frame_of_px4(4 * effort.seconds)
    return Measurement("frame of PX4", ours, "µs of our processor time", 60.0, True, bare / ours)


def ticks_that_take(seconds: float, advance: Callable[[int], Any]) -> int:
    advance(1000)
    return max(1000, round(1000 * seconds / processor_seconds(advance, 1000)))


def times_the_time(plain: Callable[[int], Any], other: Callable[[int], Any], effort: Effort) -> float:
    """How often one's processor time fits into the other's: the median of many short pairs, for both of a pair meet the
    same noise of the machine.
    """
    ticks = ticks_that_take(PIECE, plain)
    other(ticks)
    pairs = round(effort.repeats * effort.seconds / PIECE)
    return median(processor_seconds(other, ticks) / processor_seconds(plain, ticks) for _ in range(pairs))


def processor_seconds(advance: Callable[[int], Any], ticks: int) -> float:
    began = time.process_time()
    advance(ticks)
    return time.process_time() - began


def _fleet_of(count: int) -> dict[str, Any]:
    return {
        "engine": "batch",
        "vehicles.drone.copies.count": count,
        "vehicles.drone.copies.columns": round(count**0.5),
    }


def best_rate(advance: Callable[[int], Any], effort: Effort) -> float:
    """Ticks a second, the best of several repeats that are long enough."""
    ticks, taken = 1, _timed(advance, 1)
    while taken < effort.seconds:
        ticks = max(2 * ticks, min(10 * ticks, int(1.2 * ticks * effort.seconds / max(taken, 1e-9))))
        taken = _timed(advance, ticks)
    return ticks / min([taken, *(_timed(advance, ticks) for _ in range(effort.repeats - 1))])


def _timed(advance: Callable[[int], Any], ticks: int) -> float:
    began = time.perf_counter()
    advance(ticks)
    return time.perf_counter() - began


# -- whole processes -----------------------------------------------------------------------------------------------


def _over_terrain(name: str, count: int, height: float, target: float, effort: Effort) -> Measurement:
    from airloom.bench.land import slower_over_terrain

    return Measurement(name, 100.0 * slower_over_terrain(count, height, effort), "% more than a plane", target, True)


def _in_turbulence(name: str, engine: str, effort: Effort) -> Measurement:
    from airloom.bench.weather import slower_in_turbulence

    return Measurement(name, 100.0 * slower_in_turbulence(engine, effort), "% more than steady wind", 10.0, True)


def _sloshing(name: str, engine: str, effort: Effort) -> Measurement:
    from airloom.bench.tank import slower_with_sloshing

    slower = 100.0 * slower_with_sloshing(10, engine, effort)
    return Measurement(name, slower, "% more than frozen ones", 5.0, less_is_better=True)


def _terrain_built(effort: Effort) -> Measurement:
    from airloom.bench.terrain import seconds_to_build

    seconds = min(seconds_to_build() for _ in range(min(effort.repeats, 3)))
    return Measurement("terrain of 2000², built", seconds, "s from a GeoTIFF", 5.0, less_is_better=True)


def _terrain_loaded(effort: Effort) -> Measurement:
    from airloom.bench.terrain import seconds_to_load

    seconds = min(seconds_to_load() for _ in range(effort.repeats))
    return Measurement("terrain of 2000², loaded", seconds, "s to the first height", 1.0, less_is_better=True)


def _drops(effort: Effort) -> Measurement:
    from airloom.bench.spray import times_real_time

    return Measurement("100 000 drops", times_real_time(effort), "× real time, one core", 1.0)


def _vineyard(name: str, camera: bool, target: float, effort: Effort) -> Measurement:
    from airloom.bench.vineyard import times_real_time

    return Measurement(name, times_real_time(camera, effort), "× real time, one core", target)


def _second_start(effort: Effort) -> Measurement:
    _seconds_to_run_hover()
    seconds = min(_seconds_to_run_hover() for _ in range(effort.repeats))
    return Measurement("second start", seconds, "s to the first tick and out", 2.0, less_is_better=True)


def _first_start(effort: Effort) -> Measurement:
    with tempfile.TemporaryDirectory() as cache:
        seconds = _seconds_to_run_hover(NUMBA_CACHE_DIR=cache)
    return Measurement("first start", seconds, "s, compiling all", 20.0, less_is_better=True)


def _seconds_to_run_hover(**environment: str) -> float:
    began = time.perf_counter()
    _run_hover("from airloom.cli import main; main()", until=0.001, **environment)
    return time.perf_counter() - began


def _memory(effort: Effort) -> Measurement:
    """Asked of the process itself: what its parent hears of it would count the parent's own memory in."""
    telling = "import atexit; atexit.register(lambda: print(open('/proc/self/status').read()))\n"
    said = _run_hover(telling + "from airloom.cli import main; main()", until=30.0)
    peak = re.search(r"VmHWM:\s*(\d+) kB", said)
    megabytes = int(peak[1]) / 1024 if peak else float("nan")
    return Measurement("memory of hover", megabytes, "MB at its peak", 400.0, less_is_better=True)


def _run_hover(program: str, until: float, **environment: str) -> str:
    """What a new Python process prints that runs hover."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--headless", "--until", str(until), "--quiet", "--no-log", "--out", folder]
        command = [sys.executable, "-c", program, "run", "hover", *options]
        done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout
