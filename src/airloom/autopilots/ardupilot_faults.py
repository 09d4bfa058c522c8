"""Faults of the sensors that ArduPilot makes itself: they become parameters of its own simulation.

They go by MAVLink over a line of our own, outside the lockstep: ArduPilot takes them some frames later, and two runs
may differ in which. What it says on that line is told on /events.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import cos, radians, sqrt
from typing import TYPE_CHECKING

import numpy as np

from airloom.autopilots import mavlink_wire as wire
from airloom.autopilots.frames import frd_from_flu, ned_from_enu
from airloom.scenario.models import World
from airloom.sensors.faults import Fault
from airloom.sensors.noise import normal_pair, stream_key
from airloom.world.atmosphere import air_density

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

PERIOD = 0.1  # s between two looks at the line
PATIENCE = 5.0  # s in which ArduPilot must have told a parameter
OURS = (250, 1)
"""System and component that we are to ArduPilot."""
METRES_PER_DEGREE = 111_318.845  # on ArduPilot's sphere
MILLIGAUSS = 1e7  # in a tesla
EVENLY = sqrt(3.0)  # noise that is even in ±a has a deviation of a/√3
BAROMETERS, COMPASSES = ("SIM_BARO_", "SIM_BAR2_"), ("SIM_MAG1_", "SIM_MAG2_", "SIM_MAG3_")
FLOAT = 9  # type of a parameter
ONBOARD, NO_AUTOPILOT, VERSION = 18, 8, 3  # what we are; ArduPilot speaks only to whom it has heard
WARNING = 4  # severity of a text, less is worse
LONGEST_TEXT = 50


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

    since: float
    added: float = 0.0
    was: float | None = None
    now: float | None = None

    @property
    def wanted(self) -> float | None:
        return None if self.was is None else float(np.float32(self.was + self.added))


class FaultLine:
    """Hears of the faults of a vehicle and tells its ArduPilot, from the first fault on."""

    def __init__(self, sim: Simulation, vehicle: Vehicle, port: int) -> None:
        self._sim, self._vehicle, self._port = sim, vehicle, port
        self._line: socket.socket | None = None
        self._opened_at: float | None = None
        self._over = False
        self._complaints: set[str] = set()
        self._parameters: dict[str, Parameter] = {}
        self._received, self._text = b"", ""
        self._speaker = np.array([*OURS, 0])
        self._key = np.uint64(stream_key(sim.seed, vehicle.name, "ardupilot"))
        vehicle.fault_listeners.append(self.hear)
        for part in vehicle.faulty:
            self.hear(part)

    def hear(self, part: str) -> None:
        """The faults of a sensor or rotor have changed. Those that ArduPilot feels anyway let us listen to it too."""
        for kind in OWN:
            if self._sensor(kind) == part and (what := beyond(kind, self._vehicle.fault_of(part))):
                self._complain(f"ArduPilot's own simulation cannot {what}")
        if self._opened_at is None:
            self._opened_at = self._sim.time
            self._look()
        else:
            self._say()

    def _sensor(self, kind: str) -> str:
        """The vehicle's sensor that ArduPilot's own of that kind stands for; without one it goes by its kind."""
        return next((name for name, choice in self._vehicle.description.sensors.items() if choice.kind == kind), kind)

    def _look(self) -> None:
        """Read what has come, say what is not yet understood."""
        if self._over:
            return
        self._sim.call_at(self._sim.time + PERIOD, self._look)
        if self._line is None:
            self._connect()
        for number, found in self._frames():
            if number == wire.PARAM_VALUE:
                self._note_parameter(found)
            elif number == wire.STATUSTEXT:
                self._note_text(found)
        self._say()

    def _say(self) -> None:
        """Ask for parameters that are not known, set those that are not as wanted."""
        for name, added in self._added():
            if added != 0.0 or name in self._parameters:
                self._parameters.setdefault(name, Parameter(self._sim.time)).added = added
        for name, parameter in self._parameters.items():
            if parameter.was is None:
                self._send(wire.PARAM_REQUEST_READ, wire.PARAM_REQUEST_READ_FIELDS, [-1, 0, 0, *_letters(name)])
                if self._sim.time > parameter.since + PATIENCE:
                    self._complain(f"ArduPilot tells nothing of its {name}, so that a fault does not reach it")
            elif parameter.now != parameter.wanted:
                self._send(wire.PARAM_SET, wire.PARAM_SET_FIELDS, [parameter.wanted, 0, 0, *_letters(name), FLOAT])

    def _added(self) -> Iterator[tuple[str, float]]:
        draws = np.array([normal_pair(self._key, self._sim.tick, axis)[0] for axis in range(3)])
        for kind, additions in OWN.items():
            fault = self._vehicle.fault_of(self._sensor(kind))
            yield from additions(fault, self._sim.scenario.world, draws).items()

    def _note_parameter(self, values: np.ndarray) -> None:
        name, value = _text(values[3:19]), float(values[0])
        parameter = self._parameters.get(name)
        if parameter is None:
            return
        if parameter.was is None:
            parameter.was = parameter.now = value
        elif (parameter.now == parameter.was) != (value == parameter.was):
            self._sim.event(self._vehicle.name, f"ArduPilot has {name} {parameter.now:g} → {value:g}")
        parameter.now = value

    def _note_text(self, values: np.ndarray) -> None:
        """A long text comes in pieces, all but the last of them full."""
        piece, is_part = _text(values[1 : 1 + LONGEST_TEXT]), values[1 + LONGEST_TEXT] != 0
        self._text += piece
        if not (is_part and len(piece) == LONGEST_TEXT):
            level = "warning" if values[0] <= WARNING else "info"
            self._sim.event(self._vehicle.name, f"ArduPilot says: {self._text}", level=level)
            self._text = ""

    def _complain(self, text: str) -> None:
        if text not in self._complaints:
            self._complaints.add(text)
            self._sim.event(self._vehicle.name, text, level="warning")

    # -- the line ----------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        try:
            self._line = socket.create_connection(("127.0.0.1", self._port), timeout=1.0)
            self._line.setblocking(False)
            self._send(wire.HEARTBEAT, wire.HEARTBEAT_FIELDS, [0, ONBOARD, NO_AUTOPILOT, 0, 0, VERSION])
        except OSError as error:
            if self._sim.time > (self._opened_at or 0.0) + PATIENCE:
                self._complain(f"faults do not reach ArduPilot: TCP port {self._port}: {error.strerror or error}")

    def _send(self, number: int, fields: np.ndarray, values: list) -> None:
        """Whatever cannot go now is said again at the next look."""
        if self._line is not None:
            frame = np.zeros(wire.LONGEST_FRAME, np.uint8)
            size = wire.write(self._speaker, number, fields, np.array(values, float), frame, 0)
            with suppress(OSError):
                self._line.send(frame[:size].tobytes())

    def _frames(self) -> Iterator[tuple[int, np.ndarray]]:
        """Those that have come and concern us."""
        with suppress(OSError):
            while self._line is not None and (more := self._line.recv(65536)):
                self._received += more
        data = np.frombuffer(bytearray(self._received), np.uint8)
        found = np.zeros(wire.FOUND, np.int64)
        while wire.find(data, int(found[wire.NEXT]), data.size, found):
            number = int(found[wire.NUMBER])
            if number in FIELDS:
                values = np.zeros(FIELDS[number].size)
                wire.read(data, found, FIELDS[number], values)
                yield number, values
        self._received = self._received[int(found[wire.NEXT]) :]

    def close(self) -> None:
        self._over = True
        self._vehicle.fault_listeners.remove(self.hear)
        if self._line is not None:
            self._line.close()


FIELDS = {wire.PARAM_VALUE: wire.PARAM_VALUE_FIELDS, wire.STATUSTEXT: wire.STATUSTEXT_FIELDS}
"""Of the messages that concern us."""


def _letters(name: str) -> bytes:
    return name.encode().ljust(16, b"\0")


def _text(letters: np.ndarray) -> str:
    return bytes(letters.astype(np.uint8)).partition(b"\0")[0].decode(errors="replace")
