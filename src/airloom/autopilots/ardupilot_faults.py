"""Faults of the sensors that ArduPilot makes itself: they become parameters of its own simulation.

They go over our own line to it. ArduPilot has them some frames later, in every run the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, radians, sqrt
from typing import TYPE_CHECKING, Protocol

import numpy as np

from airloom.autopilots.ardupilot_names import other_name
from airloom.autopilots.axes import frd_from_flu, ned_from_enu
from airloom.scenario.models import World
from airloom.sensors.faults import Fault
from airloom.sensors.noise import normal_pair, stream_key
from airloom.world.atmosphere import air_density

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

PATIENCE = 5.0  # s in which a fault must have reached ArduPilot
METRES_PER_DEGREE = 111_318.845  # on ArduPilot's sphere
MILLIGAUSS = 1e7  # in a tesla
EVENLY = sqrt(3.0)  # noise that is even in ±a has a deviation of a/√3
BAROMETERS, COMPASSES = ("SIM_BARO_", "SIM_BAR2_"), ("SIM_MAG1_", "SIM_MAG2_", "SIM_MAG3_")


def gnss(fault: Fault, world: World, draws: np.ndarray) -> dict[str, float]:
    """What a fault adds to ArduPilot's parameters. It has no noise of positions: they are moved about from here."""
    north, east, down = ned_from_enu(*(fault.offset[:3] + fault.noise[:3] * draws))
    return {
        "SIM_GPS_DISABLE": float(fault.outage),
        "SIM_GPS_GLITCH_X": north / METRES_PER_DEGREE,
        "SIM_GPS_GLITCH_Y": east / (METRES_PER_DEGREE * cos(radians(world.origin.latitude))),
        "SIM_GPS_GLITCH_Z": -down,
        **dict(zip(("SIM_GPS_VERR_Y", "SIM_GPS_VERR_X", "SIM_GPS_VERR_Z"), EVENLY * fault.noise[3:6], strict=True)),
    }


def barometer(fault: Fault, world: World, draws: np.ndarray) -> dict[str, float]:
    """Pressure becomes height, dh = −dp / (ρ g)."""
    density = air_density(world.origin.altitude, world.pressure, world.temperature)
    height = 1.0 / (density * world.gravity)
    numbers = {
        "DISABLE": float(fault.outage),
        "FREEZE": float(fault.frozen),
        "GLITCH": -fault.offset[0] * height,
        "RND": EVENLY * fault.noise[0] * height,
    }
    return {each + name: number for each in BAROMETERS for name, number in numbers.items()}


def magnetometer(fault: Fault, world: World, draws: np.ndarray) -> dict[str, float]:
    """ArduPilot takes the offset of a compass away from what it reads, and has one noise for all axes."""
    x, y, z = (-MILLIGAUSS * value for value in frd_from_flu(*fault.offset[:3]))
    numbers = {"FAIL": 1.0 if fault.outage else 2.0 * fault.frozen, "OFS_X": x, "OFS_Y": y, "OFS_Z": z}
    each = {each + name: number for each in COMPASSES for name, number in numbers.items()}
    return {**each, "SIM_MAG_RND": EVENLY * MILLIGAUSS * float(fault.noise[:3].max())}


OWN = {"gnss": gnss, "barometer": barometer, "magnetometer": magnetometer}
"""The sensors that ArduPilot makes itself."""


def beyond(kind: str, fault: Fault) -> str | None:
    """What of a fault ArduPilot's simulation cannot do."""
    if kind == "gnss" and fault.frozen:
        return "freeze its GNSS"
    if kind == "gnss" and fault.offset[3:6].any():
        return "offset the velocity of its GNSS"
    if kind == "barometer" and (fault.offset[1] or fault.noise[1]):
        return "change the temperature of its barometer"
    return None


