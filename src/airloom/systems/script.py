"""A script: commands of any control mode at given times."""

from __future__ import annotations

from dataclasses import fields
from functools import partial

from pydantic import Field, field_validator, model_validator

from airloom.basics.patterns import Pattern
from airloom.commands import BY_MODE, Command, CommandError, Mode
from airloom.plugin import Parameters
from airloom.scenario.models import Vector3
from airloom.system import System
from airloom.systems.places import below_ground
from airloom.systems.selection import chosen


class Order(Parameters):
    """A control mode with the numbers of its command; with none of them, only the mode is switched."""

    at: float = Field(ge=0, description="s")
    mode: str = Field(description="name or number of a control mode")
    position: Vector3 | None = Field(None, description="world, m")
    velocity: Vector3 | None = Field(None, description="m/s; with thrust, rad/s")
    acceleration: Vector3 | None = Field(None, description="fed forward, m/s²; with thrust, rad/s²")
    yaw: float | None = Field(None, description="rad")
    yaw_rate: float | None = Field(None, description="rad/s")
    thrust: float | None = Field(None, description="N")
    attitude: Vector3 | None = Field(None, description="roll, pitch, yaw, rad")
    attitude_rates: Vector3 | None = Field(None, description="rad/s")
    torque: Vector3 | None = Field(None, description="N m")
    body_frame: bool | None = Field(None, description="velocity along the vehicle's heading")
    world: bool | None = Field(None, description="angular velocity or torque in the world instead of the body")

    @field_validator("mode", mode="before")
    @classmethod
    def _is_a_mode(cls, mode: str | int) -> str:
        return Mode.named(mode).label

    @model_validator(mode="after")
    def _makes_a_command(self) -> Order:
        self.command()
        return self

    def command(self) -> Command | None:
        numbers = self.model_dump(exclude={"at", "mode"}, exclude_none=True)
        if not numbers:
            return None
        mode = Mode.named(self.mode)
        if mode is Mode.IDLE:
            raise ValueError(f"mode idle takes no {', '.join(numbers)}")
        kind = BY_MODE[mode]
        try:
            return kind(**numbers)
        except TypeError:
            known = ", ".join(field.name for field in fields(kind))
            raise ValueError(f"mode {mode.label} takes {known}; got {', '.join(numbers)}") from None
        except CommandError as error:
            raise ValueError(str(error)) from None


class ScriptParameters(Parameters):
    vehicle: Pattern = Field("*", description="name or pattern")
    orders: list[Order] = Field(min_length=1, description="in order of time")

    @model_validator(mode="after")
    def _are_in_order(self) -> ScriptParameters:
        times = [order.at for order in self.orders]
        if times != sorted(times):
            raise ValueError("orders must be in order of time")
        return self


class Script(System):
    """Give vehicles orders in any control mode at given times, and repeat the last so that no timeout runs out."""

    Parameters = ScriptParameters

    @classmethod
    def mistakes(cls, parameters, scenario):
        orders = enumerate(parameters.orders)
        places = [(("orders", k, "position"), order.position) for k, order in orders if order.position]
        return below_ground(scenario, places)

    def configure(self, sim) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicle)

    def reset(self, sim) -> None:
        self._repeated: Command | None = None
        for order in self.parameters.orders:
            sim.call_at(order.at, partial(self._give, order))

    def _give(self, order: Order) -> None:
        self._repeated = order.command()
        if self._repeated is not None:
            self._vehicles.command(self._repeated)
            return
        for vehicle in self._vehicles:
            vehicle.switch_mode(order.mode)

    def pre_update(self, sim) -> None:
        if self._repeated is not None:
            self._vehicles.command(self._repeated)
