"""What the bus has becomes topics of ROS, with the bus's own bytes, as soon as somebody subscribes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from airloom.basics.clock import NS_PER_SECOND
from airloom.basics.patterns import matches
from airloom.bus import arrays, messages
from airloom.bus.bus import Gathered, Subscription, Topic
from airloom.ros2 import names
from airloom.ros2.dds import SENSOR, Profile
from airloom.ros2.graph import Graph
from airloom.ros2.sender import Sender

if TYPE_CHECKING:
    from airloom.ros2.dds import Participant
    from airloom.scenario.ros2 import Ros2
    from airloom.simulation import Simulation

OF_SENSORS = {
    messages.IMU, messages.NAV_SAT_FIX, messages.FLUID_PRESSURE, messages.MAGNETIC_FIELD, messages.RANGE,
    messages.BATTERY_STATE,
}  # fmt: skip
"""Types that ROS users expect by the sensor profile: best effort, a few messages deep."""
LARGE = {arrays.IMAGE, arrays.CAMERA_INFO, arrays.POINT_CLOUD}
"""Their messages go in many datagrams, of which best effort would lose one; RViz asks for reliable ones, too."""
PICTURES = Profile(depth=5)
STREAM = Profile(depth=500)
"""Who reads a hundred topics by one socket loses some datagrams when it is busy for a moment, and asks for them again
when they are long past. What everybody has got is not kept.
"""


def profile_for(name: str, msgtype: str, wishes: Ros2) -> Profile:
    for pattern, quality in wishes.qos.items():
        if matches(name, pattern):
            reliable, latched = quality.reliability == "reliable", quality.durability == "transient_local"
            return Profile(reliable, latched, quality.depth)
    return SENSOR if msgtype in OF_SENSORS else PICTURES if msgtype in LARGE else STREAM


class Outlet:
    """A writer that is fed from a topic of the bus while it has readers."""

    def __init__(self, outgoing: Outgoing, topic: Topic, name: str, profile: Profile, rate: float | None) -> None:
        self._bus, self._source = outgoing.sim.bus, topic.name
        self._period_ns, self._due_ns = round(NS_PER_SECOND / rate) if rate else 0, 0
        self._subscription: Subscription | None = None
        self.writer = outgoing.participant.writer(names.dds_topic(name), topic.msgtype, profile, self._count)
        self._pass_on = partial(outgoing.sender.pass_on, self.writer)
        self._take = self._thin_out if self._period_ns else self._pass_on
        self._gathered = None if self._period_ns else Gathered(outgoing.sender.gather, self.writer)
        if profile.latched:
            self._subscribe()

    def _count(self) -> None:
        """Somebody has come or gone."""
        if self.writer.listeners:
            self._subscribe()
        else:
            self.rest()

    def _subscribe(self) -> None:
        if self._subscription is None:
            self._subscription = self._bus.subscribe(self._source, self._take, raw=True, gathered=self._gathered)

    def rest(self) -> None:
        if self._subscription is not None:
            self._subscription.cancel()
            self._subscription = None

    def _thin_out(self, topic: Topic, cdr: list[bytes], times_ns: list[int]) -> None:
        for data, time_ns in zip(cdr, times_ns, strict=True):
            if time_ns >= self._due_ns or time_ns < self._due_ns - self._period_ns:  # or the run began anew
                self._due_ns = time_ns - time_ns % self._period_ns + self._period_ns
                self._pass_on(topic, [data], [time_ns])


class Outgoing:
    """All topics that are told, with their names: those of the bus, and `odometry` for a state without errors."""

    def __init__(self, sim: Simulation, participant: Participant, sender: Sender, graph: Graph, wishes: Ros2) -> None:
        self.sim, self.participant, self.sender = sim, participant, sender
        self._graph, self._wishes = graph, wishes
        self._outlets: dict[str, Outlet] = {}
        self._seen = 0
        self.offered: set[str] = set()
        """Names of all topics that there are, chosen or not."""

    def is_told(self, name: str) -> bool:
        """Whether a topic of this name is chosen."""
        self.offered.add(name)
        return any(matches(name, pattern) for pattern in self._wishes.topics)

    def update(self, not_these: set[str]) -> None:
        """Take in topics that the bus has got since the last call, but for those that others tell us."""
        topics = self.sim.bus.topics()
        for topic in topics[self._seen :]:
            if topic.name not in not_these:
                self._take_in(topic, topic.name)
        if len(topics) > self._seen:
            self._seen = len(topics)
            for vehicle in self.sim.vehicles:
                state = next((one for one in topics if one.name == f"/{vehicle}/state"), None)
                if state is not None:
                    self._take_in(state, f"/{vehicle}/odometry")

    def _take_in(self, topic: Topic, name: str) -> None:
        if name in self._outlets or not self.is_told(name):
            return
        rate = next((rate for pattern, rate in self._wishes.rates.items() if matches(name, pattern)), None)
        outlet = Outlet(self, topic, name, profile_for(name, topic.msgtype, self._wishes), rate)
        self._outlets[name] = outlet
        self._graph.writers.append(outlet.writer.gid)

    @property
    def is_all_heard(self) -> bool:
        """Whether each topic has a reader."""
        return all(outlet.writer.is_heard for outlet in self._outlets.values())

    def leave(self, name: str) -> None:
        """Somebody else tells this topic."""
        if (outlet := self._outlets.get(name)) is not None:
            outlet.rest()
            self._graph.writers.remove(outlet.writer.gid)
            self.participant.drop(outlet.writer)

    def close(self) -> None:
        for outlet in self._outlets.values():
            outlet.rest()
        self._outlets.clear()
