"""The eyes of a run: whose turn it is to look, and to tell."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from airloom.basics.clock import ticks_per_period
from airloom.eyes.eye import Eye, Frame

if TYPE_CHECKING:
    from airloom.eyes.sight import Sight
    from airloom.simulation import Simulation


class Eyes:
    """All eyes of a simulation. Those that nobody wants cost nothing."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.settle()

    def settle(self) -> None:
        """Take in the eyes of the simulation's fleet, which may be a new one."""
        self._eyes = self._sim.fleet.eyes
        self._crafts = {craft.name: craft for craft in self._sim.fleet.crafts if craft.eyes}
        for eye in self._eyes.values():
            eye.advertise(self._sim.bus)
        self.__dict__.pop("sight", None)
        self._changes_seen = -1
        self._looking: list[tuple[int, int, Eye]] = []
        self.turns: list[tuple[int, int]] = []
        """(period, phase) in ticks at which the loop must pause."""

    @cached_property
    def sight(self) -> Sight:
        """What there is to be seen; made for the first who looks."""
        from airloom.eyes.sight import Sight

        return Sight(self._sim.fleet)

    def ask(self, eye: Eye) -> None:
        """A program wants what an eye sees, from now on; it takes a look at once if it has none."""
        import airloom.eyes.embree  # noqa: F401  who lacks the library should know before the flight

        if not eye.is_asked:
            eye.is_asked, self._changes_seen = True, -1
        if eye.frame is None and self._sim.has_started:
            self._measure(eye, self._sim.tick, 0)
            eye.deliver(self._sim.tick, self._sim.step_ns)

    def glance(self, eye: Eye) -> Frame | None:
        """What an eye saw last if somebody wants that anyway; else what it sees now, which nobody else will know of."""
        if eye.is_wanted or eye.fault.outage:
            return eye.frame
        column = self._sim.fleet.column(self._crafts[eye.vehicle])
        return eye.look(self.sight, *eye.pose(column), self._sim.tick)

    def prepare(self) -> None:
        """See whose readings are wanted now."""
        changes = self._sim.bus.changes
        if self._changes_seen == changes or not self._eyes:
            return
        self._changes_seen = changes
        step = self._sim.step_ns
        self._looking = [
            (ticks_per_period(eye.rate, step), round(eye.parameters.delay * 1e9 / step), eye)
            for eye in self._eyes.values()
            if eye.is_wanted
        ]
        turns = {turn for period, delay, _ in self._looking for turn in ((period, 0), (period, delay % period))}
        self.turns = sorted(turns)

    @property
    def is_idle(self) -> bool:
        """Whether nobody wants anything, and nobody has changed his mind."""
        return not self._eyes or (self._changes_seen == self._sim.bus.changes and not self._looking)

    def look(self) -> None:
        """Those whose time has come take a look; those whose look is due tell of it."""
        tick, step = self._sim.tick, self._sim.step_ns
        for period, delay, eye in self._looking:
            if tick % period == 0:
                self._measure(eye, tick, delay)
            eye.deliver(tick, step)

    def _measure(self, eye: Eye, tick: int, delay: int) -> None:
        column = self._sim.fleet.column(self._crafts[eye.vehicle])
        eye.measure(self.sight, column, tick, tick + delay)
        if not eye.was_buried and self.sight.is_buried(eye.pose(column)[0]):
            eye.was_buried = True
            text = f"{eye.name} is in the ground and sees nothing; raise its position, or the vehicle"
            self._sim.event(eye.vehicle, text, level="warning")
