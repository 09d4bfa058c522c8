"""Many vehicles at once: their states as arrays, commands for all of them in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from airloom.commands import EDGE, CommandError, Mode
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.vehicle import TOLERATED_DEPTH, Vehicle
from airloom.world.ground import first_buried

if TYPE_CHECKING:
    from airloom.simulation import Simulation


class Group(Sequence):
    """Vehicles in a fixed order. Arrays have a row a vehicle; world ENU, body FLU, SI units."""

    def __init__(self, sim: Simulation, vehicles: Sequence[Vehicle]) -> None:
        self._sim, self._vehicles = sim, list(vehicles)
        self._settle()

    def _settle(self) -> None:
        """Find the vehicles' rows in the fleet there is now. One that has left it reads as the first of that
        fleet, and what is commanded to it is lost.
        """
        self._fleet = self._sim.fleet
        self._flat = self._fleet.flight.blocks.reshape(-1)
        self._here = np.array([self._sim.vehicles.get(v.name) is v for v in self._vehicles], dtype=bool)
        places = [v.place_in_blocks for v in self._vehicles]
        self._at = np.array([block * row.WIDTH + lane for block, lane in places], dtype=np.int64) * self._here
        commanded = self._at[self._here, None]
        self._setpoints_at = commanded + row.SPX + LANES * np.arange(13)
        self._modes_at = commanded + np.array([row.MODE, row.GIVEN + LANES * Mode.POSITION_YAW])

    def _keep_up(self) -> None:
        if self._fleet is not self._sim.fleet:
            self._settle()

    def __len__(self) -> int:
        return len(self._vehicles)

    def __getitem__(self, index):
        return self._vehicles[index]

    @property
    def names(self) -> list[str]:
        return [vehicle.name for vehicle in self._vehicles]

    def _get(self, first: int, count: int) -> np.ndarray:
        self._keep_up()
        return self._flat[self._at[:, None] + first + LANES * np.arange(count)]

    @property
    def positions(self) -> np.ndarray:
        return self._get(row.PX, 3)

    @property
    def velocities(self) -> np.ndarray:
        return self._get(row.VX, 3)

    @property
    def attitudes(self) -> np.ndarray:
        return self._get(row.QW, 4)

    @property
    def rates(self) -> np.ndarray:
        return self._get(row.WX, 3)

    def tune(self, **changes) -> None:
        """Change the controller's parameters of all of them in flight, or of none if one cannot; see `Vehicle.tune`."""
        for vehicle in self._vehicles:
            vehicle.check_tuning(**changes)
        for vehicle in self._vehicles:
            vehicle.tune(**changes)

    def command(self, positions, yaws=0.0, velocities=0.0, accelerations=0.0, yaw_rates=0.0) -> None:
        """Position and yaw for each vehicle (see `PositionYaw`); and its mode."""
        setpoints = np.empty((len(self), 13))
        try:
            setpoints[:, 0:3], setpoints[:, 3:6], setpoints[:, 6:9] = positions, velocities, accelerations
            setpoints[:, 9], setpoints[:, 10] = yaws, yaw_rates
        except ValueError as error:
            raise CommandError(f"a command for {len(self)} vehicles has the wrong shape: {error}") from None
        setpoints[:, 11], setpoints[:, 12] = np.cos(setpoints[:, 9]), np.sin(setpoints[:, 9])
        sane = np.abs(setpoints) <= EDGE
        if not sane.all():
            bad = self.names[int(np.flatnonzero(~sane.all(axis=1))[0])]
            raise CommandError(f"{bad}: a command must hold finite numbers of at most {EDGE:g} only")
        self._keep_up()
        if first_buried(self._fleet.flight.world, setpoints[:, :3], -TOLERATED_DEPTH) >= 0:
            for vehicle, setpoint in zip(self._vehicles, setpoints, strict=True):
                vehicle.warn_of_ground(setpoint[:3])
        self._flat[self._setpoints_at] = setpoints if self._here.all() else setpoints[self._here]
        self._flat[self._modes_at] = Mode.POSITION_YAW
