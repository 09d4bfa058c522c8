"""Many vehicles at once: their states as arrays, commands for all of them in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from airloom.commands import CommandError, Mode
from airloom.physics.rows import GIVEN, LANES, MODE, PX, QW, SPX, VX, WIDTH, WX

if TYPE_CHECKING:
    from airloom.fleet import Fleet
    from airloom.vehicle import Vehicle


class Group(Sequence):
    """Vehicles in a fixed order. Arrays have a row a vehicle; world ENU, body FLU, SI units."""

    def __init__(self, fleet: Fleet, vehicles: Sequence[Vehicle]) -> None:
        self._vehicles = list(vehicles)
        self._flat = fleet.flight.blocks.reshape(-1)
        self._at = np.array([v.place_in_blocks[0] * WIDTH + v.place_in_blocks[1] for v in self._vehicles])
        self._setpoints_at = self._at[:, None] + SPX + LANES * np.arange(13)
        self._modes_at = self._at[:, None] + [MODE, GIVEN + LANES * Mode.POSITION_YAW]

    def __len__(self) -> int:
        return len(self._vehicles)

    def __getitem__(self, index):
        return self._vehicles[index]

    @property
    def names(self) -> list[str]:
        return [vehicle.name for vehicle in self._vehicles]

    def _get(self, row: int, count: int) -> np.ndarray:
        return self._flat[self._at[:, None] + row + LANES * np.arange(count)]

    @property
    def positions(self) -> np.ndarray:
        return self._get(PX, 3)

    @property
    def velocities(self) -> np.ndarray:
        return self._get(VX, 3)

    @property
    def attitudes(self) -> np.ndarray:
        return self._get(QW, 4)

    @property
    def rates(self) -> np.ndarray:
        return self._get(WX, 3)

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
        if not np.isfinite(setpoints).all():
            bad = self.names[int(np.flatnonzero(~np.isfinite(setpoints).all(axis=1))[0])]
            raise CommandError(f"{bad}: a command must hold finite numbers only")
        self._flat[self._setpoints_at] = setpoints
        self._flat[self._modes_at] = Mode.POSITION_YAW
