"""Boards in the loop, over UDP and over a pseudo-terminal: what they are told, how they turn rotors, how they fly.

Timings of a busy machine are no matter of pass or fail; what is told at which time of the simulation is.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
import tty
from contextlib import contextmanager, suppress
from math import nan
from pathlib import Path

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink
from tests.programs import free_instance

import airloom as al
from airloom.autopilots.transcript import Transcript
from airloom.plugin import _load_module
from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.scenario import library
from airloom.scenario.loader import load

SCENARIO = """
name: boarded
duration: 3
vehicles:
  drone:
    extends: iris
    pose: {position: [0, 0, 0.055]}
    autopilot: {kind: hil, line: "LINE", timeout: 0.3, start_timeout: 1, OPTIONS}
"""
FULL_SPEED = 838.0
INSTANCE = free_instance()
STAND_IN = _load_module(Path(library.__file__).parent / "scenarios/hil/board.py")


def outputs(*shares, stamp=0):
    return mavlink.MAVLink_hil_actuator_controls_message(stamp, [*shares, *[0.0] * (16 - len(shares))], 129, 0)


class Wires:
    """Speaks MAVLink as a board does; answers each HIL_SENSOR by what `reply` gives, messages or bytes."""

    def __init__(self, reply):
        self.reply, self.heard = reply, []
        self._mav = mavlink.MAVLink(None, 1, 1)
        self._mav.robust_parsing = True

    def answer(self, data):
        said = b""
        for message in self._mav.parse_buffer(data) or []:
            self.heard.append(message)
            if message.get_type() == "HIL_SENSOR":
                for part in self.reply(message):
                    said += part if isinstance(part, bytes) else part.pack(self._mav)
        return said

    def told(self, kind):
        return [message for message in self.heard if message.get_type() == kind]


def always(*shares):
    """The same outputs for each reading."""
    return lambda sensor: [outputs(*shares, stamp=sensor.time_usec)]


class UdpLine:
    def __init__(self, wires):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"udp:127.0.0.1:{self._socket.getsockname()[1]}"
        self._wires = wires

    def serve(self):
        """Whether something has come."""
        with suppress(OSError, ValueError):  # it may be closed in the meantime
            if select.select([self._socket], [], [], 0.1)[0]:
                data, there = self._socket.recvfrom(65536)
                if said := self._wires.answer(data):
                    self._socket.sendto(said, there)
                return True
        return False

    def close(self):
        self._socket.close()


class PtyLine:
    """A pseudo-terminal under a path of its own, as a device that is plugged in."""

    def __init__(self, wires, path):
        self._wires, self._path = wires, path
        self.address = f"serial:{path}:921600"
        self.reads = True
        self.plug_in()

    def plug_in(self):
        master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(master, False)
        self._path.symlink_to(os.ttyname(self._slave))
        self._master = master

    def unplug(self):
        master, self._master = self._master, None
        self._path.unlink()
        os.close(master)
        os.close(self._slave)

    def serve(self):
        master = self._master
        if master is None or not self.reads:
            time.sleep(0.01)
            return False
        with suppress(OSError, ValueError):
            if select.select([master], [], [], 0.1)[0]:
                if said := self._wires.answer(os.read(master, 65536)):
                    os.write(master, said)
                return True
        return False

    def close(self):
        if self._master is not None:
            self.unplug()


@contextmanager
def served(line):
    """Somebody at the other end, as long as it lasts, and until all has come that was on its way then."""
    over = threading.Event()

    def serve():
        while line.serve() or not over.is_set():
            pass

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield line
    finally:
        over.set()
        thread.join()
        line.close()


@pytest.fixture
def made(tmp_path):
    def make(line, options="on_failure: continue", **more):
        text = SCENARIO.replace("LINE", line if isinstance(line, str) else line.address).replace("OPTIONS", options)
        (tmp_path / "boarded.yaml").write_text(text)
        return al.Simulation(load(tmp_path / "boarded.yaml", more))

    return make


@pytest.fixture(params=["udp", "serial"])
def line_of(request, tmp_path):
    return UdpLine if request.param == "udp" else lambda wires: PtyLine(wires, tmp_path / "ttyBoard")


def test_each_reading_is_told_once_and_at_its_time(made, line_of):
    wires = Wires(always(0.5, 0.5, 0.5, 0.5))
    with served(line_of(wires)) as line, made(line) as sim:
        began = time.monotonic()
        sim.run()
        assert time.monotonic() - began > 2.9, "it is held to real time without being asked to"
    sensors = wires.told("HIL_SENSOR")
    assert [m.time_usec for m in sensors] == list(range(0, 3_000_001, 2000)), "500 Hz"
    assert [m.time_usec for m in wires.told("HIL_GPS")] == list(range(0, 3_000_001, 200_000)), "5 Hz"
    assert len(wires.told("HEARTBEAT")) == 4
    for bits, period in ((0x03F, 2000), (0x1C0, 10_000), (0x1A00, 20_000)):
        assert all((m.fields_updated & bits == bits) == (m.time_usec % period == 0) for m in sensors)
    report = sim.autopilots.reports()["drone"]
    assert report["told"] == len(sensors)
    assert report["outputs"] > 1000
    assert report["dropped"] == 0
    lateness = report["lateness"]
    assert lateness["frames"] + lateness["gaps"] in (1499, 1500)
    assert 0 <= lateness["mean"] <= lateness["percentile_99"] <= lateness["maximum"]


def test_what_is_told_is_what_the_sensors_read(made):
    wires = Wires(always(0.95, 0.93, 0.94, 0.92))
    with served(UdpLine(wires)) as line, made(line) as sim:
        sim.run(until=1.0)
        read = sim.vehicles["drone"].readings
    sensor, gps = wires.told("HIL_SENSOR")[-1], wires.told("HIL_GPS")[-1]
    assert sensor.time_usec == gps.time_usec == 1_000_000
    flip = np.array([1, -1, -1])  # forward-left-up → forward-right-down
    assert [sensor.xgyro, sensor.ygyro, sensor.zgyro] == pytest.approx(flip * read["imu"][:3], rel=1e-6)
    assert [sensor.xacc, sensor.yacc, sensor.zacc] == pytest.approx(flip * read["imu"][3:], rel=1e-6)
    assert sensor.zacc < -9.9, "it is lifted"
    assert [sensor.xmag, sensor.ymag, sensor.zmag] == pytest.approx(flip * read["magnetometer"] * 1e4, rel=1e-6)
    assert sensor.abs_pressure == pytest.approx(read["barometer"][0] / 100, rel=1e-6)
    assert sensor.temperature == pytest.approx(read["barometer"][1] - 273.15, rel=1e-5)
    latitude, longitude, altitude, east, north, up = read["gnss"]
    assert [gps.lat * 1e-7, gps.lon * 1e-7] == pytest.approx([latitude, longitude], abs=6e-8)
    assert gps.alt * 1e-3 == pytest.approx(altitude, abs=6e-4)
    assert [gps.vn, gps.ve, gps.vd] == pytest.approx([100 * north, 100 * east, -100 * up], abs=0.51)
    assert gps.vd < -50, "it rises"
    assert gps.fix_type == 3


def test_outputs_turn_their_rotors(made, line_of):
    with served(line_of(Wires(always(0.1, 0.2, float("nan"), 1.4)))) as line, made(line, "motors: [4, 3, 2, 1]") as sim:
        sim.run(until=2.0)  # on a busy machine the first outputs come late
        assert sim.vehicles["drone"].rotor_speeds == pytest.approx(
            [FULL_SPEED, 0.0, 0.2 * FULL_SPEED, 0.1 * FULL_SPEED], abs=1.0
        )


def test_two_boards_keep_time_together(made):
    boards = [Wires(always(*[share] * 4)) for share in (0.3, 0.6)]
    with served(UdpLine(boards[0])) as line, served(UdpLine(boards[1])) as other, both(made, line, other) as sim:
        sim.run(until=1.0)
        assert sim.vehicles["drone"].rotor_speeds == pytest.approx([0.3 * FULL_SPEED] * 4, abs=1.0)
        assert sim.vehicles["second"].rotor_speeds == pytest.approx([0.6 * FULL_SPEED] * 4, abs=1.0)
    for board in boards:
        assert [m.time_usec for m in board.told("HIL_SENSOR")] == list(range(0, 1_000_001, 2000))


def both(made, line, other):
    autopilot = {"kind": "hil", "line": other.address}
    second = {"extends": "iris", "pose": {"position": [3, 0, 0.055]}, "autopilot": autopilot}
    return made(line, **{"vehicles.second": second})


def test_the_older_controls_are_inverted_to_rotor_speeds(made):
    def reply(sensor):
        return [mavlink.MAVLink_hil_controls_message(sensor.time_usec, 0.1, -0.2, 0.3, 0.5, 0, 0, 0, 0, 129, 0)]

    with served(UdpLine(Wires(reply))) as line, made(line) as sim:
        sim.run(until=1.0)
        drone = sim.vehicles["drone"]
        thrust, roll, pitch, yaw = drone.airframe.allocation @ (8.54858e-6 * drone.rotor_speeds**2)
    most = 4 * 8.54858e-6 * FULL_SPEED**2
    arm, length = (0.22 + 0.2) / 2, 0.13
    assert thrust == pytest.approx(0.5 * most, rel=0.01)
    assert [roll, pitch] == pytest.approx([0.1 * most / 2 * arm, 0.2 * most / 2 * length], rel=0.02)
    assert yaw == pytest.approx(-0.3 * most / 2 * 0.016, rel=0.02), "to the right is clockwise from above"


def test_a_board_on_a_serial_line_flies_by_the_older_controls(made, tmp_path):
    board = STAND_IN.Board(by_controls=True)
    with served(PtyLine(board, tmp_path / "ttyBoard")) as line, made(line, duration=11) as sim:
        sim.run()
        assert sim.vehicles["drone"].position == pytest.approx([0, 0, STAND_IN.HEIGHT], abs=0.6)


def test_the_bundled_scenario(tmp_path, free_port):
    port = free_port()
    command = [
        sys.executable, "-m", "airloom", "run", "hil", "--headless", "--no-figures", "--out", tmp_path / "run",
        "--set", f"vehicles.drone.autopilot.line=udp:127.0.0.1:{port}",
        "--set", f'members.board.command=[python, board.py, "{port}"]',
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "drone's board: " in done.stdout
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["vehicles"]["drone"]["position"] == pytest.approx([0, STAND_IN.NORTH, STAND_IN.HEIGHT], abs=0.7)
    assert summary["autopilots"]["drone"]["outputs"] > 10_000
    assert summary["autopilots"]["drone"]["lateness"]["frames"] > 10_000
    assert summary["warnings"] == []


def test_what_was_said_is_kept(made, tmp_path):
    with served(UdpLine(Wires(always(0.5, 0.5, 0.5, 0.5)))) as line, made(line, "transcript: true") as sim:
        sim.member_logs = tmp_path
        sim.run(until=0.5)
    said = list(Transcript(tmp_path / "autopilot-drone/transcript.gz"))
    told = [message for message in said if not message.heard]
    assert [message.time for message in told] == pytest.approx(np.arange(251) * 0.002)
    assert mavlink.MAVLink(None).parse_buffer(told[0].data)[0].get_type() == "HIL_SENSOR"
    heard = mavlink.MAVLink(None).parse_buffer(b"".join(message.data for message in said if message.heard))
    assert {message.get_type() for message in heard} == {"HIL_ACTUATOR_CONTROLS"}


def test_the_speed_of_a_run_stays(made, tmp_path):
    run = RecordedRun(made("udp:127.0.0.1:14560"), RunFolder.create("boarded", tmp_path / "run"))
    assert run.speed == 1.0
    run.change_speed(None)
    run.change_speed(1.0)
    with pytest.raises(al.CommandError, match="lives on the wall clock"):
        run.change_speed(2.0)
    assert run.speed == 1.0


def test_another_speed_is_refused(tmp_path):
    command = [sys.executable, "-m", "airloom", "run", "hil", "--headless", "--speed", "2", "--out", tmp_path / "run"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == 2
    assert "lives on the wall clock" in done.stderr
    assert not (tmp_path / "run").exists()


PX4 = os.environ.get("AIRLOOM_PX4") or shutil.which("px4")


@pytest.mark.skipif(PX4 is None, reason="no px4: build PX4's SITL and set AIRLOOM_PX4")
def test_the_flight_code_of_px4_flies_in_real_time(made, tmp_path, free_port):
    """Its program for simulators listens to UDP if it is told so, and then is a board like any other."""
    port, ground = free_port(), ("127.0.0.1", 18570 + INSTANCE)
    shutil.copytree(Path(PX4).parents[1] / "etc", tmp_path / "etc")
    start = tmp_path / "etc/init.d-posix/px4-rc.mavlinksim"
    start.write_text(re.sub(r"(simulator_mavlink start) -c .*", rf"\1 -u {port}", start.read_text()))
    command = [PX4, "-d", "-i", str(INSTANCE), "-w", tmp_path, tmp_path / "etc"]
    variables = {**os.environ, "PX4_SIM_MODEL": "none_iris", "PX4_PARAM_IMU_INTEG_RATE": "250"}
    with (tmp_path / "console.txt").open("wb") as console:
        px4 = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=console, stderr=console)
    try:
        with made(f"udp:127.0.0.1:{port}", "", duration=90) as sim, socket.socket(type=socket.SOCK_DGRAM) as station:
            mav, drone = mavlink.MAVLink(None, 255, 190), sim.vehicles["drone"]
            while sim.time < 85 and drone.position[2] < 4.0:
                sim.run(until=sim.time + 1.0)
                take_off = (22, 0, 0, 0, nan, nan, nan, sim.scenario.world.origin.altitude + 5.0)
                for number, *values in (take_off, (400, 1, 0, 0, 0, 0, 0, 0)) if drone.position[2] < 1.0 else ():
                    order = mavlink.MAVLink_command_long_message(INSTANCE + 1, 1, number, 0, *values)
                    station.sendto(order.pack(mav), ground)
            assert drone.position[2] > 4.0, (tmp_path / "console.txt").read_text()
            assert abs(drone.position[:2]).max() < 2.0
    finally:
        px4.kill()
        px4.wait()
