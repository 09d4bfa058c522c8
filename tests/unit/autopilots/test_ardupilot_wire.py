"""ArduPilot's JSON interface, byte by byte."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from airloom.autopilots import ardupilot_wire as wire
from airloom.autopilots.pulses import Pulse, table_of
from airloom.compiled import rows as row


def packet(frame, outputs=(), magic=wire.MAGIC, channels=16):
    outputs = [*outputs, *[0] * (channels - len(outputs))]
    data = struct.pack(f"<HHI{channels}H", magic, 400, frame, *outputs)
    return np.frombuffer(data.ljust(wire.LONGEST_PACKET, b"\0"), np.uint8), len(data)


def reply(numbers, *told):
    text, ends = wire.literals(wire.reply_template(*(told or (0, (), 0))))
    written = np.zeros(wire.LONGEST_REPLY, np.uint8)
    size = wire.write(text, ends, np.array(numbers), written)
    return written[:size].tobytes().decode()


@settings(deadline=None)
@given(some.lists(some.floats(-1e6, 1e6), min_size=wire.NUMBERS, max_size=wire.NUMBERS))
def test_a_reply_is_a_line_of_json(numbers):
    text = reply(numbers)
    assert text[0] == text[-1] == "\n"
    found = json.loads(text)
    flat = [
        found["timestamp"], *found["imu"]["gyro"], *found["imu"]["accel_body"], *found["position"],
        *found["quaternion"], *found["velocity"], *found["velocity_wind"],
    ]  # fmt: skip
    assert flat == pytest.approx(numbers, abs=6e-10)


def test_the_longest_reply_has_room():
    most = wire.NUMBERS + wire.MOST_CHANNELS + 3 + wire.MOST_RANGES
    battery = ("voltage", "current")
    text = reply([-1e9 + 0.5] * most, wire.MOST_CHANNELS, battery, wire.MOST_RANGES, True)
    found = json.loads(text)
    assert len(text) < wire.LONGEST_REPLY
    assert list(found["rc"]) == [f"rc_{k}" for k in range(1, 13)]
    assert tuple(found["battery"]) == battery
    assert found["airspeed"] == found["rng_6"] == -1e9 + 0.5


def test_what_it_looks_for_stands_before_what_begins_alike():
    text = reply([0.0] * (wire.NUMBERS + 12 + 1 + 6), 12, ("voltage",), 6)
    assert text.index('"velocity"') < text.index('"velocity_wind"')
    assert text.index('"rc_1"') < text.index('"rc_10"')


def test_distances_out_of_range_are_numbers():
    readings = np.array([-np.inf, 3.0, np.inf])
    places = readings.ctypes.data + 8 * np.arange(3)
    numbers = np.zeros(wire.NUMBERS + 3)
    wire.gather_readings(places, np.array([40.0, np.inf, 40.0]), numbers)
    assert numbers[-3:].tolist() == [0.0, 3.0, 80.0]


def test_frames_are_counted():
    assert wire.frame_count(*packet(7), -1) == 7
    assert wire.frame_count(*packet(7), 7) == wire.REPEATED
    assert wire.frame_count(*packet(1), 4000) == 1, "it was started again"
    assert wire.frame_count(*packet(3990), 4000) == wire.OVERTAKEN, "it was overtaken"
    assert wire.frame_count(*packet(0), 2**32 - 1) == 0, "all counts are used up"
    assert wire.frame_count(*packet(2**32 - 1), 0) == wire.OVERTAKEN, "it was overtaken"
    assert wire.frame_count(*packet(2**32 - 1), 500) == 2**32 - 1
    assert wire.frame_count(*packet(7, magic=wire.MAGIC_32, channels=32), -1) == 7


@settings(deadline=None)
@given(some.binary(max_size=wire.LONGEST_PACKET))
def test_anything_else_is_nonsense(data):
    if data[:2] in (struct.pack("<H", wire.MAGIC), struct.pack("<H", wire.MAGIC_32)) and len(data) in (40, 72):
        return
    padded = np.frombuffer(data.ljust(wire.LONGEST_PACKET, b"\0"), np.uint8)
    assert wire.frame_count(padded, len(data), -1) == wire.NONSENSE


def test_a_packet_that_is_cut_is_nonsense():
    data, _ = packet(7)
    assert wire.frame_count(data, 39, -1) == wire.NONSENSE


def test_outputs_turn_rotors():
    lane, rotors = 5, np.zeros(4 * row.ROTOR_WIDTH)
    rotors[row.MAX_SPEED + lane :: row.ROTOR_WIDTH] = [100.0, 100.0, 200.0, 100.0]
    data, _ = packet(1, [1000, 1500, 2000, 2200])
    wire.turn_rotors(data, table_of(Pulse(output, 1000, 2000) for output in (4, 3, 2, 1)), rotors, lane)
    assert rotors[row.TARGET + lane :: row.ROTOR_WIDTH].tolist() == [100.0, 100.0, 100.0, 0.0]
    data, _ = packet(1)
    wire.turn_rotors(data, table_of(Pulse(output, 1000, 2000) for output in (1, 2, 3, 4)), rotors, lane)
    assert rotors[row.TARGET + lane :: row.ROTOR_WIDTH].tolist() == [0, 0, 0, 0], "no output yet"
