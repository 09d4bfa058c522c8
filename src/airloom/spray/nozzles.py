"""The nozzles of a vehicle as users see them: which are open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.hints import did_you_mean
from airloom.commands import CommandError

if TYPE_CHECKING:
    from airloom.vehicle import Vehicle


class Nozzles:
    """All open at first. `nozzles.open = False` closes all, `nozzles.open = {"left": False}` one of them."""

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle
        self._closed: set[str] = set()
        self._closed_before: set[str] = set()
        """When any was open last."""

    def __len__(self) -> int:
        return len(self._vehicle.description.nozzles)

    @property
    def open(self) -> dict[str, bool]:
        """By name, which are open."""
        return {name: name not in self._closed for name in self._vehicle.description.nozzles}

    @open.setter
    def open(self, wanted: bool | Mapping[str, bool]) -> None:
        changes = wanted if isinstance(wanted, Mapping) else dict.fromkeys(self.open, wanted)
        for name, is_open in changes.items():
            self._check(name, is_open)
        self._closed = {name for name, is_open in (self.open | dict(changes)).items() if not is_open}
        if any(self.open.values()):
            self._closed_before = self._closed
        tank = self._vehicle.tank
        if tank is not None and len(self):
            tank.open_share = self.open_share

    @property
    def open_share(self) -> float:
        """Of the flow with all nozzles open, what flows now."""
        sizes = self._sizes(self._closed)
        return float(sizes.sum() / self._sizes(set()).sum())

    @property
    def shares(self) -> np.ndarray:
        """Of each nozzle, its part of what flows; when all are closed, of what still comes after."""
        sizes = self._sizes(self._closed_before)
        return sizes / sizes.sum()

    def _sizes(self, closed: set[str]) -> np.ndarray:
        nozzles = self._vehicle.description.nozzles
        return np.array([0.0 if name in closed else nozzle.size for name, nozzle in nozzles.items()])

    def _check(self, name: str, is_open: Any) -> None:
        if name not in self.open:
            hint = did_you_mean(name, self.open, "it has")
            raise CommandError(f"{self._vehicle.name} has no nozzle called '{name}'{hint}")
        if not isinstance(is_open, bool | np.bool_):
            raise CommandError(f"a nozzle is open (True) or not (False), got {is_open!r} for '{name}'")
