"""A game controller in the pilot's hands."""

from __future__ import annotations

from pydantic import Field

from airloom.basics.patterns import Pattern
from airloom.joystick import Mapping, Stick, StickError, sdl
from airloom.missions.pursuit import TOP_SPEED
from airloom.plugin import Parameters
from airloom.scenario import ScenarioError
from airloom.scenario.models import Vector3
from airloom.system import System
from airloom.systems.selection import chosen


class JoystickParameters(Parameters):
    vehicle: Pattern = Field("*", description="name or pattern; the first that matches is flown")
    mapping: str = Field("ps4", description="what axes and buttons do: a bundled name or a YAML file")
    device: int | str | None = Field(None, description="number or part of the name; the first one if left out")
    route: list[Vector3] | None = Field(None, min_length=2, description="points that the action `restart` pursues, m")
    route_speed: float = Field(2.0, gt=0, le=TOP_SPEED, description="m/s")


class Joystick(System):
    """Fly a vehicle by hand with a game controller plugged into this computer."""

    Parameters = JoystickParameters
    rate = 50.0

    def configure(self, sim) -> None:
        p = self.parameters
        vehicle = chosen(sim, self.name, p.vehicle)[0]
        try:
            sdl.names()
        except sdl.NoSdl as error:
            raise ScenarioError(f"{sim.scenario.name}: systems.{self.name}: {error}") from None
        self.stick = Stick(sim, vehicle, Mapping.load(p.mapping), p.route, p.route_speed)

    def reset(self, sim) -> None:
        self.stick.forget()
        self._device: sdl.Device | None = None
        self._unsuited: str | None = None
        self._missed = False

    def pre_update(self, sim) -> None:
        if self._device is None:
            self._device = self._plugged_in(sim)
        if self._device is not None:
            self._read(sim, self._device)

    def _plugged_in(self, sim) -> sdl.Device | None:
        device = sdl.find(self.parameters.device)
        if device is not None:
            sim.event(self.name, f"{self.stick.vehicle.name} is flown with {device.name} (found: {_found()})")
            self._missed = False
        elif not self._missed:
            self._missed = True
            wanted = "" if self.parameters.device is None else f" '{self.parameters.device}'"
            text = f"there is no game controller{wanted} (found: {_found()}); waiting for one to be plugged in"
            sim.event(self.name, text, level="warning")
        return device

    def _read(self, sim, device: sdl.Device) -> None:
        state = device.state()
        if state is None:
            self._device, self._missed = None, True
            self.stick.let_go()
            sim.event(self.name, f"{device.name} was unplugged: nobody commands now", level="warning")
            return
        try:
            self.stick.feed(state)
        except StickError as error:
            self._complain_once(sim, f"{device.name} cannot be used: {error}")

    def _complain_once(self, sim, text: str) -> None:
        if text != self._unsuited:
            self._unsuited = text
            sim.event(self.name, text, level="error")


def _found() -> str:
    return ", ".join(f"{number} {name}" for number, name in enumerate(sdl.names())) or "none"
