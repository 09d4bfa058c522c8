"""What a bridge to ROS 2 costs: 100 vehicles whose odometry and frames a node hears 50 times a second."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager

from airloom.keeper import Kept
from airloom.simulation import Simulation

VEHICLES, DOMAIN = 100, 91
FLEET = {"engine": "batch", "vehicles.drone.copies.count": VEHICLES, "log.rate": 50, "duration": 1e6}
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


def share_of_a_core(seconds: float) -> float:
    """Processor time that the bridge takes, threads and all, for each second of simulation time."""
    alone = Simulation.load("fleet", overrides=FLEET)
    with Simulation.load("fleet", overrides=_bridged()) as bridged, _listener(bridged):
        return _processor_time(bridged, seconds) - _processor_time(alone, seconds)


def _bridged() -> dict:
    return {**FLEET, "ros2": {"domain": DOMAIN, "topics": ["/*/state", "/tf"]}}


@contextmanager
def _listener(sim: Simulation):
    sim.step()
    node = Kept([sys.executable, "-c", LISTENER])
    try:
        while not all(topic.wanted for topic in sim.bus.topics() if topic.name.endswith("/state")):
            sim.step(20)
            time.sleep(0.01)
        yield
    finally:
        node.terminate()
        node.wait()


def _processor_time(sim: Simulation, seconds: float) -> float:
    """For a second of simulation time, at the pace of the wall clock."""
    ticks, clock = round(0.02e9 / sim.step_ns), time.perf_counter()
    sim.step(ticks)
    began, first = time.process_time(), sim.time
    while sim.time - first < seconds:
        sim.step(ticks)
        time.sleep(max(clock + (sim.time - first) - time.perf_counter(), 0.0))
    return (time.process_time() - began) / (sim.time - first)
