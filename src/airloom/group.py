"""Many vehicles at once: their states as arrays, commands for all of them in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from airloom.commands import Command, CommandError, Mode
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.control.command_rows import BURIED, OTHER_MODE, first_unfit, take_commands
from airloom.vehicle import THRUSTING, Vehicle
from airloom.watch.guard import Commanded

if TYPE_CHECKING:
    from airloom.engines.fleet import Fleet
    from airloom.simulation import Simulation


class Group(Sequence):
    """Vehicles in a fixed order. Arrays have a row a vehicle; world ENU, body FLU, SI units."""

    def __init__(self, sim: Simulation, vehicles: Sequence[Vehicle]) -> None:
        self._sim, self._vehicles = sim, list(vehicles)
        self._fleet: Fleet | None = None

    def _keep_up(self) -> None:
        if self._fleet is not self._sim.fleet:
            self._settle()

    def _settle(self) -> None:
        """Find the vehicles' rows in the fleet there is now. One that has left it reads as the first of that
        fleet, and what is commanded to it is lost.
        """
        self._fleet = self._sim.fleet
        self._flat = self._fleet.flight.blocks.reshape(-1)
        self._here = np.array([self._sim.vehicles.get(v.name) is v for v in self._vehicles], dtype=bool)
        at = [v.place_in_blocks for v in self._vehicles]
        self._at = np.array([block * row.WIDTH + lane for block, lane in at], dtype=np.int64) * self._here
        self._commanded_at = self._at[self._here]
        self._commanded = Commanded([self._vehicles[k] for k in np.flatnonzero(self._here)])
        self._flown: set[Mode] = set()
        self._max_thrusts: np.ndarray | None = None

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

    def command(self, command: Command, switch: bool = True) -> None:
        """All take a command, or none if one of them cannot; see `Vehicle.command`.

        A field is the same for all, or an array with a row a vehicle: `al.PositionYaw(positions, yaw=0.5)`.
        """
        self._keep_up()
        numbers = self._checked(command)
        mode, guard, vehicles = command.mode, self._sim.guard, self._commanded.vehicles
        news = np.empty(len(numbers), dtype=np.int64)
        if take_commands(self._flat, self._commanded_at, int(mode), numbers, self._sim.fleet.flight.world, news):
            noted = news if switch else news & BURIED
            for k in np.flatnonzero(noted):
                vehicles[k].take_note(int(noted[k]), mode, numbers[k])
            if not switch:
                for k in np.flatnonzero(news & OTHER_MODE == 0):
                    guard.heard(vehicles[k])
                return
        guard.heard_all(self._commanded, mode)

    def _checked(self, command: Command) -> np.ndarray:
        """The numbers of a command, a row for each vehicle that is still there."""
        if not isinstance(command, Command):
            told = type(command).__name__
            raise CommandError(f"a group takes a command such as al.PositionYaw(positions), got {told}")
        numbers = command.numbers_for(len(self))
        if command.is_for_many:
            self._check_numbers(type(command), numbers)
        if not self._here.all():
            numbers = numbers[self._here]
        self._check_mode(command.mode)
        if isinstance(command, THRUSTING):
            self._check_thrusts(numbers[:, 0])
        return numbers

    def _check_numbers(self, kind: type[Command], numbers: np.ndarray) -> None:
        if (k := first_unfit(numbers)) >= 0:
            try:
                kind.of(tuple(numbers[k].tolist()))
            except CommandError as error:
                raise CommandError(f"{self._vehicles[k].name}: {error}") from None

    def _check_mode(self, mode: Mode) -> None:
        if mode not in self._flown:
            for vehicle in self._commanded.vehicles:
                vehicle.check_mode(mode)
            self._flown.add(mode)

    def _check_thrusts(self, thrusts: np.ndarray) -> None:
        vehicles = self._commanded.vehicles
        if self._max_thrusts is None:
            self._max_thrusts = np.array([vehicle.max_thrust for vehicle in vehicles])
        for k in np.flatnonzero((thrusts < 0.0) | (thrusts > self._max_thrusts)):
            vehicles[k].check_thrust(float(thrusts[k]))
