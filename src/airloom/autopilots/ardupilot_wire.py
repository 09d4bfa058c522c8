"""ArduPilot's JSON interface, byte by byte and compiled: what the simulator says to it, and what it answers.

ArduPilot sends a datagram of servo outputs, the simulator replies with the state of the vehicle as a line of JSON, and
ArduPilot's time moves on to the timestamp in it.
"""

from __future__ import annotations

import numpy as np

from airloom.autopilots.frames import frd_from_flu, ned_from_enu, ned_frd_from_enu_flu
from airloom.compiled import compiled, numbers_at
from airloom.physics.rows import AX, GX, LANES, PX, QW, VX, WINDX
from airloom.sockets import NO_SIGNAL, recv, send

MAGIC, MAGIC_32 = 18458, 29569
"""With 16 and with 32 outputs."""
LONGEST_PACKET = 8 + 2 * 32
LONGEST_REPLY = 2048
DECIMALS, SCALE = 9, 1e9
FIRST_OUTPUT = 8  # byte of a packet: after magic u16, frame rate u16, frame count u32

FAR_BEHIND = 100  # frames: a count that lies less behind is that of a datagram that others have overtaken
COUNTS = 1 << 32

NOT_HEARD, REPEATED, NONSENSE, OVERTAKEN = -1, -2, -3, -4
"""What `hear` gives instead of a frame count."""

NUMBERS = 20
MOST_CHANNELS, MOST_RANGES = 12, 6
TEMPLATE = (
    '\n{"timestamp":#,"imu":{"gyro":[#,#,#],"accel_body":[#,#,#]},"position":[#,#,#],"quaternion":[#,#,#,#],'
    '"velocity":[#,#,#],"velocity_wind":[#,#,#]'
)
"""A number for each #. ArduPilot looks for a word, not for a key: one that begins like another comes after it."""


def reply_template(channels: int, battery: bool, ranges: int) -> str:
    """What every vehicle tells, and what else this one does."""
    parts = [TEMPLATE]
    if channels:
        parts.append('"rc":{' + ",".join(f'"rc_{k + 1}":#' for k in range(channels)) + "}")
    if battery:
        parts.append('"battery":{"voltage":#}')
    parts += [f'"rng_{k + 1}":#' for k in range(ranges)]
    return ",".join(parts) + "}\n"


def literals(template: str) -> tuple[np.ndarray, np.ndarray]:
    """The text between the numbers, and where each piece of it ends."""
    pieces = [piece.encode() for piece in template.split("#")]
    return np.frombuffer(b"".join(pieces), np.uint8), np.cumsum([len(piece) for piece in pieces])


@compiled
def gather(memory, place, time, ranges, farthest, numbers):
    """The first numbers of the reply, which every vehicle tells, and the last, distances of rangefinders, whose
    readings lie at the addresses `ranges`. Those of the sensors are their latest.
    """
    m, at = memory, place
    numbers[0] = time
    numbers[1], numbers[2], numbers[3] = frd_from_flu(m[at + GX], m[at + GX + LANES], m[at + GX + 2 * LANES])
    numbers[4], numbers[5], numbers[6] = frd_from_flu(m[at + AX], m[at + AX + LANES], m[at + AX + 2 * LANES])
    numbers[7], numbers[8], numbers[9] = ned_from_enu(m[at + PX], m[at + PX + LANES], m[at + PX + 2 * LANES])
    numbers[10], numbers[11], numbers[12], numbers[13] = ned_frd_from_enu_flu(
        m[at + QW], m[at + QW + LANES], m[at + QW + 2 * LANES], m[at + QW + 3 * LANES]
    )
    numbers[14], numbers[15], numbers[16] = ned_from_enu(m[at + VX], m[at + VX + LANES], m[at + VX + 2 * LANES])
    numbers[17], numbers[18], numbers[19] = ned_from_enu(
        m[at + WINDX], m[at + WINDX + LANES], m[at + WINDX + 2 * LANES]
    )
    for k in range(ranges.size):
        distance = numbers_at(ranges[k], 1)[0]
        numbers[numbers.size - ranges.size + k] = min(max(distance, 0.0), 2.0 * farthest[k])  # ∞ has no digits


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
def tell(line, reply, size):
    """Whether it could be sent."""
    return send(line, reply.ctypes.data, size, NO_SIGNAL) == size


@compiled
def hear(line, packet, last_frame):
    """The count of the frame that comes, now in `packet`, or why there is none."""
    size = recv(line, packet.ctypes.data, packet.size, 0)
    if size < 0:
        return NOT_HEARD
    return frame_count(packet, size, last_frame)


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
def packet_size(packet):
    """Of one that makes sense."""
    return 40 if np.int64(packet[0]) | np.int64(packet[1]) << 8 == MAGIC else 72


@compiled
def outputs_to_speeds(packet, motors, lowest, highest, most, speeds):
    """Servo output motors[k] in µs → the speed of rotor k: from rest at `lowest` to the most at `highest`."""
    for k in range(motors.size):
        at = FIRST_OUTPUT + 2 * motors[k]
        width = np.int64(packet[at]) | np.int64(packet[at + 1]) << 8
        share = (width - lowest) / (highest - lowest)
        speeds[k] = most[k] * min(max(share, 0.0), 1.0)
