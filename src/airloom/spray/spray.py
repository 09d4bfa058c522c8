"""The system that flies the drops of all vehicles with nozzles, and keeps the map of where they land."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from math import cos, radians
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from airloom.basics.rotations import matrix_from_quaternion, quaternion_from_euler
from airloom.errors import RunError
from airloom.plugin import Parameters
from airloom.scenario import ScenarioError
from airloom.scenario.models import NonNegative, Number, Positive
from airloom.scenario.values import Model, Point
from airloom.sensors.noise import stream_key
from airloom.spray import drops as at
from airloom.spray import report
from airloom.spray.drop_sizes import diameters
from airloom.spray.maps import MOST_CELLS, DepositionMap, Extent, cells_in
from airloom.spray.shown import Topics
from airloom.spray.surroundings import Air, Surrounded, mean_wind
from airloom.system import System
from airloom.world.ground import ground

if TYPE_CHECKING:
    from airloom.scenario import models
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

FIRST_ROOM, MOST_DROPS = 16_384, 4_000_000
AROUND_VEHICLES, AROUND_TARGET = 60.0, 60.0  # m
MINUTE = 60.0
CRUMB = 1e-3  # of a fresh drop's litres: what is left of one in leaves is caught with the rest


def _in_order(extent: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    west, south, east, north = extent
    if not (west < east and south < north):
        raise ValueError("must be west, south, east, north with west below east and south below north")
    return extent


def _has_an_inside(polygon: list[Point]) -> list[Point]:
    x, y = np.array(polygon).T
    if abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) < 2e-6:
        raise ValueError("the points must be the corners of an area, one after the other around it")
    return polygon


Corners = Annotated[tuple[Number, Number, Number, Number], AfterValidator(_in_order)]
Polygon = Annotated[list[Point], Field(min_length=3), AfterValidator(_has_an_inside)]


class Leaves(Model):
    """What leaves of vines and trees are like, for the drops they catch."""

    area: NonNegative = Field(4.0, description="of leaves in a volume of canopy, m²/m³")
    width: Positive = Field(0.08, description="of a leaf, m")


class SprayParameters(Parameters):
    flow: NonNegative | None = Field(
        None, description="of a vehicle with nozzles and no tank, which sprays without end, all nozzles open, L/min"
    )
    cell: Positive = Field(0.25, description="side of a cell of the map, m")
    extent: Corners | None = Field(
        None, description="west, south, east, north of the map, m; around target, terrain or vehicles if left out"
    )
    target: Polygon | None = Field(None, description="corners of the area that is to be sprayed, east and north, m")
    drops_per_litre: Positive = Field(
        200_000.0, le=1e9, description="simulated drops; each stands for many equal ones, together so much liquid"
    )
    downwash: bool = Field(True, description="whether rotors blow drops about")
    evaporation: bool = Field(False, description="whether drops evaporate, by the world's temperature and humidity")
    friction_velocity: NonNegative = Field(
        0.0,
        le=5.0,
        description="of the air above the ground, for eddies that the weather does not have, m/s; 0 for none",
    )
    leaves: Leaves = Leaves()
    density: Positive = Field(998.0, ge=500, le=2000, description="of the liquid, kg/m³")

    @model_validator(mode="after")
    def _fits_into_memory(self) -> SprayParameters:
        if self.extent is not None:
            check_size(Extent(*self.extent), self.cell)
        return self


def check_size(extent: Extent, cell: float) -> None:
    rows, columns = cells_in(extent, cell)
    if rows * columns > MOST_CELLS:
        coarser = float(np.sqrt((extent.east - extent.west) * (extent.north - extent.south) / MOST_CELLS))
        raise ValueError(
            f"a map of {columns:,} × {rows:,} cells is too large, the most are {MOST_CELLS:,}: "
            f"make the cell at least {np.ceil(100 * coarser) / 100:g} m or the extent smaller"
        )


class Spray(System):
    """Spray: drops from all nozzles fly in wind and downwash, land, and become a map in litres per hectare."""

    Parameters = SprayParameters
    rate = 50.0

    @classmethod
    def mistakes(cls, parameters: SprayParameters, scenario: models.Scenario) -> Iterator[tuple[str, str]]:
        sprayers = {name: vehicle for name, vehicle in scenario.vehicles.items() if vehicle.nozzles}
        if not sprayers:
            yield "kind", "no vehicle has nozzles: give one the key nozzles, or leave this system out"
        for name, vehicle in sprayers.items():
            if parameters.flow is None and vehicle.tank is None:
                yield "flow", f"is missing: {name} has nozzles and no tank, so it must be told how much flows, L/min"

    # -- at the start ----------------------------------------------------------------------------------------------

    def configure(self, sim: Simulation) -> None:
        extent = self._extent(sim)
        try:
            check_size(extent, self.parameters.cell)
        except ValueError as error:
            raise ScenarioError(f"{sim.scenario.name}: systems.{self.name}.cell: {error}") from None
        self.map = DepositionMap(extent, self.parameters.cell)
        self._check_nozzles(sim)
        rate = sim.scenario.systems[self.name].rate or self.rate
        self._step = 1.0 / rate
        self._ways: list[tuple[float, float, float]] = []
        self._parcel = 1.0 / self.parameters.drops_per_litre
        self._sizes: dict[str, np.ndarray] = {}
        self._fleet: Any = None
        self._scratch = np.zeros(3)
        self._room(FIRST_ROOM)
        self._topics = Topics(sim, self.name)

    def _extent(self, sim: Simulation) -> Extent:
        given, grid = self.parameters, sim.fleet.land.grid
        if given.extent is not None:
            return Extent(*given.extent)
        if given.target is not None:
            points = np.array(given.target)
            return Extent(*points.min(axis=0).tolist(), *points.max(axis=0).tolist()).grown(AROUND_TARGET)
        if grid is not None:
            (x, y), (rows, columns) = grid.corner, grid.heights.shape
            return Extent(x, y, x + (columns - 1) * grid.cell[0], y + (rows - 1) * grid.cell[1])
        starts = np.array([vehicle.description.pose.position[:2] for vehicle in sim.vehicles.values()])
        return Extent(*starts.min(axis=0).tolist(), *starts.max(axis=0).tolist()).grown(AROUND_VEHICLES)

    def _check_nozzles(self, sim: Simulation) -> None:
        for vehicle in self._sprayers(sim):
            pose = vehicle.description.pose
            turn = matrix_from_quaternion(quaternion_from_euler(pose.roll, pose.pitch, pose.yaw))
            for name, nozzle in vehicle.description.nozzles.items():
                x, y, z = np.array(pose.position) + turn @ np.array(nozzle.position)
                depth = float(ground(sim.fleet.flight.world, x, y)[0]) - z
                if depth > 0.0:
                    raise ScenarioError(
                        f"{sim.scenario.name}: vehicles.{vehicle.name}.nozzles.{name}.position: it is {depth:.3g} m "
                        f"below the ground at the start; put the nozzle higher, or the vehicle (pose.position)"
                    )

    def reset(self, sim: Simulation) -> None:
        self.map.clear()
        self.count, self._number, self._tick = 0, 0, 0
        self.sums = np.zeros(at.SUMS)
        self._owed: dict[tuple[str, str], float] = {}
        self._given: dict[str, float] = {}
        self._key = np.uint64(stream_key(sim.seed, self.name))
        self._headings, self._ways = np.zeros(2), []
        self._topics.reset()
        self._settle(sim)

    def _settle(self, sim: Simulation) -> None:
        """Take in what may be another fleet, after an edit."""
        self._fleet = sim.fleet
        self._sizes = {}
        air = Air(sim, self.parameters, CRUMB * self._parcel)
        self._around = Surrounded(sim, air, self.map)

    def _room(self, wanted: int) -> None:
        """Make room for so many drops."""
        if wanted > MOST_DROPS:
            raise RunError(
                f"{self.name}: more than {MOST_DROPS:,} drops are in the air; have fewer with a lower drops_per_litre"
            )
        eddies = wanted if self.parameters.friction_velocity > 0.0 else 1
        before, eddies_before = getattr(self, "drops", None), getattr(self, "_eddies", None)
        self.drops, self._eddies = np.zeros((wanted, at.DROP_WIDTH)), np.zeros((eddies, at.EDDY_WIDTH))
        if before is not None and eddies_before is not None:
            self.drops[: len(before)] = before
            self._eddies[: len(eddies_before)] = eddies_before

    # -- every step ------------------------------------------------------------------------------------------------

    def update(self, sim: Simulation) -> None:
        if sim.fleet is not self._fleet:
            self._settle(sim)
        if sim.tick == 0:
            return
        self._tick += 1
        for vehicle in self._sprayers(sim):
            self._spray(vehicle)
        if self.count:
            self._around.refresh(sim)
            self.count = at.fly(
                self.drops, self._eddies, self.count, self._tick, sim.time - self._step, self._step, self._key,
                self._around.arrays, self.map.ground, self.map.canopy, self.sums, self._scratch,
            )  # fmt: skip
        self._topics.publish(sim, self)

    def _sprayers(self, sim: Simulation) -> list[Vehicle]:
        return [vehicle for vehicle in sim.vehicles.values() if len(vehicle.nozzles)]

    def _litres_from(self, vehicle: Vehicle) -> float:
        """What left it since the last step."""
        if vehicle.tank is None:
            return (self.parameters.flow or 0.0) * vehicle.nozzles.open_share * self._step / MINUTE
        before = self._given.get(vehicle.name, 0.0)
        self._given[vehicle.name] = vehicle.tank.given
        return max(vehicle.tank.given - before, 0.0)

    def _spray(self, vehicle: Vehicle) -> None:
        flow = self._litres_from(vehicle)
        if flow <= 0.0:
            return
        turn, place, velocity = matrix_from_quaternion(vehicle.attitude), vehicle.position, vehicle.velocity
        p, q, r = vehicle.rates
        for (name, nozzle), share in zip(vehicle.description.nozzles.items(), vehicle.nozzles.shares, strict=True):
            owed = self._owed.get((vehicle.name, name), 0.0) + share * flow
            new = int(owed / self._parcel)
            self._owed[vehicle.name, name] = owed - new * self._parcel
            if new == 0:
                continue
            arm, axis = np.array(nozzle.position), np.array(nozzle.direction) / np.linalg.norm(nozzle.direction)
            numbers = np.empty(at.NOZZLE_WIDTH)
            numbers[at.N_PLACE : at.N_VELOCITY] = place + turn @ arm
            x, y, z = nozzle.position
            around = np.array((q * z - r * y, r * x - p * z, p * y - q * x))  # ω × arm; np.cross is slow
            numbers[at.N_VELOCITY : at.N_AXIS] = velocity + turn @ around
            numbers[at.N_AXIS : at.N_COSINE] = turn @ axis
            numbers[at.N_COSINE], numbers[at.N_SPEED] = cos(radians(0.5 * nozzle.angle)), nozzle.speed
            if self.count + new > len(self.drops):
                self._room(2 * (self.count + new))
            self.count = at.emit(
                self.drops, self._eddies, self.count, new, self._number, self._key, numbers,
                self._diameters(vehicle, name), self._parcel, self._step, self.parameters.friction_velocity,
            )  # fmt: skip
            self._number += new
            self.sums[at.SPRAYED] += new * self._parcel
        self._note_way(place, velocity, flow)

    def _diameters(self, vehicle: Vehicle, name: str) -> np.ndarray:
        drops = vehicle.description.nozzles[name].distribution
        key = repr(drops)
        if key not in self._sizes:
            self._sizes[key] = diameters(drops)
        return self._sizes[key]

    # -- results ---------------------------------------------------------------------------------------------------

    def _note_way(self, place: np.ndarray, velocity: np.ndarray, litres: float) -> None:
        """Along which axis, of no sign, it was flown while spraying."""
        direction = complex(velocity[0], velocity[1])
        if abs(direction) > 0.1:
            double = (direction / abs(direction)) ** 2
            self._headings += litres * np.array([double.real, double.imag])
        self._ways.append((place[0], place[1], litres))

    @property
    def airborne(self) -> float:
        """Litres in the air."""
        return float(self.drops[: self.count, at.LITRES].sum())

    def report(self, sim: Simulation) -> dict[str, Any]:
        """What became of the liquid: see docs/howto/spraying.md."""
        found: dict[str, Any] = {"litres": report.balance(self.sums, self.airborne)}
        if self.parameters.target is not None:
            polygon = np.array(self.parameters.target)
            wind = mean_wind(self._around, polygon.mean(axis=0))
            target = report.on_target(self.map, polygon, float(self.sums[at.SPRAYED]), wind)
            found |= {"target": target} if target else {}
        if (swath := self._swath()) is not None:
            found["swath"] = swath
        return found

    def _swath(self) -> dict[str, Any] | None:
        """Only a flight along one line has a swath that can be told from the map."""
        if not self._ways or not self._headings.any():
            return None
        angle = 0.5 * np.arctan2(self._headings[1], self._headings[0])
        axis = np.array([np.cos(angle), np.sin(angle)])
        x, y, litres = np.array(self._ways).T
        aside = axis[0] * y - axis[1] * x
        line = float(np.average(aside, weights=litres))
        if np.sqrt(np.average((aside - line) ** 2, weights=litres)) > report.NARROW:
            return None
        return report.one_pass(self.map, axis, line) or None

    def digest(self) -> str:
        """Of all drops and maps: equal for equal runs. They act on no vehicle, and are no part of the state's hash."""
        digest = hashlib.blake2b(digest_size=16)
        for array in (self.drops[: self.count], self.map.ground, self.map.canopy, self.sums):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def save(self, folder: Path | str, sim: Simulation) -> list[Path]:
        """Write the map into a folder, as picture and GeoTIFF."""
        title = f"{sim.scenario.name}: deposition after {sim.time:g} s"
        stem, target = Path(folder) / self._stem(sim), self.parameters.target
        return self.map.save(stem, sim.scenario.world.origin, title, target)

    def _stem(self, sim: Simulation) -> str:
        """Of its files; with its name if there are several such systems."""
        several = sum(isinstance(system, Spray) for system in sim.systems.values()) > 1
        return f"deposition_{self.name}" if several else "deposition"

    def keep(self, sim: Simulation) -> None:
        self._files = self.save(sim.member_logs or Path(), sim)

    def conclude(self, sim: Simulation) -> None:
        names = " and ".join(file.name for file in self._files)
        text = f"{report.sentence(self.report(sim))}; map in {names}"
        if not any(file.suffix == ".tif" for file in self._files):
            text += " (a GeoTIFF needs rasterio: pip install 'airloom[terrain]')"
        sim.succeed(self.name, text)
