"""MAVLink in the lockstep: two runs with the same script are equal to the bit, however the machine is busy.

The autopilot is a stand-in that reads and writes its serial ports as ArduPilot's SITL does, once a frame, and whose
outputs depend on the frame in which each message came. The real one flies where its program is found.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import time

import pytest
from tests.programs import free_instance, needs_ardupilot

import airloom as al
from airloom.autopilots.ardupilot_line import OURS
from airloom.autopilots.autopilot import AutopilotError
from airloom.scenario import ScenarioError, load

INSTANCE = free_instance()
SCENARIO = f"""
name: scripted
duration: 2
vehicles:
  drone:
    extends: iris
    pose: {{position: [0, 0, 0.06]}}
    sensors: {{imu: {{rate: 1000}}}}
    autopilot: {{kind: ardupilot, binary: BINARY, instance: {INSTANCE}, OPTIONS}}
members:
  script: {{command: [python, -m, airloom, exec, script.py], rate: 50}}
"""
STAND_IN = f"""#!{sys.executable}
import json, random, socket, struct, sys, time
from pymavlink.dialects.v20 import common as mavlink

def serial(number):
    _, host, port = sys.argv[sys.argv.index(f"--serial{{number}}") + 1].split(":")
    line = socket.create_connection((host, int(port)))
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    line.setblocking(False)
    return line

class Port:
    def __init__(self, number):
        self.line, self.mav, self.out = serial(number), mavlink.MAVLink(None, 1, 1), b""
        self.mav.robust_parsing = True

    def tick(self):
        if self.out:
            self.line.send(self.out)
            self.out = b""
        try:
            return self.mav.parse_buffer(self.line.recv(10000)) or []
        except BlockingIOError:
            return []

    def say(self, message):
        self.out += bytes(message.pack(self.mav))

parameters = PARAMETERS
door, there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("127.0.0.1", {9002 + 10 * INSTANCE})
ports, count, output = [Port(0), Port(2)], 0, 1100
while True:
    count += 1
    door.sendto(struct.pack("<HHI16H", 18458, 400, count, *[output] * 4, *[0] * 12), there)
    now = json.loads(door.recv(2048))["timestamp"]
    if random.random() < 0.02:
        time.sleep(0.002 * random.random())
    FAULT
    for port in ports:
        for message in port.tick():
            kind = message.get_type()
            if kind == "HEARTBEAT" or getattr(message, "target_system", 1) == 0:  # ArduPilot hands it on
                ports[1 - ports.index(port)].out += bytes(message.get_msgbuf())
            if kind == "COMMAND_LONG" and message.command == 22:
                output = 1750 + (count * 37) % 200
                port.say(mavlink.MAVLink_command_ack_message(22, 0))
            elif kind == "COMMAND_LONG" and message.command == 512:
                none = [bytes(8)] * 3
                port.say(mavlink.MAVLink_autopilot_version_message(0, VERSION, 0, 0, 0, *none, 0, 0, 0, bytes(18)))
            elif kind == "COMMAND_LONG" and message.command == 42428:
                port.say(mavlink.MAVLink_statustext_message(6, b"ArduCopter, a stand-in"))
            elif kind == "PARAM_REQUEST_LIST":
                port.say(mavlink.MAVLink_param_value_message(b"SYSID_THISMAV", 1, 9, 1, 0))
            elif kind in ("PARAM_REQUEST_READ", "PARAM_SET") and message.param_id in parameters:
                if kind == "PARAM_SET":
                    parameters[message.param_id] = message.param_value
                value = parameters[message.param_id]
                port.say(mavlink.MAVLink_param_value_message(message.param_id.encode(), value, 9, 99, 0))
    if count % 40 == 0:
        for port in ports:
            port.say(mavlink.MAVLink_heartbeat_message(2, 3, 0, 0, 3, 3))
            port.say(mavlink.MAVLink_system_time_message(0, count))
"""
BY_PYMAVLINK = f"""
import time
from pymavlink import mavutil

line = mavutil.mavlink_connection("tcp:127.0.0.1:{5760 + 10 * INSTANCE}")
began, heard = time.monotonic(), []
while time.monotonic() - began < 1.9:
    message = line.recv_match(blocking=True, timeout=0.1)
    if message is None:
        continue
    heard.append((round(time.monotonic(), 6), message.get_type(), message.get_srcSystem()))
    if message.get_type() == "SYSTEM_TIME" and message.time_boot_ms % 3 == 0:
        line.mav.command_long_send(1, 1, 22, 0, 0, 0, 0, 0, 0, 0, 5)
