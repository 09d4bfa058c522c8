"""ArduPilot's JSON interface, byte by byte and compiled: what the simulator says to it, and what it answers.

ArduPilot sends a datagram of servo outputs, the simulator replies with the state of the vehicle as a line of JSON, and
ArduPilot's time moves on to the timestamp in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from airloom.autopilots.axes import frd_from_flu, ned_frd_from_enu_flu, ned_from_enu
from airloom.autopilots.transcript import HEARD, TOLD, note
from airloom.basics.clock import NS_PER_SECOND
from airloom.compiled import bytes_at, compiled, integers_at, numbers_at
from airloom.compiled import rows as row
from airloom.compiled.libc import NO_SIGNAL, recv, send
from airloom.engines.lockstep import FILE, OWN, RESULT, STEP_NS, TICKS, frame_kernel

MAGIC, MAGIC_32 = 18458, 29569
"""With 16 and with 32 outputs."""
LONGEST_PACKET = 8 + 2 * 32
LONGEST_REPLY = 2048
DECIMALS, SCALE = 9, 1e9
FIRST_OUTPUT = 8  # byte of a packet: after magic u16, frame rate u16, frame count u32

FAR_BEHIND = 100  # frames: a count that lies less behind is that of a datagram that others have overtaken
COUNTS = 1 << 32

NOT_HEARD, REPEATED, NONSENSE, OVERTAKEN = -1, -2, -3, -4
"""Results of hearing instead of a frame count."""

# Columns of the wire: the reply and its size, the packet and the last frame count, the template's pieces and numbers,
# what pulses mean to rotors and to servos, and the sensors that are told as a number: addresses of their readings, and
# how far they see.
(
    REPLY, SIZE, PACKET, LAST_FRAME, LITERALS, ENDS, PIECES, NUMBERS_OF, COUNT, ROTOR_PULSES, ROTORS, SERVO_PULSES,
    SERVOS, READINGS, FARTHEST, READING_COUNT,
) = range(OWN, OWN + 16)  # fmt: skip
OUTPUT, REST, FULL, LEAST, PULSE = range(5)
"""Columns of a pulse, see `pulses.Pulse`, and their number."""

NUMBERS = 20
MOST_CHANNELS, MOST_RANGES = 12, 6
TEMPLATE = (
    '\n{"timestamp":#,"imu":{"gyro":[#,#,#],"accel_body":[#,#,#]},"position":[#,#,#],"quaternion":[#,#,#,#],'
    '"velocity":[#,#,#],"velocity_wind":[#,#,#]'
)
"""A number for each #. ArduPilot looks for a word, not for a key: one that begins like another comes after it."""


def reply_template(channels: int, battery: Sequence[str], ranges: int, airspeed: bool = False) -> str:
    """What every vehicle tells, and what else this one does: of its battery what is named."""
    parts = [TEMPLATE]
    if channels:
        parts.append('"rc":{' + ",".join(f'"rc_{k + 1}":#' for k in range(channels)) + "}")
    if battery:
        parts.append('"battery":{' + ",".join(f'"{name}":#' for name in battery) + "}")
    if airspeed:
        parts.append('"airspeed":#')
    parts += [f'"rng_{k + 1}":#' for k in range(ranges)]
    return ",".join(parts) + "}\n"


def literals(template: str) -> tuple[np.ndarray, np.ndarray]:
    """The text between the numbers, and where each piece of it ends."""
    pieces = [piece.encode() for piece in template.split("#")]
    return np.frombuffer(b"".join(pieces), np.uint8), np.cumsum([len(piece) for piece in pieces])


@frame_kernel
def tell(w, rotors, i, tick, wire):
    """The timestamp begins with a frame instead of 0, at which ArduPilot would take its clock from the wall."""
    numbers, reply = numbers_at(wire[NUMBERS_OF], wire[COUNT]), bytes_at(wire[REPLY], LONGEST_REPLY)
    gather(w, i, (tick + wire[TICKS]) * wire[STEP_NS] / NS_PER_SECOND, numbers)
    count = wire[READING_COUNT]
    gather_readings(integers_at(wire[READINGS], count), numbers_at(wire[FARTHEST], count), numbers)
    ends = integers_at(wire[ENDS], wire[PIECES])
    literals = bytes_at(wire[LITERALS], ends[-1])
    wire[SIZE] = write(literals, ends, numbers, reply)
    send(wire[FILE], wire[REPLY], wire[SIZE], NO_SIGNAL)
    note(wire, tick, TOLD, wire[REPLY], wire[SIZE])


