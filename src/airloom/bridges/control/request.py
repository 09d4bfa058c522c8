"""What a request is, and what it acts upon."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from airloom.commands import Mode
from airloom.missions.pilot import Pilot
from airloom.missions.tasks import Task

if TYPE_CHECKING:
    from airloom.recorded_run import RecordedRun
    from airloom.vehicle import Vehicle

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
            raise RequestError(f"no vehicle is called '{pattern}'{hint(pattern, self.sim.vehicles, 'vehicles are')}")
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


def hint(name: Any, known: Mapping[str, Any], what: str) -> str:
    close = get_close_matches(str(name), known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    names = list(known)
    return f"; {what} {', '.join(names[:20])}{' …' if len(names) > 20 else ''}"
