"""What a controller outside may ask for: one class a method, from a line of JSON to the fields of the reply.

msgspec decodes and checks it in one go; only what it does not take is looked at with care.
"""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, Struct

from airloom.basics.clock import NS_PER_SECOND
from airloom.basics.hints import did_you_mean
from airloom.net.json_lines import UNREADABLE, RequestError, must_not_be_too_long, parse_object, take_method
from airloom.runs.link.flying import named_command
from airloom.scenario.errors import shortened
from airloom.serve.session import Session
from airloom.simulation import Simulation
from airloom.vehicle import Vehicle
from airloom.watch.divergence import Diverged

Ticks = Annotated[int, Meta(ge=1, le=1_000_000)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Fields = dict[str, Any]


class Request(Struct, forbid_unknown_fields=True, tag_field="method"):
    mends: ClassVar[bool] = False
    """Whether it may be asked for after a tick that was left half done."""

    def carry_out(self, session: Session) -> Fields:
        """What the reply has besides the clock. Whatever can be refused is refused before anything is done."""
        raise NotImplementedError


class Describe(Request, tag="describe"):
    """All that a controller may want to know before the first step."""

    mends = True

    def carry_out(self, session: Session) -> Fields:
        sim = session.sim
        widths: dict[str, dict[str, int]] = {name: {} for name in sim.vehicles}
        for sensor in sim.fleet.sensors:
            widths[sensor.vehicle][sensor.name] = sensor.width
        return {
            "scenario": sim.scenario.name,
            "seed": sim.seed,
            "step": sim.step_ns / NS_PER_SECOND,
            "vehicles": {name: _described(vehicle, widths[name]) for name, vehicle in sim.vehicles.items()},
            "warnings": sim.warnings,
        }


class Reset(Request, tag="reset"):
    """Back to time 0, with another seed if one is given."""

    mends = True
    seed: Seed | None = None
    observe: str | None = None
    readings: str | None = None

    def carry_out(self, session: Session) -> Fields:
        observed, read = _matching(session.sim, self.observe), _matching(session.sim, self.readings)
        session.reset(self.seed)
        return _seen(session, observed, read)


class Observe(Request, tag="observe"):
    mends = True
    vehicle: str

    def carry_out(self, session: Session) -> Fields:
        return _seen(session, _matching(session.sim, self.vehicle), [])


class Readings(Request, tag="readings"):
    """The latest reading of each sensor."""

    vehicle: str

    def carry_out(self, session: Session) -> Fields:
        return _seen(session, [], _matching(session.sim, self.vehicle))


class Rotors(Request, tag="rotors"):
    """Rotor speeds (rad/s) for a vehicle that has no controller of its own."""

    vehicle: str
    speeds: list[float]

    def carry_out(self, session: Session) -> Fields:
        vehicle = _named(session.sim, self.vehicle)
        if vehicle.has_controller:
            raise RequestError(
                f"{vehicle.name}'s own controller would overwrite rotor speeds; "
                f"serve it without: --set vehicles.{vehicle.name}.controller=null"
            )
        vehicle.set_rotor_speeds(self.speeds)
        session.warn_of_speeds(vehicle, self.speeds)
        return {}


class GiveCommand(Request, tag="command"):
    """`kind` is the name of a control mode; further fields are those of its command."""

    vehicle: str
    kind: str
    fields: Fields

    @classmethod
    def from_fields(cls, given: Fields) -> GiveCommand:
        vehicle, kind = given.pop("vehicle", None), given.pop("kind", None)
        if not (isinstance(vehicle, str) and isinstance(kind, str)):
            raise RequestError(
                'a command has a vehicle, a kind and what that takes, as in {"vehicle": "cf", "kind": "position_yaw", '
                '"position": [0, 0, 1]}'
            )
        return cls(vehicle, kind, given)

    def carry_out(self, session: Session) -> Fields:
        vehicle = _named(session.sim, self.vehicle)
        if not vehicle.has_controller:
            raise RequestError(f"{vehicle.name} has no controller that would fly a command; give it rotor speeds")
        vehicle.command(named_command(self.kind, self.fields))
        return {}


class Step(Request, tag="step"):
    """Some ticks forward; with a command or rotor speeds before and a look after, a control loop in one round trip."""

    ticks: Ticks = 1
    command: Fields | None = None
    rotors: Rotors | None = None
    observe: str | None = None
    readings: str | None = None

    def carry_out(self, session: Session) -> Fields:
        sim = session.sim
        observed, read = _matching(sim, self.observe), _matching(sim, self.readings)
        if self.command is not None:
            if self.rotors is not None:
                raise RequestError("a step takes a command or rotor speeds; give the other in a request before it")
            GiveCommand.from_fields(self.command).carry_out(session)
        elif self.rotors is not None:
            self.rotors.carry_out(session)
        session.step(self.ticks)
        return _seen(session, observed, read)


class Hash(Request, tag="hash"):
    """A digest of the full state, equal for equal runs."""

    def carry_out(self, session: Session) -> Fields:
        session.first_look()
        return {"hash": session.sim.state_hash()}


class Hello(Request, tag="hello"):
    """The first line to a server that asks for a token; anywhere else a greeting."""

    mends = True
    token: str = ""

    def carry_out(self, session: Session) -> Fields:
        return {"scenario": session.sim.scenario.name}


class Close(Request, tag="close"):
    """The client takes its leave."""

    mends = True

    def carry_out(self, session: Session) -> Fields:
        return {}


METHODS: dict[str, type[Request]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (Describe, Reset, Step, Observe, Readings, GiveCommand, Rotors, Hash, Hello, Close)
}
_decode = msgspec.json.Decoder(Describe | Reset | Step | Observe | Readings | Rotors | Hash | Hello | Close).decode


def parse(line: bytes) -> Request:
    """A request from a line of JSON."""
    must_not_be_too_long(line)
    try:
        return _decode(line)
    except UNREADABLE:
        return _parse_with_care(line)


def _parse_with_care(line: bytes) -> Request:
    """A command, whose fields depend on its kind; or an error that says what was expected."""
    given = parse_object(line)
    kind = take_method(given, METHODS)
    if kind is GiveCommand:
        return GiveCommand.from_fields(given)
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        takes = ", ".join(kind.__struct_fields__) or "nothing else"
        raise RequestError(f"{kind.__struct_config__.tag}: {error}; it takes {takes}") from None


def _named(sim: Simulation, name: str) -> Vehicle:
    if name not in sim.vehicles:
        hint = did_you_mean(name, sim.vehicles, "vehicles are")
        raise RequestError(f"no vehicle is called '{shortened(name)}'{hint}")
    return sim.vehicles[name]


def _matching(sim: Simulation, pattern: str | None) -> list[Vehicle]:
    """Those that match a pattern such as drone*; none if nobody is asked for."""
    if pattern is None:
        return []
    if pattern in sim.vehicles:
        return [sim.vehicles[pattern]]
    return list(sim.group(pattern)) or [_named(sim, pattern)]


def _seen(session: Session, observed: list[Vehicle], read: list[Vehicle]) -> Fields:
    seen = {}
    if observed:
        seen["vehicles"] = {vehicle.name: _state(vehicle) for vehicle in observed}
    if read:
        session.first_look()
        seen["readings"] = {vehicle.name: _readings(vehicle) for vehicle in read}
    return seen


def _state(vehicle: Vehicle) -> Fields:
    state, speeds = vehicle.state.tolist(), vehicle.rotor_speeds.tolist()
    _check_numbers(vehicle, state + speeds)
    return {
        "position": state[0:3],
        "attitude": state[3:7],
        "velocity": state[7:10],
        "rates": state[10:13],
        "rotor_speeds": speeds,
        "mode": vehicle.mode.label,
    }


def _readings(vehicle: Vehicle) -> Fields:
    """Empty for a sensor whose first reading is still on its way."""
    readings = {name: values.tolist() for name, values in vehicle.readings.items()}
    for numbers in readings.values():
        _check_numbers(vehicle, numbers)
    return readings


def _check_numbers(vehicle: Vehicle, numbers: list[float]) -> None:
    if not isfinite(sum(numbers)):  # JSON has no word for it
        raise Diverged(f"the state of {vehicle.name} became infinite or no number")


def _described(vehicle: Vehicle, sensors: dict[str, int]) -> Fields:
    frame = vehicle.airframe
    return {
        "mass": vehicle.mass,
        "gravity": frame.gravity,
        "inertia": frame.inertia.tolist(),
        "rotors": len(frame.rotors),
        "thrust_constants": [rotor.thrust_constant for rotor in frame.rotors],
        "max_speeds": [rotor.max_speed for rotor in frame.rotors],
        "hover_speed": frame.hover_speed,
        "sensors": sensors,
        "has_controller": vehicle.has_controller,
        "mode": vehicle.mode.label,
    }
