"""Requests that look and change nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from airloom.basics.hints import did_you_mean
from airloom.engines.fleet import expand_copies
from airloom.eyes.eye import EyeError
from airloom.eyes.shown import shown
from airloom.net.json_lines import RequestError
from airloom.radio.shown import as_texts as radio_texts
from airloom.runs.link.context import RequestContext
from airloom.runs.link.observers import fields_of
from airloom.runs.link.request import ForVehicles, Request
from airloom.spray.shown import shown as spray_shown
from airloom.spray.spray import Spray

if TYPE_CHECKING:
    from airloom.vehicle import Vehicle


class Observe(ForVehicles):
    method, acts = "observe", False

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        vehicles = context.vehicles(self.vehicle)
        return {"time": context.sim.time, "vehicles": {v.name: _observed(v, context) for v in vehicles}}


class Gains(ForVehicles):
    method, acts = "gains", False

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        vehicles = context.vehicles(self.vehicle)
        return {
            "vehicles": {vehicle.name: vehicle.gains for vehicle in vehicles},
            "in_force": {vehicle.name: vehicle.gains_in_force for vehicle in vehicles},
        }


class Watch(Request):
    """Where the window on the states is, and what it shows; `studio/sources/live.py` reads it."""

    method, acts = "watch", False

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        window, scenario = context.open_window(), context.sim.scenario
        vehicles = expand_copies(scenario.vehicles)
        spelled_out = scenario.model_copy(update={"vehicles": vehicles})
        return {
            "window": str(window.path),
            "shape": window.shape,
            "edition": context.edition,
            "scenario": spelled_out.model_dump(mode="json", exclude={"vehicles": {"__all__": {"rotor"}}}),
        }


class Events(Request):
    """What happened after the first `since` events."""

    method, acts = "events", False
    since: int = 0

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        return {"count": context.events.count, "events": context.events.since(self.since)}


class Topics(Request):
    """The topics on the bus, and the numbers that their messages hold."""

    method, acts = "topics", False

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        topics = context.sim.bus.topics()
        return {"topics": {topic.name: {"type": topic.msgtype, "fields": fields_of(topic)} for topic in topics}}


class Series(Request):
    """A number in the messages of a topic over time: what came after `since` seconds, from the first request on."""

    method, acts = "series", False
    topic: str
    field: str
    since: float = -1.0

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        topics = {topic.name: topic for topic in context.sim.bus.topics()}
        if self.topic not in topics:
            raise RequestError(f"there is no topic '{self.topic}'{did_you_mean(self.topic, topics, 'topics are')}")
        samples = context.plots.trace(topics[self.topic], self.field).since(self.since)
        return {"times": [t for t, _ in samples], "values": [value for _, value in samples]}


class Look(Request):
    """What an eye of a vehicle sees now, or saw last if somebody wants that anyway: a picture, points in the world."""

    method, acts = "look", False
    vehicle: str
    eye: str

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        (vehicle,) = context.vehicles(self.vehicle)[:1]
        eyes = {eye.name: eye for eye in vehicle.eyes}
        if self.eye not in eyes:
            raise RequestError(f"{vehicle.name} has no eye called '{self.eye}'{did_you_mean(self.eye, eyes, 'it has')}")
        try:
            return shown(context.sim.eyes.glance(eyes[self.eye]))
        except EyeError as error:
            raise RequestError(str(error)) from None


class LookAtSpray(Request):
    """Where drops are, thinned, and a coarse map of what has landed, of the first system that sprays."""

    method, acts = "spray", False

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        found = [system for system in context.sim.systems.values() if isinstance(system, Spray)]
        if not found:
            raise RequestError("no system of kind spray is in this run")
        return spray_shown(context.sim, found[0])


class LookAtRadio(Request):
    """What was told of links after `since` seconds, and of packets if they are wanted; from the first request on."""

    method, acts = "radio", False
    since: float = -1.0
    packets: bool = False

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        if context.sim.radio is None:
            raise RequestError("nobody has a radio in this run")
        told = context.tapes.since("/radio/*links", self.since)
        if self.packets:
            told += context.tapes.since("/radio/*packets", self.since)
        return radio_texts(told) | {"has_packets": True}


class Contacts(Request):
    """Where bodies touch: points, and the forces on the vehicles there."""

    method, acts = "contacts", False

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        points, forces = context.sim.engine.contacts()
        return {"points": points.tolist(), "forces": forces.tolist()}


def _observed(vehicle: Vehicle, context: RequestContext) -> dict[str, Any]:
    return {
        "position": vehicle.position.tolist(),
        "velocity": vehicle.velocity.tolist(),
        "attitude": vehicle.attitude.tolist(),
        "rates": vehicle.rates.tolist(),
        "mode": vehicle.mode.label,
        "armed": vehicle.armed,
        "mission": context.mission_of(vehicle),
        "systems": context.systems_of(vehicle),
        "setpoint": {key: _plain(value) for key, value in asdict(vehicle.setpoint).items()},
    }


def _plain(value: Any) -> Any:
    return [float(x) for x in value] if isinstance(value, tuple) else float(value)
