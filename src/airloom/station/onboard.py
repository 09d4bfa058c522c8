"""What the computer of a vehicle does for a base station: it tells how the vehicle is, takes orders, and notices
when the station is silent.
"""

from __future__ import annotations

import json
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from airloom.basics.rotations import yaw_from_quaternion
from airloom.missions.items import Item
from airloom.station.flight import Flight
from airloom.station.link import Link, News
from airloom.station.parameters import BaseStationParameters
from airloom.station.schedule import Schedule
from airloom.station.words import MARK, Got, Piece, Telemetry, got_word, telemetry_word, understood

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it lie evenly in the unit interval, however many there are (Weyl): computers are not switched on at one
moment, and if all of them spoke at once, together with the station, hardly anybody would be heard.
"""
ITEMS: TypeAdapter[list[Any]] = TypeAdapter(list[Item])


def order_content(items: list[Any], again_from: int | None = None) -> bytes:
    """An order as it is sent."""
    words = {"items": ITEMS.dump_python(items, mode="json", exclude_defaults=True), "again_from": again_from}
    return json.dumps(words, separators=(",", ":")).encode()


class Onboard:
    def __init__(self, sim: Simulation, vehicle: Vehicle, parameters: BaseStationParameters, number: int) -> None:
        """`number` counts the vehicles of a station."""
        assert sim.radio is not None
        self._sim, self.vehicle, self._p = sim, vehicle, parameters
        self._node = sim.radio[vehicle.name]
        self._ear = self._node.ear(MARK, parameters.station)
        self._failsafe = parameters.failsafe_of(vehicle.name)
        self._telemetry = Schedule(parameters.telemetry, (number + 1) * GOLDEN % 1.0)
        self._pieces: dict[int, bytes] = {}
        self._coming = 0
        """The order whose pieces are kept."""
        self.link = Link(self._failsafe.after)
        self.flight = Flight(sim, vehicle)
        self.battery = nan
        """Share of what it holds, for telemetry, if whoever has a model of his own sets it."""

    def take_turn(self) -> None:
        if self._sim.vehicles.get(self.vehicle.name) is not self.vehicle:
            return  # it has left the simulation
        self._listen()
        self._look_for_the_station()
        if self._telemetry.is_due(self._sim.time_ns):
            self._send(telemetry_word(self._how_it_is()))

    def remembered(self) -> tuple[Any, ...]:
        mind = (self.link.heard_ns, self.link.is_lost, self.battery, self._telemetry.count, self._coming, self._pieces)
        return (*mind, self.flight.remembered())

    def _listen(self) -> None:
        for packet in self._ear.receive():
            word = understood(packet.content)
            if word is not None:
                self.link.hear(self._sim.time_ns)
            if isinstance(word, Piece):
                self._send(got_word(Got(word.order, word.number)))
                self._take(word)

    def _send(self, word: bytes) -> None:
        self._node.send(word, self._p.station, self._p.band)

    def _take(self, piece: Piece) -> None:
        """An order that was overtaken by a later one is acknowledged, and not flown."""
        if piece.order <= self.flight.order or piece.order < self._coming:
            return
        if piece.order > self._coming:
            self._coming, self._pieces = piece.order, {}
        self._pieces[piece.number] = piece.content
        if len(self._pieces) == piece.of:
            content = b"".join(self._pieces[k] for k in sorted(self._pieces))
            self._pieces = {}
            self._obey(piece.order, content)

    def _obey(self, number: int, content: bytes) -> None:
        words = json.loads(content)
        self._sim.event(self.vehicle.name, f"takes order {number} of {self._p.station}")
        self.flight.obey(number, ITEMS.validate_python(words["items"]), words["again_from"])

    def _look_for_the_station(self) -> None:
        news, name, station = self.link.look(self._sim.time_ns), self.vehicle.name, self._p.station
        if news is News.LOST:
            what = self.flight.lose_link(self._failsafe)
            text = f"has not heard {station} for {self._failsafe.after:g} s: {what}"
            self._sim.event(name, text, level="warning")
        elif news is News.BACK:
            self._sim.event(name, f"hears {station} again: {self.flight.find_link(self._failsafe)}")

    def _how_it_is(self) -> Telemetry:
        estimate, flight = self.vehicle.estimate, self.flight
        battery = self.vehicle.battery.share if self.vehicle.battery and isnan(self.battery) else self.battery
        return Telemetry(
            self._node.clock(self._sim.time_ns), tuple(estimate.position), tuple(estimate.velocity),
            yaw_from_quaternion(estimate.attitude), flight.doing, battery, flight.order, flight.item, flight.state,
        )  # fmt: skip
