"""A node in lockstep: every message on one topic is answered by one on another, and the simulation waits for it.

So the result does not depend on how fast the node or this machine is. Commands on other topics, services and
parameters still come at times of the wall clock; what the node does by itself, such as timers, is its own affair.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airloom.basics.hints import did_you_mean
from airloom.bus import messages
from airloom.bus.bus import Topic
from airloom.errors import RunError
from airloom.ros2 import names
from airloom.ros2.dds import EVERYTHING, Ros2Error

if TYPE_CHECKING:
    from airloom.ros2.bridge import Bridge
    from airloom.scenario.ros2 import Lockstep
    from airloom.simulation import Simulation

PATIENCE = 0.1  # s between two looks whether somebody wants to stop


class NodeSilent(RunError):
    """A node of ROS that the simulation waits for does not answer; the message is meant for the user."""


class Partner:
    """The node that answers. `tell` has a writer of its own that loses nothing, in place of the usual one."""

    def __init__(self, bridge: Bridge, wishes: Lockstep) -> None:
        self._bridge, self._wishes, self._sim = bridge, wishes, bridge.sim
        source = _source(bridge.sim, wishes.tell)
        participant = bridge.participant
        bridge.outgoing.leave(wishes.tell)
        self._writer = participant.writer(names.dds_topic(wishes.tell), source.msgtype, EVERYTHING)
        bridge.graph.writers.append(self._writer.gid)
        msgtype = bridge.incoming.type_of(wishes.hear)
        assert msgtype is not None
        self._reader = participant.reader(names.dds_topic(wishes.hear), msgtype, EVERYTHING)
        bridge.incoming.hold(wishes.hear, self._reader)
        self._is_there = False
        self._subscription = self._sim.bus.subscribe(source.name, self._ask)

    def _ask(self, _: Topic, message: Any, __: int) -> None:
        if not self._is_there:
            self._wait_for_node()
        self._writer.write(messages.serialize(message))
        if (answer := self._answer()) is not None:
            self._bridge.incoming.act(self._wishes.hear, answer)

    def _wait_for_node(self) -> None:
        """Until it both listens and speaks; only then the first message counts."""
        end = time.monotonic() + self._wishes.start_timeout
        while not (self._writer.listeners and self._reader.senders) and not self._sim.is_stopping:
            self._bridge.graph.tell()
            if time.monotonic() > end:
                what = f"listens to {self._wishes.tell}" if not self._writer.listeners else "tells " + self._wishes.hear
                raise NodeSilent(
                    f"no node {what} in domain {self._bridge.domain} after {self._wishes.start_timeout:g} s: "
                    "start it, or give ros2.lockstep.start_timeout more"
                )
            time.sleep(0.01)
        self._is_there = True

    def _answer(self) -> bytes | None:
        """None if the run is to end."""
        end = time.monotonic() + self._wishes.timeout
        while not self._sim.is_stopping:
            if (found := self._reader.take(1)) != []:
                return found[0]
            if time.monotonic() > end:
                raise NodeSilent(
                    f"at t = {self._sim.time:.3f} s nobody answered {self._wishes.tell} on {self._wishes.hear} "
                    f"within {self._wishes.timeout:g} s: is the node still there?"
                )
            self._bridge.participant.wait(self._reader, PATIENCE)
        return None

    def close(self) -> None:
        self._subscription.cancel()


def check_topics(sim: Simulation, wishes: Lockstep, commands: Sequence[str]) -> None:
    """That one is told and the other is heard."""
    _source(sim, wishes.tell)
    if wishes.hear not in commands:
        known = did_you_mean(wishes.hear, commands, "there are")
        raise Ros2Error(f"ros2.lockstep.hear: '{wishes.hear}' is no topic of commands{known}")


def _source(sim: Simulation, name: str) -> Topic:
    """The topic of the bus that ROS has by this name."""
    topics = {topic.name: topic for topic in sim.bus.topics()}
    if name in topics:
        return topics[name]
    vehicle = name.split("/")[1]
    if name == f"/{vehicle}/odometry" and vehicle in sim.vehicles:
        return _source(sim, f"/{vehicle}/state")
    raise Ros2Error(f"ros2.lockstep.tell: there is no topic '{name}'{did_you_mean(name, topics, 'there are')}")
