"""A base station: hears its vehicles by radio, tells them what to fly, and shows what it knows of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from airloom.basics.patterns import matches, matching
from airloom.bus import messages
from airloom.missions.files import read_mission
from airloom.missions.mission import Mission
from airloom.scenario import ScenarioError
from airloom.scenario.errors import hint
from airloom.station.dispatch import Dispatch
from airloom.station.link import News
from airloom.station.onboard import ITEMS, Onboard, order_content
from airloom.station.parameters import BaseStationParameters, Order
from airloom.station.picture import Picture
from airloom.station.schedule import Schedule
from airloom.station.words import BEAT, LONGEST_ORDER, MARK, Got, Telemetry, piece_word, understood
from airloom.system import System
from airloom.systems.selection import chosen, described
from airloom.world.ground import ground

if TYPE_CHECKING:
    from airloom.scenario.models import Scenario
    from airloom.simulation import Simulation


class BaseStation(System):
    """A base station: telemetry and orders by radio, and what each vehicle does when it hears the station no more."""

    Parameters = BaseStationParameters
    parameters: BaseStationParameters
    rate = 20.0

    @classmethod
    def mistakes(cls, parameters: BaseStationParameters, scenario: Scenario) -> Iterator[tuple[Any, str]]:
        radio, p = scenario.radio, parameters
        if radio is None:
            yield "kind", "a base station talks by radio, and the scenario has none: add `radio: {stations: …}`"
            return
        if p.station not in radio.stations:
            yield "station", f"the radio has no station '{p.station}'{hint(p.station, radio.stations, 'Stations')}"
        if _at(p.station, scenario) > 1:
            yield "station", f"another base station stands at '{p.station}': give each a station of its own"
        if p.band and p.band not in radio.bands:
            yield "band", f"the radio has no band '{p.band}'{hint(p.band, radio.bands, 'Bands')}"
        for vehicle in described(scenario, p.vehicles):
            if vehicle.autopilot is not None:
                yield "vehicles", "an autopilot speaks for itself: carry its MAVLink by radio, `mavlink: {radio: …}`"
        yield from _flown_by_members(p, scenario)
        for k, order in enumerate(p.orders):
            if not any(matches(name, order.vehicles) for name in _names(scenario, p.vehicles)):
                yield ("orders", k, "vehicles"), f"no vehicle of this station matches '{order.vehicles}'"

    def configure(self, sim: Simulation) -> None:
        assert sim.radio is not None, "`mistakes` has looked"
        self._sim, self._radio, p = sim, sim.radio, self.parameters
        self._vehicles = list(chosen(sim, self.name, p.vehicles))
        for name in (p.station, *(vehicle.name for vehicle in self._vehicles)):
            if name not in self._radio or p.band not in self._radio[name].bands:
                where = f"in band '{p.band}'" if p.band else "there"
                raise ScenarioError(f"{sim.scenario.name}: systems.{self.name}: {name} has no radio {where}")
        self._node = self._radio[p.station]
        self._ear = self._node.ear(MARK)
        self._missions = [self._mission(sim, order) for order in p.orders]
        self._topic = sim.bus.advertise(f"/{self.name}/picture", messages.BASE_PICTURE)
        sim.bus.subscribe(f"/{self.name}/order", self._order_by_topic)

    def reset(self, sim: Simulation) -> None:
        p = self.parameters
        self.onboard = {vehicle.name: Onboard(sim, vehicle, p, k) for k, vehicle in enumerate(self._vehicles)}
        """The computers of the vehicles, by name."""
        self.picture = Picture(self.onboard, p.silence)
        """What the station knows of its vehicles, by name."""
        self.dispatches: list[Dispatch] = []
        """All orders to each vehicle so far."""
        self._under_way: dict[str, Dispatch] = {}
        """The last order to each vehicle, if it is still on its way."""
        self._counts = dict.fromkeys(self.onboard, 0)
        self._beat = Schedule(p.beat)
        for order, mission in zip(p.orders, self._missions, strict=True):
            sim.call_at(order.at, partial(self._give_mission, order.vehicles, mission))

    def post_update(self, sim: Simulation) -> None:
        self._listen(sim.time_ns)
        for name, news in self.picture.look(sim.time_ns):
            sim.event(self.name, f"{'has lost' if news is News.LOST else 'hears again'} {name}")
        self._send_orders(sim.time_ns)
        if self._beat.is_due(sim.time_ns):
            self._node.send(BEAT, band=self.parameters.band)
            if self._topic.wanted:
                self._topic.publish(self.picture.message(sim.time_ns, self._node.clock(sim.time_ns)), sim.time_ns)
        for onboard in self.onboard.values():
            onboard.take_turn()

    # -- orders ------------------------------------------------------------------------------------------------------

    def order(self, vehicles: str, *items: dict[str, Any]) -> list[Dispatch]:
        """Send mission items, such as {"goto": [10, 0, 5]}, to vehicles by name or pattern. Each delivery can be
        watched; a later order overtakes those that are still on their way.
        """
        return self._give(vehicles, ITEMS.validate_python(list(items)))

    def _give_mission(self, vehicles: str, mission: Mission) -> None:
        self._give(vehicles, mission.items, mission.again_from)

    def _give(self, vehicles: str, items: list[Any], again_from: int | None = None) -> list[Dispatch]:
        names = matching(((name, name) for name in self.onboard), vehicles)
        if not names:
            raise ValueError(f"no vehicle of {self.name} matches '{vehicles}'{hint(vehicles, self.onboard, 'It has')}")
        content = order_content(items, again_from)
        if not items or len(content) > LONGEST_ORDER:
            raise ValueError(f"an order has some items, and at most {LONGEST_ORDER} bytes; this one has {len(content)}")
        given = [self._dispatch(name, content) for name in names]
        self.dispatches += given
        return given

    def _dispatch(self, vehicle: str, content: bytes) -> Dispatch:
        if (earlier := self._under_way.get(vehicle)) is not None:
            earlier.state = "overtaken"
        self._counts[vehicle] += 1
        self._under_way[vehicle] = Dispatch(vehicle, self._counts[vehicle], self._sim.time_ns, content)
        return self._under_way[vehicle]

    def _send_orders(self, now_ns: int) -> None:
        p = self.parameters
        for vehicle, one in list(self._under_way.items()):
            for piece in one.due(now_ns, p.retry, p.attempts):
                self._node.send(piece_word(piece), vehicle, p.band)
            if one.state == "given up":
                del self._under_way[vehicle]
                text = f"order {one.number} to {vehicle} is given up after {one.attempts} attempts"
                self._sim.event(self.name, text, level="warning")

    def _order_by_topic(self, topic: Any, message: Any, _: int) -> None:
        try:
            if topic.msgtype != messages.STRING:
                raise ValueError(f"{topic.name} takes {messages.STRING}, not {topic.msgtype}")
            words = json.loads(message.data)
            if not isinstance(words, dict) or words.keys() != {"vehicles", "items"}:
                raise ValueError('an order is {"vehicles": "drone_*", "items": [{"goto": [10, 0, 5]}]}')
            self.order(str(words["vehicles"]), *words["items"])
        except (ValueError, TypeError, ValidationError) as error:
            self._sim.event(topic.name, f"refused: {str(error).splitlines()[0]}", level="error")

    def _mission(self, sim: Simulation, order: Order) -> Mission:
        if order.file is None:
            return Mission(order.items or [])
        world = sim.fleet.flight.world
        mission = read_mission(order.file, sim.scenario.world.origin, lambda x, y: float(ground(world, x, y)[0]))
        if mission.fence:
            sim.event(self.name, f"the fence in {order.file} is not sent with the order", level="warning")
        return mission

    # -- what it hears -----------------------------------------------------------------------------------------------

    def _listen(self, now_ns: int) -> None:
        for packet in self._ear.receive():
            if packet.sender not in self.onboard:
                continue
            if (word := understood(packet.content)) is None:
                continue
            self.picture.hear(packet, word if isinstance(word, Telemetry) else None, now_ns)
            if isinstance(word, Got):
                self._note(packet.sender, word, now_ns)

    def _note(self, vehicle: str, got: Got, now_ns: int) -> None:
        one = self._under_way.get(vehicle)
        if one is not None and one.acknowledge(got, now_ns):
            del self._under_way[vehicle]
            seconds = (now_ns - one.given_ns) * 1e-9
            self._sim.event(self.name, f"{vehicle} has order {one.number}, {seconds:.2f} s after it was given")

    # -- what it remembers -------------------------------------------------------------------------------------------

    def hash_into(self, digest: Any) -> None:
        under_way = [one.remembered() for one in self._under_way.values()]
        digest.update(repr((self._counts, under_way, self._beat.count, self.picture.remembered())).encode())
        for onboard in self.onboard.values():
            digest.update(repr(onboard.remembered()).encode())

    # -- the end -----------------------------------------------------------------------------------------------------

    def conclude(self, sim: Simulation) -> None:
        for name, seen in self.picture.items():
            if seen.link.heard_ns is None:
                sim.event(self.name, f"{name} was never heard", level="warning")

    def report(self, sim: Simulation) -> dict[str, Any]:
        """By vehicle: when it did not hear the station, when the station did not hear it, and what became of orders."""
        return {name: self._report_of(name) for name in self.onboard}

    def _report_of(self, name: str) -> dict[str, Any]:
        seen, onboard = self.picture[name], self.onboard[name]
        return {
            "telemetry_heard": seen.count,
            "station_lost": [outage.seconds for outage in onboard.link.outages],
            "vehicle_lost": [outage.seconds for outage in seen.link.outages],
            "doing": onboard.flight.doing.name.lower(),
            "orders": [_report_of_order(one) for one in self.dispatches if one.vehicle == name],
        }


def _report_of_order(one: Dispatch) -> dict[str, Any]:
    taken = None if one.state != "delivered" else ((one.delivered_ns or 0) - one.given_ns) * 1e-9
    return {"given": one.given_ns * 1e-9, "state": one.state, "attempts": one.attempts, "delivered_after": taken}


def _at(station: str, scenario: Scenario) -> int:
    """How many base stations stand there."""
    found = [
        choice.parameters for choice in scenario.systems.values() if choice.kind == "base_station" and choice.enabled
    ]
    return sum(BaseStationParameters.model_validate(one).station == station for one in found)


def _names(scenario: Scenario, pattern: str) -> list[str]:
    every = [each for name, vehicle in scenario.vehicles.items() for each in vehicle.names(name)]
    return [name for name in every if matches(name, pattern)]


def _flown_by_members(p: BaseStationParameters, scenario: Scenario) -> Iterator[tuple[str, str]]:
    """What a program tells its vehicles at each of its turns would undo what they do without a link."""
    for member, description in scenario.members.items():
        both = [name for name in _names(scenario, p.vehicles) if matches(name, description.vehicles or "")]
        acting = [name for name in both if p.failsafe_of(name).action != "none"]
        if acting:
            what = f"the member '{member}' flies {acting[0]}, and would overrule it: choose `action: none`"
            yield "failsafe", f"{what}, and let the program look after its link"
