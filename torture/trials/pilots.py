"""Autopilots that talk nonsense between their frames. What is no frame changes nothing: the hash stays the same."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from torture.runs import started
from torture.trial import Tally, trial

GARBAGE_A_FRAME = 100
ARDUPILOT = """
name: piloted
duration: DURATION
vehicles:
  drone:
    extends: iris
    pose: {position: [0, 0, 0.06]}
    sensors: {imu: {rate: 1000}}
    autopilot: {kind: ardupilot, binary: PROGRAM, timeout: 30, start_timeout: 60, instance: 95}
"""
ARDUPILOT_STAND_IN = """#!PYTHON
import json, socket, struct, sys
sys.path.insert(0, "ROOT")
from torture.mutations import Mutations
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.settimeout(1.1)
there = ("127.0.0.1", 9002 + 10 * 95)
mutations = Mutations(SEED)

def frame(count, output):
    return struct.pack("<HHI16H", 18458, 400, count, *[output] * 4, *[0] * 12)

def is_frame(data):
    return len(data) in (40, 72) and data[:2] in (struct.pack("<H", 18458), struct.pack("<H", 29569))

count = 0
while True:
    count += 1
    data = frame(count, 1500 + count % 300)
    for garbage in mutations.of_bytes([data], GARBAGE if count > 10 else 0):  # whoever speaks first is the autopilot
        if not is_frame(garbage):
            line.sendto(garbage, there)
        stranger.sendto(garbage, there)
    line.sendto(data, there)
    try:
        line.recv(4096)
    except TimeoutError:
        count -= 1
"""
PX4 = """
name: piloted
duration: DURATION
vehicles:
  drone:
    extends: x500
    pose: {position: [0, 0, 0.05]}
    autopilot: {kind: px4, binary: PROGRAM, timeout: 30, start_timeout: 60, instance: 96}
"""
PX4_STAND_IN = """#!PYTHON
import socket, sys, time
sys.path.insert(0, "ROOT")
from pymavlink.dialects.v20 import common as mavlink
from torture.mutations import Mutations
voice = mavlink.MAVLink(None, 1, 1)
mutations = Mutations(SEED)

def is_sound(data, at):
    head = 10 if data[at] == 0xFD else 6
    number = int.from_bytes(data[at + 7 : at + 10], "little") if head == 10 else data[at + 5 : at + 6]
    kind = mavlink.mavlink_map.get(number if head == 10 else number and number[0])
    end = at + head + (data[at + 1] if at + 1 < len(data) else 0)
    if kind is None or end + 2 > len(data):
        return False
    crc = mavlink.x25crc(data[at + 1 : end])
    crc.accumulate(bytes([kind.crc_extra]))
    return crc.crc == int.from_bytes(data[end : end + 2], "little")

def nonsense(damaged):
    # Of a million changed frames some have the right sum of 16 bits again: those are no nonsense.
    data = b"".join(mutations.of_bytes([damaged, b"\\xfd\\xfe", b"hello"], GARBAGE))
    return b"" if any(byte in (0xFD, 0xFE) and is_sound(data, at) for at, byte in enumerate(data)) else data

def connection():
    while True:
        try:
            return socket.create_connection(("127.0.0.1", 4560 + 96))
        except ConnectionRefusedError:
            time.sleep(0.01)

line = connection()
line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
line.sendall(bytes(mavlink.MAVLink_heartbeat_message(2, 12, 81, 0, 3, 3).pack(voice)))
frames = 0
while data := line.recv(4096):
    for message in voice.parse_buffer(data) or ():
        if message.get_type() != "HIL_SENSOR":
            continue
        frames += 1
        controls = [0.5 + 0.3 * (frames % 100) / 100] * 4 + [0.0] * 12
        reply = mavlink.MAVLink_hil_actuator_controls_message(message.time_usec, controls, 129, 1)
        sound = bytes(reply.pack(voice))
        damaged = sound[:12] + bytes([sound[12] ^ 1]) + sound[13:]
        line.sendall(nonsense(damaged) + sound)
"""


@trial(
    "ArduPilot, living run",
    "datagrams of nonsense between its frames, its own and strangers': the hash stays",
    full=10**6,
    reduced=10**4,
)
def ardupilot(count: int, seed: int) -> Tally:
    return _flown_with_and_without(count, seed, ARDUPILOT, ARDUPILOT_STAND_IN, "arducopter", frames_a_second=1000)


@trial("PX4, living run", "nonsense in the stream between its frames: the hash stays", full=10**6, reduced=10**4)
def px4(count: int, seed: int) -> Tally:
    return _flown_with_and_without(count, seed, PX4, PX4_STAND_IN, "bin/px4", frames_a_second=250)


def _flown_with_and_without(
    count: int, seed: int, scenario: str, stand_in: str, name: str, frames_a_second: int
) -> Tally:
    tally = Tally()
    frames = max(count // GARBAGE_A_FRAME, 100)
    text = scenario.replace("DURATION", f"{frames / frames_a_second:g}")
    hashes = {_flown(tally, text, stand_in, name, seed, garbage) for garbage in (0, GARBAGE_A_FRAME)}
    tally.expect(len(hashes) == 1, "the flight was another")
    tally.inputs += frames * GARBAGE_A_FRAME
    return tally


def _flown(tally: Tally, scenario: str, stand_in: str, name: str, seed: int, garbage: int) -> str | None:
    root = str(Path(__file__).resolve().parents[2])
    code = stand_in.replace("PYTHON", sys.executable).replace("ROOT", root).replace("SEED", str(seed))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "etc/init.d-posix").mkdir(parents=True)
        (place / "etc/init.d-posix/rcS").touch()
        program = place / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(code.replace("GARBAGE", str(garbage)))
        program.chmod(0o755)
        (place / "piloted.yaml").write_text(scenario.replace("PROGRAM", str(program)))
        with started(place, "run", "piloted.yaml", "--headless", "--out", "run", "--no-figures") as run:
            code = run.process.wait(1800)
            tally.expect(code == 0 and not run.crashed, f"exit code {code}: {run.said[-1000:]}")
            return run.summary["state_hash"] if code == 0 else None
