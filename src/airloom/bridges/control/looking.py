"""Requests that look at the vehicles and change nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from airloom.bridges.control.request import ForVehicles, Tower

if TYPE_CHECKING:
    from airloom.vehicle import Vehicle


class Observe(ForVehicles):
    method, acts = "observe", False

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        vehicles = tower.vehicles(self.vehicle)
        return {"time": tower.sim.time, "vehicles": {v.name: _observed(v, tower) for v in vehicles}}


class Gains(ForVehicles):
    method, acts = "gains", False

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        return {"vehicles": {vehicle.name: vehicle.gains for vehicle in tower.vehicles(self.vehicle)}}


def _observed(vehicle: Vehicle, tower: Tower) -> dict[str, Any]:
    return {
        "position": vehicle.position.tolist(),
        "velocity": vehicle.velocity.tolist(),
        "attitude": vehicle.attitude.tolist(),
        "rates": vehicle.rates.tolist(),
        "mode": vehicle.mode.label,
        "armed": vehicle.armed,
        "mission": tower.mission_of(vehicle),
        "setpoint": {key: _plain(value) for key, value in asdict(vehicle.setpoint).items()},
    }


def _plain(value: Any) -> Any:
    return [float(x) for x in value] if isinstance(value, tuple) else float(value)
