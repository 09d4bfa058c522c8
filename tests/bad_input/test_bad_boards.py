"""Boards in the loop that are silent, talk nonsense, are unplugged, do not read, or are not there at all."""

from __future__ import annotations

import os
import socket
import time
from contextlib import contextmanager

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink
from tests.integration.test_hil import FULL_SPEED, PtyLine, UdpLine, Wires, always, line_of, made, outputs, served

from airloom.autopilots.autopilot import AutopilotError
from airloom.scenario import ScenarioError

pytestmark = pytest.mark.slow

__all__ = ["line_of", "made"]
GOOD = (0.9, 0.9, 0.9, 0.9)
PATIENT = {f"vehicles.drone.autopilot.{name}": 60 for name in ("timeout", "start_timeout")}
"""For what has nothing to do with silence: on a busy machine the board may be late by itself."""


def speeds(sim):
    return sim.vehicles["drone"].rotor_speeds / FULL_SPEED


def test_a_board_that_falls_silent_stops_its_rotors_until_it_speaks_again(made, line_of):
    wires = Wires(always(*GOOD))
    with served(line_of(wires)) as line, made(line) as sim:
        _fly_until_speeds_are(sim, GOOD)
        wires.reply = lambda sensor: []
        _fly_until_speeds_are(sim, [0.0] * 4)
        assert [w for w in sim.warnings if "the board has said nothing for 0.3" in w]
        sim.run(until=sim.time + 0.5)
        wires.reply = always(*GOOD)
        _fly_until_speeds_are(sim, GOOD)
    report = sim.autopilots.reports()["drone"]
    assert report["silences"] >= 1, "on a busy machine the board may be late by itself"
    assert report["losses"] == 0
    assert report["longest_silence"] > 0.8


def _fly_until_speeds_are(sim, wanted):
    end = sim.time + 30
    while speeds(sim) != pytest.approx(np.array(wanted), abs=0.01):
        assert sim.time < end, speeds(sim)
        sim.run(until=sim.time + 0.1)


def test_or_ends_the_run(made):
    wires = Wires(lambda sensor: [outputs(*GOOD, stamp=sensor.time_usec)] if sensor.time_usec < 1e6 else [])
    first = {"vehicles.drone.autopilot.start_timeout": 60}
    with served(UdpLine(wires)) as line, made(line, "on_failure: stop", **first) as sim:
        with pytest.raises(AutopilotError, match=r"the autopilot of drone has said nothing for 0\.3"):
            sim.run()
        assert 0.3 < sim.time < 3.0, "1.3 s, unless the board is late by itself"


@pytest.mark.parametrize(
    ("reply", "hint"),
    [
        (lambda sensor: [], "nothing for 1 s; its rotors stand still"),
        (lambda sensor: [os.urandom(40)], "bytes come, but no MAVLink: is the baud rate right"),
        (lambda sensor: [mavlink.MAVLink_heartbeat_message(2, 12, 0, 0, 4, 3)], "speaks MAVLink: is HIL switched on"),
    ],
    ids=["nothing", "garbage, as by a wrong baud rate", "no outputs"],
)
def test_what_a_silent_board_may_lack_is_said(made, line_of, reply, hint):
    with served(line_of(Wires(reply))) as line, made(line) as sim:
        sim.run(until=1.5)
        assert len(sim.warnings) == 1
        assert hint in sim.warnings[0]
        sim.autopilots.conclude()
        (finding,) = sim.verdict.failures
        assert str(finding) == "1.500 s: drone: the board was silent when the run ended"


def packed(message):
    return message.pack(mavlink.MAVLink(None, 1, 1))


def corrupted(sensor):
    data = bytearray(packed(outputs(0.1, stamp=sensor.time_usec + 1)))
    data[30] ^= 0x55
    return bytes(data)


BAD = {
    "corrupted": corrupted,
    "truncated": lambda sensor: packed(outputs(0.1, stamp=sensor.time_usec + 1))[:-9],
    "replayed": lambda sensor: packed(outputs(0.1, stamp=sensor.time_usec)),
    "out of order": lambda sensor: packed(outputs(0.1, stamp=max(sensor.time_usec - 4000, 1))),
    "unknown": lambda sensor: b"\xfd\x05\x00\x00\x01\x01\x01\xff\xff\xff12345ab",
}


@pytest.mark.parametrize("kind", BAD)
def test_messages_that_do_not_count(made, line_of, kind):
    def reply(sensor):
        return [outputs(*GOOD, stamp=sensor.time_usec), BAD[kind](sensor)]

    with served(line_of(Wires(reply))) as line, made(line, **PATIENT) as sim:
        _fly_until_speeds_are(sim, GOOD)
        sim.run(until=sim.time + 0.2)
        assert speeds(sim) == pytest.approx(GOOD, abs=0.01)
        assert sim.warnings == []


def test_a_board_that_starts_again(made):
    """Its own clock goes back to the beginning."""
    wires = Wires(lambda sensor: [outputs(0.5, 0.5, 0.5, 0.5, stamp=10**9 + sensor.time_usec)])
    with served(UdpLine(wires)) as line, made(line, **PATIENT) as sim:
        _fly_until_speeds_are(sim, [0.5] * 4)
        wires.reply = always(*GOOD)
        _fly_until_speeds_are(sim, GOOD)


def test_a_board_that_is_unplugged_and_comes_back(made, tmp_path):
    wires = Wires(always(*GOOD))
    with served(PtyLine(wires, tmp_path / "ttyBoard")) as line, made(line) as sim:
        _fly_until_speeds_are(sim, GOOD)
        line.unplug()
        _fly_until_speeds_are(sim, np.zeros(4))
        line.plug_in()
        _fly_until_speeds_are(sim, GOOD)
        told = "\n".join(sim.warnings)
        assert "has said nothing" in told[told.index("the board is unplugged") :]
        assert told.count("the board is unplugged") == 1
    assert sim.autopilots.reports()["drone"]["losses"] == 1


