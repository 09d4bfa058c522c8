"""MAVLink frames, both ways against pymavlink."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from pymavlink.dialects.v10 import common as version_1
from pymavlink.dialects.v20 import common as version_2

from airloom.autopilots import mavlink_wire as wire

NAMES = (
    "HEARTBEAT", "PARAM_SET", "COMMAND_LONG", "HIL_CONTROLS", "HIL_ACTUATOR_CONTROLS", "HIL_SENSOR", "HIL_GPS",
    "HIL_STATE_QUATERNION", "DISTANCE_SENSOR",
)  # fmt: skip
LIMITS = {
    "B": (0, 255), "H": (0, 2**16 - 1), "I": (0, 2**32 - 1), "Q": (0, 2**53), "h": (-(2**15), 2**15 - 1),
    "i": (-(2**31), 2**31 - 1),
}  # fmt: skip
NUMBERS = {letter: some.just(0) | some.integers(*limits) for letter, limits in LIMITS.items()}
NUMBERS["f"] = some.floats(width=32, allow_nan=False)
ACTUATORS = ("HIL_ACTUATOR_CONTROLS", [4000, 1, *[0.25] * 16, 129])


def fields_of(name):
    return getattr(wire, f"{name}_FIELDS")


@some.composite
def messages(draw):
    name = draw(some.sampled_from(NAMES))
    return name, [draw(NUMBERS[wire.TYPES[kind]]) for kind in fields_of(name)]


def by_pymavlink(name, values, speaker=(1, 1, 0), dialect=version_2):
    kind, rest, found = dialect.mavlink_map[getattr(wire, name)], list(values), {}
    for key, length in zip(kind.ordered_fieldnames, kind.array_lengths, strict=True):
        taken, rest = rest[: length or 1], rest[length or 1 :]
        found[key] = bytes(taken) if key == "param_id" else taken if length else taken[0]
    line = dialect.MAVLink(None, *speaker[:2])
    line.seq = speaker[2]
    return bytes(kind(*[found[key] for key in kind.fieldnames]).pack(line))


def by_us(name, values, speaker=(1, 1, 0)):
    data = np.zeros(wire.LONGEST_FRAME, np.uint8)
    end = wire.write(np.array(speaker), getattr(wire, name), fields_of(name), np.array(values, float), data, 0)
    return data[:end].tobytes()


def frames_in(data):
    """[(message, values)] of all frames that our parser finds, and how much of the data it is done with."""
    data, found, first, frames = np.frombuffer(data, np.uint8), np.zeros(wire.FOUND, np.int64), 0, []
    while wire.find(data, first, data.size, found):
        name = version_2.mavlink_map[found[wire.NUMBER]].msgname
        values = np.zeros(fields_of(name).size)
        wire.read(data, found, fields_of(name), values)
        frames.append((name, values.tolist()))
        first = found[wire.NEXT]
    return frames, found[wire.NEXT]


def test_checksums_end_as_the_common_set_says():
    common = {number: kind.crc_extra for number, kind in version_2.mavlink_map.items()}
    assert wire.EXTRA.tolist() == [common.get(number, 0) for number in range(256)]


@settings(deadline=None)
@given(messages(), some.tuples(*[some.integers(0, 255)] * 3))
def test_we_write_what_pymavlink_writes(message, speaker):
    assert by_us(*message, speaker) == by_pymavlink(*message, speaker)


@settings(deadline=None)
@given(messages())
def test_we_read_what_pymavlink_writes(message):
    frames, done = frames_in(data := by_pymavlink(*message))
    assert frames == [message]
    assert done == len(data)


@settings(deadline=None)
@given(messages())
def test_and_its_first_version_which_ends_before_the_extensions(message):
    name, values = message
    known = sum(length or 1 for length in version_1.mavlink_map[getattr(wire, name)].array_lengths)
    data = by_pymavlink(name, values, dialect=version_1)
    assert data[0] == wire.START_1
    assert frames_in(data)[0] == [(name, values[:known] + [0.0] * (len(values) - known))]


@pytest.mark.slow
@settings(deadline=None)
@given(some.lists(messages(), min_size=1, max_size=5), some.data())
def test_frames_come_through_any_cut(sent, some_data):
    stream = b"".join(by_pymavlink(*message) for message in sent)
    cuts = sorted(some_data.draw(some.lists(some.integers(0, len(stream)), max_size=6)))
    kept, heard = b"", []
    for first, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        frames, done = frames_in(kept + stream[first:end])
        kept = (kept + stream[first:end])[done:]
        heard += frames
    assert heard == sent
    assert kept == b""


STARTS = some.sampled_from([wire.START_1, wire.START_2]).map(lambda byte: bytes([byte]))


@settings(deadline=None)
@given(some.lists(some.binary(max_size=40) | STARTS, min_size=4, max_size=4))
def test_garbage_hides_no_frame(garbage):
    frames = [by_pymavlink("HEARTBEAT", [7, 2, 12, 81, 3, 3]), by_pymavlink(*ACTUATORS), by_pymavlink(*ACTUATORS)]
    stream = garbage[0] + b"".join(frame + rubbish for frame, rubbish in zip(frames, garbage[1:], strict=True))
    assert [name for name, _ in frames_in(stream)[0]] == ["HEARTBEAT", ACTUATORS[0], ACTUATORS[0]]


@settings(deadline=None)
@given(some.integers(0, 10_000), some.integers(1, 255))
def test_a_corrupted_frame_is_passed_over_and_the_next_is_found(place, change):
    bad, good = bytearray(by_pymavlink(*ACTUATORS)), by_pymavlink("HEARTBEAT", [7, 2, 12, 81, 3, 3])
    bad[place % len(bad)] ^= change
    assert [name for name, _ in frames_in(bytes(bad) + good)[0]] == ["HEARTBEAT"]


@pytest.mark.parametrize("kept", [1, 5, 9, 40, 92])
def test_a_frame_that_was_cut_is_passed_over(kept):
    frame = by_pymavlink(*ACTUATORS)
    assert frames_in(frame[:kept] + frame)[0] == [ACTUATORS]
    assert frames_in(frame[:kept]) == ([], 0), "the rest may still come"


def test_signed_frames_are_read():
    line = version_2.MAVLink(None, 1, 1)
    line.signing.secret_key, line.signing.link_id, line.signing.timestamp = b"k" * 32, 3, 1_000
    line.signing.sign_outgoing = True
    kind = version_2.mavlink_map[wire.HIL_ACTUATOR_CONTROLS]
    data = bytes(kind(4000, [0.25] * 16, 129, 1).pack(line))
    assert data[2] == wire.SIGNED
    assert frames_in(data + data) == ([ACTUATORS, ACTUATORS], 2 * len(data))


def test_frames_of_unknown_messages_and_of_unknown_features_are_passed_over():
    odometry = version_2.MAVLink_odometry_message(0, 0, 0, 1, 2, 3, [1, 0, 0, 0], 0, 0, 0, 0, 0, 0, [0] * 21, [0] * 21)
    assert odometry.id > 255
    strange = bytearray(by_pymavlink(*ACTUATORS))
    strange[2] |= 2
    stream = bytes(odometry.pack(version_2.MAVLink(None, 1, 1))) + bytes(strange) + by_pymavlink(*ACTUATORS)
    assert frames_in(stream)[0] == [ACTUATORS]


def test_what_does_not_fit_becomes_the_limit():
    far = by_us("HIL_GPS", [1, 3e9, -3e9, 0, 1e6, -5, 0, 4e4, -4e4, 0.4, 0.6, 3, 300, 0, 0])
    assert frames_in(far)[0][0][1] == [
        1, 2**31 - 1, -(2**31), 0, 65535, 0, 0, 32767, -32768, 0, 1, 3, 255, 0, 0
    ]  # fmt: skip
