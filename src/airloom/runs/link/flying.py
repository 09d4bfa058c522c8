"""Requests that fly vehicles: commands, modes, gains, manoeuvres."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field

from airloom.commands import BY_MODE, Command, CommandError, Mode
from airloom.joystick.state import StickState
from airloom.missions.pilot import Pilot
from airloom.net.json_lines import RequestError
from airloom.runs.link.context import RequestContext
from airloom.runs.link.request import Bounded, ForVehicles, Positive, Speed, Vector

if TYPE_CHECKING:
    from airloom.vehicle import Vehicle
    from airloom.vehicles.tank import Tank


class GiveCommand(ForVehicles):
    """`kind` is the name of a control mode; further fields are those of its command."""

    model_config = ConfigDict(extra="allow")
    method = "command"
    kind: str

    def act(self, context: RequestContext, vehicles: list[Vehicle]) -> None:
        command = named_command(self.kind, self.model_extra or {})
        for vehicle in vehicles:
            context.must_not_be_in_hand(vehicle)
            context.must_be_able(vehicle, command.mode)
            vehicle.check_command(command)
        for vehicle in vehicles:
            context.take_over(vehicle)
            vehicle.command(command)


class SwitchMode(ForVehicles):
    """One that is held goes on with its last command as long as anybody looks on, although nobody repeats it."""

    method = "switch_mode"
    mode: str | int
    hold: bool = False

    def act(self, context: RequestContext, vehicles: list[Vehicle]) -> None:
        mode = Mode.named(self.mode)
        for vehicle in vehicles:
            vehicle.check_mode(mode)
            context.must_be_able(vehicle, mode)
        for vehicle in vehicles:
            context.take_over(vehicle)
            vehicle.switch_mode(mode)
            if self.hold:
                context.hold_mode(vehicle)


class Tune(ForVehicles):
    method = "tune"
    gains: Annotated[dict[str, Any], Field(min_length=1)]

    def act(self, context: RequestContext, vehicles: list[Vehicle]) -> None:
        for vehicle in vehicles:
            vehicle.check_tuning(**self.gains)
        for vehicle in vehicles:
            vehicle.tune(**self.gains)


class ForTanks(ForVehicles):
    """Refused if any of the vehicles has none."""

    def act(self, context: RequestContext, vehicles: list[Vehicle]) -> None:
        for vehicle in vehicles:
            if vehicle.tank is None:
                raise CommandError(f"{vehicle.name} has no tank")
        for vehicle in vehicles:
            assert vehicle.tank is not None
            self.tell(vehicle.tank)

    def tell(self, tank: Tank) -> None:
        raise NotImplementedError


class Spray(ForTanks):
    """Litres per minute with all nozzles open."""

    method = "spray"
    flow: float

    def tell(self, tank: Tank) -> None:
        tank.command(self.flow)


class Refill(ForTanks):
    """To so many litres; to the brim if left out."""

    method = "refill"
    litres: float | None = None

    def tell(self, tank: Tank) -> None:
        tank.refill(self.litres)


class TakeOver(ForVehicles):
    """Ends the missions of the vehicles and does something to each; a hand that goes on flying begins anew."""

    def act(self, context: RequestContext, vehicles: list[Vehicle]) -> None:
        for vehicle in vehicles:
            context.take_over(vehicle)
            context.lay_down_stick(vehicle)
            getattr(vehicle, self.method)()


class Kill(TakeOver):
    method = "kill"

    def act(self, context: RequestContext, vehicles: list[Vehicle]) -> None:
        super().act(context, vehicles)
        for vehicle in vehicles:
            if systems := context.systems_of(vehicle):
                text = f"killed; it flies again when the scenario's {', '.join(systems)} commands it"
                context.sim.event(vehicle.name, text, level="warning")


class Recover(TakeOver):
    method = "recover"

    def act(self, context: RequestContext, vehicles: list[Vehicle]) -> None:
        for vehicle in vehicles:
            context.must_be_able(vehicle, Mode.POSITION_YAW)
        super().act(context, vehicles)


class ResetPose(TakeOver):
    method = "reset_pose"


class Mission(ForVehicles):
    """Started for each vehicle that can fly it; the others are told in the error."""

    def act(self, context: RequestContext, vehicles: list[Vehicle]) -> None:
        refusals = []
        for vehicle in vehicles:
            try:
                self.check_speed(context.sim.pilot(vehicle.name))
                context.start(vehicle, self.method, self.flown_by)
            except RequestError as error:
                refusals.append(str(error))
        if refusals:
            more = f" (and {len(refusals) - 1} more)" if len(refusals) > 1 else ""
            raise RequestError(refusals[0] + more)

    def check_speed(self, pilot: Pilot) -> None:
        speed = getattr(self, "speed", None)
        if speed is not None and pilot.possible(speed) != speed:
            raise RequestError(f"{pilot.name} flies {pilot.range_of_speeds}, got {speed:g}")

    def flown_by(self, pilot: Pilot) -> Coroutine[Any, Any, None]:
        return getattr(pilot, self.method)(**self.model_dump(exclude={"vehicle"}, exclude_none=True))


class Takeoff(Mission):
    method = "takeoff"
    speed: Speed | None = None
    height: Positive | None = None


class Goto(Mission):
    method = "goto"
    speed: Speed | None = None
    position: Vector
    yaw: Bounded | None = None


class FlyTo(Mission):
    """Go there at once, as a click on the ground asks."""

    method = "fly_to"
    position: Vector
    yaw: Bounded | None = None

    async def flown_by(self, pilot: Pilot) -> None:
        await pilot.fly_to(self.position, self.yaw)


class ReturnHome(Mission):
    method = "return_home"
    speed: Speed | None = None


class Land(Mission):
    method = "land"
    speed: Speed | None = None


class HoldStick(ForVehicles):
    """The state of a game controller, many times a second; silence brakes the vehicle, see `watch/guard.py`."""

    method, acts = "stick", False
    axes: Annotated[list[float], Field(max_length=32)]
    buttons: Annotated[list[int], Field(max_length=64)]

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        """Tells what the sticks do now."""
        context.must_go_on()
        sticks = {vehicle.name: context.stick(vehicle) for vehicle in context.vehicles(self.vehicle)}
        state = StickState(self.axes, [button != 0 for button in self.buttons])
        for stick in sticks.values():
            stick.feed(state)
        return {"vehicles": list(sticks), "doing": {name: stick.doing for name, stick in sticks.items()}}


class LayDownStick(ForVehicles):
    """Nobody holds the game controller any more, or just now: then whoever comes back goes on in the same mode."""

    method = "stick_gone"
    for_good: bool = True

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        vehicles = context.vehicles(self.vehicle)
        for vehicle in vehicles:
            context.lay_down_stick(vehicle, self.for_good)
        return {"vehicles": [vehicle.name for vehicle in vehicles]}


@cache
def _known_fields(form: type[Command]) -> dict[str, bool]:
    """The fields of a command, and whether each is needed."""
    return {field.name: field.default is MISSING for field in fields(form)}


def named_command(kind: Any, given: Mapping[str, Any]) -> Command:
    """A command from the name of its control mode and its fields."""
    mode = Mode.named(kind)
    if mode is Mode.IDLE:
        raise CommandError("idle takes no command; use kill or switch_mode")
    form = BY_MODE[mode]
    known = _known_fields(form)  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            raise RequestError(f"{mode.label} takes no '{name}', but {', '.join(known)}")
    for name, needed in known.items():
        if needed and name not in given:
            raise RequestError(f"{mode.label}: '{name}' is missing")
    return form(**given)
