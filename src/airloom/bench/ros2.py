"""What a bridge to ROS 2 costs, and whether all arrives: a node on Cyclone DDS, in another process, hears it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any, NamedTuple

from airloom.basics.clock import NS_PER_SECOND
from airloom.bench.bench import Effort
from airloom.keeper import Kept
from airloom.simulation import Simulation

VEHICLES, DOMAIN, RATE = 100, 91, 50
FLEET = {"engine": "batch", "vehicles.drone.copies.count": VEHICLES, "log.rate": RATE, "duration": 1e6}
LISTENER = f"""
import time
from airloom.ros2.dds import DEFAULT, Participant
node = Participant({DOMAIN})
readers = [node.reader(f"rt/drone_{{k}}/state", "nav_msgs/msg/Odometry", DEFAULT) for k in range({VEHICLES})]
readers.append(node.reader("rt/tf", "tf2_msgs/msg/TFMessage", DEFAULT))
while True:
    for reader in readers:
        reader.take()
    time.sleep(0.02)
"""

FRAMES = 10  # Hz
CAMERA = {"extends": "realsense_d435", "rate": FRAMES, "width": 640, "height": 480, "pitch": 1.5}
CLOUDS = {"/drone/depth/image": "sensor_msgs/msg/Image", "/drone/depth/points": "sensor_msgs/msg/PointCloud2"}
CLOUD_LISTENER = f"""
import struct, time
from airloom.ros2.dds import DEFAULT, Participant
node = Participant({DOMAIN})
readers = [node.reader(f"rt{{name}}", kind, DEFAULT) for name, kind in {CLOUDS}.items()]
while True:
    for reader in readers:
        for cdr in reader.take():
            sec, nanosec = struct.unpack_from("<iI", cdr, 4)
            print(sec * 10**9 + nanosec, flush=True)
    time.sleep(0.005)
"""


class Shares(NamedTuple):
    """Processor time for each second of simulation time: what the bridge takes with all its threads, and what of that
    the thread takes which simulates.
    """

    bridge: float
    simulation: float


Advance = Callable[[Simulation, float], float]
"""By about so many seconds of simulation time; gives how many."""


def shares_of_a_core(effort: Effort) -> Shares:
    """At the pace of the wall clock."""
    more = [(b.bridge - a.bridge, b.simulation - a.simulation) for a, b in _without_and_with(effort, _paced)]
    return Shares(*(median(column) for column in zip(*more, strict=True)))


def times_the_effort_when_free(effort: Effort) -> float:
    """Of the thread that simulates, as fast as it can: what it takes with the bridge by what it takes alone."""
    return median(b.simulation / a.simulation for a, b in _without_and_with(effort, _free))


def _without_and_with(effort: Effort, advance: Advance) -> list[tuple[Shares, Shares]]:
    """In turn, in one run: what else this machine does meets both."""
    alone = Simulation.load("fleet", overrides=FLEET)
    topics = {"domain": DOMAIN, "rate": RATE, "topics": ["/*/state", "/tf"]}
    with Simulation.load("fleet", overrides={**FLEET, "ros2": topics}) as bridged, _heard_by(LISTENER, bridged):
        return [
            (_taken(alone, effort.seconds, advance), _taken(bridged, effort.seconds, advance))
            for _ in range(effort.repeats)
        ]


def share_of_clouds_heard(seconds: float) -> float:
    """Of the depth pictures and clouds of a camera that looks down, so that each point is one."""
    drone = {"extends": "multirotor", "pose": {"position": [0, 0, 2]}, "sensors": {"depth": CAMERA}}
    overrides: dict[str, Any] = {
        "engine": "batch",
        "duration": 1e6,
        "systems": {},
        "vehicles": {"cf": None, "drone": drone},
    }
    overrides["ros2"] = {"domain": DOMAIN, "topics": [*CLOUDS]}
    with (
        Simulation.load("hover", overrides=overrides) as sim,
        _heard_by(CLOUD_LISTENER, sim, stdout=subprocess.PIPE, text=True) as node,
    ):
        _paced(sim, 0.5)
        first = sim.time_ns
        _paced(sim, seconds)
        last = sim.time_ns
        _paced(sim, 1.0)
        node.terminate()
        stamps = [int(line) for line in node.communicate()[0].splitlines()]
    frames = last * FRAMES // NS_PER_SECOND - first * FRAMES // NS_PER_SECOND
    return sum(first < stamp <= last for stamp in stamps) / (len(CLOUDS) * frames)


@contextmanager
def _heard_by(program: str, sim: Simulation, **options: Any) -> Iterator[Kept]:
    """Until the end of the block, by a process that has found all topics when it begins."""
    sim.step()
    assert sim.ros2 is not None
    node = Kept([sys.executable, "-c", program], **options)
    try:
        while not sim.ros2.outgoing.is_all_heard:
            sim.step(20)
            time.sleep(0.01)
        yield node
    finally:
        node.terminate()
        node.wait()


def _taken(sim: Simulation, seconds: float, advance: Advance) -> Shares:
    clocks: tuple[Callable[[], float], ...] = time.process_time, time.thread_time
    began = [clock() for clock in clocks]
    passed = advance(sim, seconds)
    return Shares(*((clock() - before) / passed for clock, before in zip(clocks, began, strict=True)))


def _paced(sim: Simulation, seconds: float) -> float:
    """At the pace of the wall clock."""
    ticks, clock, first = round(NS_PER_SECOND / RATE / sim.step_ns), time.perf_counter(), sim.time
    while sim.time - first < seconds:
        sim.step(ticks)
        time.sleep(max(clock + (sim.time - first) - time.perf_counter(), 0.0))
    return sim.time - first


def _free(sim: Simulation, seconds: float) -> float:
    """As fast as it can."""
    first = sim.time
    sim.run(until=first + seconds)
    return sim.time - first
