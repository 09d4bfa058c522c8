"""Notice vehicles that do not do as they are told, which the end of a flight may not show.

Ten times a second of simulation time three rules are looked at for every vehicle with a controller of its own:

- It *touches the ground unasked* if it has been in the air, higher than it is tall, and comes down in position mode
  while at its setpoint, now and where that will be in 2 s, it would be higher than it is tall above the ground, leaning
  as it does; or in velocity mode while it is told to go level or up.
- It *cannot hold its setpoint* if for 10 s, in position mode and with a setpoint at rest, it is farther off than its
  controller holds it (0.5 m, a boat several) and comes no nearer.

- Its *estimate is far from the truth* if for 2 s while armed it is farther off than watch/estimates.py says: that is
  told once, when it becomes doubtful, and when it is lost, the run is a failed one.
- It *has tipped over on the ground* if it stood there upright, has not flown since, and lies there with its upper side
  60° or more from upright: wind has thrown it over, or its rotors have. Of what has a hull the
  watch of the water tells.

And of every vehicle with a battery, whether that is *empty*; what a controller itself holds to be wrong (its
`alarms`) is told, too.

So landings, vehicles that stand on the ground, long ways, moving setpoints and rotors stopped on purpose are no fault,
nor is what a pilot does in the modes of thrust.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from airloom.commands import Mode
from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.physics.attitude import rotate
from airloom.watch.estimates import DOUBTFUL, LOST, PERSISTS, Apart, states_and_beliefs
from airloom.world.ground import W_TOP, ground

if TYPE_CHECKING:
    from airloom.simulation import Simulation

PERIOD = 0.1  # s
TOUCHING = 0.01  # m
LYING = 0.05  # m
STANDING, TIPPED = 0.9, 0.5  # cosine of the angle from upright
NEARER = 0.1  # m
PATIENCE = 10.0  # s
SOON = 2.0  # s
MOST_TOLD_ONE_BY_ONE = 3


@compiled
def heights_above_ground(w, i, world):
    """Of a vehicle's lowest corner, and of what would soon be its lowest at its setpoint."""
    hx, hy, hz = w[row.BOX_X + i], w[row.BOX_Y + i], w[row.BOX_Z + i]
    cx, cy, cz = w[row.BOX_CX + i], w[row.BOX_CY + i], w[row.BOX_CZ + i]
    told = w[row.SPZ + i] + cz - hz - ground(world, w[row.SPX + i], w[row.SPY + i])[0]
    told += SOON * min(w[row.SVZ + i], 0.0)
    lowest = w[row.PZ + i] - abs(cx) - abs(cy) - abs(cz) - hx - hy - hz - world[W_TOP]
    if lowest > hz:
        return lowest, told
    lowest = np.inf
    for corner in range(8):
        x = cx + (hx if corner & 1 else -hx)
        y = cy + (hy if corner & 2 else -hy)
        z = cz + (hz if corner & 4 else -hz)
        east, north, up = rotate(w[row.QW + i], w[row.QX + i], w[row.QY + i], w[row.QZ + i], x, y, z)
        east, north, up = w[row.PX + i] + east, w[row.PY + i] + north, w[row.PZ + i] + up
        lowest = min(lowest, up - ground(world, east, north)[0])
    level = w[row.PZ + i] + cz - hz - ground(world, w[row.PX + i], w[row.PY + i])[0]
    return lowest, told + min(lowest - level, 0.0)


@compiled
def fill_heights(heights, blocks, world):
    for k in range(blocks.shape[0]):
        for i in range(LANES):
            heights[0, k, i], heights[1, k, i] = heights_above_ground(blocks[k], i, world)


@dataclass
class Alarm:
    row: int
    text: str
    whose: np.ndarray
    told: np.ndarray


