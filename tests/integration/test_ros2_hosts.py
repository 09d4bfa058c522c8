"""ROS 2 between two machines: network namespaces with a cable between them."""

from __future__ import annotations

import pytest
from tests.integration.test_hosts import Hosts, hosts  # noqa: F401 (a fixture)

pytest.importorskip("cyclonedds")
SIMULATES = """
import sys, time
import airloom as al
ros2 = {"domain": 7} | ({"interface": sys.argv[1]} if len(sys.argv) > 1 else {})
with al.Simulation.load("hover", overrides={"engine": "batch", "duration": 1e6, "ros2": ros2}) as sim:
    while True:
        sim.step(20)
        time.sleep(0.005)
"""
LISTENS = """
import time
from airloom.bus import messages
from airloom.ros2.dds import DEFAULT, Participant
node = Participant(7, "cable")
reader = node.reader("rt/cf/odometry", messages.ODOMETRY, DEFAULT)
print("listens", flush=True)
end = time.monotonic() + PATIENCE
while time.monotonic() < end:
    if heard := reader.take():
        print("heard", messages.deserialize(heard[0], messages.ODOMETRY).header.frame_id, flush=True)
        break
    time.sleep(0.01)
else:
    print("silence", flush=True)
"""
PATIENCE = 60.0  # s to hear what can be heard
SILENCE = 6.0  # s, in which a node that can be heard announces itself six times


def heard_elsewhere(machines: Hosts, folder, *interface: str, patience: float) -> str:
    listener = machines.start("field", "-c", LISTENS.replace("PATIENCE", str(patience)), cwd=folder)
    assert listener.stdout.readline() == "listens\n"
    simulator = machines.start("simulator", "-c", SIMULATES, *interface, cwd=folder)
    told = listener.communicate(timeout=patience + 120.0)[0].strip()
    assert simulator.poll() is None, simulator.communicate()
    return told


def test_another_machine_hears_odometry_only_of_an_interface_that_was_named(tmp_path, hosts):  # noqa: F811
    assert heard_elsewhere(hosts, tmp_path, "cable", patience=PATIENCE) == "heard world"


def test_another_machine_hears_nothing_of_a_run_that_keeps_to_its_own(tmp_path, hosts):  # noqa: F811
    assert heard_elsewhere(hosts, tmp_path, patience=SILENCE) == "silence"