@frame_kernel
def hear(w, rotors, i, tick, wire):
    """The result is the frame count."""
    size = recv(wire[FILE], wire[PACKET], LONGEST_PACKET, 0)
    if size < 0:
        wire[RESULT] = NOT_HEARD
        return
    packet = bytes_at(wire[PACKET], LONGEST_PACKET)
    wire[RESULT] = frame_count(packet, size, wire[LAST_FRAME])
    if wire[RESULT] >= 0:
        wire[LAST_FRAME] = wire[RESULT]
        note(wire, tick, HEARD, wire[PACKET], size)
        turn_rotors(packet, integers_at(wire[ROTOR_PULSES], PULSE * wire[ROTORS]), rotors, i)
        move_servos(packet, integers_at(wire[SERVO_PULSES], PULSE * wire[SERVOS]), w, i)


@compiled
def gather(w, i, time, numbers):
    """The first numbers of the template: what every vehicle tells. The IMU's are its latest reading."""
    numbers[0] = time
    numbers[1], numbers[2], numbers[3] = frd_from_flu(w[row.GX + i], w[row.GY + i], w[row.GZ + i])
    numbers[4], numbers[5], numbers[6] = frd_from_flu(w[row.AX + i], w[row.AY + i], w[row.AZ + i])
    numbers[7], numbers[8], numbers[9] = ned_from_enu(w[row.PX + i], w[row.PY + i], w[row.PZ + i])
    numbers[10], numbers[11], numbers[12], numbers[13] = ned_frd_from_enu_flu(
        w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i]
    )
    numbers[14], numbers[15], numbers[16] = ned_from_enu(w[row.VX + i], w[row.VY + i], w[row.VZ + i])
    numbers[17], numbers[18], numbers[19] = ned_from_enu(w[row.WINDX + i], w[row.WINDY + i], w[row.WINDZ + i])


@compiled
def gather_readings(readings, farthest, numbers):
    """The last numbers of the reply: what lies at the addresses `readings`, with digits instead of ±∞ out of range."""
    for k in range(readings.size):
        distance = numbers_at(readings[k], 1)[0]
        numbers[numbers.size - readings.size + k] = min(max(distance, 0.0), 2.0 * farthest[k])


@compiled
def write(literals, ends, numbers, reply):
    """The template with its numbers; gives the size."""
    size, start = 0, 0
    for k in range(ends.size):
        for i in range(start, ends[k]):
            reply[size] = literals[i]
            size += 1
        start = ends[k]
        if k < numbers.size:
            size = _write_number(numbers[k], reply, size)
    return size


@compiled
def _write_number(number, reply, at):
    if number < 0.0:
        reply[at] = 45  # -
        at += 1
    scaled = np.int64(abs(number) * SCALE + 0.5)
    whole, fraction = scaled // np.int64(SCALE), scaled % np.int64(SCALE)
    digits = 1
    rest = whole // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for k in range(digits):
        reply[at + digits - 1 - k] = 48 + whole % 10
        whole //= 10
    at += digits
    reply[at] = 46  # .
    for k in range(DECIMALS):
        reply[at + DECIMALS - k] = 48 + fraction % 10
        fraction //= 10
    return at + 1 + DECIMALS


@compiled
def frame_count(packet, size, last_frame):
    """Of a packet that makes sense and is new. One far behind is that of an autopilot that started again."""
    magic = np.int64(packet[0]) | np.int64(packet[1]) << 8
    if not ((magic == MAGIC and size == 40) or (magic == MAGIC_32 and size == 72)):
        return NONSENSE
    count = np.int64(0)
    for i in range(4):
        count |= np.int64(packet[4 + i]) << (8 * i)
    if count == last_frame:
        return REPEATED
    return OVERTAKEN if last_frame >= 0 and (last_frame - count) % COUNTS < FAR_BEHIND else count


@compiled
def _share(packet, pulse):
    """Of the way from rest to full; nothing while no pulse comes."""
    at = FIRST_OUTPUT + 2 * pulse[OUTPUT]
    width = np.int64(packet[at]) | np.int64(packet[at + 1]) << 8
    if width == 0:
        return 0.0
    share = (width - pulse[REST]) / (pulse[FULL] - pulse[REST])
    return min(max(share, float(pulse[LEAST])), 1.0)


@compiled
def turn_rotors(packet, pulses, rotors, i):
    """Rotor k turns at its share of its most speed."""
    for k in range(pulses.size // PULSE):
        rotor = k * row.ROTOR_WIDTH + i
        rotors[rotor + row.TARGET] = rotors[rotor + row.MAX_SPEED] * _share(packet, pulses[k * PULSE :])


@compiled
def move_servos(packet, pulses, w, i):
    for k in range(pulses.size // PULSE):
        w[row.SERVO + k * row.LANES + i] = _share(packet, pulses[k * PULSE :])
