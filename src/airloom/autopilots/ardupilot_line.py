"""A line of our own to an ArduPilot, apart from that of its ground stations: MAVLink, in the lockstep.

It is looked at ten times a second of simulation time, while ArduPilot waits for its next frame. So all that is said on
it, faults and parameters and status texts, comes at the same time in every run.

ArduPilot hands heartbeats, and whatever is meant for everybody, on to its other lines. A script on one of them would
take our heartbeat for that of a vehicle that is not armed. So we send none, and speak to nobody but ArduPilot.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator

import numpy as np

from airloom.autopilots import mavlink_wire as wire
from airloom.autopilots.exact_stream import ExactStream
from airloom.autopilots.relay import HERE, listening, still_connected

OURS = (250, 1)
"""System and component that we are to ArduPilot."""
ARDUPILOT = 3  # as the autopilot of a heartbeat
FLOAT = 9  # type of a parameter
MOST_VALUES = 7  # of a command
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
        self._there: tuple[int, int] | None = None
        """System and component of ArduPilot, as soon as it was heard."""
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

    @property
    def is_heard(self) -> bool:
        """Whether ArduPilot has been; before that nothing is sent."""
        return self._there is not None

    def ask(self, name: str) -> None:
        """For the value of a parameter."""
        self._send(wire.PARAM_REQUEST_READ, wire.PARAM_REQUEST_READ_FIELDS, [-1], letters(name))

    def put(self, name: str, value: float) -> None:
        """Give a parameter this value."""
        self._send(wire.PARAM_SET, wire.PARAM_SET_FIELDS, [value], [*letters(name), FLOAT])

    def command(self, number: int, *values: float) -> None:
        values += (0.0,) * (MOST_VALUES - len(values))
        self._send(wire.COMMAND_LONG, wire.COMMAND_LONG_FIELDS, [*values, number], [0])

    def _send(self, number: int, fields: np.ndarray, before: Iterable[float], after: Iterable[float]) -> None:
        """A message with its values before and after those that say for whom it is."""
        if self._stream is not None and self.is_open and self._there is not None:
            values, frame = np.array([*before, *self._there, *after], float), np.zeros(wire.LONGEST_FRAME, np.uint8)
            size = wire.write(self._speaker, number, fields, values, frame, 0)
            self._stream.give(frame[:size].tobytes())

    def frames(self) -> Iterator[tuple[int, np.ndarray]]:
        """Those of ArduPilot that have come and concern us."""
        if self._stream is not None:
            self._received += self._stream.take()
        data = np.frombuffer(bytearray(self._received), np.uint8)
        found = np.zeros(wire.FOUND, np.int64)
        while wire.find(data, int(found[wire.NEXT]), data.size, found):
            number, sender = int(found[wire.NUMBER]), (int(found[wire.FROM_SYSTEM]), int(found[wire.FROM_COMPONENT]))
            if number in FIELDS:
                values = np.zeros(FIELDS[number].size)
                wire.read(data, found, FIELDS[number], values)
                if number == wire.HEARTBEAT and values[2] == ARDUPILOT:
                    self._there = sender
                if sender == self._there:
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
