"""A vehicle's tank: what follows from its file for the loop, and what programs see of it."""

from __future__ import annotations

from math import exp, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from airloom.commands import CommandError
from airloom.compiled.rows import LANES
from airloom.physics import liquid
from airloom.physics import tank as rows

if TYPE_CHECKING:
    from airloom.scenario import models
    from airloom.simulation import Simulation
    from airloom.vehicles.airframe import Airframe

LOOK_NS = 100_000_000  # ns between looks whether it has run dry, while something is to flow


def shape_number(tank: models.Tank) -> int:
    """As physics/liquid.py counts shapes."""
    if tank.shape == "lying_cylinder":
        return liquid.LYING_ALONG_Y if tank.lies_along_y else liquid.LYING_ALONG_X
    return liquid.BOX if tank.shape == "box" else liquid.UPRIGHT


class Liquid(NamedTuple):
    """As a frozen body: mass, centre from the vehicle's origin, inertia about that."""

    mass: float
    center: tuple[float, float, float]
    inertia: np.ndarray


def liquid_at_start(tank: models.Tank | None) -> Liquid:
    if tank is None or tank.at_start == 0.0:
        return Liquid(0.0, (0.0, 0.0, 0.0), np.zeros((3, 3)))
    mass = 1e-3 * tank.at_start * tank.density
    _, up, *variances = liquid.liquid_at_rest(shape_number(tank), *tank.size, 1e-3 * tank.at_start)
    x, y, z = tank.position
    inertia = mass * (sum(variances) * np.eye(3) - np.diag(variances))
    return Liquid(mass, (x, y, z - 0.5 * tank.size[2] + up), inertia)


def tank_numbers(airframe: Airframe) -> list[float]:
    """What the tank's kernels work on before the first tick, in the order of the rows of physics/tank.py."""
    vehicle, step = airframe.vehicle, airframe.step
    tank = vehicle.tank
    assert tank is not None
    inertia = vehicle.inertia.matrix()
    ticks = max(round(rows.LONGEST_STEP / step, 6) // 1, 1.0)
    file = [
        step, ticks, tank.capacity, tank.density, tank.viscosity, float(shape_number(tank)), *tank.size, *tank.position,
        float(tank.sloshing), tank.baffles, tank.max_flow, 1.0 - exp(-step / tank.lag) if tank.lag else 1.0,
        vehicle.mass, *vehicle.center_of_mass, *inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
        float(len(airframe.rotors)),
    ]  # fmt: skip
    told, state = [0.0, 1.0], [tank.at_start, 0.0, 0.0, 0.0, tank.at_start, -1.0]
    rest = [0.0] * (rows.OWN_ROWS - len(file) - len(told) - len(state))
    return [*file, *told, *state, *rest, *airframe.mixer[:, 0]]


class Tank:
    """The tank of one vehicle of a running simulation. Litres, and litres per minute."""

    def __init__(self, sim: Simulation, vehicle: str) -> None:
        self._sim, self._vehicle = sim, vehicle
        self._numbers = np.empty(0)
        self.forget()

    def settle(self, description: models.Tank, numbers: np.ndarray) -> None:
        """Take its place in the simulation's fleet: `numbers` are those of its kernels."""
        self.description, self._numbers = description, numbers

    def forget(self) -> None:
        """What it has told of."""
        self._told_dry = self._watches = False

    def _get(self, first: int) -> float:
        return float(self._numbers[first // LANES])

    @property
    def capacity(self) -> float:
        """L"""
        return self._get(rows.CAPACITY)

    @property
    def litres(self) -> float:
        """In it now."""
        return self._get(rows.LITRES)

    @property
    def given(self) -> float:
        """Litres that have left it through the nozzles since the start."""
        return self._get(rows.GIVEN)

    @property
    def flow(self) -> float:
        """What flows now, L/min."""
        return self._get(rows.FLOW)

    @property
    def max_flow(self) -> float:
        """What the pump gives with all nozzles open, L/min."""
        return self._get(rows.MAX_FLOW)

    @property
    def asked(self) -> float:
        """The flow that was commanded last, for all nozzles open, L/min."""
        return self._get(rows.ASKED)

    @property
    def open_share(self) -> float:
        """The share of the nozzles that are open, 0 to 1; the flow is this part of what is asked for."""
        return self._get(rows.OPEN_SHARE)

    @open_share.setter
    def open_share(self, share: float) -> None:
        self._numbers[rows.OPEN_SHARE // LANES] = self._checked("open_share", share, 1.0, "")
        self._watch()

    @property
    def liquid_mass(self) -> float:
        """kg"""
        return 1e-3 * self.litres * self.description.density

    @property
    def displacement(self) -> np.ndarray:
        """[mode, x and y]: how far the masses that stand for the sloshing are from the tank's axis, m."""
        modes = self._numbers[rows.X // LANES :][: liquid.MODES * rows.MODE_ROWS].reshape(liquid.MODES, -1)
        return modes[:, :2].copy()

    def command(self, flow: float) -> None:
        """Ask for a flow with all nozzles open, L/min, until the next call; the pump gives no more than it can."""
        flow = self._checked("flow", flow, np.inf, " L/min")
        if flow > self.max_flow:
            text = f"tank: {flow:g} L/min are asked for, the pump gives {self.max_flow:g}"
            self._sim.event(self._vehicle, text, level="warning")
        self._numbers[rows.ASKED // LANES] = flow
        if flow > 0.0 and self.litres == 0.0:
            self._tell_dry()
        self._watch()

    def refill(self, litres: float | None = None) -> None:
        """Put liquid in at once, up to so many litres; to the brim if left out."""
        litres = self.capacity if litres is None else self._checked("litres", litres, self.capacity, " L")
        self._numbers[rows.LITRES // LANES], self._numbers[rows.DRY_SINCE // LANES] = litres, -1.0
        self._told_dry = False
        self._sim.vehicles[self._vehicle].weigh()
        self._sim.event(self._vehicle, f"tank: filled to {litres:.3g} L")
        self._sim.vehicles[self._vehicle].warn_of_weight()

    def _checked(self, what: str, value: Any, most: float, unit: str) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if not (isfinite(number) and 0.0 <= number <= most):
            range_ = "0 or more" if most == np.inf else f"0 to {most:g}"
            raise CommandError(f"{self._vehicle}: {what} of its tank must be {range_}{unit}, got {value}")
        return number

    def _watch(self) -> None:
        """Look on a grid of simulation time whether it runs dry, as long as something is to flow."""
        if not self._watches and self.asked * self.open_share > 0.0 and self.litres > 0.0:
            self._watches = True
            self._sim.call_at((self._sim.time_ns // LOOK_NS + 1) * LOOK_NS * 1e-9, self._look)

    def _look(self) -> None:
        self._watches = False
        if self._get(rows.DRY_SINCE) >= 0.0:
            self._tell_dry()
        self._watch()

    def _tell_dry(self) -> None:
        if not self._told_dry:
            self._told_dry = True
            since = max(self._get(rows.DRY_SINCE), 0.0) * self._sim.step_ns * 1e-9
            text = f"tank: empty since {since:.2f} s, {self.given:.3g} L given; nothing flows until it is refilled"
            self._sim.event(self._vehicle, text, level="warning")