class FlightWatch:
    """Warns of each vehicle once for each time that it gets into trouble; one that hops along is in one trouble."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.start()

    def start(self) -> None:
        """Look on from now on, without a memory."""
        self._forget()
        self._look_later()

    def _look_later(self) -> None:
        self._sim.call_at(self._sim.time + PERIOD, self._look)

    def _forget(self) -> None:
        fleet = self._fleet = self._sim.fleet
        flight = fleet.flight
        steered = np.array([m.controller is not None and m.vehicle.autopilot is None for m in fleet.crafts] + [False])
        self._steered = steered[flight.vehicles]  # no vehicle is −1, the last
        within = [m.controller.holds_within if m.controller is not None else np.inf for m in fleet.crafts]
        self._far = np.array([*within, np.inf])[flight.vehicles]
        self._airborne = np.zeros(self._steered.shape, dtype=bool)
        on_land = np.array([m.vehicle.hull is None for m in fleet.crafts] + [False])
        self._on_land = self._steered & on_land[flight.vehicles]
        self._stood = np.zeros(self._steered.shape, dtype=bool)
        self._quiet_until = np.zeros(self._steered.shape)
        self._told_off = np.zeros(self._steered.shape, dtype=bool)
        self._told_empty = np.zeros(self._steered.shape, dtype=bool)
        self._heights = np.empty((2, *self._steered.shape))
        self._nearest = np.full(self._steered.shape, np.inf)
        self._since = np.zeros(self._steered.shape)
        self._setpoints = self._rows(row.SPX, 3).copy()
        estimates = np.array([m.estimator is not None and m.vehicle.autopilot is None for m in fleet.crafts] + [False])
        self._estimates = estimates[flight.vehicles]
        self._apart_since = {bound: np.full(self._steered.shape, np.inf) for bound in (DOUBTFUL, LOST)}
        self._told_apart = {bound: np.zeros(self._steered.shape, dtype=bool) for bound in (DOUBTFUL, LOST)}
        self._alarms = [self._alarm(at, text) for at, text in self._known_alarms()]

    def _known_alarms(self) -> list[tuple[int, str]]:
        known = [m.controller.alarms for m in self._fleet.crafts if m.controller is not None]
        return list(dict.fromkeys(alarm for alarms in known for alarm in alarms.items()))

    def _alarm(self, at: int, text: str) -> Alarm:
        has = [m.controller is not None and m.controller.alarms.get(at) == text for m in self._fleet.crafts]
        whose = np.array([*has, False])[self._fleet.flight.vehicles] & self._steered
        return Alarm(at, text, whose, np.zeros(self._steered.shape, dtype=bool))

    def _rows(self, first: int, count: int) -> np.ndarray:
        """[row, block, lane]"""
        blocks = self._fleet.flight.blocks[:, first : first + count * LANES]
        return blocks.reshape(-1, count, LANES).transpose(1, 0, 2)

    def _look(self) -> None:
        if self._fleet is not self._sim.fleet:
            self._forget()
        self._look_for_falls()
        self._look_for_strays()
        self._look_for_empty_batteries()
        self._look_for_lost_estimates()
        self._look_for_alarms()
        self._look_later()

    def _look_for_falls(self) -> None:
        flight = self._fleet.flight
        mode, size = self._rows(row.MODE, 1)[0], 2.0 * self._rows(row.BOX_Z, 1)[0]
        fill_heights(self._heights, flight.blocks, flight.world)
        height, told_height = self._heights
        by_velocity = mode == Mode.VELOCITY_YAWRATE
        steered = self._steered & ((mode == Mode.POSITION_YAW) | by_velocity)
        asked = np.where(by_velocity, self._rows(row.BVZ, 1)[0] < 0.0, told_height < size)
        self._airborne = steered & (self._airborne | (height > size))
        down = self._airborne & (height < TOUCHING)
        now = self._sim.time
        self._warn(down & ~asked & (now >= self._quiet_until), "touches the ground unasked")
        self._quiet_until = np.where(down, now + PATIENCE, self._quiet_until)
        self._airborne &= ~down
        self._look_for_tipped(height, (mode != Mode.IDLE) & (height > size))

    def _look_for_tipped(self, height: np.ndarray, flies: np.ndarray) -> None:
        _, x, y, _ = self._rows(row.QW, 4)
        upright, is_down = 1.0 - 2.0 * (x * x + y * y), height < LYING
        self._stood = self._on_land & ~flies & (self._stood | (is_down & (upright > STANDING)))
        tipped = self._stood & is_down & (upright < TIPPED)
        self._warn(tipped, "has tipped over on the ground")
        self._stood &= ~tipped

    def _look_for_strays(self) -> None:
        now, setpoints = self._sim.time, self._rows(row.SPX, 3)
        at_rest = (setpoints == self._setpoints).all(axis=0) & (self._rows(row.SVX, 3) == 0.0).all(axis=0)
        self._setpoints = setpoints.copy()
        off = np.sqrt(((self._rows(row.PX, 3) - setpoints) ** 2).sum(axis=0))
        astray = self._steered & (self._rows(row.MODE, 1)[0] == Mode.POSITION_YAW) & at_rest & (off > self._far)
        nearer = off < self._nearest - NEARER
        self._nearest = np.where(astray, np.where(nearer, off, self._nearest), np.inf)
        self._since = np.where(astray & ~nearer, self._since, now)
        lost = astray & (now - self._since >= PATIENCE - 0.5 * PERIOD)
        news = lost & ~self._told_off
        far = float(self._far[news].min(initial=np.inf))
        self._warn(news, f"cannot hold its setpoint: {far:g} m off or more for {PATIENCE:g} s", off)
        self._told_off = (self._told_off | lost) & astray

    def _look_for_empty_batteries(self) -> None:
        charge, capacity = self._rows(row.BATTERY_CHARGE, 2)
        empty = (capacity > 0.0) & (charge == 0.0) & (self._fleet.flight.vehicles >= 0)
        self._warn(empty & ~self._told_empty, "has an empty battery: its rotors stop")
        self._told_empty = empty

    def _look_for_lost_estimates(self) -> None:
        apart = Apart(*states_and_beliefs(self._rows))
        armed = self._estimates & (self._rows(row.MODE, 1)[0] != Mode.IDLE)
        for bound, tell in ((DOUBTFUL, self._doubt), (LOST, self._give_up)):
            now = self._sim.time
            passed = armed & apart.passes(bound)
            since = np.where(passed, np.minimum(self._apart_since[bound], now), np.inf)
            news = (now - since >= PERSISTS - 0.5 * PERIOD) & ~self._told_apart[bound]
            self._apart_since[bound] = since
            self._told_apart[bound] |= news
            for block, lane in np.argwhere(news):
                tell(self._fleet.crafts[self._fleet.flight.vehicles[block, lane]].name, apart.told(block, lane))

    def _doubt(self, name: str, what: str) -> None:
        self._sim.event(name, f"{what}: if they drift on, it will fly away", level="warning")

    def _give_up(self, name: str, what: str) -> None:
        self._sim.fail(name, f"{what}: it no longer knows where it flies")

    def _look_for_alarms(self) -> None:
        for alarm in self._alarms:
            rings = alarm.whose & (self._rows(alarm.row, 1)[0] >= 1.0)
            self._warn(rings & ~alarm.told, alarm.text)
            alarm.told = rings

    def _why_off(self, name: str) -> str:
        """That the wind is faster than an airship, if it is."""
        vehicle = self._sim.vehicles[name]
        hull, wind = vehicle.description.hull, float(np.hypot(*vehicle.wind[:2]))
        if hull is None or hull.fluid != "air" or vehicle.controller is None or wind <= vehicle.controller.top_speed:
            return ""
        return f": the wind of {wind:.3g} m/s is faster than its top speed of {vehicle.controller.top_speed:.3g} m/s"

    def _warn(self, whom: np.ndarray, what: str, off: np.ndarray | None = None) -> None:
        if not whom.any():
            return
        order = np.argsort(self._fleet.flight.vehicles[whom])
        names = [self._fleet.crafts[k].name for k in self._fleet.flight.vehicles[whom][order]]
        notes = [what] * len(names)
        if off is not None:
            far = zip(names, off[whom][order], strict=True)
            notes = [f"{what}, now {meters:.3g} m{self._why_off(name)}" for name, meters in far]
        if len(names) <= MOST_TOLD_ONE_BY_ONE:
            for name, note in zip(names, notes, strict=True):
                self._sim.event(name, note, level="warning")
        else:
            few = ", ".join(names[:MOST_TOLD_ONE_BY_ONE])
            more = len(names) - MOST_TOLD_ONE_BY_ONE
            self._sim.event("fleet", f"{few} and {more} more: each {what}", level="warning")
