"""ArduPilot's JSON interface, byte by byte."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from airloom.autopilots import ardupilot_wire as wire
from airloom.physics.rows import MAX_SPEED, ROTOR_WIDTH, TARGET

TEXT, ENDS = wire.literals(wire.TEMPLATE + "}\n")


def packet(frame, outputs=(), magic=wire.MAGIC, channels=16):
    outputs = [*outputs, *[0] * (channels - len(outputs))]
    data = struct.pack(f"<HHI{channels}H", magic, 400, frame, *outputs)
    return np.frombuffer(data.ljust(wire.LONGEST_PACKET, b"\0"), np.uint8), len(data)


@settings(deadline=None)
@given(some.lists(some.floats(-1e6, 1e6), min_size=wire.NUMBERS, max_size=wire.NUMBERS))
def test_a_reply_is_a_line_of_json(numbers):
    reply = np.zeros(wire.LONGEST_REPLY, np.uint8)
    size = wire.write(TEXT, ENDS, np.array(numbers), reply)
    text = reply[:size].tobytes().decode()
    assert text[0] == text[-1] == "\n"
    found = json.loads(text)
    flat = [
        found["timestamp"], *found["imu"]["gyro"], *found["imu"]["accel_body"], *found["position"],
        *found["quaternion"], *found["velocity"],
    ]  # fmt: skip
    assert flat == pytest.approx(numbers, abs=6e-10)


def test_frames_are_counted():
    assert wire.frame_count(*packet(7), -1) == 7
    assert wire.frame_count(*packet(7), 7) == wire.REPEATED
    assert wire.frame_count(*packet(1), 4000) == 1, "it was started again"
    assert wire.frame_count(*packet(2**32 - 1), 5) == 2**32 - 1
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
    lane, rotors = 5, np.zeros(4 * ROTOR_WIDTH)
    rotors[MAX_SPEED + lane :: ROTOR_WIDTH] = [100.0, 100.0, 200.0, 100.0]
    data, _ = packet(1, [1000, 1500, 2000, 2200])
    wire.turn_rotors(data, np.array([3, 2, 1, 0]), 1000, 2000, rotors, lane)
    assert rotors[TARGET + lane :: ROTOR_WIDTH].tolist() == [100.0, 100.0, 100.0, 0.0]
    data, _ = packet(1)
    wire.turn_rotors(data, np.array([0, 1, 2, 3]), 1000, 2000, rotors, lane)
    assert rotors[TARGET + lane :: ROTOR_WIDTH].tolist() == [0, 0, 0, 0], "no output yet"
