"""Those who talk to the bridge in tests: a node on Cyclone DDS, and a client that asks services as Fast DDS does."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import count
from typing import Any

from airloom.bus import messages
from airloom.ros2 import names
from airloom.ros2.dds import DEFAULT, Participant, Profile
from airloom.ros2.rtps import wire
from airloom.ros2.rtps.participant import RtpsParticipant
from airloom.simulation import Simulation

PATIENCE = 60.0  # s
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 4
_domains = count(11 + 22 * _WORKER)


def own_domain() -> int:
    """Below 101, from where on its ports might be anybody's."""
    return next(_domains)


def until(condition: Callable[[], Any], meanwhile: Callable[[], Any]) -> Any:
    """What the condition gives as soon as it is something."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        meanwhile()
        time.sleep(0.001)
    return found


class Peer:
    """A node that publishes and subscribes; simulation time goes on while it waits."""

    def __init__(self, sim: Simulation, domain: int) -> None:
        self.sim, self.participant = sim, Participant(domain)
        self.heard: dict[str, list[Any]] = {}

    def step(self) -> None:
        self.sim.step(20)

    def subscribe(self, name: str, msgtype: str, profile: Profile = DEFAULT) -> Any:
        reader = self.participant.reader(names.dds_topic(name), msgtype, profile)
        until(lambda: reader.senders, self.step)
        return reader

    def hear(self, reader: Any, msgtype: str) -> Any:
        return messages.deserialize(until(lambda: reader.take(1), self.step)[0], msgtype)

    def publisher(self, name: str, msgtype: str) -> Any:
        writer = self.participant.writer(names.dds_topic(name), msgtype, DEFAULT)
        until(lambda: writer.listeners, self.step)
        return writer

    def close(self) -> None:
        self.participant.close()


class FastClient:
    """Asks as rmw_fastrtps does: who asks stands beside the data."""

    def __init__(self, sim: Simulation | None, domain: int) -> None:
        """Without a simulation, somebody else lets time go on."""
        self._sim, self._participant = sim, RtpsParticipant(domain)
        self._clients: dict[str, tuple[bytes, Any, list[Any]]] = {}

    def _client(self, name: str, srvtype: str) -> tuple[bytes, Any, list[Any]]:
        if name not in self._clients:
            replies: list[Any] = []
            response, request = (names.dds_type(f"{srvtype}_{part}") for part in ("Response", "Request"))
            guid = self._participant.reader(f"rr{name}Reply", response, b"", replies.append)
            writer = self._participant.writer(f"rq{name}Request", request, b"")
            self._clients[name] = guid, writer, replies
            reader = self._participant._readers[guid[12:]]
            until(lambda: writer.readers and reader.writers, self._step)
        return self._clients[name]

    def _step(self) -> None:
        if self._sim is not None:
            self._sim.step(20)

    def ask(self, name: str, srvtype: str, fields: dict[str, Any] | None = None) -> Callable[[], Any]:
        """Gives the reply if it has come."""
        guid, writer, replies = self._client(name, srvtype)
        number = writer._last + 1
        beside = wire.parameters([(wire.PID_RELATED, guid + wire.sequence_number(-1 << 32))])
        request = messages.serialize(messages.build(f"{srvtype}_Request", fields))
        self._participant.write(writer, request, beside)

        def reply() -> Any:
            for sample in replies:
                if guid + wire.sequence_number(number) in sample.inline:
                    return messages.deserialize(sample.payload, f"{srvtype}_Response")
            return None

        return reply

    def call(self, name: str, srvtype: str, fields: dict[str, Any] | None = None) -> Any:
        return until(self.ask(name, srvtype, fields), self._step)

    def close(self) -> None:
        self._participant.close()
