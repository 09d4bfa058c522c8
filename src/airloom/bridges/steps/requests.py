"""What a controller outside may ask for: one class a method, from a line of JSON to the fields of the reply.

Decoding and checking is msgspec's, which takes a microsecond where pydantic takes twenty.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, Struct

from airloom.bridges.control.flying import named_command
from airloom.bridges.control.tower import RequestError, hint
from airloom.simulation import Simulation
from airloom.vehicle import Vehicle

Ticks = Annotated[int, Meta(ge=1, le=1_000_000)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Fields = dict[str, Any]


class Request(Struct, forbid_unknown_fields=True):
    method: ClassVar[str]

    def carry_out(self, sim: Simulation) -> Fields:
        """The fields of the reply."""
        raise NotImplementedError


class Describe(Request):
    """All that a controller may want to know before the first step."""

    method = "describe"

    def carry_out(self, sim: Simulation) -> Fields:
        sim.state_hash()  # the sensors' first look at time 0, which tells how wide their readings are
        return {
            "scenario": sim.scenario.name,
            "seed": sim.seed,
            "step": sim.step_ns * 1e-9,
            **_clock(sim),
            "vehicles": {vehicle.name: _described(vehicle) for vehicle in sim.vehicles.values()},
            "warnings": sim.warnings,
        }


class Reset(Request):
    """Back to time 0, with another seed if one is given."""

    method = "reset"
    seed: Seed | None = None
    observe: str | None = None

    def carry_out(self, sim: Simulation) -> Fields:
        observed = _matching(sim, self.observe)
        sim.reset(self.seed)
        return {**_clock(sim), **_observed(observed)}


class Observe(Request):
    method = "observe"
    vehicle: str

    def carry_out(self, sim: Simulation) -> Fields:
        return {**_clock(sim), **_observed(_matching(sim, self.vehicle))}


class Readings(Request):
    """The latest reading of each sensor."""

    method = "readings"
    vehicle: str

    def carry_out(self, sim: Simulation) -> Fields:
        sim.state_hash()  # the sensors' first look at time 0
        return {**_clock(sim), **_read(_matching(sim, self.vehicle))}


class Rotors(Request):
    """Rotor speeds (rad/s) for a vehicle that has no controller of its own."""

    method = "rotors"
    vehicle: str
    speeds: list[float]

    def carry_out(self, sim: Simulation) -> Fields:
        vehicle = _named(sim, self.vehicle)
        if vehicle.gains:
            raise RequestError(
                f"{vehicle.name}'s own controller would overwrite rotor speeds; "
                f"serve it without: --set vehicles.{vehicle.name}.controller=null"
            )
        vehicle.set_rotor_speeds(self.speeds)
        return _clock(sim)


class GiveCommand(Request):
    """`kind` is the name of a control mode; further fields are those of its command."""

    method = "command"
    vehicle: str
    kind: str
    fields: Fields

    @classmethod
    def from_fields(cls, given: Fields) -> GiveCommand:
        about: Fields = {key: given[key] for key in ("vehicle", "kind") if key in given}
        rest = {key: value for key, value in given.items() if key not in about}
        return msgspec.convert({**about, "fields": rest}, cls)

    def carry_out(self, sim: Simulation) -> Fields:
        vehicle = _named(sim, self.vehicle)
        if not vehicle.gains:
            raise RequestError(f"{vehicle.name} has no controller that would fly a command; give it rotor speeds")
        vehicle.command(named_command(self.kind, self.fields))
        return _clock(sim)


class Step(Request):
    """Some ticks forward; with a command or rotor speeds before and a look after, a control loop in one round trip."""

    method = "step"
    ticks: Ticks = 1
    command: Fields | None = None
    rotors: Rotors | None = None
    observe: str | None = None
    readings: str | None = None

    def carry_out(self, sim: Simulation) -> Fields:
        observed, read = _matching(sim, self.observe), _matching(sim, self.readings)
        if self.command is not None:
            GiveCommand.from_fields(self.command).carry_out(sim)
        if self.rotors is not None:
            self.rotors.carry_out(sim)
        sim.step(self.ticks)
        return {**_clock(sim), **_observed(observed), **_read(read)}


class Hash(Request):
    """A digest of the full state, equal for equal runs."""

    method = "hash"

    def carry_out(self, sim: Simulation) -> Fields:
        return {**_clock(sim), "hash": sim.state_hash()}


class Hello(Request):
    """The first line to a server that asks for a token; anywhere else a greeting."""

    method = "hello"
    token: str = ""

    def carry_out(self, sim: Simulation) -> Fields:
        return {"scenario": sim.scenario.name}


class Close(Request):
    """The client takes its leave."""

    method = "close"

    def carry_out(self, sim: Simulation) -> Fields:
        return _clock(sim)


METHODS: dict[str, type[Request]] = {
    kind.method: kind for kind in (Describe, Reset, Step, Observe, Readings, GiveCommand, Rotors, Hash, Hello, Close)
}
_BUILDERS: dict[str, Callable[[Fields], Request]] = {GiveCommand.method: GiveCommand.from_fields}


def parse(line: bytes) -> Request:
    """A request from a line of JSON."""
    try:
        given = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(f"this is no line of JSON: {error}") from None
    if not isinstance(given, dict):
        raise RequestError('a request is an object such as {"method": "step"}')
    method = given.pop("method", None)
    kind = METHODS.get(method) if isinstance(method, str) else None
    if kind is None:
        raise RequestError(f"there is no method {method!r:.40}{hint(method, METHODS, 'methods are')}")
    try:
        return _BUILDERS[kind.method](given) if kind.method in _BUILDERS else msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise RequestError(f"{kind.method}: {error}") from None


def _named(sim: Simulation, name: str) -> Vehicle:
    if name not in sim.vehicles:
        raise RequestError(f"no vehicle is called '{name}'{hint(name, sim.vehicles, 'vehicles are')}")
    return sim.vehicles[name]


def _matching(sim: Simulation, pattern: str | None) -> list[Vehicle] | None:
    """Those that match a pattern such as drone*; None if nobody is asked for."""
    if pattern is None:
        return None
    if pattern in sim.vehicles:
        return [sim.vehicles[pattern]]
    return list(sim.group(pattern)) or [_named(sim, pattern)]


def _clock(sim: Simulation) -> Fields:
    return {"tick": sim.tick, "time": sim.time}


def _observed(vehicles: list[Vehicle] | None) -> Fields:
    return {} if vehicles is None else {"vehicles": {vehicle.name: _state(vehicle) for vehicle in vehicles}}


def _read(vehicles: list[Vehicle] | None) -> Fields:
    if vehicles is None:
        return {}
    return {"readings": {v.name: {name: values.tolist() for name, values in v.readings.items()} for v in vehicles}}


def _state(vehicle: Vehicle) -> Fields:
    state = vehicle.state.tolist()
    if not isfinite(sum(state)):
        raise RequestError(f"the state of {vehicle.name} became infinite or no number; reset to go on")
    return {
        "position": state[0:3],
        "attitude": state[3:7],
        "velocity": state[7:10],
        "rates": state[10:13],
        "rotor_speeds": vehicle.rotor_speeds.tolist(),
        "mode": vehicle.mode.label,
    }


def _described(vehicle: Vehicle) -> Fields:
    frame = vehicle.airframe
    return {
        "mass": vehicle.mass,
        "gravity": frame.gravity,
        "inertia": frame.inertia.tolist(),
        "rotors": len(frame.rotors),
        "thrust_constants": [rotor.thrust_constant for rotor in frame.rotors],
        "max_speeds": [rotor.max_speed for rotor in frame.rotors],
        "hover_speed": frame.hover_speed,
        "sensors": {name: len(reading) for name, reading in vehicle.readings.items()},
        "has_controller": bool(vehicle.gains),
        "mode": vehicle.mode.label,
    }