print(heard)
"""
BY_DRONEKIT = f"""
import collections, collections.abc, time
collections.MutableMapping = collections.abc.MutableMapping  # DroneKit is older than Python 3.10
from dronekit import connect

heard = []
vehicle = connect("tcp:127.0.0.1:{5760 + 10 * INSTANCE}", wait_ready=False)

def listen(vehicle, name, message):
    heard.append((round(time.monotonic(), 6), name, message.get_srcSystem()))
    if name == "SYSTEM_TIME" and message.time_boot_ms % 3 == 0:
        vehicle.message_factory.command_long_send(1, 1, 22, 0, 0, 0, 0, 0, 0, 0, 5)
        vehicle.simple_takeoff(5)

vehicle.add_message_listener("*", listen)
while time.monotonic() < 1.9:
    time.sleep(0.07)
print(heard)
vehicle.close()
"""


@pytest.fixture
def made(tmp_path):
    def make(
        folder="run", options="", fault="pass", version=0x04070000, parameters="{}", script=BY_PYMAVLINK, more=None
    ):
        program = tmp_path / "arducopter"
        text = STAND_IN.replace("FAULT", fault).replace("VERSION", str(version)).replace("PARAMETERS", parameters)
        program.write_text(text)
        program.chmod(0o755)
        (tmp_path / "script.py").write_text(script)
        (tmp_path / "scripted.yaml").write_text(SCENARIO.replace("BINARY", str(program)).replace("OPTIONS", options))
        overrides = {**(more or {}), **({} if script else {"members": {}})}
        sim = al.Simulation(load(tmp_path / "scripted.yaml", overrides))
        sim.member_logs = tmp_path / folder
        sim.member_logs.mkdir(exist_ok=True)
        sim.texts = []
        sim.bus.subscribe("/events", lambda topic, m, time_ns: sim.texts.append(m.text))
        return sim

    return make


def needs(library):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"no {library}")


@pytest.mark.parametrize("library", ["pymavlink", "dronekit"])
def test_two_runs_of_a_script_are_equal_to_the_bit(made, tmp_path, library):
    needs(library)
    hashes = []
    for folder in ("first", "second"):
        with made(folder, script=BY_DRONEKIT if library == "dronekit" else BY_PYMAVLINK) as sim:
            sim.run()
            hashes.append(sim.state_hash())
            assert sim.vehicles["drone"].position[2] > 0.5, "it flies"
    one, other = ((tmp_path / folder / "member-script.txt").read_text() for folder in ("first", "second"))
    assert one.count("COMMAND_ACK") > 10
    assert one == other, "what the script heard, and when"
    assert "Traceback" not in one
    assert f", {OURS[0]})" not in one, "what is said on our own line concerns no script"
    assert hashes[0] == hashes[1]


def test_a_script_outlives_its_autopilot_without_end_of_words(made, tmp_path):
    """pymavlink prints a line whenever it reads that the other end has hung up, and asks again at once."""
    needs("pymavlink")
    with made(options="on_failure: continue", fault="if now > 0.5: sys.exit(1)") as sim:
        sim.run()
        assert sim.time == 2.0
        assert [finding.source for finding in sim.verdict.failures] == ["drone"]
    said = (tmp_path / "run/member-script.txt").read_text()
    assert 1 <= said.count("EOF on TCP socket") <= 80, "75 turns"


def by_radio(distance):
    """MAVLink goes by radio, to a station so far away."""
    stations = {"base": {"position": [distance, 0, 2]}}
    return {"radio": {"stations": stations}, "vehicles.drone.autopilot.mavlink": {"radio": "base"}}


def test_by_radio_two_runs_are_equal_to_the_bit_whoever_watches(made, tmp_path):
    needs("pymavlink")
    hashes = []
    for folder in ("first", "second"):
        with made(folder, more=by_radio(30)) as sim:
            if folder == "second":
                sim.bus.subscribe("/drone/imu", lambda *_: None)
            sim.run()
            hashes.append(sim.state_hash())
            assert sim.vehicles["drone"].position[2] > 0.5, "it flies"
            radio = sim.radio
            assert radio["base"].heard > 20
            assert radio["drone"].heard > 10
    one, other = ((tmp_path / folder / "member-script.txt").read_text() for folder in ("first", "second"))
    assert one.count("COMMAND_ACK") > 10
    assert one == other, "what the script heard, and when"
    assert hashes[0] == hashes[1]


def test_out_of_reach_of_the_radio_nothing_is_heard(made, tmp_path):
    needs("pymavlink")
    with made(more=by_radio(3000)) as sim:
        sim.run()
        assert sim.radio["drone"].sent > 20
    assert (tmp_path / "run/member-script.txt").read_text() == "[]\n"


def test_a_way_by_radio_that_is_not_there_is_refused(made):
    for key, value, words in [
        ("radio", None, "the scenario has no radio"),
        ("radio", {"stations": {"basis": {"position": [0, 0, 2]}}}, "no station 'base'; did you mean 'basis'"),
        ("radio.vehicles", "nobody", "drone has no radio there"),
        ("vehicles.drone.autopilot.attach", True, "leave out attach"),
    ]:
        with pytest.raises(ScenarioError, match=words):
            made(more={**by_radio(30), key: value})


def test_a_version_and_parameters_that_are_not_as_expected_are_told(made):
    many = {f"MANY_{k}": k for k in range(40)}
    has = {"FRAME_CLASS": 1, "FRAME_TYPE": 1, "LOG_DISARMED": 1, "WP_SPD": 3.0, "LOG_BITMASK": 1048574, **many}
    has["ATC_RAT_RLL_P"] = 0.135
    given = {"NONSENSE": 1, **many, "WPNAV_SPEED": 300, "LOG_BITMASK": 1048574, "ATC_RAT_RLL_P": 0.25}
    options = f"params: {json.dumps(given)}"
    with made(options=options, version=0x04080100, parameters=str(has), script="") as sim:
        sim.run(until=6)
    assert "ArduPilot is version 4.8.1" in sim.texts
    assert "ArduPilot says: ArduCopter, a stand-in" in sim.texts
    assert [warning.partition(": drone: ")[2] for warning in sim.warnings] == [
        "ArduPilot 4.8.1 was not tried with Airloom, but 4.6 or 4.7: it may differ",
        "ArduPilot has ATC_RAT_RLL_P 0.135, and not 0.25 as the scenario says",
        "ArduPilot 4.8.1 knows no parameter NONSENSE: it is ignored",
    ]


def test_its_last_status_texts_are_told_when_it_dies(made):
    fault = "if now > 1: ports[1].say(mavlink.MAVLink_statustext_message(0, b'PANIC')) if now < 1.5 else sys.exit(1)"
    with made(fault=fault, script="") as sim, pytest.raises(AutopilotError, match=r"(?s)ended with code 1.*PANIC"):
        sim.run()


def test_a_ground_station_on_the_wall_clock_is_served_too(made):
    from pymavlink import mavutil

    with made(script="") as sim:
        sim.run(until=0.2)
        line = mavutil.mavlink_connection(f"tcp:127.0.0.1:{5760 + 10 * INSTANCE}")
        line.mav.command_long_send(1, 1, 22, 0, 0, 0, 0, 0, 0, 0, 5)
        seen, patience = set(), time.monotonic() + 60.0
        while "COMMAND_ACK" not in seen:
            assert time.monotonic() < patience
            sim.run(until=sim.time + 0.1)
            time.sleep(0.01)
            while message := line.recv_match(blocking=False):
                seen.add(message.get_type())
        line.close()
        sim.run(until=sim.time + 0.3)
        again = mavutil.mavlink_connection(f"tcp:127.0.0.1:{5760 + 10 * INSTANCE}")
        sim.run(until=sim.time + 0.3)
        assert again.recv_match(type="HEARTBEAT", blocking=True, timeout=5)
        again.close()


FLIGHT_BY_DRONEKIT = """
import collections, collections.abc, sys, time
collections.MutableMapping = collections.abc.MutableMapping  # DroneKit is older than Python 3.10
from dronekit import LocationGlobalRelative, VehicleMode, connect