def test_a_udp_board_that_goes_away_and_comes_back(made):
    wires = Wires(always(*GOOD))
    with served(UdpLine(wires)) as line, made(line) as sim:
        sim.run(until=0.5)
        port = int(line.address.rpartition(":")[2])
        line.close()
        sim.run(until=1.5)
        assert speeds(sim) == pytest.approx(np.zeros(4), abs=0.01)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as again:
            again.bind(("127.0.0.1", port))
            sim.run(until=1.6)
            _, there = again.recvfrom(2048)
            again.sendto(packed(outputs(*GOOD)), there)
            sim.run(until=1.75)
        assert speeds(sim) == pytest.approx(GOOD, abs=0.01)


def test_strangers_are_not_heard(made, free_port):
    port = free_port()
    wires = Wires(always(*GOOD))
    with served(UdpLine(wires)) as line, made(line, f"own_port: {port}", **PATIENT) as sim:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            _fly_until_speeds_are(sim, GOOD)
            wires.reply = lambda sensor: []
            sim.run(until=sim.time + 0.2)
            stranger.sendto(packed(outputs(0.1, 0.1, 0.1, 0.1, stamp=10**9)), ("127.0.0.1", port))
            sim.run(until=sim.time + 0.2)
        assert speeds(sim) == pytest.approx(GOOD, abs=0.01)


def test_a_board_that_does_not_read_holds_up_nothing(made, tmp_path):
    with served(PtyLine(Wires(always(*GOOD)), tmp_path / "ttyBoard")) as line, made(line) as sim:
        line.reads = False
        sim.run(until=1.0)
        report = sim.autopilots.reports()["drone"]
        assert report["told"] == 501
        assert 100 < report["dropped"] < 500
        line.reads = True
        _fly_until_speeds_are(sim, GOOD)  # half a message in between is passed over


def test_a_board_that_floods_the_line_holds_up_nothing(made):
    def reply(sensor):
        flood = packed(outputs(0.1, stamp=max(sensor.time_usec - 1, 1))) * 400
        return [outputs(*GOOD, stamp=sensor.time_usec), flood]

    with served(UdpLine(Wires(reply))) as line, made(line, **PATIENT) as sim:
        _fly_until_speeds_are(sim, GOOD)
        sim.run(until=sim.time + 0.5)
        assert speeds(sim) == pytest.approx(GOOD, abs=0.01)


def test_after_a_pause_no_burst_makes_up_for_it(made):
    with served(UdpLine(Wires(always(*GOOD)))) as line, made(line, **PATIENT) as sim:
        sim.run(until=0.5)
        gaps = sim.autopilots.reports()["drone"]["lateness"]["gaps"]
        time.sleep(0.5)
        began = time.monotonic()
        sim.run(until=1.0)
        assert time.monotonic() - began > 0.45
        assert sim.autopilots.reports()["drone"]["lateness"]["gaps"] > gaps
        assert sim.warnings == []


def complaint_of(sim):
    with sim, pytest.raises(AutopilotError) as raised:
        sim.run()
    return str(raised.value)


def test_a_device_that_is_missing(made, tmp_path):
    complaint = complaint_of(made(f"serial:{tmp_path}/ttyACM0:921600"))
    assert "the autopilot of drone cannot be reached" in complaint
    assert "is the board plugged in? Serial devices here: " in complaint


def test_a_file_that_is_no_device(made, tmp_path):
    (tmp_path / "file").touch()
    assert "file is no serial device" in complaint_of(made(f"serial:{tmp_path}/file:921600"))


@contextmanager
def without_privileges():
    """Root may do everything."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.mark.parametrize(
    ("mode", "advice"), [(0o000, "no permission; join the group that owns"), (0o666, "in use by another program")]
)
def test_a_device_that_is_not_ours(made, tmp_path, mode, advice):
    with served(PtyLine(Wires(always(*GOOD)), tmp_path / "ttyBoard")) as line, made(line) as first:
        if mode:
            first.run(until=0.1)
        sim = made(f"serial:{(tmp_path / 'ttyBoard').resolve()}:921600")
        os.chmod(tmp_path / "ttyBoard", mode)
        with without_privileges():
            assert advice in complaint_of(sim)


def test_a_port_in_use(made, free_port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("", port := free_port()))
        complaint = complaint_of(made("udp:127.0.0.1:14560", f"own_port: {port}"))
    assert f"UDP port {port}: Address already in use; `own_port` chooses another" in complaint


def test_a_host_that_is_not_known(made):
    assert "cannot be reached: no.such.host.invalid: " in complaint_of(made("udp:no.such.host.invalid:14560"))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("tcp:127.0.0.1:5760", "a line is udp:HOST:PORT"),
        ("serial:/dev/ttyACM0", "a line is udp:HOST:PORT"),
        ("udp:127.0.0.1:70000", "a UDP port is a number from 1 to 65535"),
        ("serial:/dev/ttyACM0:12345", "no serial line has 12345 baud: .*57600, 115200"),
    ],
)
def test_lines_that_are_none(made, line, complaint):
    with pytest.raises(ScenarioError, match=complaint):
        made(line)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [("rate: 1000", "must be at most 500"), ("rate: 300", "300 Hz does not fit the step")],
)
def test_rates_that_do_not_fit(made, options, complaint):
    with pytest.raises(ScenarioError, match=complaint):
        made("udp:127.0.0.1:14560", options)


def test_a_motor_that_is_missing(made):
    assert "each of 1 to 4 once" in complaint_of(made("udp:127.0.0.1:14560", "motors: [1, 2, 3, 3]"))
