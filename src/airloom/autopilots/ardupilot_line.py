"""A line of our own to an ArduPilot, apart from that of its ground stations: MAVLink, in the lockstep.

It is looked at ten times a second of simulation time, while ArduPilot waits for its next frame. So all that is said on
it, faults and parameters and status texts, comes at the same time in every run.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

import numpy as np

from airloom.autopilots import mavlink_wire as wire
from airloom.autopilots.exact_stream import ExactStream
from airloom.autopilots.relay import HERE, listening, still_connected

OURS = (250, 1)
"""System and component that we are to ArduPilot."""
ONBOARD, NO_AUTOPILOT, VERSION = 18, 8, 3  # what we are; ArduPilot speaks only to whom it has heard
FIELDS = {
    wire.HEARTBEAT: wire.HEARTBEAT_FIELDS,
    wire.PARAM_VALUE: wire.PARAM_VALUE_FIELDS,
    wire.AUTOPILOT_VERSION: wire.AUTOPILOT_VERSION_FIELDS,
    wire.STATUSTEXT: wire.STATUSTEXT_FIELDS,
}
"""Of the messages that concern us."""


class ArduPilotLine:
    def __init__(self, port: int | None = None) -> None:
        """An ArduPilot that was attached listens on `port`; one that we start connects to our `device`."""
        self._port = port
        self._door = listening(0) if port is None else None
        self._stream: ExactStream | None = None
        self._received = b""
        self._speaker = np.array([*OURS, 0])
        self.problem = "it has not connected"
        """Why the line is not open, as long as it is not."""

    @property
    def device(self) -> str:
        """What ArduPilot takes for one of its serial ports in order to connect."""
        assert self._door is not None
        return f"tcpclient:{HERE}:{self._door.getsockname()[1]}"

    @property
    def is_open(self) -> bool:
        return self._stream is not None and not self._stream.ended

    def connect(self) -> None:
        """If it is not, and the other end is ready for it."""
        if self._door is not None:
            self._stream = still_connected(self._stream, self._door)
        elif not self.is_open:
            if self._stream is not None:
                self._stream.close()
            self._stream = self._called()

    def _called(self) -> ExactStream | None:
        try:
            return ExactStream(socket.create_connection((HERE, self._port), timeout=1.0))
        except OSError as error:
            self.problem = f"TCP port {self._port}: {error.strerror or error}"
            return None

    def send(self, number: int, fields: np.ndarray, values: list) -> None:
        if self._stream is not None and self.is_open:
            frame = np.zeros(wire.LONGEST_FRAME, np.uint8)
            size = wire.write(self._speaker, number, fields, np.array(values, float), frame, 0)
            self._stream.give(frame[:size].tobytes())

    def greet(self) -> None:
        self.send(wire.HEARTBEAT, wire.HEARTBEAT_FIELDS, [0, ONBOARD, NO_AUTOPILOT, 0, 0, VERSION])

    def command(self, number: int, first: float = 0.0) -> None:
        """To whoever is at the other end."""
        self.send(wire.COMMAND_LONG, wire.COMMAND_LONG_FIELDS, [first, *[0.0] * 6, number, 0, 0, 0])

    def frames(self) -> Iterator[tuple[int, np.ndarray]]:
        """Those that have come and concern us."""
        if self._stream is not None:
            self._received += self._stream.take()
        data = np.frombuffer(bytearray(self._received), np.uint8)
        found = np.zeros(wire.FOUND, np.int64)
        while wire.find(data, int(found[wire.NEXT]), data.size, found):
            number = int(found[wire.NUMBER])
            if number in FIELDS:
                values = np.zeros(FIELDS[number].size)
                wire.read(data, found, FIELDS[number], values)
                yield number, values
        self._received = self._received[int(found[wire.NEXT]) :]

    def close(self) -> None:
        for each in (self._stream, self._door):
            if each is not None:
                each.close()


def letters(name: str) -> bytes:
    return name.encode().ljust(16, b"\0")


def text_of(numbers: np.ndarray) -> str:
    return bytes(numbers.astype(np.uint8)).partition(b"\0")[0].decode(errors="replace")
