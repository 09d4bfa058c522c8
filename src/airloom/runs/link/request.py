"""What a request is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from airloom.basics.patterns import Pattern
from airloom.commands import EDGE
from airloom.missions.items import FASTEST
from airloom.runs.link.context import RequestContext
from airloom.scenario.errors import shortened

if TYPE_CHECKING:
    from airloom.vehicle import Vehicle

Bounded = Annotated[float, Field(ge=-EDGE, le=EDGE)]
Vector = Annotated[list[Bounded], Field(min_length=3, max_length=3)]
Positive = Annotated[float, Field(gt=0)]
Speed = Annotated[float, Field(gt=0, le=FASTEST)]


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    method: ClassVar[str]
    acts: ClassVar[bool] = True
    """Whether it changes the run, and so belongs in the log."""

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        """The fields of the reply."""
        raise NotImplementedError

    def note(self) -> str:
        given = self.model_dump(exclude_none=True)
        return " ".join([self.method, *(f"{key}={shortened(str(value))}" for key, value in given.items())])


class ForVehicles(Request):
    """Goes to a vehicle, or to all that match a pattern such as drone*."""

    vehicle: Pattern

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        context.must_go_on()
        vehicles = context.vehicles(self.vehicle)
        self.act(context, vehicles)
        return {"vehicles": [vehicle.name for vehicle in vehicles]}

    def act(self, context: RequestContext, vehicles: list[Vehicle]) -> None:
        """On all of them, or on none if one cannot."""
        raise NotImplementedError
