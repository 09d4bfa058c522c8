"""What drops fly through: air, weather, wakes of vehicles, and what stands there, as the compiled loop wants it."""

from __future__ import annotations

from math import atan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.spray import drops as at
from airloom.spray.bodies import bodies_of
from airloom.spray.downwash import GEOMETRY_WIDTH, JET_WIDTH, WAKE_WIDTH, prepare_wakes, sort_wakes
from airloom.weather.air import wind_at
from airloom.world.atmosphere import air_temperature
from airloom.world.ground import ground

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.spray.maps import DepositionMap

COARSE, MOST_COARSE, MOST_NEAR = 8.0, 64, 32  # cells in which vehicles are looked for, m; how many; vehicles in one


def viscosity(temperature: float) -> float:
    """Of air, Pa s (Sutherland's law)."""
    return 1.716e-5 * (temperature / 273.15) ** 1.5 * (273.15 + 110.4) / (temperature + 110.4)


def wet_bulb_depression(temperature: float, humidity: float) -> float:
    """How much colder than the air a wet thermometer is, K; humidity as a share.

    R. Stull, *Wet-Bulb Temperature from Relative Humidity and Air Temperature*, J. Appl. Meteorol. 50, 2011; at sea
    level.
    """
    t, rh = temperature - 273.15, 100.0 * min(max(humidity, 0.05), 0.99)
    wet = t * atan(0.151977 * sqrt(rh + 8.313659)) + atan(t + rh) - atan(rh - 1.676331)
    wet += 0.00391838 * rh**1.5 * atan(0.023101 * rh) - 4.686035
    return max(t - wet, 0.0)


class Air:
    """Numbers of the air and the liquid that stay the same."""

    def __init__(self, sim: Simulation, parameters: Any, crumb: float) -> None:
        world = sim.scenario.world
        altitude = world.origin.altitude
        temperature = float(air_temperature(altitude, world.temperature))
        self.density = sim.weather.density(altitude)
        self.numbers = np.zeros(at.AIR_WIDTH)
        self.numbers[at.A_DENSITY], self.numbers[at.A_VISCOSITY] = self.density, viscosity(temperature)
        self.numbers[at.A_GRAVITY], self.numbers[at.A_WATER] = world.gravity, parameters.density
        if parameters.evaporation:
            self.numbers[at.A_DEPRESSION] = wet_bulb_depression(temperature, world.weather.humidity)
        self.numbers[at.A_LEAF_AREA], self.numbers[at.A_LEAF_WIDTH] = parameters.leaves.area, parameters.leaves.width
        self.numbers[at.A_FRICTION], self.numbers[at.A_CRUMB] = parameters.friction_velocity, crumb
        self.has_downwash = parameters.downwash


class Surrounded:
    """Holds the arrays; `refresh` takes in where vehicles are and how fast their rotors turn."""

    def __init__(self, sim: Simulation, air: Air, deposition: DepositionMap) -> None:
        crafts = sim.fleet.crafts if air.has_downwash else []
        self._density = air.density
        self._places = np.array([[c.block, c.lane, len(c.airframe.rotors)] for c in crafts], dtype=np.int64).reshape(
            -1, 3
        )
        most = max((len(c.airframe.rotors) for c in crafts), default=0)
        self._geometry = np.zeros((len(crafts), most * GEOMETRY_WIDTH))
        for line, craft in zip(self._geometry, crafts, strict=True):
            for k, rotor in enumerate(craft.airframe.rotors):
                axis = np.array(rotor.axis) / np.linalg.norm(rotor.axis)
                line[k * GEOMETRY_WIDTH : (k + 1) * GEOMETRY_WIDTH] = *rotor.position, *axis, rotor.radius
        bodies = bodies_of(sim.fleet.land)
        extent = deposition.extent
        side = max(COARSE, (extent.east - extent.west) / MOST_COARSE, (extent.north - extent.south) / MOST_COARSE)
        lines, columns = (int(span // side) + 1 for span in (extent.north - extent.south, extent.east - extent.west))
        self.arrays = at.Surroundings(
            air=air.numbers, layers=sim.weather.layers, world=sim.fleet.flight.world,
            wakes=np.zeros((len(crafts), WAKE_WIDTH)), jets=np.zeros((len(crafts), most * JET_WIDTH)),
            near=np.zeros((lines, columns, 1 + MOST_NEAR), dtype=np.int64),
            near_grid=np.array([*deposition.corner, side]),
            bodies=bodies.table, first=bodies.first, members=bodies.members, tops=bodies.tops, body_grid=bodies.grid,
            map_grid=np.array([*deposition.corner, deposition.cell]),
        )  # fmt: skip

    def refresh(self, sim: Simulation) -> None:
        flight, it = sim.fleet.flight, self.arrays
        self.arrays = it = it._replace(layers=sim.weather.layers)
        if len(self._places):
            prepare_wakes(
                flight.blocks, flight.rotors, self._places, self._geometry, it.world, self._density, it.wakes, it.jets
            )
            sort_wakes(it.wakes, it.near_grid[0], it.near_grid[1], it.near_grid[2], it.near)


def mean_wind(around: Surrounded, place: np.ndarray) -> np.ndarray:
    """World, m/s, at 2 m above the ground at time 0."""
    v, it = np.zeros(3), around.arrays
    height = ground(it.world, float(place[0]), float(place[1]))[0] + 2.0
    wind_at(it.layers, it.world, 0.0, float(place[0]), float(place[1]), float(height), v)
    return v
