"""What comes over a line, given to the functions that read it: quicker than over the line, see `ports.py` for that."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from pymavlink.generator.mavcrc import x25crc

from airloom import PositionYaw, VelocityYawRate
from airloom.autopilots import ardupilot_wire, mavlink_wire
from airloom.autopilots.pulses import Pulse, table_of
from airloom.loom import bundles, protocol
from airloom.loom.beats import BEAT
from airloom.loom.protocol import Hello, Kind, Letter, ProtocolError, Welcome
from airloom.loom.visibility import ToldVisibility
from airloom.net.admission import Admission, Request, Turned
from airloom.net.json_lines import RequestError
from airloom.runs.link.methods import METHODS
from airloom.runs.link.methods import parse as parse_request
from airloom.serve.requests import parse as parse_step
from airloom.studio.web.frame_sizes import FrameGauge, Oversized
from torture.mutations import Mutations
from torture.trial import Tally, feed, trial

STATE = np.zeros((1, protocol.STATE_NUMBERS))
CONTROL_REQUESTS: list[dict[str, Any]] = [
    {"method": "info"}, {"method": "observe", "vehicle": "cf"}, {"method": "gains", "vehicle": "cf"},
    {"method": "events", "after": 0}, {"method": "topics"}, {"method": "contacts"},
    {"method": "goto", "vehicle": "cf", "position": [1, 2, 3]}, {"method": "takeoff", "vehicle": "cf*", "height": 2},
    {"method": "land", "vehicle": "cf"}, {"method": "switch_mode", "vehicle": "cf", "mode": "position_yaw"},
    {"method": "command", "vehicle": "cf", "kind": "velocity_yawrate", "velocity": [0, 0, 1], "yaw_rate": 0.1},
    {"method": "tune", "vehicle": "cf", "gains": {"position.frequency": 1.5}}, {"method": "kill", "vehicle": "cf"},
    {"method": "recover", "vehicle": "cf"}, {"method": "reset_pose", "vehicle": "cf", "position": [0, 0, 1]},
    {"method": "speed", "factor": 2.0}, {"method": "pause"}, {"method": "resume"}, {"method": "step", "ticks": 3},
    *({"method": name} for name in METHODS if name not in ("stop", "restart", "save", "spawn", "copy", "delete")),
]  # fmt: skip
STEP_REQUESTS: list[dict[str, Any]] = [
    {"method": "describe"}, {"method": "observe", "vehicle": "cf"}, {"method": "readings", "vehicle": "cf"},
    {"method": "reset", "seed": 3}, {"method": "hash"}, {"method": "hello", "token": "abc"},
    {"method": "step", "ticks": 2, "observe": "cf", "readings": "*"},
    {"method": "command", "vehicle": "cf", "kind": "position_yaw", "position": [0, 0, 1], "yaw": 0.0},
    {"method": "step", "command": {"vehicle": "cf", "kind": "velocity_yawrate", "velocity": [0, 0, 0.2]}},
    {"method": "rotors", "vehicle": "cf", "speeds": [1000, 1000, 1000, 1000]},
]  # fmt: skip
HEADS = [
    b"GET / HTTP/1.1\r\nHost: localhost:8080\r\nCookie: airloom-8080=abc\r\n\r\n",
    b"GET /?token=abc&tab=x HTTP/1.1\r\nHost: [::1]:8080\r\nUser-Agent: x\r\n\r\n",
    b"GET /stick?tab=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nOrigin: http://127.0.0.1\r\n\r\n",
]
MEMBER_MESSAGES = [
    protocol.hello(Hello("wing", protocol.Phase.LOGIC, 20_000_000, "drone_*", "token")),
    protocol.welcome(Welcome(1_000_000, 0, ["drone", "other"])),
    protocol.end(7, [protocol.order(0, PositionYaw((1, 2, 3))), protocol.order(1, None)], [Letter("chief", b"hi")]),
    protocol.end(9, [protocol.order(3, VelocityYawRate((1, 0, 0)))]),
    protocol.told(Kind.REFUSED, "no"), protocol.told(Kind.BYE, "over"),
]  # fmt: skip


@trial("control link, requests", "requests with values changed, given to the reader", full=10**6, reduced=10**4)
def control_requests(count: int, seed: int) -> Tally:
    return feed(parse_request, Mutations(seed).of_trees(CONTROL_REQUESTS, count), (RequestError,))


@trial("serve, requests", "requests with values changed, given to the reader", full=10**6, reduced=10**4)
def step_requests(count: int, seed: int) -> Tally:
    return feed(parse_step, Mutations(seed).of_trees(STEP_REQUESTS, count), (RequestError,))


@trial("loom, messages", "what members say, with bytes changed, given to the reader", full=10**6, reduced=10**4)
def member_messages(count: int, seed: int) -> Tally:
    return feed(_read_member_message, Mutations(seed).of_bytes(MEMBER_MESSAGES, count), (ProtocolError,))


def _read_member_message(data: bytes) -> None:
    if len(data) > protocol.HEAD.size:
        protocol.parse(data[4], data[protocol.HEAD.size :])


@trial("branch, messages", "what coordinators say, with bytes changed, given to the reader", full=10**6, reduced=10**4)
def branch_messages(count: int, seed: int) -> Tally:
    readers = _branch_readers()
    mutations = Mutations(seed)

    def inputs() -> Iterator[tuple[Callable[[bytes], Any], bytes]]:
        for _ in range(count):
            read, message = mutations.random.choice(readers)
            yield read, next(mutations.of_bytes([message[protocol.HEAD.size :]], 1))

    return feed(lambda one: one[0](one[1]), inputs(), (ProtocolError,))


def branch_corpus() -> list[bytes]:
    """One message of each kind that coordinators say."""
    return [message for _, message in _branch_readers()] + [BEAT]


def _branch_readers() -> Sequence[tuple[Callable[[bytes], Any], bytes]]:
    visibility = ToldVisibility()
    letter = Letter("chief", b"come")
    round_ = bundles.Round(5, _OneVehicle(), {"wing": [letter], "tail": [letter]})  # type: ignore[arg-type]
    outcomes = [
        ("wing", bundles.TurnOutcome(bundles.What.END, b"\0" * 12)),
        ("tail", bundles.TurnOutcome(bundles.What.LEFT)),
    ]
    admission = bundles.Admission("wing", Welcome(1_000_000, 0, ["drone"]), [0], 2.0)
    return [
        (bundles.parse_branch, bundles.branch(bundles.Introduction("field", "token"))),
        (bundles.parse_join, bundles.join(Hello("wing"))),
        (bundles.parse_admitted, bundles.admitted(admission)),
        (bundles.parse_bad_news, bundles.bad_news(Kind.LOST, "wing", "gone")),
        (bundles.parse_dismiss, bundles.dismiss("wing")),
        (lambda body: bundles.parse_begins(body, visibility), bundles.begins(round_, np.array([0]), ["wing", "tail"])),
        (bundles.parse_ends, bundles.ends(5, outcomes)),
    ]


class _OneVehicle:
    def states(self, numbers: np.ndarray) -> np.ndarray:
        return STATE


@trial(
    "studio, heads of requests",
    "what browsers ask for, with bytes changed, given to the reader",
    full=10**6,
    reduced=10**4,
)
def heads(count: int, seed: int) -> Tally:
    door = Admission("127.0.0.1", "token")

    def take(data: bytes) -> None:
        door.check(Request.parse(data), "airloom-8080")

    return feed(take, Mutations(seed).of_bytes(HEADS, count), (Turned,))


@trial(
    "studio, websocket bytes",
    "frames of any length in pieces of any length, followed to their ends",
    full=10**6,
    reduced=10**4,
)
def websocket_bytes(count: int, seed: int) -> Tally:
    frames = [
        b"\x81\x85abcdhello",
        b"\x82\xfe\x01\x00abcd" + b"x" * 256,
        b"\x88\x80abcd",
        b"\x82\xff" + b"\0" * 7 + b"\x10",
    ]

    def take(data: bytes) -> None:
        gauge = FrameGauge()
        for at in range(0, len(data), 7):
            gauge.watch(data[at : at + 7])

    return feed(take, Mutations(seed).of_bytes(frames, count), (Oversized,))


@trial(
    "MAVLink, bytes",
    "garbage around sound frames: every sound frame is found, none that was not sent",
    full=10**6,
    reduced=10**4,
)
def mavlink_bytes(count: int, seed: int) -> Tally:
    mutations = Mutations(seed)
    speaker = np.zeros(mavlink_wire.SPEAKER, np.int64)
    frame = np.zeros(mavlink_wire.LONGEST_FRAME, np.uint8)
    values = np.arange(20.0)
    size = mavlink_wire.write(
        speaker, mavlink_wire.HIL_ACTUATOR_CONTROLS, mavlink_wire.HIL_ACTUATOR_CONTROLS_FIELDS, values, frame, 0
    )
    sound = frame[:size].tobytes()
    found = np.zeros(mavlink_wire.FOUND, np.int64)
    read = np.zeros(20)

    def take(garbage: bytes) -> None:
        data = np.frombuffer(garbage + sound + b"\0" * mavlink_wire.LONGEST_FRAME, np.uint8)
        end, at = len(garbage) + size, 0
        while mavlink_wire.find(data, at, end, found):
            mavlink_wire.read(data, found, mavlink_wire.HIL_ACTUATOR_CONTROLS_FIELDS, read)
            at = found[mavlink_wire.NEXT]
            assert _has_the_right_sum(data, found), "a frame that was not sent was found"
        assert at > len(garbage), "a sound frame was not found"

    take(b"")  # compiles
    return feed(take, mutations.of_bytes([sound, b"\xfd\xff\x00", b"garbage"], count), ())


def _has_the_right_sum(data: np.ndarray, found: np.ndarray) -> bool:
    """By another's reckoning. One in 65 536 pieces of garbage has it, and then hides what begins within it."""
    payload, extra = int(found[mavlink_wire.PAYLOAD]), mavlink_wire.EXTRA[found[mavlink_wire.NUMBER]]
    end = payload + int(found[mavlink_wire.LENGTH])
    sums = {
        x25crc(data[payload - head + 1 : end].tobytes() + extra.tobytes()).crc
        for start, head in ((mavlink_wire.START_1, mavlink_wire.HEAD_1), (mavlink_wire.START_2, mavlink_wire.HEAD_2))
        if payload >= head and data[payload - head] == start
    }
    return int.from_bytes(data[end : end + mavlink_wire.CHECKSUM].tobytes(), "little") in sums


