"""MAVLink, byte by byte and compiled: messages of numbers become frames, and frames are found in what comes.

A message is its number and the types of its fields in the order of the wire; its values are plain numbers, and a
text is a number for each of its bytes. Frames are written in version 2 and understood in both.
"""

from __future__ import annotations

from math import floor

import numpy as np

from airloom.compiled import compiled

TYPES = "BHIQhif"
"""Those of fields, with the letters of `struct`."""
SIZES = np.array([1, 2, 4, 8, 2, 4, 4])
LOWEST = np.array([0.0, 0.0, 0.0, 0.0, -(2.0**15), -(2.0**31), 0.0])
HIGHEST = np.array([2.0**8 - 1, 2.0**16 - 1, 2.0**32 - 1, 2.0**53, 2.0**15 - 1, 2.0**31 - 1, 0.0])
SHORT, INT, FLOAT = map(TYPES.index, "hif")


def _fields(types: str) -> np.ndarray:
    return np.array([TYPES.index(letter) for letter in types])


HEARTBEAT, HEARTBEAT_FIELDS = 0, _fields("IBBBBB")
PARAM_REQUEST_READ, PARAM_REQUEST_READ_FIELDS = 20, _fields("hBB" + 16 * "B")
PARAM_VALUE, PARAM_VALUE_FIELDS = 22, _fields("fHH" + 16 * "B" + "B")
PARAM_SET, PARAM_SET_FIELDS = 23, _fields("fBB" + 16 * "B" + "B")
COMMAND_LONG, COMMAND_LONG_FIELDS = 76, _fields("fffffffHBBB")
HIL_CONTROLS, HIL_CONTROLS_FIELDS = 91, _fields("QffffffffBB")
HIL_ACTUATOR_CONTROLS, HIL_ACTUATOR_CONTROLS_FIELDS = 93, _fields("QQ" + 16 * "f" + "B")
HIL_SENSOR, HIL_SENSOR_FIELDS = 107, _fields("Q" + 13 * "f" + "IB")
HIL_GPS, HIL_GPS_FIELDS = 113, _fields("QiiiHHHhhhHBBBH")
HIL_STATE_QUATERNION, HIL_STATE_QUATERNION_FIELDS = 115, _fields("QfffffffiiihhhHHhhh")
DISTANCE_SENSOR, DISTANCE_SENSOR_FIELDS = 132, _fields("IHHHBBBBffffffB")
BATTERY_STATUS, BATTERY_STATUS_FIELDS = 147, _fields("iih" + 10 * "H" + "hBBBB")
AUTOPILOT_VERSION, AUTOPILOT_VERSION_FIELDS = 148, _fields("QQIIIIHH" + 42 * "B")
STATUSTEXT, STATUSTEXT_FIELDS = 253, _fields("B" + 50 * "B" + "HB")

EXTRA = np.frombuffer(
    bytes.fromhex(
        "327c8900edd96877000000590000000000000000d69fdca81817aa90437327f6b968edf4ded409fee61c1c84dde80b9929274ec400000f03"
        "0000000000a7b777bf76941500f37c000026149e988f0000006a31168f8c059600e7b73f362f000000000000af669ed0385d8a6c20b95422"
        "ae7ced044c80387486edcbfa57cbdc19e22e1ddf5506e5cb01c36da8b52f48837f00679ab2c8000000000000000000000000bd0000000000"
        "000000000000000000000000000000000000000000000000240000000000000000000000000000000000000000000000000000000000000000"
        "d000000000a369972396b300000000005a68555f82b85108cc31aa2c532e00"
    ),
    np.uint8,
)
"""What the checksum of each message of the common set has at its end; 0 for those unknown, which are passed over."""

START_1, START_2 = 0xFE, 0xFD
HEAD_1, HEAD_2 = 6, 10
CHECKSUM, SIGNATURE = 2, 13
SIGNED = 1
LONGEST_FRAME = HEAD_2 + 255 + CHECKSUM + SIGNATURE

# Who speaks: system, component, and the count of frames so far.
SYSTEM, COMPONENT, SEQUENCE, SPEAKER = range(4)
# A frame that was found: its message, where its payload begins and how long it is, who sent it, and where the next may
# begin.
NUMBER, PAYLOAD, LENGTH, FROM_SYSTEM, FROM_COMPONENT, NEXT, FOUND = range(7)


@compiled
def checksum(data, first, end, extra):
    """CRC-16/MCRF4XX, the X.25 sum of MAVLink."""
    crc = np.uint32(0xFFFF)
    for i in range(first, end + 1):
        byte = np.uint32(data[i]) if i < end else np.uint32(extra)
        mixed = byte ^ (crc & np.uint32(0xFF))
        mixed = (mixed ^ (mixed << np.uint32(4))) & np.uint32(0xFF)
        crc = (crc >> np.uint32(8)) ^ (mixed << np.uint32(8)) ^ (mixed << np.uint32(3)) ^ (mixed >> np.uint32(4))
    return np.int64(crc)


