"""The bridge: everything of a run that nodes of ROS see, and its turns.

It has its turn at a rate of its own, after the systems. What it tells changes nothing; what it is told comes at a time
of the wall clock, and so is outside the promise of equal bits, unless it comes in lockstep.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airloom.basics.clock import nearest_ticks
from airloom.ros2.action import FollowPath
from airloom.ros2.dds import Participant, Ros2Error, address_of
from airloom.ros2.graph import Graph
from airloom.ros2.incoming import Incoming
from airloom.ros2.lockstep import Partner, check_topics
from airloom.ros2.outgoing import Outgoing
from airloom.ros2.own import OwnTopics
from airloom.ros2.parameters import Parameters
from airloom.ros2.requests import RunServices
from airloom.ros2.sender import Sender
from airloom.ros2.services import Services

if TYPE_CHECKING:
    from airloom.scenario.ros2 import Ros2
    from airloom.simulation import Simulation

NODE = "airloom"
HOUSEKEEPING = 0.5  # s of wall time between two looks at who and what is new
LARGEST_DOMAIN = 232


def domain_of(wishes: Ros2) -> int:
    if wishes.domain is not None:
        return wishes.domain
    given = os.environ.get("ROS_DOMAIN_ID", "") or "0"
    if not given.isdigit() or int(given) > LARGEST_DOMAIN:
        raise Ros2Error(f"ROS_DOMAIN_ID must be a number from 0 to {LARGEST_DOMAIN}, got '{given[:40]}'")
    return int(given)


class Bridge:
    """Made with the simulation, open from its first look on."""

    def __init__(self, sim: Simulation, wishes: Ros2) -> None:
        self.sim, self.wishes = sim, wishes
        self.domain = domain_of(wishes)
        self.incoming = Incoming(sim, wishes)
        self.period = nearest_ticks(wishes.rate, sim.step_ns)
        self.requests: Callable[[dict[str, Any]], dict[str, Any]] | None = None
        """Pauses, resets and edits the run, if there is one around the simulation: as the control link does."""
        self.is_open = False
        self._looked_at = 0.0

    def check(self) -> None:
        """Say what cannot be had of what is wished for, before anything begins."""
        if self.wishes.interface is not None:
            address_of(self.wishes.interface)
        if self.wishes.lockstep is not None:
            check_topics(self.sim, self.wishes.lockstep, self.incoming.commands)

    def open(self) -> None:
        if self.is_open:
            return
        self.participant = Participant(self.domain, self.wishes.interface)
        self.graph = Graph(self.participant, NODE)
        self.sender = Sender()
        self.outgoing = Outgoing(self.sim, self.participant, self.sender, self.graph, self.wishes)
        self.incoming.open(self.participant, self.graph)
        self.services = Services(self.sim, self.domain, self.wishes.interface, self.graph)
        self.own = OwnTopics(self)
        self._parameters = Parameters(self, NODE)
        self._run_services = RunServices(self, NODE)
        self._paths: dict[str, FollowPath] = {}
        self.paths_under_way: dict[str, FollowPath] = {}
        self._partner: Partner | None = None
        self.is_open = True
        self.settle()
        if self.wishes.lockstep is not None:
            self._partner = Partner(self, self.wishes.lockstep)
            self.graph.tell()

    def settle(self) -> None:
        """Take in vehicles and topics, which may be others than before."""
        if not self.is_open:
            return
        self.own.update()
        self._run_services.update()
        self._parameters.update()
        for vehicle in self.sim.vehicles.keys() - self._paths.keys():
            self._paths[vehicle] = FollowPath(self, vehicle)
        self.incoming.update()
        self._look_around()

    def _look_around(self) -> None:
        self.outgoing.update(not_these=self.incoming.topics)
        self.graph.tell()
        for found in self.participant.other_writers():
            self.incoming.suspect(*found)
        self._looked_at = time.monotonic()

    def take_turn(self) -> None:
        """If it is the time for it."""
        if self.sim.tick % self.period == 0:
            self.own.tell()
            for path in self.paths_under_way.values():
                path.tell()
            self.serve()

    def serve(self) -> None:
        """Heed what has come; also while the run stands still."""
        self.participant.poll()
        self.services.serve()
        if time.monotonic() - self._looked_at > HOUSEKEEPING:
            self._look_around()
        self.sender.hand_over()

    def report(self) -> dict[str, Any]:
        """For the run's summary."""
        if not self.is_open:
            return {}
        dropped = {**self.incoming.dropped, **({"services": self.services.dropped} if self.services.dropped else {})}
        return {"domain": self.domain, "dropped": dropped, "unreadable_datagrams": self.services.participant.unreadable}

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            if self._partner is not None:
                self._partner.close()
            self.services.close()
            self.own.close()
            self.outgoing.close()
            self.sender.close()
            self.participant.close()
