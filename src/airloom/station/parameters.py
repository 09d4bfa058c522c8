"""A base station in a scenario: whom it speaks with and how often, its orders, and what is done without it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from airloom.basics.patterns import Pattern, matches
from airloom.missions.items import Item
from airloom.plugin import Parameters
from airloom.scenario.models import NonNegative, Positive
from airloom.scenario.values import Whole


class Failsafe(Parameters):
    """What a vehicle does that has not heard the station for a while."""

    after: Positive = Field(5.0, description="how long it must not have been heard, s")
    action: Literal["hold", "return", "land", "none"] = Field(
        "return", description="brake and stay; fly to where it began and land; land below; or fly on, and only tell"
    )
    least_height: NonNegative = Field(0.0, description="above its start, on the way back, m")
    when_back: Literal["stay", "hold", "resume"] = Field(
        "stay",
        description="once the station is heard again: do that to its end; brake and wait for orders; or go on with the "
        "item of the order that was broken off",
    )


class Order(Parameters):
    """What is sent to some vehicles at a time: mission items, or a mission file."""

    at: NonNegative = Field(description="s")
    vehicles: Pattern = Field("*", description="name or pattern, of the station's vehicles")
    items: list[Item] | None = Field(
        None, min_length=1, description="as in a mission: takeoff, goto, follow, hold, return, land …"
    )
    file: str | None = Field(None, description="a YAML mission or a QGroundControl .plan, relative to the scenario")

    @model_validator(mode="after")
    def _has_one_source(self) -> Order:
        if (self.items is None) == (self.file is None):
            raise ValueError("give one of items and file")
        return self


class BaseStationParameters(Parameters):
    station: str = Field("base", description="where it stands: one of the radio's stations")
    vehicles: Pattern = Field("*", description="name or pattern of those that it speaks with")
    band: str = Field("", description="of the radio; the first if left out")
    beat: Positive = Field(
        1.0, le=100, description="how often it lets itself be heard by all, and tells its picture, Hz"
    )
    telemetry: Positive = Field(2.0, le=100, description="how often each vehicle tells it how it is, Hz")
    silence: Positive = Field(5.0, description="after which it takes a vehicle for lost, s")
    retry: Positive = Field(0.5, description="until pieces of an order that nobody has acknowledged are sent again, s")
    attempts: Whole = Field(20, ge=1, le=10_000, description="at a piece of an order, until it is given up")
    orders: list[Order] = Field(default_factory=list, description="what is sent when")
    failsafe: Failsafe = Field(default_factory=Failsafe, description="of all vehicles that have no other")
    failsafes: dict[Pattern, Failsafe] = Field(
        default_factory=dict, description="of some vehicles, by name or pattern; the first that matches counts"
    )

    def failsafe_of(self, vehicle: str) -> Failsafe:
        return next((it for pattern, it in self.failsafes.items() if matches(vehicle, pattern)), self.failsafe)