vehicle = connect(sys.argv[1], wait_ready=True, timeout=120, heartbeat_timeout=60)
while not vehicle.is_armable:
    time.sleep(1)
vehicle.mode = VehicleMode("GUIDED")
while vehicle.mode.name != "GUIDED":
    time.sleep(0.2)
vehicle.armed = True
while not vehicle.armed:
    time.sleep(0.2)
vehicle.simple_takeoff(10)
while vehicle.location.global_relative_frame.alt < 9.5:
    time.sleep(0.2)
here = vehicle.location.global_relative_frame
vehicle.simple_goto(LocationGlobalRelative(here.lat + 1e-4, here.lon, 10))
time.sleep(10)
vehicle.mode = VehicleMode("LAND")
while vehicle.armed:
    time.sleep(0.5)
print(f"landed at {time.monotonic():.3f} s")
vehicle.close()
"""

FLIGHT_BY_PYMAVLINK = """
import sys, time
from pymavlink import mavutil

line = mavutil.mavlink_connection(sys.argv[1])
line.wait_heartbeat()
line.mav.request_data_stream_send(line.target_system, line.target_component, mavutil.mavlink.MAV_DATA_STREAM_ALL, 10, 1)

def is_accepted(number, *values):
    values = [*values, *[0] * (7 - len(values))]
    line.mav.command_long_send(line.target_system, line.target_component, number, 0, *values)
    while answer := line.recv_match(type="COMMAND_ACK", blocking=True, timeout=3):
        if answer.command == number:
            return answer.result == 0

