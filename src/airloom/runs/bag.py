"""What RViz needs to draw a log: frames and descriptions of the vehicles, as the bridge to ROS tells them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from airloom.bus import messages
from airloom.ros2.description import urdf
from airloom.ros2.frames import Moving, Tree
from airloom.runs.mcap.format import matches_any

if TYPE_CHECKING:
    from airloom.bus.bus import Topic
    from airloom.runs.mcap import LogWriter
    from airloom.simulation import Simulation

MOVING, FIXED, DESCRIPTION = "/tf", "/tf_static", "/{}/robot_description"
MOST_DRAWN = 1000
"""Vehicles in a fleet that anybody would draw; of a larger one the log has none of these topics."""
POSE = 7 * 8  # bytes of position x y z and orientation x y z w, side by side in nav_msgs/Odometry
W_FIRST = [0, 1, 2, 6, 3, 4, 5]


class Bag:
    """Adds to a log those of the topics that are wanted. Poses are those of the states, at the log's rate."""

    def __init__(self, sim: Simulation, log: LogWriter, patterns: tuple[str, ...]) -> None:
        self._sim, self._log, self._patterns = sim, log, patterns
        self._kind = sim.scenario.ros2.frames if sim.scenario.ros2 else "ros"
        self._poses: dict[int, dict[str, bytes]] = {}
        """By time and vehicle: times are told vehicle by vehicle."""
        self._places: dict[str, int] = {}
        """Where the pose lies in a vehicle's state."""
        self._drawn: dict[str, None] = {}
        self._moving: tuple[list[str], Moving] | None = None
        self.topics: list[str] = []
        is_drawn = len(sim.vehicles) <= MOST_DRAWN and self._add(MOVING, messages.TF_MESSAGE, latched=False)
        self._subscription = sim.bus.subscribe("/*/state", self._note, raw=True) if is_drawn else None
        self._describe()

    def _add(self, name: str, msgtype: str, latched: bool = True) -> bool:
        """Unless it is not wanted, or a system of the user's publishes it."""
        if not matches_any(name, self._patterns) or any(name == topic.name for topic in self._sim.bus.topics()):
            return False
        if name not in self.topics:
            self._log.add(name, msgtype, latched=latched)
            self.topics.append(name)
        return True

    def _describe(self) -> None:
        """Fixed frames and robots of the vehicles that there are now."""
        vehicles, now = self._sim.vehicles, self._sim.time_ns
        before, self._drawn = self._drawn, dict.fromkeys(vehicles)
        if len(vehicles) > MOST_DRAWN:
            return
        if self._add(FIXED, messages.TF_MESSAGE):
            self._log.write(FIXED, Tree(self._sim, self._kind).fixed(), now)
        for name in vehicles.keys() - before.keys() if before else vehicles:
            if self._add(place := DESCRIPTION.format(name), messages.STRING):
                text = messages.build(messages.STRING, {"data": urdf(vehicles[name])})
                self._log.write(place, messages.serialize(text), now)

    def _note(self, topic: Topic, cdr: list[bytes], times_ns: list[int]) -> None:
        vehicle = topic.name[1 : -len("/state")]
        if vehicle not in self._sim.vehicles:
            return
        if vehicle not in self._places:
            self._places[vehicle] = messages.layout(cdr[0], topic.msgtype).leaves["pose.pose.position.x"].offset
        at = self._places[vehicle]
        for data, time_ns in zip(cdr, times_ns, strict=True):
            self._poses.setdefault(time_ns, {})[vehicle] = data[at : at + POSE]

    def tick(self, time_ns: float) -> None:
        """All states before a time have been told."""
        if self._sim.vehicles.keys() != self._drawn.keys():
            self._describe()
        for moment in sorted(it for it in self._poses if it < time_ns):
            poses = self._poses.pop(moment)
            numbers = np.frombuffer(b"".join(poses.values()), "<f8").reshape(-1, 7)[:, W_FIRST]
            self._log.write(MOVING, self._message_of([*poses]).encode(moment, numbers), moment)

    def _message_of(self, names: list[str]) -> Moving:
        if self._moving is None or self._moving[0] != names:
            self._moving = names, Moving(names, self._kind)
        return self._moving[1]

    def close(self) -> None:
        self.tick(inf)
        if self._subscription is not None:
            self._subscription.cancel()
