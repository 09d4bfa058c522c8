"""The radio of a run: who has one, what waits to be sent, and what has been heard.

Logic queues packets in its phase. The network phase follows, every period: the media carry what was queued until
the next one, with the vehicles where they are now, and what a node has heard by then it finds at its next turn. So
nothing is heard in the phase it was sent in, whoever has its turn first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.clock import whole_ticks
from airloom.basics.hints import did_you_mean
from airloom.group import Group
from airloom.radio.band import Band
from airloom.radio.node import Node
from airloom.radio.packet import PacketError, checked

if TYPE_CHECKING:
    from airloom.engines.fleet import Fleet
    from airloom.scenario.radio import Radio as Description
    from airloom.simulation import Simulation


class Radio(Mapping[str, Node]):
    """All nodes of a run by name."""

    def __init__(self, sim: Simulation, description: Description) -> None:
        self._sim = sim
        self.period = whole_ticks(description.period, sim.step_ns)
        """Ticks from one network phase to the next."""
        members = {name: list(description.members(name, sim.vehicles)) for name in description.kinds}
        everybody = dict.fromkeys(name for names in members.values() for name in names)
        order = [*(name for name in sim.vehicles if name in everybody), *description.stations]
        self._nodes = {name: Node(name, self._queue, lambda: sim.time_ns) for name in order}
        self._numbers = {name: number for number, name in enumerate(order)}
        self._positions = np.zeros((len(order), 3))
        for name, station in description.stations.items():
            self._positions[self._numbers[name]] = station.position
        self._fleet: Fleet | None = None
        self.bands = {
            name: Band(name, kind, [self._nodes[one] for one in members[name]], sim.seed, sim.fleet.land, sim.bus)
            for name, kind in description.kinds.items()
        }
        """By name; the first is called ''."""
        self._rows = {name: [self._numbers[one] for one in members[name]] for name in self.bands}
        for name, band in self.bands.items():
            for node in band.nodes:
                node.bands.append(name)

    def __getitem__(self, name: str) -> Node:
        try:
            return self._nodes[name]
        except KeyError:
            raise KeyError(f"'{name}' has no radio{did_you_mean(name, self._nodes)}") from None

    def __iter__(self):
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def forget(self) -> None:
        """All that was sent and heard: the run begins anew."""
        for node in self._nodes.values():
            node.forget()
        for band in self.bands.values():
            band.forget(self._sim.seed)

    def _queue(self, sender: Node, content: bytes, to: str, band: str) -> None:
        if band not in self.bands:
            raise PacketError(f"the scenario's radio has no band '{band}'{did_you_mean(band, self.bands)}")
        self.bands[band].queue(sender, checked(content), to, self._sim.time_ns)
        sender.sent += 1

    def take_turn(self) -> None:
        """The network phase, if it is time for one."""
        if self._sim.tick % self.period:
            return
        self._look_where_they_are()
        now = self._sim.time_ns
        for name, band in self.bands.items():
            band.carry(now, now + self.period * self._sim.step_ns, self._positions[self._rows[name]])
            band.forget_the_unheard(now)

    def _look_where_they_are(self) -> None:
        """One that has left the simulation stays where it was."""
        if self._fleet is not self._sim.fleet:
            self._fleet = self._sim.fleet
            flying = [name for name in self._nodes if name in self._sim.vehicles]
            self._flying = [self._numbers[name] for name in flying]
            self._group = Group(self._sim, [self._sim.vehicles[name] for name in flying])
        self._positions[self._flying] = self._group.positions

    def summary(self) -> dict[str, Any]:
        """For the run's summary: packets of each node."""
        return {name: {"sent": node.sent, "heard": node.heard, "lost": node.lost} for name, node in self._nodes.items()}

    def finish(self) -> None:
        """The run is over: tell the rest of the links."""
        for name, band in self.bands.items():
            band.ledger.finish(self._sim.time_ns, self._positions[self._rows[name]])

    def close(self) -> None:
        for band in self.bands.values():
            band.medium.close()
