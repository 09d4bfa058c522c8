"""MAVLink of a PX4 by radio: a stand-in that answers frames by TCP, and by UDP whoever has spoken to it last."""

from __future__ import annotations

import re
import sys

import pytest
from pymavlink import mavutil
from tests.programs import free_instance

import airloom as al
from airloom.scenario import load

INSTANCE = free_instance()
SCENARIO = f"""
name: by_radio
duration: 20
engine: batch
radio: {{stations: {{base: {{position: [20, 0, 2]}}}}}}
vehicles:
  drone:
    extends: x500
    sensors: {{magnetometer: {{field_errors: {{noise: 1.0e-7}}}}}}
    autopilot: {{kind: px4, binary: bin/px4, instance: {INSTANCE}, mavlink: {{radio: base}}}}
"""
STAND_IN = f"""#!{sys.executable}
import socket, time
from pymavlink.dialects.v20 import common as mavlink

stations = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
stations.bind(("127.0.0.1", {18570 + INSTANCE}))
stations.setblocking(False)
line = socket.create_connection(("127.0.0.1", {4560 + INSTANCE}))
mav, ears, count = mavlink.MAVLink(None, 1, 1), None, 0
while data := line.recv(65536):
    for message in mav.parse_buffer(data) or []:
        if message.get_type() != "HIL_SENSOR":
            continue
        count += 1
        line.send(mavlink.MAVLink_hil_actuator_controls_message(message.time_usec, [0] * 16, 128, 1).pack(mav))
        try:
            ears = stations.recvfrom(2048)[1]
            print("heard at", message.time_usec / 1e6, flush=True)
        except BlockingIOError:
            pass
        if ears and count % 50 == 0:
            stations.sendto(mavlink.MAVLink_heartbeat_message(2, 12, 0, 0, 4, 3).pack(mav), ears)
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("bin", "etc/init.d-posix"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "etc/init.d-posix/rcS").touch()
    program = tmp_path / "bin/px4"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    (tmp_path / "by_radio.yaml").write_text(SCENARIO)

    def make(**overrides):
        sim = al.Simulation(load(tmp_path / "by_radio.yaml", overrides))
        sim.member_logs = tmp_path
        return sim

    return make


@pytest.mark.parametrize(("distance", "is_heard"), [(20, True), (5000, False)])
def test_it_is_heard_as_far_as_the_radio_reaches(made, distance, is_heard):
    with made(**{"radio.stations.base.position": [distance, 0, 2]}) as sim:
        sim.run(until=0.1)
        assert sim.autopilots["drone"].address == f"tcp:127.0.0.1:{5760 + 10 * INSTANCE}"
        station = mavutil.mavlink_connection(sim.autopilots["drone"].address)
        heard = None
        while sim.time < 4 and heard is None:
            station.mav.heartbeat_send(6, 8, 0, 0, 0)
            sim.run(until=sim.time + 0.2)
            heard = station.recv_match(type="HEARTBEAT", blocking=False)
        station.close()
    assert (heard is not None) == is_heard
    assert (sim.radio["drone"].heard > 0) == is_heard
    assert sim.radio["base"].sent > 0


def test_while_the_station_is_off_neither_hears_the_other(made, tmp_path):
    off = {"kind": "radio_fault", "fault": "off", "node": "base", "at": 1.5, "duration": 1.5}
    above = []
    with made(systems={"off": off}) as sim:
        sim.run(until=0.1)
        station = mavutil.mavlink_connection(sim.autopilots["drone"].address)
        while sim.time < 4.0:
            station.mav.heartbeat_send(6, 8, 0, 0, 0)
            sim.run(until=sim.time + 0.1)
            above += [sim.time for _ in iter(lambda: station.recv_match(type="HEARTBEAT", blocking=False), None)]
        station.close()
    below = [
        float(at) for at in re.findall(r"heard at ([\d.]+)", (tmp_path / "autopilot-drone/console.txt").read_text())
    ]
    for heard in (below, above):
        assert sum(time < 1.5 for time in heard) > 3
        assert not [time for time in heard if 1.7 < time < 3.0]
        assert sum(time > 3.0 for time in heard) > 3, "and then again"