@trial(
    "ArduPilot, packets", "packets of servo outputs with bytes changed, given to the reader", full=10**6, reduced=10**4
)
def servo_packets(count: int, seed: int) -> Tally:
    sound = [
        struct.pack("<HHI16H", 18458, 400, 7, *[1500] * 16), struct.pack("<HHI32H", 29569, 400, 7, *[1500] * 32),
    ]  # fmt: skip
    pulses, rotors = table_of([Pulse(output, 1000, 2000) for output in range(1, 5)]), np.zeros(4096)
    packet = np.zeros(ardupilot_wire.LONGEST_PACKET, np.uint8)

    def take(data: bytes) -> None:
        data = data[: packet.size]
        packet[: len(data)] = np.frombuffer(data, np.uint8)
        if ardupilot_wire.frame_count(packet, len(data), 6) >= 0:
            ardupilot_wire.turn_rotors(packet, pulses, rotors, 0)
            assert np.isfinite(rotors).all()

    take(sound[0])  # compiles
    return feed(take, Mutations(seed).of_bytes(sound, count), ())


@trial(
    "letters of JSON, nested", "JSON as deep as the line allows, at both listeners that read it", full=1000, reduced=100
)
def deep_json(count: int, seed: int) -> Tally:
    opened = [json.dumps({"method": "info"})[:-1] + f', "x": {"[" * n}' for n in range(1, 60_000, 60_000 // count)]
    tally = feed(parse_request, (text.encode() for text in opened), (RequestError,))
    again = feed(parse_step, (text.encode() for text in opened), (RequestError,))
    tally.inputs += again.inputs
    tally.refused += again.refused
    for what in again.surprises:
        tally.surprise(what)
    return tally
