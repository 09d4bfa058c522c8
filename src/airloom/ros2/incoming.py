"""What nodes tell us: commands for vehicles, the wind, goals from RViz. Each is checked before anything acts on it.

What cannot be taken is dropped, counted, and told on /events once for each topic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.rotations import yaw_from_quaternion
from airloom.bus import command_topics, messages
from airloom.commands import BY_MODE, CommandError, Mode, PositionYaw, VelocityYawRate
from airloom.errors import Refusal
from airloom.ros2 import names
from airloom.ros2.dds import DEFAULT, Reader

if TYPE_CHECKING:
    from airloom.ros2.dds import Participant
    from airloom.ros2.graph import Graph
    from airloom.scenario.ros2 import Ros2
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

TWIST = "geometry_msgs/msg/Twist"
POINT_STAMPED = "geometry_msgs/msg/PointStamped"
POSE_WITH_COVARIANCE = "geometry_msgs/msg/PoseWithCovarianceStamped"
Action = Callable[[Any], None]
SOURCE = "ros2"


class Incoming:
    """Readers for all commands, by the names that they have on the bus or in RViz."""

    def __init__(self, sim: Simulation, wishes: Ros2) -> None:
        self._sim, self._wishes = sim, wishes
        self._readers: dict[str, tuple[Reader, str, Action]] = {}
        self.dropped: Counter[str] = Counter()
        """Messages by topic that nobody could act upon."""
        self._told_of: set[str] = set()
        self.held: set[str] = set()
        """Topics whose messages somebody else takes, one by one."""

    def open(self, participant: Participant, graph: Graph) -> None:
        """Readers are made there."""
        self._participant, self._graph = participant, graph

    @property
    def topics(self) -> set[str]:
        return set(self._readers)

    @property
    def commands(self) -> list[str]:
        """The topics on which something can be told to the vehicles that there are now."""
        return list(self._wanted())

    def update(self) -> None:
        """Listen for the vehicles there are."""
        for name, (msgtype, act) in self._wanted().items():
            if name not in self._readers:
                reader = self._participant.reader(names.dds_topic(name), msgtype, DEFAULT, partial(self._take, name))
                self._readers[name] = reader, msgtype, act
                self._graph.readers.append(reader.gid)

    def _wanted(self) -> dict[str, tuple[str, Action]]:
        wanted: dict[str, tuple[str, Action]] = {"/wind/update": (messages.VECTOR3, self._blow)}
        for vehicle in self._sim.vehicles.values():
            base = f"/{vehicle.name}"
            wanted[f"{base}/cmd_vel"] = TWIST, partial(self._steer, vehicle.name)
            wanted[f"{base}/goal_pose"] = messages.POSE_STAMPED, partial(self._go, vehicle.name, False)
            wanted[f"{base}/initialpose"] = POSE_WITH_COVARIANCE, partial(self._place, vehicle.name)
            wanted[f"{base}/switch_mode"] = messages.CONTROL_MODE, partial(self._switch, vehicle.name)
            for mode in BY_MODE:
                act = partial(self._command, vehicle.name, mode)
                wanted[f"{base}/{mode.label}/command"] = command_topics.MESSAGE_TYPES[mode], act
            if vehicle.tank is not None:
                wanted[f"{base}/flow_rate_update"] = messages.FLOAT64, partial(self._pour, vehicle.name)
        first = self._wishes.goal_vehicle or next(iter(self._sim.vehicles), None)
        if first is not None:
            wanted["/goal_pose"] = messages.POSE_STAMPED, partial(self._go, first, True)
            wanted["/clicked_point"] = POINT_STAMPED, partial(self._go_to_point, first)
            wanted["/initialpose"] = POSE_WITH_COVARIANCE, partial(self._place, first)
        return wanted

    # -- from bytes to an act ----------------------------------------------------------------------------------------

    def _take(self, name: str) -> None:
        if name in self.held:
            return
        reader, _, _ = self._readers[name]
        for cdr in reader.take():
            self.act(name, cdr)

    def hold(self, name: str, reader: Reader) -> None:
        """Another reader, which loses nothing, stands in for the usual one."""
        before, msgtype, act = self._readers[name]
        self._graph.readers[self._graph.readers.index(before.gid)] = reader.gid
        self._participant.drop(before)
        self._readers[name] = reader, msgtype, act
        self.held.add(name)

    def type_of(self, name: str) -> str | None:
        found = self._readers.get(name)
        return found[1] if found else None

    def act(self, name: str, cdr: bytes) -> None:
        _, msgtype, act = self._readers[name]
        try:
            message = messages.deserialize(cdr, msgtype)
        except Exception:  # whatever others may send: the reader of CDR raises what it likes
            self.drop(name, f"{len(cdr)} bytes that are no {msgtype}")
            return
        try:
            act(message)
        except Refusal as error:
            self.drop(name, str(error))

    def drop(self, name: str, why: str) -> None:
        self.dropped[name] += 1
        if name not in self._told_of:
            self._told_of.add(name)
            text = f"{name}: refused: {why} (told once; the summary counts)"
            self._sim.event(SOURCE, text, level="error")

    def suspect(self, topic: str, type_name: str, note: bytes) -> None:
        """Look at a writer of others on DDS: one that we would never hear should not wonder why."""
        name = topic.removeprefix(names.TOPIC)
        if not topic.startswith(f"{names.TOPIC}/") or name in self._told_of:
            return
        if (msgtype := self.type_of(name)) is not None:
            given = note.decode(errors="replace").removeprefix("typehash=").rstrip(";\0")
            if type_name != names.dds_type(msgtype):
                self.drop(name, f"a node sends {type_name}; this topic takes {msgtype}")
            elif given.startswith("RIHS01_") and given != names.type_hash(msgtype):
                self.drop(name, f"a node sends another {msgtype} than ours: its type hash is {given}")
        elif self._is_for_nobody(name):
            self.drop(name, f"no vehicle is called '{name.split('/')[1]}'")

    def _is_for_nobody(self, name: str) -> bool:
        own = {one.split("/", 2)[2] for one in self._readers if one.count("/") > 1} - {"update"}
        vehicle, _, rest = name[1:].partition("/")
        return rest in own and vehicle not in self._sim.vehicles

    # -- what there is to be done ------------------------------------------------------------------------------------

    def _vehicle(self, name: str) -> Vehicle:
        if name not in self._sim.vehicles:
            raise CommandError(f"no vehicle is called '{name}'")
        return self._sim.vehicles[name]

    def _publish(self, name: str, message: Any) -> None:
        """On the bus, where commands are heeded and logged."""
        self._sim.bus.advertise(name, message.__msgtype__).publish(message, self._sim.time_ns)

    def _blow(self, message: Any) -> None:
        self._must_be_numbers(message.x, message.y, message.z)
        self._publish("/wind/update", message)

    def _switch(self, name: str, message: Any) -> None:
        self._vehicle(name).check_mode(Mode.named(message.mode))
        self._publish(f"/{name}/switch_mode", message)

    def _command(self, name: str, mode: Mode, message: Any) -> None:
        self._vehicle(name).check_command(command_topics.from_message(mode, message))
        self._publish(f"/{name}/{mode.label}/command", message)

    def _pour(self, name: str, message: Any) -> None:
        self._must_be_numbers(message.data)
        self._publish(f"/{name}/flow_rate_update", message)

    def _steer(self, name: str, message: Any) -> None:
        """Velocity in the vehicle's heading, as REP 103 has it for base_link."""
        linear, angular = message.linear, message.angular
        velocity = linear.x, linear.y, linear.z
        self._vehicle(name).command(VelocityYawRate(velocity, yaw_rate=angular.z, body_frame=True))

    def _go(self, name: str, is_flat: bool, message: Any) -> None:
        """Where the pose is. A flat one, from RViz' arrow, has no height: the vehicle keeps its own."""
        self._check_frame(name, message.header.frame_id)
        vehicle, place, turn = self._vehicle(name), message.pose.position, message.pose.orientation
        z = float(vehicle.setpoint.position[2]) if is_flat else place.z
        vehicle.command(PositionYaw((place.x, place.y, z), self._yaw(turn)))

    def _go_to_point(self, name: str, message: Any) -> None:
        """At its height above what was clicked at, with its yaw."""
        self._check_frame(name, message.header.frame_id)
        vehicle, place = self._vehicle(name), message.point
        vehicle.command(PositionYaw((place.x, place.y, float(vehicle.setpoint.position[2])), float(vehicle.euler[2])))

    def _place(self, name: str, message: Any) -> None:
        """On the spot, at the height that it has if the pose has none."""
        self._check_frame(name, message.header.frame_id)
        vehicle, pose = self._vehicle(name), message.pose.pose
        z = pose.position.z or float(vehicle.position[2])
        self._must_be_numbers(pose.position.x, pose.position.y, z)
        vehicle.place((pose.position.x, pose.position.y, z), self._yaw(pose.orientation))
        self._sim.event(SOURCE, f"{name} was put to ({pose.position.x:.6g}, {pose.position.y:.6g}, {z:.6g})")

    def _check_frame(self, name: str, frame: str) -> None:
        known = "", "world", "map", f"{name}/odom"
        if frame not in known:
            raise CommandError(f"poses are taken in world or map, not in '{frame[:80]}'")

    def _yaw(self, q: Any) -> float:
        numbers = np.array([q.w, q.x, q.y, q.z])
        length = float(np.linalg.norm(numbers))
        if not 1e-6 < length < 1e6:
            raise CommandError(f"an orientation is a quaternion of length 1, got one of {length:g}")
        return float(yaw_from_quaternion(numbers / length))

    @staticmethod
    def _must_be_numbers(*numbers: float) -> None:
        if not np.isfinite(numbers).all():
            raise CommandError(f"must be finite numbers, got {', '.join(f'{x:g}' for x in numbers)}")
