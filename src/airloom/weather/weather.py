"""The weather of a run, as programs and topics see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.clock import NS_PER_SECOND
from airloom.bus import messages
from airloom.bus.bus import Topic
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.errors import Refusal, RunError
from airloom.scenario.errors import ScenarioError
from airloom.scenario.values import FASTEST_WIND
from airloom.weather.air import is_wind, wind_at
from airloom.weather.info import WindInfo
from airloom.world.atmosphere import STANDARD_DENSITY, geopotential, humid_air_density
from airloom.world.ground import W_CURVATURE

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.weather.layers import Layers


class WindFailed(RunError):
    """A wind law gave no number in flight; the message is meant for the user."""


class Weather:
    """Wind and air at any place and time. `/wind/update` sets the wind, `/wind/info` tells it."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.info = WindInfo(sim)
        sim.bus.subscribe("/wind/update", self._update)

    @property
    def _layers(self) -> Layers:
        return self._sim.fleet.layers

    @property
    def layers(self) -> np.ndarray:
        """The table for the compiled `wind_at(layers, world, t, x, y, z, v)`; ask for it anew after an edit."""
        return self._layers.table

    def wind(self, position: Any, time: float | None = None) -> np.ndarray:
        """Velocity of the air at a place (world, m), now or at another time (s), m/s."""
        place = np.array(position, dtype=float)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise ValueError(f"a place is three numbers, x, y and z in m, got {position}")
        out = np.zeros(3)
        wind_at(self.layers, self._sim.fleet.flight.world, self._sim.time if time is None else float(time), *place, out)
        return out

    def density(self, altitude: float) -> float:
        """kg/m³ at an altitude above the sea, m: by the world's pressure, temperature and humidity."""
        world, curvature = self._sim.scenario.world, self._sim.fleet.flight.world[W_CURVATURE]
        altitude = geopotential(float(altitude), curvature)
        return float(humid_air_density(altitude, world.pressure, world.temperature, world.weather.humidity))

    def set_wind(self, wind: Any) -> None:
        """Put another constant wind (world, m/s) in place of the world file's `wind`, from now on; layers stay."""
        vector = _vector(wind)
        self._layers.set_wind(vector, self._sim.time)
        if self._layers.is_plain:
            self.settle()

    def settle(self) -> None:
        """Vehicles without a wind of their own feel that of the world, which may have been set in flight."""
        flight = self._sim.fleet.flight
        if self._layers.is_plain:
            for craft in self._sim.fleet.crafts:
                if flight.blown[craft.block, craft.lane]:
                    self._sim.fleet.column(craft)[row.WINDX // LANES :][:3] = self._layers.wind

    def begin(self) -> None:
        """Before the first tick: vehicles feel the air at their places; a law that fails at once is refused."""
        self._thin_out()
        for name, law in zip(self._layers.names, self._layers.laws, strict=True):
            if (text := law.complaint()) is not None:
                self._sim.event("weather", f"{name}: {text}", level="warning")
        if self._layers.is_plain:
            return
        for craft in self._sim.fleet.crafts:
            column = self._sim.fleet.column(craft)
            place = column[row.PX // LANES :][:3]
            wind = self.wind(place, 0.0)
            if not is_wind(*wind):
                raise ScenarioError(f"{self._sim.scenario.name}: {self._blame(0.0, place)}")
            column[row.WINDX // LANES :][:3] = wind

    def _thin_out(self) -> None:
        world = self._sim.scenario.world
        if world.weather.density == "actual":
            for craft in self._sim.fleet.crafts:
                column = self._sim.fleet.column(craft)
                altitude = world.origin.altitude + float(column[row.PZ // LANES])
                column[row.DENSITY // LANES] = self.density(altitude) / STANDARD_DENSITY

    def check(self) -> None:
        """End the run if a law has given no number since somebody looked last."""
        foul = self._sim.fleet.flight.foul
        if self._layers.is_plain or (foul[:, 0] < 0.0).all():
            return
        tick, *place = foul[np.argmin(np.where(foul[:, 0] < 0.0, np.inf, foul[:, 0]))]
        raise WindFailed(self._blame(float(tick) * self._sim.step_ns / NS_PER_SECOND, np.array(place)))

    def _blame(self, time: float, place: np.ndarray) -> str:
        """Which layer gives no number, and why."""
        x, y, z = (float(number) for number in place)
        out = np.zeros(3)
        for k, (name, law) in enumerate(zip(self._layers.names, self._layers.laws, strict=True)):
            wind_at(self.layers[: k + 1], self._sim.fleet.flight.world, time, x, y, z, out)
            if not is_wind(*out):
                return f"{name} gives no wind at t = {time:.4g} s: {law.why_not(time, (x, y, z))}"
        return f"the wind at t = {time:.4g} s was no number"

    def _update(self, topic: Topic, message: Any, _: int) -> None:
        try:
            if topic.msgtype not in (messages.VECTOR3, messages.VECTOR3_STAMPED):
                raise WindRefused(f"takes {messages.VECTOR3} or {messages.VECTOR3_STAMPED}, not {topic.msgtype}")
            vector = message.vector if topic.msgtype == messages.VECTOR3_STAMPED else message
            self.set_wind((vector.x, vector.y, vector.z))
        except WindRefused as error:
            self._sim.event(topic.name, f"refused: {error}", level="error")


class WindRefused(Refusal):
    """A wind that cannot be."""


def _vector(wind: Any) -> np.ndarray:
    try:
        vector = np.array(wind, dtype=float)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (3,) or not (np.abs(vector) <= FASTEST_WIND).all():
        raise WindRefused(f"a wind is three numbers of at most {FASTEST_WIND:g} m/s, got {wind}")
    return vector