while not line.recv_match(type="EKF_STATUS_REPORT", blocking=True).flags & mavutil.mavlink.EKF_POS_HORIZ_ABS:
    pass
line.set_mode("GUIDED")
for number, *values in [(400, 1), (22, 0, 0, 0, 0, 0, 0, 8)]:
    while not is_accepted(number, *values):
        time.sleep(1)
while line.recv_match(type="GLOBAL_POSITION_INT", blocking=True).relative_alt < 7500:
    pass
line.mav.set_position_target_local_ned_send(
    0, line.target_system, line.target_component, 1, 0b110111111000, 8, 3, -8, 0, 0, 0, 0, 0, 0, 0, 0)
time.sleep(8)
line.set_mode("LAND")
while line.recv_match(type="HEARTBEAT", blocking=True).base_mode & mavutil.mavlink.MAV_MODE_FLAG_SAFETY_ARMED:
    pass
print(f"landed at {time.monotonic():.3f} s")
"""


@needs_ardupilot
@pytest.mark.parametrize("library", ["pymavlink", "dronekit"])
def test_two_flights_of_a_real_ardupilot_by_a_script_are_equal_to_the_bit(tmp_path, library):
    needs(library)
    (tmp_path / "fly.py").write_text(FLIGHT_BY_DRONEKIT if library == "dronekit" else FLIGHT_BY_PYMAVLINK)
    command = ["python", "-m", "airloom", "exec", str(tmp_path / "fly.py"), f"tcp:127.0.0.1:{5760 + 10 * INSTANCE}"]
    (tmp_path / "by_script.yaml").write_text(
        "extends: ardupilot\nname: by_script\nduration: 100\n"
        f"members: {{station: {{command: {json.dumps(command)}, folder: ., rate: 50}}}}\n"
    )
    hashes, said = [], []
    for name in ("first", "second"):
        with al.Simulation(load(tmp_path / "by_script.yaml", {"vehicles.drone.autopilot.instance": INSTANCE})) as sim:
            sim.member_logs = tmp_path / name
            sim.member_logs.mkdir()
            sim.run()
            hashes.append(sim.state_hash())
            assert sim.vehicles["drone"].position[2] < 0.3, "it is on the ground"
        said.append((tmp_path / name / "member-station.txt").read_text())
    assert re.fullmatch(r"landed at \d+\.\d+ s\n", said[0]), said[0]
    assert said[0] == said[1]
    assert hashes[0] == hashes[1]


def test_an_autopilot_does_not_outlive_a_run_that_is_killed(made, tmp_path):
    made(script="").close()
    program = f"""
import airloom as al
sim = al.Simulation.load({str(tmp_path / "scripted.yaml")!r}, overrides={{"members": {{}}}})
sim.run(until=0.1)
print("flying", flush=True)
sim.run(until=1e6)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=tmp_path) as run:
        assert run.stdout.readline() == b"flying\n"
        assert _running(tmp_path / "arducopter")
        run.kill()
    deadline = time.monotonic() + 30
    while _running(tmp_path / "arducopter"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _running(program):
    found = subprocess.run(["ps", "-ww", "-eo", "pid=,args="], capture_output=True, text=True).stdout
    return [line for line in found.splitlines() if str(program) in line and str(os.getpid()) not in line.split()[:1]]
