"""What may be asked of a running simulation over its control link: one class a method, its fields those of the JSON.

`parse` takes a line apart in the client's thread; `carry_out` is called by the simulation between two chunks of ticks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import MISSING, asdict, fields
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from airloom.commands import BY_MODE, Command, CommandError, Mode
from airloom.missions.pilot import Pilot
from airloom.missions.tasks import Task

if TYPE_CHECKING:
    from airloom.recorded_run import RecordedRun
    from airloom.vehicle import Vehicle

LARGEST = 1e9
"""No number of a request may be greater: whoever sends one has made a mistake."""

Vector = Annotated[list[float], Field(min_length=3, max_length=3)]
Positive = Annotated[float, Field(gt=0)]


class RequestError(ValueError):
    """A request that cannot be carried out; the message is meant for its sender."""


class Tower:
    """What requests act upon: a run, and the missions that were started in it."""

    def __init__(self, run: RecordedRun) -> None:
        self.run, self.sim = run, run.sim
        self._missions: dict[str, Task] = {}

    def vehicles(self, pattern: str) -> list[Vehicle]:
        """Those whose names match; an error with the closest name if there are none."""
        found = list(self.sim.group(pattern))
        if not found:
            raise RequestError(f"no vehicle is called '{pattern}'{_hint(pattern, self.sim.vehicles, 'vehicles are')}")
        return found

    def mission_of(self, vehicle: Vehicle) -> str | None:
        task = self._missions.get(vehicle.name)
        return task.name.removeprefix(f"{vehicle.name} ") if task and not task.done else None

    def start(self, vehicle: Vehicle, what: str, mission: Callable[[Pilot], Coroutine]) -> None:
        """Replaces what the vehicle was doing; what is wrong from the start is told at once, else on /events."""
        self.take_over(vehicle)
        if vehicle.armed and vehicle.mode is not Mode.POSITION_YAW:
            vehicle.recover()
        task = self.sim.start(mission(self.sim.pilot(vehicle.name)), f"{vehicle.name} {what}")
        task.when_done(self._tell_failure)
        task.wake()
        if task.error is not None:
            raise RequestError(str(task.error))
        self._missions[vehicle.name] = task

    def take_over(self, vehicle: Vehicle) -> None:
        """End the vehicle's mission, which brakes it: from now on somebody else says where to go."""
        if task := self._missions.pop(vehicle.name, None):
            task.cancel()

    def _tell_failure(self, task: Task) -> None:
        if task.error is not None and task in self._missions.values():
            self.sim.event(task.name, f"failed: {task.error}", level="error")


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    method: ClassVar[str]
    acts: ClassVar[bool] = True
    """Whether it changes the run, and so belongs in the log."""

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        """The fields of the reply."""
        raise NotImplementedError

    def note(self) -> str:
        return " ".join([self.method, *(f"{key}={value}" for key, value in self.model_dump(exclude_none=True).items())])


class Info(Request):
    method, acts = "info", False

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        run, sim = tower.run, tower.sim
        vehicles = {v.name: {"mode": v.mode.label, "armed": v.armed} for v in sim.vehicles.values()}
        end = run.target * sim.step_ns / 1e9
        speed = "max" if run.speed is None else run.speed
        about = {"scenario": sim.scenario.name, "time": sim.time, "end": end, "speed": speed, "paused": run.paused}
        return {**about, "vehicles": vehicles}


class ForVehicles(Request):
    """Goes to a vehicle, or to all that match a pattern such as drone*."""

    vehicle: str

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        vehicles = tower.vehicles(self.vehicle)
        self.act(tower, vehicles)
        return {"vehicles": [vehicle.name for vehicle in vehicles]}

    def act(self, tower: Tower, vehicles: list[Vehicle]) -> None:
        """On all of them, or on none if one cannot."""
        raise NotImplementedError


class Observe(ForVehicles):
    method, acts = "observe", False

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        vehicles = tower.vehicles(self.vehicle)
        return {"time": tower.sim.time, "vehicles": {v.name: _observed(v, tower) for v in vehicles}}


class Gains(ForVehicles):
    method, acts = "gains", False

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        return {"vehicles": {vehicle.name: vehicle.gains for vehicle in tower.vehicles(self.vehicle)}}


class GiveCommand(ForVehicles):
    """`kind` is the name of a control mode; further fields are those of its command."""

    model_config = ConfigDict(extra="allow")
    method = "command"
    kind: str

    def act(self, tower: Tower, vehicles: list[Vehicle]) -> None:
        command = _command(self.kind, self.model_extra or {})
        for vehicle in vehicles:
            vehicle.check_command(command)
        for vehicle in vehicles:
            tower.take_over(vehicle)
            vehicle.command(command)


class SwitchMode(ForVehicles):
    method = "switch_mode"
    mode: str | int

    def act(self, tower: Tower, vehicles: list[Vehicle]) -> None:
        mode = Mode.named(self.mode)
        for vehicle in vehicles:
            vehicle.check_mode(mode)
        for vehicle in vehicles:
            tower.take_over(vehicle)
            vehicle.switch_mode(mode)


class Tune(ForVehicles):
    method = "tune"
    gains: Annotated[dict[str, Any], Field(min_length=1)]

    def act(self, tower: Tower, vehicles: list[Vehicle]) -> None:
        for vehicle in vehicles:
            vehicle.check_tuning(**self.gains)
        for vehicle in vehicles:
            vehicle.tune(**self.gains)


