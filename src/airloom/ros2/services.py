"""Services: requests come from the protocol's thread, and are carried out where the bridge has its turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airloom.bus import messages
from airloom.errors import Refusal
from airloom.ros2 import names
from airloom.ros2.dds import address_of
from airloom.ros2.rtps import wire
from airloom.ros2.rtps.participant import RtpsParticipant
from airloom.ros2.rtps.reliable import ReliableWriter, Sample

if TYPE_CHECKING:
    from airloom.ros2.graph import Graph
    from airloom.simulation import Simulation

CDR = b"\x00\x01\x00\x00"
HEADER = 16  # bytes: who asks, and the number of the request, as Cyclone's way has it before the data
MOST_WAITING = 1000

Handler = Callable[[Any, "Caller"], Any]
"""Called with the request and who asks; gives the fields of the reply, or None if it comes later."""


@dataclass
class Caller:
    """Who has asked, and where the reply goes."""

    service: Service
    sample: Sample

    def reply(self, fields: dict[str, Any]) -> None:
        self.service.reply(self.sample, fields)


class Service:
    def __init__(self, desk: Services, name: str, srvtype: str, handler: Handler) -> None:
        self._desk, self.name, self.srvtype, self._handler = desk, name, srvtype, handler
        note = names.type_note(srvtype)
        request, response = (names.dds_type(f"{srvtype}_{part}") for part in ("Request", "Response"))
        self.reader = desk.participant.reader(f"{names.REQUEST}{name}Request", request, note, self._hear)
        self._writer: ReliableWriter = desk.participant.writer(f"{names.REPLY}{name}Reply", response, note)
        self.writer = desk.participant.prefix + self._writer.entity

    def _hear(self, sample: Sample) -> None:
        """In the protocol's thread."""
        if len(self._desk.waiting) < MOST_WAITING:
            self._desk.waiting.append((self, sample))
        else:
            self._desk.dropped += 1

    def carry_out(self, sample: Sample) -> None:
        payload = sample.payload
        if _is_cyclone(sample):
            payload = payload[:4] + payload[4 + HEADER :]
        request = messages.deserialize(payload, f"{self.srvtype}_Request")
        fields = self._handler(request, Caller(self, sample))
        if fields is not None:
            self.reply(sample, fields)

    def reply(self, sample: Sample, fields: dict[str, Any]) -> None:
        payload = messages.serialize(messages.build(f"{self.srvtype}_Response", fields))
        if _is_cyclone(sample):
            payload = payload[:4] + sample.payload[4 : 4 + HEADER] + payload[4:]
            inline = b""
        else:
            identity = _asker(sample) + wire.sequence_number(sample.number)
            inline = wire.parameters([(wire.PID_RELATED, identity), (wire.PID_RELATED_OF_FAST, identity)])
        self._desk.participant.write(self._writer, payload, inline)


def _is_cyclone(sample: Sample) -> bool:
    return sample.vendor == wire.CYCLONE


def _asker(sample: Sample) -> bytes:
    """The reader that waits for the reply if the request names it, else its writer."""
    for pid, value, _ in wire.read_parameters(memoryview(sample.inline)) if sample.inline else ():
        if pid in (wire.PID_RELATED, wire.PID_RELATED_OF_FAST) and len(value) >= 16:
            return value[:16]
    return sample.writer


class Services:
    """All services of the node."""

    def __init__(self, sim: Simulation, domain: int, interface: str | None, graph: Graph) -> None:
        self._sim, self._graph = sim, graph
        self.participant = RtpsParticipant(domain, address_of(interface) if interface else None)
        self.waiting: deque[tuple[Service, Sample]] = deque()
        self.dropped = 0
        """Requests that nobody could understand, or too many at once."""
        self._names: set[str] = set()
        self._garbage_told = 0

    def offer(self, name: str, srvtype: str, handler: Handler) -> None:
        if name in self._names:
            return
        self._names.add(name)
        made = Service(self, name, srvtype, handler)
        self._graph.readers.append(made.reader)
        self._graph.writers.append(made.writer)

    def serve(self) -> None:
        self._tell_of_garbage()
        for _ in range(len(self.waiting)):
            service, sample = self.waiting.popleft()
            try:
                service.carry_out(sample)
            except Refusal as error:
                self._complain(service.name, str(error))
            except Exception as error:  # whatever others may send
                self._complain(service.name, f"a request that cannot be understood: {type(error).__name__}")

    def _tell_of_garbage(self) -> None:
        """The first, then when there are ten times as many: anybody can send a great many."""
        count = self.participant.unreadable
        if count and count >= 10 * self._garbage_told:
            self._garbage_told = count
            self._sim.event("ros2", f"{count} datagrams that cannot be read have come (the summary counts)")

    def _complain(self, name: str, why: str) -> None:
        self.dropped += 1
        if self.dropped == 1:
            self._sim.event("ros2", f"{name}: refused: {why} (told once; the summary counts)", level="error")

    def close(self) -> None:
        self.participant.close()
