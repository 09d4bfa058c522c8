"""Faults of sensors and rotors, from a given time on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from airloom.basics.clock import NS_PER_SECOND
from airloom.basics.patterns import Pattern
from airloom.plugin import Parameters, find
from airloom.scenario.errors import hint
from airloom.scenario.models import NonNegative, Positive
from airloom.sensors.faults import Fault
from airloom.sensors.sensor_errors import CHANNELS, Each
from airloom.system import System
from airloom.systems.selection import chosen, described

if TYPE_CHECKING:
    from airloom.scenario import models
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle


GROWTH_NS = 100_000_000  # from step to step, for what an autopilot samples itself


class FaultParameters(Parameters):
    vehicle: Pattern = Field("*", description="name or pattern")
    at: NonNegative = Field(description="s")
    duration: Positive | None = Field(None, description="s; for good if left out")


class PartFault(System):
    """What faults of all parts share: they begin, they may end, and /events tells of both."""

    part: ClassVar[str]
    """What fails: the key that names it."""

    @classmethod
    def parts(cls, vehicle: models.Vehicle) -> Iterable[str]:
        """The names of what can fail in a vehicle."""
        raise NotImplementedError

    @classmethod
    def mistakes(cls, parameters: Any, scenario: models.Scenario) -> Iterator[tuple[str, str]]:
        vehicles, part = described(scenario, parameters.vehicle), getattr(parameters, cls.part)
        if not vehicles:
            known = [name if vehicle.copies is None else f"{name}_*" for name, vehicle in scenario.vehicles.items()]
            yield "vehicle", f"no vehicle matches '{parameters.vehicle}'{hint(parameters.vehicle, known, 'Vehicles')}"
        elif not any(part in cls.parts(vehicle) for vehicle in vehicles):
            names = {name for vehicle in vehicles for name in cls.parts(vehicle)}
            yield cls.part, f"no {cls.part} is called '{part}'{hint(part, names, f'{cls.part.title()}s')}"

    def configure(self, sim: Simulation) -> None:
        self._vehicles = chosen(sim, self.name, self.parameters.vehicle)

    def reset(self, sim: Simulation) -> None:
        p = self.parameters
        self._over = False
        if p.at == 0:
            self._harm_all(sim)  # the look at time 0 comes before all calls
        sim.call_at(p.at, partial(self._begin, sim))
        if p.duration is not None:
            sim.call_at(p.at + p.duration, partial(self._end, sim))

    def _hits(self, sim: Simulation, vehicle: Vehicle) -> bool:
        """An edit may have taken away the vehicle, or what fails."""
        part = getattr(self.parameters, self.part)
        return sim.vehicles.get(vehicle.name) is vehicle and part in self.parts(vehicle.description)

    def _hit(self, sim: Simulation) -> list[Vehicle]:
        return [vehicle for vehicle in self._vehicles if self._hits(sim, vehicle)]

    def _harm_all(self, sim: Simulation) -> None:
        for vehicle in self._hit(sim):
            self._harm(vehicle, sim.time)

    def _begin(self, sim: Simulation) -> None:
        self._harm_all(sim)
        for vehicle in self._hit(sim):
            sim.event(vehicle.name, f"{self.name} begins: {self._text()}")

    def _end(self, sim: Simulation) -> None:
        self._over = True
        for vehicle in self._vehicles:
            self._heal(vehicle)
        for vehicle in self._hit(sim):
            sim.event(vehicle.name, f"{self.name} ends")

    def _harm(self, vehicle: Vehicle, time: float) -> None:
        raise NotImplementedError

    def _heal(self, vehicle: Vehicle) -> None:
        raise NotImplementedError

    def _text(self) -> str:
        """What happens, in the log."""
        raise NotImplementedError


class SensorFaultParameters(FaultParameters):
    sensor: str = Field(description="its name in the vehicle")
    fault: Literal["outage", "frozen", "offset", "noise"] = Field(description="what is wrong with it")
    offset: Each | None = Field(None, description="of the fault offset, in the unit of the sensor's errors")
    noise: Each | None = Field(None, description="of the fault noise: standard deviation of a sample, likewise")
    quantity: str | None = Field(
        None, description="the errors of the sensor that offset or noise adds to; its first if left out"
    )
    ramp: NonNegative = Field(0.0, description="time in which offset or noise grows to its full size, s")

    @property
    def size(self) -> Each | None:
        return self.noise if self.offset is None else self.offset

    @model_validator(mode="after")
    def _fit_together(self) -> SensorFaultParameters:
        for key in ("offset", "noise"):
            if self.fault == key and getattr(self, key) is None:
                raise ValueError(f"the fault {key} needs {key}")
            if self.fault != key and getattr(self, key) is not None:
                raise ValueError(f"only the fault {key} has {key}; this one is {self.fault}")
        if self.size is None and (self.ramp > 0 or self.quantity is not None):
            raise ValueError(f"only the faults offset and noise have ramp and quantity; this one is {self.fault}")
        if self.noise is not None and np.min(self.noise, initial=0.0) < 0:
            raise ValueError("noise must not be negative")
        return self


class SensorFault(PartFault):
    """Let a sensor fail: an outage, frozen readings, an offset or noise."""

    Parameters = SensorFaultParameters
    part = "sensor"

    @classmethod
    def parts(cls, vehicle: models.Vehicle) -> Iterable[str]:
        return [*vehicle.sensors, *_sensors_of_autopilot(vehicle)]

    @classmethod
    def mistakes(cls, parameters: SensorFaultParameters, scenario: models.Scenario) -> Iterator[tuple[str, str]]:
        yield from super().mistakes(parameters, scenario)
        if parameters.size is not None:
            for vehicle in described(scenario, parameters.vehicle):
                if parameters.sensor in cls.parts(vehicle):
                    yield from _misfits(parameters, _axes(vehicle, parameters.sensor))

    def _begin(self, sim: Simulation) -> None:
        super()._begin(sim)
        if self.parameters.ramp > 0:
            for vehicle in self._hit(sim):
                self._grow(sim, vehicle)

    def _grow(self, sim: Simulation, vehicle: Vehicle) -> None:
        """Give the next sample its size, and come back after it."""
        if self._over or not self._hits(sim, vehicle):
            return
        period = vehicle.sample_ticks(self.parameters.sensor) or max(GROWTH_NS // sim.step_ns, 1)
        time = (sim.tick // period + 1) * period * sim.step_ns / NS_PER_SECOND
        self._harm(vehicle, time)
        if time < self.parameters.at + self.parameters.ramp:
            sim.call_at(time, partial(self._grow, sim, vehicle))

    def _harm(self, vehicle: Vehicle, time: float) -> None:
        vehicle.set_fault(self.parameters.sensor, self._fault(vehicle, time), by=self.name)

    def _heal(self, vehicle: Vehicle) -> None:
        vehicle.set_fault(self.parameters.sensor, None, by=self.name)

    def _fault(self, vehicle: Vehicle, time: float) -> Fault:
        p, numbers = self.parameters, np.zeros(CHANNELS)
        if p.size is None:
            return Fault(outage=p.fault == "outage", frozen=p.fault == "frozen")
        grown = 1.0 if p.ramp == 0 else min(max((time - p.at) / p.ramp, 0.0), 1.0)
        first = 0
        for quantity, axes in _axes(vehicle.description, p.sensor).items():
            if quantity == (p.quantity or quantity):
                numbers[first : first + axes] = np.multiply(grown, p.size)
                break
            first += axes
        return Fault(**{p.fault: numbers})  # type: ignore[arg-type]

    def _text(self) -> str:
        p = self.parameters
        size = "" if p.size is None else f" {p.size}"
        ramp = f", growing for {p.ramp:g} s" if p.ramp > 0 else ""
        return f"{p.sensor} {p.fault}{size}{ramp}"


def _misfits(parameters: SensorFaultParameters, axes: dict[str, int]) -> Iterator[tuple[str, str]]:
    """How offset or noise do not fit the errors of a sensor."""
    quantity = parameters.quantity or next(iter(axes), "")
    if not axes:
        yield "fault", f"'{parameters.sensor}' has no errors that {parameters.fault} could add to"
    elif quantity not in axes:
        yield "quantity", f"'{parameters.sensor}' has no '{quantity}'{hint(quantity, axes, 'It has')}"
    elif isinstance(parameters.size, list) and len(parameters.size) != axes[quantity]:
        expected = f"one number or a list of {axes[quantity]}, the axes of {quantity}"
        yield parameters.fault, f"must be {expected}, got {len(parameters.size)}"


def _axes(vehicle: models.Vehicle, sensor: str) -> dict[str, int]:
    """The errors of a sensor, and how many axes each has. What an autopilot makes itself is called by its kind."""
    kind = vehicle.sensors[sensor].kind if sensor in vehicle.sensors else sensor
    return getattr(find("sensor", kind).Parameters, "axes", {})


def _sensors_of_autopilot(vehicle: models.Vehicle) -> tuple[str, ...]:
    return find("autopilot", vehicle.autopilot.kind).own_sensors if vehicle.autopilot else ()  # type: ignore[attr-defined]


class RotorFaultParameters(FaultParameters):
    rotor: str = Field(description="its name in the vehicle")
    share: float = Field(0.0, ge=0, le=1, description="of the speed that it is told; 0 if it is lost")


class RotorFault(PartFault):
    """Let a rotor fail: it gives less speed than it is told, or none."""

    Parameters = RotorFaultParameters
    part = "rotor"

    @classmethod
    def parts(cls, vehicle: models.Vehicle) -> Iterable[str]:
        return vehicle.rotors

    def _harm(self, vehicle: Vehicle, time: float) -> None:
        vehicle.set_rotor_share(self.parameters.rotor, self.parameters.share, by=self.name)

    def _heal(self, vehicle: Vehicle) -> None:
        vehicle.set_rotor_share(self.parameters.rotor, 1.0, by=self.name)

    def _text(self) -> str:
        p = self.parameters
        return f"rotor {p.rotor} " + (f"gives {p.share:g} of its speed" if p.share > 0 else "is lost")