class TakeOver(ForVehicles):
    """Ends the missions of the vehicles and does something to each."""

    def act(self, tower: Tower, vehicles: list[Vehicle]) -> None:
        for vehicle in vehicles:
            tower.take_over(vehicle)
            getattr(vehicle, self.method)()


class Kill(TakeOver):
    method = "kill"


class Recover(TakeOver):
    method = "recover"


class ResetPose(TakeOver):
    method = "reset_pose"


class Mission(ForVehicles):
    """Started for each vehicle that can fly it; the others are told in the error."""

    speed: Positive | None = None

    def act(self, tower: Tower, vehicles: list[Vehicle]) -> None:
        refusals = []
        for vehicle in vehicles:
            try:
                tower.start(vehicle, self.method, self.flown_by)
            except RequestError as error:
                refusals.append(str(error))
        if refusals:
            more = f" (and {len(refusals) - 1} more)" if len(refusals) > 1 else ""
            raise RequestError(refusals[0] + more)

    def flown_by(self, pilot: Pilot) -> Coroutine:
        return getattr(pilot, self.method)(**self.model_dump(exclude={"vehicle"}, exclude_none=True))


class Takeoff(Mission):
    method = "takeoff"
    height: Positive | None = None


class Goto(Mission):
    method = "goto"
    position: Vector
    yaw: float | None = None


class Land(Mission):
    method = "land"


class Pause(Request):
    method = "pause"

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        tower.run.paused = True
        return {"time": tower.sim.time}


class Resume(Request):
    method = "resume"

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        tower.run.paused = False
        return {"time": tower.sim.time}


class Speed(Request):
    method = "speed"
    speed: Annotated[float, Field(ge=0.01, le=1e6)] | Literal["max"]

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        tower.run.change_speed(None if isinstance(self.speed, str) else self.speed)
        return {"speed": self.speed}


class Stop(Request):
    method = "stop"

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        tower.run.stop()
        return {"time": tower.sim.time}


METHODS: dict[str, type[Request]] = {
    kind.method: kind
    for kind in (
        Info, Observe, Gains, GiveCommand, SwitchMode, Tune, Kill, Recover, ResetPose, Takeoff, Goto, Land, Pause,
        Resume, Speed, Stop,
    )
}  # fmt: skip


def parse(line: bytes) -> Request:
    """A request from a line of JSON."""
    given = _json_object(line)
    method = given.pop("method", None)
    kind = METHODS.get(method) if isinstance(method, str) else None
    if kind is None:
        raise RequestError(f"there is no method {json.dumps(method)}{_hint(method, METHODS, 'methods are')}")
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise RequestError(f"{kind.method}: {_complaint(kind, error)}") from None


def _json_object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line, parse_constant=_number, parse_float=_number, parse_int=_number)
    except RequestError:
        raise
    except (ValueError, RecursionError) as error:
        raise RequestError(f"this is no line of JSON: {error}") from None
    if not isinstance(found, dict):
        raise RequestError('a request is an object such as {"method": "info"}')
    return found


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number) or abs(number) > LARGEST:
        shown = text if len(text) < 20 else f"{text[:20]}…"
        raise RequestError(f"numbers must be finite and at most {LARGEST:g}, got {shown}")
    return int(number) if text.lstrip("-").isdigit() else number


def _complaint(kind: type[Request], error: ValidationError) -> str:
    first = error.errors()[0]
    where = first["loc"][0] if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        return f"it takes no '{where}', but {', '.join(kind.model_fields) or 'nothing'}"
    if first["type"] == "missing":
        return f"'{where}' is missing"
    return f"'{where}': {first['msg'].removeprefix('Input ')}, got {json.dumps(first['input'])}"


def _command(kind: str, given: Mapping[str, Any]) -> Command:
    mode = Mode.named(kind)
    if mode is Mode.IDLE:
        raise CommandError("idle takes no command; use kill or switch_mode")
    form = BY_MODE[mode]
    known = {field.name: field.default is MISSING for field in fields(form)}
    for name in given:
        if name not in known:
            raise RequestError(f"{mode.label} takes no '{name}', but {', '.join(known)}")
    for name, needed in known.items():
        if needed and name not in given:
            raise RequestError(f"{mode.label}: '{name}' is missing")
    return form(**given)


def _observed(vehicle: Vehicle, tower: Tower) -> dict[str, Any]:
    return {
        "position": vehicle.position.tolist(),
        "velocity": vehicle.velocity.tolist(),
        "attitude": vehicle.attitude.tolist(),
        "rates": vehicle.rates.tolist(),
        "mode": vehicle.mode.label,
        "armed": vehicle.armed,
        "mission": tower.mission_of(vehicle),
        "setpoint": {key: _plain(value) for key, value in asdict(vehicle.setpoint).items()},
    }


def _plain(value: Any) -> Any:
    return [float(x) for x in value] if isinstance(value, tuple) else float(value)


def _hint(name: Any, known: Mapping[str, Any], what: str) -> str:
    close = get_close_matches(str(name), known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    names = list(known)
    return f"; {what} {', '.join(names[:20])}{' …' if len(names) > 20 else ''}"
