"""What only ROS needs and the bus does not have: tf, robot descriptions, joint states, diagnostics, rosout."""

from __future__ import annotations

import time
from math import tau
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.clock import NS_PER_SECOND
from airloom.bus import messages
from airloom.bus.bus import Subscription, Topic
from airloom.ros2 import names
from airloom.ros2.dds import DEFAULT, LATCHED, Profile, Writer
from airloom.ros2.description import joint_name, urdf
from airloom.ros2.frames import Tree

if TYPE_CHECKING:
    from airloom.ros2.bridge import Bridge
    from airloom.vehicle import Vehicle

STRING = "std_msgs/msg/String"
JOINT_STATE = "sensor_msgs/msg/JointState"
DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
STATUS = "diagnostic_msgs/msg/DiagnosticStatus"
KEY_VALUE = "diagnostic_msgs/msg/KeyValue"
LOG = "rcl_interfaces/msg/Log"
LEVELS = {"info": 20, "warning": 30, "error": 40}
OK, WARN = b"\x00", b"\x01"
FRAMES = Profile(depth=100)
LOGGED = Profile(latched=True, depth=1000)
DIAGNOSTICS_PERIOD = 1.0  # s of wall time


class OwnTopics:
    """Told where the bridge has its turn, each only while it has readers."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge, self._sim = bridge, bridge.sim
        self._writers: dict[str, Writer] = {}
        self._tf = self._writer("/tf", messages.TF_MESSAGE, FRAMES)
        self._fixed = self._writer("/tf_static", messages.TF_MESSAGE, LATCHED)
        self._diagnostics = self._writer("/diagnostics", DIAGNOSTICS, DEFAULT)
        self._rosout = self._writer("/rosout", LOG, LOGGED)
        self._rotors: dict[str, Rotors] = {}
        self._tree: Tree | None = None
        self._told_at, self._told_time = time.monotonic(), 0.0
        self._subscription: Subscription | None = None
        if self._rosout is not None:
            self._subscription = self._sim.bus.subscribe("/events", self._log)

    def _writer(self, name: str, msgtype: str, profile: Profile) -> Writer | None:
        """None if this topic is not chosen."""
        if not self._bridge.outgoing.is_told(name):
            return None
        writer = self._writers[name] = self._bridge.participant.writer(names.dds_topic(name), msgtype, profile)
        self._bridge.graph.writers.append(writer.gid)
        return writer

    def update(self) -> None:
        """Take in the vehicles there are now."""
        self._tree = Tree(self._sim, self._bridge.wishes.frames)
        if self._fixed is not None:
            self._fixed.write(self._tree.fixed())
        for vehicle in self._sim.vehicles.values():
            self._describe(vehicle)
        for gone in self._rotors.keys() - self._sim.vehicles.keys():
            del self._rotors[gone]

    def _describe(self, vehicle: Vehicle) -> None:
        place = f"/{vehicle.name}/robot_description"
        if place not in self._writers and (writer := self._writer(place, STRING, LATCHED)) is not None:
            writer.write(messages.serialize(messages.build(STRING, {"data": urdf(vehicle)})))
        if vehicle.name not in self._rotors:
            joints = self._writer(f"/{vehicle.name}/joint_states", JOINT_STATE, DEFAULT)
            if joints is not None:
                self._rotors[vehicle.name] = Rotors(vehicle, joints)

    def tell(self) -> None:
        if self._tf is not None and self._tree is not None and self._tf.is_heard:
            self._bridge.sender.put(self._tf, self._tree.moving())
        for rotors in self._rotors.values():
            if rotors.writer.is_heard:
                rotors.tell(self._sim.time_ns)
        now = time.monotonic()
        if self._diagnostics is not None and now - self._told_at > DIAGNOSTICS_PERIOD:
            if self._diagnostics.is_heard:
                self._diagnostics.write(messages.serialize(self._health(now)))
            self._told_at, self._told_time = now, self._sim.time

    def _health(self, now: float) -> Any:
        """How fast time goes by, what was dropped; and of each vehicle its mode and what is faulty."""
        factor = (self._sim.time - self._told_time) / (now - self._told_at)
        dropped = sum(self._bridge.incoming.dropped.values())
        run = {"real_time_factor": f"{factor:.3g}", "dropped_messages": str(dropped)}
        statuses = [_status("airloom", WARN if dropped else OK, f"{factor:.2f} times real time", run)]
        for vehicle in self._sim.vehicles.values():
            faulty = ", ".join(vehicle.faulty)
            about = {"mode": vehicle.mode.label, "mass": f"{vehicle.mass:.6g}", "faulty": faulty}
            statuses.append(_status(vehicle.name, WARN if faulty else OK, faulty or vehicle.mode.label, about))
        return messages.build(DIAGNOSTICS, {**_stamp(self._sim.time_ns), "status": statuses})

    def _log(self, _: Topic, event: Any, time_ns: int) -> None:
        assert self._rosout is not None
        sec, nanosec = divmod(time_ns, NS_PER_SECOND)
        stamp = {"stamp.sec": sec, "stamp.nanosec": nanosec}
        text = {"level": LEVELS[event.level], "name": f"airloom.{event.source}", "msg": event.text}
        self._rosout.write(messages.serialize(messages.build(LOG, {**stamp, **text})))

    def close(self) -> None:
        if self._subscription is not None:
            self._subscription.cancel()
        self._writers.clear()


class Rotors:
    """The joints of one vehicle. Angles are speeds summed up: nobody simulates them."""

    def __init__(self, vehicle: Vehicle, writer: Writer) -> None:
        self._vehicle, self.writer = vehicle, writer
        about = vehicle.description.rotors
        count = len(about)
        self._signs = np.array([1.0 if rotor.turns == "ccw" else -1.0 for rotor in about.values()])
        self._angles, self._time_ns = np.zeros(count), 0
        joints = [joint_name(f"{vehicle.name}/{rotor}") for rotor in about]
        constants = {"name": joints, "position": np.zeros(count), "velocity": np.zeros(count)}
        self._template = messages.Template(JOINT_STATE, ["position", "velocity"], constants)

    def tell(self, time_ns: int) -> None:
        speeds = self._signs * self._vehicle.rotor_speeds
        passed, self._time_ns = max(time_ns - self._time_ns, 0), time_ns
        self._angles = (self._angles + speeds * passed / NS_PER_SECOND) % tau
        self.writer.write(self._template.encode(time_ns, np.concatenate([self._angles, speeds])))


def _stamp(time_ns: int) -> dict[str, Any]:
    sec, nanosec = divmod(time_ns, NS_PER_SECOND)
    return {"header.stamp.sec": sec, "header.stamp.nanosec": nanosec}


def _status(name: str, level: bytes, text: str, values: dict[str, str]) -> Any:
    pairs = [messages.build(KEY_VALUE, {"key": key, "value": value}) for key, value in values.items()]
    about = {"level": level[0], "name": name, "message": text, "hardware_id": "simulated", "values": pairs}
    return messages.build(STATUS, about)
