"""MAVLink by radio: between the relay's two sides lies the medium, and not a wire.

What an autopilot says goes as packets from its vehicle's node to a station's, and what its ground station says the
other way. A packet holds whole MAVLink messages, as many as fit and were said since the last network phase, so that one
that is lost takes no part of another message along. All is handed over in network phases only, which are the same in
equal runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from airloom.plugin import Parameters
from airloom.radio.packet import LONGEST
from airloom.scenario.errors import hint

if TYPE_CHECKING:
    from airloom.radio.inbox import Ear
    from airloom.scenario.models import Scenario, Vehicle
    from airloom.simulation import Simulation

MARK = b"ML"
ROOM = LONGEST - len(MARK)
VERSION_1, VERSION_2 = 0xFE, 0xFD  # the first byte of a message
HEADS = {VERSION_1: 2, VERSION_2: 3}  # bytes that tell the length of it
SIGNED, SIGNATURE = 1, 13  # a flag in the third byte, and bytes behind a message that has it


class MavlinkByRadio(Parameters):
    """Which way MAVLink goes."""

    radio: str = Field(description="the radio's station at which the ground station is")
    band: str = Field("", description="of the radio; the first if left out")


def mistakes_of(mavlink: MavlinkByRadio, name: str, vehicle: Vehicle, scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Which key does not fit the scenario's radio, and why."""
    radio = scenario.radio
    if radio is None:
        yield "radio", "the scenario has no radio: add `radio: {stations: …}`"
    elif mavlink.radio not in radio.stations:
        yield "radio", f"the radio has no station '{mavlink.radio}'{hint(mavlink.radio, radio.stations, 'Stations')}"
    elif mavlink.band and mavlink.band not in radio.bands:
        yield "band", f"the radio has no band '{mavlink.band}'{hint(mavlink.band, radio.bands, 'Bands')}"
    else:
        there = set(radio.members(mavlink.band, vehicle.names(name)))
        for node in (*vehicle.names(name), mavlink.radio):
            if node not in there:
                yield ("band" if mavlink.band else "radio"), f"{node} has no radio there"
                return


class ByRadio:
    """One way to the station and one back, see `relay.Way`."""

    def __init__(self, sim: Simulation, vehicle: str, mavlink: MavlinkByRadio) -> None:
        assert sim.radio is not None, "`mistakes_of` has looked"
        self._sim, self._period = sim, sim.radio.period
        above, below, band = sim.radio[mavlink.radio], sim.radio[vehicle], mavlink.band
        self._up = _OneWay(lambda packet: below.send(packet, above.name, band), above.ear(MARK, below.name))
        self._down = _OneWay(lambda packet: above.send(packet, below.name, band), below.ear(MARK, above.name))

    @property
    def is_open(self) -> bool:
        return self._sim.tick % self._period == 0

    def carry(self, said: bytes, asked: bytes) -> tuple[bytes, bytes]:
        return self._up.carry(said), self._down.carry(asked)


class _OneWay:
    def __init__(self, send, ear: Ear) -> None:
        self._send, self._ear, self._rest = send, ear, bytearray()

    def carry(self, data: bytes) -> bytes:
        """Send what was said here; what has come at the other end."""
        self._rest += data
        for packet in in_packets(whole_messages(self._rest)):
            self._send(MARK + packet)
        return b"".join(packet.content[len(MARK) :] for packet in self._ear.receive())


def whole_messages(data: bytearray) -> Iterator[bytes]:
    """Take away from the front all that is whole; what is no MAVLink goes along as it is."""
    while data and (size := _size_of_first(data)) <= len(data):
        yield bytes(data[:size])
        del data[:size]


def _size_of_first(data: bytearray) -> int:
    """Bytes of what stands first; more than there are if it is not whole."""
    version = data[0]
    if version not in HEADS:
        begins = [at for magic in HEADS if (at := data.find(magic)) > 0]
        return min(begins, default=len(data))
    if len(data) < HEADS[version]:
        return len(data) + 1
    if version == VERSION_1:
        return 8 + data[1]
    return 12 + data[1] + (SIGNATURE if data[2] & SIGNED else 0)


def in_packets(messages: Iterator[bytes]) -> Iterator[bytes]:
    """As few packets as may be, in order."""
    packet = b""
    for message in messages:
        for piece in (message[at : at + ROOM] for at in range(0, len(message), ROOM)):
            if len(packet) + len(piece) > ROOM:
                yield packet
                packet = b""
            packet += piece
    if packet:
        yield packet
