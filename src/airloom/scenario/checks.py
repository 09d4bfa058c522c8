"""What a model cannot see by itself: plugin parameters, rates against the step, names of copies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from airloom import plugin
from airloom.basics.clock import ticks_per_period, to_ns, whole_ticks

from .errors import KeyPath, complaint, hint
from .keys import either
from .models import PluginChoice, Scenario
from .radio import Radio
from .tree import Node, origin_of
from .validation import complaints


class Chosen(NamedTuple):
    """A plugin chosen somewhere in the scenario."""

    category: str
    path: KeyPath
    choice: PluginChoice


def chosen_plugins(scenario: Scenario) -> Iterator[Chosen]:
    for name, vehicle in scenario.vehicles.items():
        for sensor, choice in vehicle.sensors.items():
            yield Chosen("sensor", ("vehicles", name, "sensors", sensor), choice)
        yield Chosen("estimator", ("vehicles", name, "estimator"), vehicle.estimator)
        if vehicle.controller:
            yield Chosen("controller", ("vehicles", name, "controller"), vehicle.controller)
        if vehicle.autopilot:
            yield Chosen("autopilot", ("vehicles", name, "autopilot"), vehicle.autopilot)
    for name, system in scenario.systems.items():
        yield Chosen("system", ("systems", name), system)


def check_vehicles(scenario: Scenario, root: Node) -> Iterator[str]:
    """Apart from the model, so that a scenario whose only vehicle is wrong can be checked for other mistakes."""
    if not scenario.vehicles:
        yield complaint(origin_of(root, ("vehicles",)), ("vehicles",), "must have at least 1 entry, got {}")


def check_plugins(scenario: Scenario, root: Node) -> Iterator[str]:
    for chosen in chosen_plugins(scenario):
        yield from _check_plugin(chosen, root)


def _check_plugin(chosen: Chosen, root: Node) -> Iterator[str]:
    try:
        parameters = plugin.find(chosen.category, chosen.choice.kind).Parameters
    except plugin.PluginError as error:
        path = (*chosen.path, "kind")
        yield complaint(origin_of(root, path), path, str(error))
        return
    try:
        parameters.model_validate(chosen.choice.parameters)
    except ValidationError as error:
        yield from complaints(error, root, either([parameters, type(chosen.choice)]), chosen.path).values()


def check_systems(scenario: Scenario, root: Node) -> Iterator[str]:
    """What systems act on must be there."""
    for name, choice in scenario.systems.items():
        if choice.enabled:
            system: Any = plugin.find("system", choice.kind)
            for key, what in system.mistakes(system.Parameters.model_validate(choice.parameters), scenario):
                path = ("systems", name, *((key,) if isinstance(key, str) else key))
                yield complaint(origin_of(root, path), path, what)


def check_autopilots(scenario: Scenario, root: Node) -> Iterator[str]:
    """What autopilots rely on must be there."""
    for name, vehicle in scenario.vehicles.items():
        if vehicle.autopilot:
            autopilot: Any = plugin.find("autopilot", vehicle.autopilot.kind)
            parameters = autopilot.Parameters.model_validate(vehicle.autopilot.parameters)
            for key, what in autopilot.mistakes_in(parameters, name, vehicle, scenario):
                path = ("vehicles", name, "autopilot", *key)
                yield complaint(origin_of(root, path), path, what)


def check_parts(scenario: Scenario, root: Node) -> Iterator[str]:
    """What measures a tank or a battery needs one."""
    for name, vehicle in scenario.vehicles.items():
        for sensor, choice in vehicle.sensors.items():
            part = getattr(plugin.find("sensor", choice.kind), "measures", None)
            if part is not None and getattr(vehicle, part) is None:
                path = ("vehicles", name, "sensors", sensor)
                what = f"a sensor of kind {choice.kind} measures a {part}, and the vehicle has none; give it a {part}"
                yield complaint(origin_of(root, path), path, what)


def check_water(scenario: Scenario, root: Node) -> Iterator[str]:
    """What pushes water needs some."""
    for name, vehicle in scenario.vehicles.items():
        if scenario.world.water is None and any(rotor.in_water for rotor in vehicle.rotors.values()):
            path = ("vehicles", name, "rotors")
            what = "thrusters push water, and the world has none; give world.water, if only {}"
            yield complaint(origin_of(root, path), path, what)


def check_radio(scenario: Scenario, root: Node) -> Iterator[str]:
    """Nodes have names of their own, and somebody has a radio for each band."""
    for path, what in _misfits_of_radio(scenario.radio, scenario.names) if scenario.radio else ():
        yield complaint(origin_of(root, path), path, what)


def _misfits_of_radio(radio: Radio, vehicles: Sequence[str]) -> Iterator[tuple[KeyPath, str]]:
    for name in sorted({*vehicles} & {*radio.stations}):
        yield ("radio", "stations", name), "a vehicle has this name too; rename the station"
    for band, kind in radio.bands.items():
        for name in kind.stations:
            if name not in radio.stations:
                what = f"no station is called '{name}'{hint(name, radio.stations, 'Stations')}"
                yield ("radio", "bands", band, "stations"), what
    for band, any_kind in radio.kinds.items():
        nodes, path = list(radio.members(band, vehicles)), ("radio", "bands", band) if band else ("radio",)
        if any_kind.ns3 and any_kind.ns3.base and any_kind.ns3.base not in nodes:
            what = f"no node is called '{any_kind.ns3.base}'{hint(any_kind.ns3.base, nodes[:8], 'Nodes')}"
            yield (*path, "ns3", "base"), what
        if not nodes:
            what = f"nobody has a radio: no vehicle matches '{any_kind.vehicles}', and there is no station"
            yield path, what


def check_time(scenario: Scenario, root: Node) -> Iterator[str]:
    """The step is a whole number of nanoseconds; periods and delays are whole numbers of steps."""
    try:
        step_ns = to_ns(scenario.step)
    except ValueError as error:
        yield complaint(origin_of(root, ("step",)), ("step",), str(error))
        return
    for path, value, count_steps in _times(scenario):
        try:
            count_steps(value, step_ns)
        except ValueError as error:
            yield complaint(origin_of(root, path), path, str(error))


def _times(scenario: Scenario) -> Iterator[tuple[KeyPath, float, Callable[[float, int], int]]]:
    yield ("log", "rate"), scenario.log.rate, ticks_per_period
    if not scenario.world.weather.is_plain:
        yield ("world", "weather", "rate"), scenario.world.weather.rate, ticks_per_period
    if scenario.radio is not None:
        yield ("radio", "period"), scenario.radio.period, whole_ticks
    for name, member in scenario.members.items():
        yield ("members", name, "rate"), member.rate, ticks_per_period
    for chosen in chosen_plugins(scenario):
        rate = _rate_of(chosen)
        if isinstance(rate, int | float):
            yield (*chosen.path, "rate"), rate, ticks_per_period
        if chosen.category == "sensor" and "delay" in chosen.choice.parameters:
            yield (*chosen.path, "delay"), chosen.choice.parameters["delay"], whole_ticks


def _rate_of(chosen: Chosen) -> Any:
    given = getattr(chosen.choice, "rate", None) or chosen.choice.parameters.get("rate")
    if given is not None:
        return given
    found = plugin.find(chosen.category, chosen.choice.kind)
    field = found.Parameters.model_fields.get("rate")
    return field.default if field else getattr(found, "rate", None)


def check_copies(scenario: Scenario, root: Node) -> Iterator[str]:
    """Copies of `drone` are called drone_0, drone_1, …: no other vehicle may have such a name."""
    for name, vehicle in scenario.vehicles.items():
        copy = re.fullmatch(r"(.+)_(0|[1-9][0-9]{0,9})", name)
        source = scenario.vehicles.get(copy[1]) if copy and not vehicle.copies else None
        if copy and source and source.copies and int(copy[2]) < source.copies.count:
            what = f"one of the {source.copies.count} copies of '{copy[1]}' has this name too; rename this vehicle"
            yield complaint(origin_of(root, ("vehicles", name)), ("vehicles", name), what)