@dataclass
class Parameter:
    """One of ArduPilot's: what it was, what faults add to it, what ArduPilot says that it is."""

    name: str
    """What we call it; ArduPilot may have the name of the other generation, in whose unit are `was` and `now`."""
    since: float
    added: float = 0.0
    called: str | None = None
    was: float = 0.0
    now: float = 0.0

    @property
    def names(self) -> list[str]:
        """By which ArduPilot is asked for it."""
        if self.called is not None:
            return [self.called]
        other = other_name(self.name, 0.0)
        return [self.name, other[0]] if other else [self.name]

    @property
    def wanted(self) -> float:
        if self.called == self.name or self.called is None:
            return float(np.float32(self.was + self.added))
        before = other_name(self.called, self.was)
        after = before and other_name(self.name, before[1] + self.added)
        assert after is not None
        return float(np.float32(after[1]))


class Voice(Protocol):
    """How parameters are talked about with ArduPilot."""

    @property
    def problem(self) -> str | None: ...
    def ask(self, name: str) -> None: ...
    def put(self, name: str, value: float) -> None: ...


class FaultDesk:
    """Hears of the faults of a vehicle and tells its ArduPilot."""

    def __init__(self, sim: Simulation, vehicle: Vehicle, voice: Voice) -> None:
        self._sim, self._vehicle, self._voice = sim, vehicle, voice
        self._failures: set[str] = set()
        self._parameters: dict[str, Parameter] = {}
        self._key = np.uint64(stream_key(sim.seed, vehicle.name, "ardupilot"))
        vehicle.fault_listeners.append(self.hear)
        for part in vehicle.faulty:
            self.hear(part)

    def hear(self, part: str) -> None:
        """The faults of a sensor or rotor have changed."""
        for kind in OWN:
            if self._sensor(kind) == part and (what := beyond(kind, self._vehicle.fault_of(part))):
                self._fail(f"ArduPilot's own simulation cannot {what}")
        self.say()

    def _sensor(self, kind: str) -> str:
        """The vehicle's sensor that ArduPilot's own of that kind stands for; without one it goes by its kind."""
        return next((name for name, choice in self._vehicle.description.sensors.items() if choice.kind == kind), kind)

    def say(self) -> None:
        """Ask for parameters that are not known, set those that are not as wanted."""
        for name, added in self._added():
            if added != 0.0 or name in self._parameters:
                self._parameters.setdefault(name, Parameter(name, self._sim.time)).added = added
        for parameter in self._parameters.values():
            if parameter.called is None:
                self._ask(parameter)
            elif parameter.now != parameter.wanted:
                self._voice.put(parameter.called, parameter.wanted)

    def _ask(self, parameter: Parameter) -> None:
        for name in parameter.names:
            self._voice.ask(name)
        if self._sim.time > parameter.since + PATIENCE:
            names = " or ".join(parameter.names)
            why = self._voice.problem or f"ArduPilot tells nothing of its {names}"
            self._fail(f"a fault does not reach ArduPilot: {why}")

    def _added(self) -> Iterator[tuple[str, float]]:
        if not self._vehicle.faulty and not self._parameters:
            return
        draws = np.array([normal_pair(self._key, self._sim.tick, axis)[0] for axis in range(3)])
        for kind, additions in OWN.items():
            fault = self._vehicle.fault_of(self._sensor(kind))
            yield from additions(fault, self._sim.scenario.world, draws).items()

    def note(self, name: str, value: float) -> None:
        """ArduPilot has told a parameter."""
        for parameter in self._parameters.values():
            if name not in parameter.names:
                continue
            if parameter.called is None:
                parameter.called, parameter.was, parameter.now = name, value, value
            elif (parameter.now == parameter.was) != (value == parameter.was):
                self._sim.event(self._vehicle.name, f"ArduPilot has {name} {parameter.now:g} → {value:g}")
            parameter.now = value

    def _fail(self, text: str) -> None:
        if text not in self._failures:
            self._failures.add(text)
            self._sim.fail(self._vehicle.name, text)

    def close(self) -> None:
        self._vehicle.fault_listeners.remove(self.hear)