@compiled
def _nearest(x):
    """The nearest whole number; above 2⁵² adding a half would make another one."""
    below = floor(x)
    return np.int64(below) + (1 if x - below >= 0.5 else 0)


@compiled
def write(speaker, number, fields, values, data, at):
    """A message as a frame in `data` from `at` on; gives where it ends. What does not fit a field becomes its limit."""
    end = at + HEAD_2
    for k in range(fields.size):
        kind = fields[k]
        if kind == FLOAT:
            bits = np.int64(np.float32(values[k]).view(np.uint32))
        else:
            bits = _nearest(min(max(values[k], LOWEST[kind]), HIGHEST[kind]))
        for i in range(SIZES[kind]):
            data[end + i] = (bits >> (8 * i)) & 0xFF
        end += SIZES[kind]
    while end > at + HEAD_2 + 1 and data[end - 1] == 0:
        end -= 1
    data[at], data[at + 1], data[at + 2], data[at + 3] = START_2, end - at - HEAD_2, 0, 0
    data[at + 4], data[at + 5], data[at + 6] = speaker[SEQUENCE] & 0xFF, speaker[SYSTEM], speaker[COMPONENT]
    data[at + 7], data[at + 8], data[at + 9] = number & 0xFF, (number >> 8) & 0xFF, number >> 16
    speaker[SEQUENCE] += 1
    crc = checksum(data, at + 1, end, EXTRA[number])
    data[end], data[end + 1] = crc & 0xFF, crc >> 8
    return end + CHECKSUM


@compiled
def find(data, first, end, found):
    """Whether there is a whole frame in data[first:end], told in `found`; if not, NEXT is where one may have begun.

    Whatever is no frame with the right checksum is searched byte by byte, so that garbage never hides what follows it,
    even if it looks like the beginning of a frame that is still on its way.
    """
    unfinished = end
    for at in range(first, end):
        if data[at] != START_1 and data[at] != START_2:
            continue
        size = _size(data, at, end)
        if size < 0 or at + size > end:
            unfinished = min(unfinished, at)
        elif size > 0 and _is_sound(data, at, found):
            found[NEXT] = at + size
            return True
    found[NEXT] = unfinished
    return False


@compiled
def _size(data, at, end):
    """Of the frame that begins here: 0 if it is none, −1 if too little has come to tell."""
    head = HEAD_1 if data[at] == START_1 else HEAD_2
    if at + head > end:
        return -1
    size = head + np.int64(data[at + 1]) + CHECKSUM
    if head == HEAD_2:
        if data[at + 2] & ~SIGNED:
            return 0
        if data[at + 2] & SIGNED:
            size += SIGNATURE
    return size


@compiled
def _is_sound(data, at, found):
    if data[at] == START_1:
        head, number = HEAD_1, np.int64(data[at + 5])
        found[FROM_SYSTEM], found[FROM_COMPONENT] = data[at + 3], data[at + 4]
    else:
        head = HEAD_2
        number = np.int64(data[at + 7]) | np.int64(data[at + 8]) << 8 | np.int64(data[at + 9]) << 16
        found[FROM_SYSTEM], found[FROM_COMPONENT] = data[at + 5], data[at + 6]
    if number >= EXTRA.size or EXTRA[number] == 0:
        return False
    found[NUMBER], found[PAYLOAD], found[LENGTH] = number, at + head, data[at + 1]
    tail = at + head + found[LENGTH]
    crc = checksum(data, at + 1, tail, EXTRA[number])
    return data[tail] == crc & 0xFF and data[tail + 1] == crc >> 8


@compiled
def read(data, found, fields, values):
    """The values of a frame that was found; bytes that it left out are zeros."""
    at, end = found[PAYLOAD], found[PAYLOAD] + found[LENGTH]
    for k in range(fields.size):
        kind = fields[k]
        bits = np.int64(0)
        for i in range(SIZES[kind]):
            if at + i < end:
                bits |= np.int64(data[at + i]) << (8 * i)
        if kind == FLOAT:
            values[k] = np.uint32(bits).view(np.float32)
        elif kind == SHORT:
            values[k] = np.uint16(bits).view(np.int16)
        elif kind == INT:
            values[k] = np.uint32(bits).view(np.int32)
        else:
            values[k] = np.uint64(bits)
        at += SIZES[kind]


@compiled
def keep_unread(data, first, end):
    """Bring what no frame was found in to the front, where the rest of it will follow; gives how much that is."""
    for k in range(end - first):
        data[k] = data[first + k]
    return end - first
