"""Trajectories on their way to vehicles: all that are being flown are evaluated in one compiled call, 50 times a
second.
"""

from __future__ import annotations

from math import cos, sin
from typing import TYPE_CHECKING

import numpy as np

from airloom.clock import NS_PER_SECOND
from airloom.compiled import compiled
from airloom.missions.trajectory import AXES, ORDER, PiecewisePolynomial
from airloom.physics.rows import LANES, SAX, SCOS, SPX, SSIN, SVX, SYAW, SYAWRATE, WIDTH

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

PERIOD_NS = NS_PER_SECOND // 50


@compiled
def set_setpoints(flat, now, at, starts, first_pieces, durations, coefficients):
    """Place, velocity and acceleration of every trajectory at time `now`, written to its vehicle's setpoint rows."""
    for k in range(at.size):
        piece, last = first_pieces[k], first_pieces[k + 1] - 1
        t = max(now - starts[k], 0.0)
        while piece < last and t > durations[piece]:
            t -= durations[piece]
            piece += 1
        over = t >= durations[piece]
        t = min(t, durations[piece])
        base = at[k]
        for axis in range(AXES):
            p, v, a = 0.0, 0.0, 0.0
            for n in range(ORDER - 1, -1, -1):
                a = a * t + 2.0 * v
                v = v * t + p
                p = p * t + coefficients[piece, axis, n]
            if over:
                v, a = 0.0, 0.0
            if axis < 3:
                flat[base + SPX + axis * LANES] = p
                flat[base + SVX + axis * LANES] = v
                flat[base + SAX + axis * LANES] = a
            else:
                flat[base + SYAW], flat[base + SYAWRATE] = p, v
                flat[base + SCOS], flat[base + SSIN] = cos(p), sin(p)


class Streamer:
    """Flies trajectories for any number of vehicles."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._flying: dict[str, tuple[float, PiecewisePolynomial]] = {}
        self._streaming = self._packed = False

    def forget(self) -> None:
        self._flying.clear()
        self._streaming = self._packed = False

    def fly(self, vehicle: Vehicle, trajectory: PiecewisePolynomial) -> None:
        """From now on; an earlier trajectory of the vehicle is dropped. One that has left the simulation flies none."""
        if self._sim.vehicles.get(vehicle.name) is not vehicle:
            return
        self._flying[vehicle.name] = self._sim.time, trajectory
        self._packed = False
        if not self._streaming:
            self._streaming = True
            self._stream()

    def drop(self, vehicle: Vehicle) -> None:
        if self._flying.pop(vehicle.name, None) is not None:
            self._packed = False

    def repack(self) -> None:
        """The vehicles have taken new places."""
        self._packed = False

    def _pack(self) -> None:
        self._packed = True
        places = [self._sim.vehicles[name].place_in_blocks for name in self._flying]
        pieces = [trajectory for _, trajectory in self._flying.values()]
        self._at = np.array([b * WIDTH + i for b, i in places], dtype=np.int64)
        self._starts = np.array([start for start, _ in self._flying.values()])
        self._ends = self._starts + [p.duration for p in pieces]
        self._first = np.cumsum([0, *(len(p.durations) for p in pieces)])
        self._durations = np.concatenate([p.durations for p in pieces]) if pieces else np.zeros(0)
        self._coefficients = np.concatenate([p.coefficients for p in pieces]) if pieces else np.zeros((0, AXES, ORDER))

    def _stream(self) -> None:
        if not self._flying:
            self._streaming = False
            return
        if not self._packed:
            self._pack()
        now = self._sim.time
        flat = self._sim.fleet.flight.blocks.reshape(-1)
        set_setpoints(flat, now, self._at, self._starts, self._first, self._durations, self._coefficients)
        names = list(self._flying)
        for name in [names[k] for k in np.flatnonzero(self._ends <= now)]:
            del self._flying[name]
            self._packed = False
        turn = (self._sim.time_ns // PERIOD_NS + 1) * PERIOD_NS
        self._sim.call_at(turn / NS_PER_SECOND, self._stream)
