"""The radio of a run: who has one, what waits to be sent, and what has been heard.

Logic queues packets in its phase. The network phase follows, every period: the media carry what was queued until
the next one, with the vehicles where they are now, and what a node has heard by then it finds at its next turn. So
nothing is heard in the phase it was sent in, whoever has its turn first.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.clock import whole_ticks
from airloom.basics.hints import did_you_mean
from airloom.group import Group
from airloom.radio.band import NOWHERE, Band
from airloom.radio.node import Node
from airloom.radio.packet import PacketError, checked

if TYPE_CHECKING:
    from airloom.scenario.radio import Radio as Description
    from airloom.simulation import Simulation


class Radio(Mapping[str, Node]):
    """All nodes of a run by name."""

    def __init__(self, sim: Simulation, description: Description) -> None:
        self._sim, self._description = sim, description
        self.period = whole_ticks(description.period, sim.step_ns)
        """Ticks from one network phase to the next."""
        self.bands = {name: Band(name, kind, sim.bus) for name, kind in description.kinds.items()}
        """By name; the first is called ''."""
        self.folder: Path | None = None
        """For what media write down."""
        self._nodes: dict[str, Node] = {}
        self.forget()

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
        """All that was sent and heard: the run begins anew, with the vehicles there are now."""
        known, self._nodes = self._nodes, {}
        everybody = {name for band in self.bands for name in self._members(band)}
        for name in (*self._sim.vehicles, *self._description.stations):
            if name in everybody:
                self._nodes[name] = known.get(name) or Node(name, self._queue, lambda: self._sim.time_ns)
                self._nodes[name].forget()
        for name, band in self.bands.items():
            nodes = [self._nodes[one] for one in self._members(name)]
            band.forget(nodes, self._sim.seed)
            for node in nodes:
                node.bands.append(name)
        self._take_in_vehicles()

    def _members(self, band: str) -> list[str]:
        return list(self._description.members(band, self._sim.vehicles))

    def open(self) -> None:
        """At the first look: media that are processes begin to run."""
        for name, band in self.bands.items():
            folder = self.folder / name if self.folder and name else self.folder
            band.open(self._sim.fleet.land, folder)

    def settle(self) -> None:
        """Take in vehicles that are new; those that are gone are off, whatever they had on the air."""
        for name, band in self.bands.items():
            for one in self._members(name):
                if one not in self._nodes:
                    self._nodes[one] = Node(one, self._queue, lambda: self._sim.time_ns)
                if name not in self._nodes[one].bands:
                    self._nodes[one].bands.append(name)
                    band.add(self._nodes[one])
        self._take_in_vehicles()

    def _take_in_vehicles(self) -> None:
        places = {name: number for number, name in enumerate(self._nodes)}
        self._positions = np.full((len(places), 3), NOWHERE)
        for name, station in self._description.stations.items():
            self._positions[places[name]] = station.position
        flying = [name for name in self._nodes if name in self._sim.vehicles]
        self._flying = [places[name] for name in flying]
        self._group = Group(self._sim, [self._sim.vehicles[name] for name in flying])
        self._rows = {name: [places[node.name] for node in band.nodes] for name, band in self.bands.items()}

    def _queue(self, sender: Node, content: bytes, to: str, band: str) -> None:
        if band not in self.bands:
            raise PacketError(f"the scenario's radio has no band '{band}'{did_you_mean(band, self.bands)}")
        now = self._sim.time_ns
        late = (now - sender.clock(now)) % (self.period * self._sim.step_ns)
        self.bands[band].queue(sender, checked(content), to, now, late)
        sender.sent += 1

    def take_turn(self) -> None:
        """The network phase, if it is time for one."""
        if self._sim.tick % self.period:
            return
        self._positions[self._flying] = self._group.positions
        now = self._sim.time_ns
        for name, band in self.bands.items():
            band.carry(now, now + self.period * self._sim.step_ns, self._positions[self._rows[name]])
            band.forget_the_unheard(now)

    def hash_into(self, digest: Any) -> None:
        for band in self.bands.values():
            band.hash_into(digest)
        for node in self._nodes.values():
            node.hash_into(digest)

    def summary(self) -> dict[str, Any]:
        """For the run's summary: packets of each node, and how it went in each band."""
        nodes = {
            name: {"sent": node.sent, "heard": node.heard, "lost": node.lost} for name, node in self._nodes.items()
        }
        return {"nodes": nodes, "bands": {name or "first": band.summary() for name, band in self.bands.items()}}

    def finish(self) -> None:
        """The run is over: tell the rest of the links."""
        for name, band in self.bands.items():
            band.ledger.finish(self._sim.time_ns, self._positions[self._rows[name]])

    def close(self) -> None:
        for band in self.bands.values():
            band.close()
