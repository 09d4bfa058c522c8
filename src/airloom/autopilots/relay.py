"""Carries MAVLink between an autopilot and who speaks to it, in the lockstep: nothing arrives within a frame.

The autopilot is connected to the relay from its start on, and ground stations and scripts connect to the relay where
they would connect to the autopilot. Bytes of both directions wait here. They are handed over, all that there are, when
the autopilot waits for its next frame and no member has its turn: a member sees in a turn whatever the autopilot said
in the frames before it, and the autopilot has in its next frame whatever the member said. So two runs with the same
script are equal to the bit. For those who live on the wall clock it is the same, often enough not to be felt.
"""

from __future__ import annotations

import socket

from airloom.autopilots.autopilot import AutopilotFailed
from airloom.autopilots.exact_stream import ExactStream

PERIOD, PERIOD_ALONE = 0.02, 0.1  # s between two hand-overs at most, and between two looks for somebody who connects
HERE = "127.0.0.1"
MOST_WHO_WAIT = 16


class Relay:
    def __init__(self, port: int) -> None:
        """`port` is where ground stations and scripts connect, one at a time as with the autopilot itself."""
        self._front, self._back = listening(port), listening(0)
        self._autopilot: ExactStream | None = None
        self._client: ExactStream | None = None

    @property
    def has_client(self) -> bool:
        return self._client is not None

    @property
    def device(self) -> str:
        """What ArduPilot takes for one of its serial ports in order to connect."""
        return f"tcpclient:{HERE}:{self._back.getsockname()[1]}"

    def carry(self) -> None:
        """Hand over all that was said on either side. An autopilot that boots anew connects anew."""
        self._autopilot = still_connected(self._autopilot, self._back)
        self._client = still_connected(self._client, self._front)
        said = self._autopilot.take() if self._autopilot else b""
        if self._client is not None:
            self._client.give(said)
            asked = self._client.take()
            if self._autopilot is not None:
                self._autopilot.give(asked)

    def close(self) -> None:
        for each in (self._client, self._autopilot, self._front, self._back):
            if each is not None:
                each.close()


def listening(port: int) -> socket.socket:
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((HERE, port))
        door.listen(MOST_WHO_WAIT)
    except OSError as error:
        door.close()
        raise AutopilotFailed(
            f"cannot be spoken to: TCP port {port}: {error.strerror}; `instance` chooses another"
        ) from None
    door.setblocking(False)
    return door


def still_connected(stream: ExactStream | None, door: socket.socket) -> ExactStream | None:
    """The stream, or one with the next who waits at the door if the other end has hung up."""
    if stream is not None and not stream.ended:
        return stream
    if stream is not None:
        stream.close()
    try:
        return ExactStream(door.accept()[0])
    except OSError:
        return None
