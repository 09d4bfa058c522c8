"""The action `/<vehicle>/follow_path`: a path to fly, told how far it is, and cancelled if wanted."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.clock import NS_PER_SECOND
from airloom.bus import messages
from airloom.errors import AirloomError
from airloom.missions.pilot import Pilot
from airloom.missions.pursuit import TOP_SPEED, Polyline
from airloom.missions.tasks import Task
from airloom.ros2 import interfaces, names
from airloom.ros2.dds import DEFAULT, LATCHED

if TYPE_CHECKING:
    from airloom.ros2.bridge import Bridge
    from airloom.ros2.services import Caller

ACCEPTED, EXECUTING, CANCELING, SUCCEEDED, CANCELED, ABORTED = 1, 2, 3, 4, 5, 6
NO_ERROR, REJECTED, UNKNOWN_GOAL, OVER = 0, 1, 2, 3
STATUS_ARRAY, STATUS = "action_msgs/msg/GoalStatusArray", "action_msgs/msg/GoalStatus"
GOAL_INFO = "action_msgs/msg/GoalInfo"
FEEDBACK_PERIOD_NS = NS_PER_SECOND // 5
MOST_GOALS = 32
MOST_POSES = 10_000
SPEED = 2.0  # m/s, if none is given


@dataclass
class Goal:
    identity: np.ndarray
    accepted_ns: int
    path: Polyline
    task: Task
    status: int = EXECUTING
    message: str = ""
    waiting: list[Caller] = field(default_factory=list)
    """For the result."""

    @property
    def is_over(self) -> bool:
        return self.status in (SUCCEEDED, CANCELED, ABORTED)


class FollowPath:
    """One vehicle's. A new goal takes the place of the one under way, which is aborted."""

    def __init__(self, bridge: Bridge, vehicle: str) -> None:
        self._sim, self._vehicle = bridge.sim, vehicle
        self._under_way = bridge.paths_under_way
        self._goals: dict[bytes, Goal] = {}
        self._told_ns = 0
        send, get, feedback = interfaces.action(interfaces.FOLLOW_PATH)
        base = f"/{vehicle}/follow_path/_action"
        self._kind = interfaces.FOLLOW_PATH
        self._feedback_type = feedback
        self._feedback = bridge.participant.writer(names.dds_topic(f"{base}/feedback"), feedback, DEFAULT)
        self._status = bridge.participant.writer(names.dds_topic(f"{base}/status"), STATUS_ARRAY, LATCHED)
        bridge.graph.writers += [self._feedback.gid, self._status.gid]
        bridge.services.offer(f"{base}/send_goal", send, self._accept)
        bridge.services.offer(f"{base}/get_result", get, self._result)
        bridge.services.offer(f"{base}/cancel_goal", interfaces.service(interfaces.CANCEL_GOAL), self._cancel)

    def _accept(self, request: Any, _: Caller) -> dict[str, Any]:
        sec, nanosec = divmod(self._sim.time_ns, NS_PER_SECOND)
        try:
            path, speed = _checked(request.goal)
            pilot = self._sim.pilot(self._vehicle)
        except (AirloomError, KeyError, ValueError) as error:
            self._sim.event("ros2", f"/{self._vehicle}/follow_path: refused: {error}", level="error")
            return {"accepted": False}
        identity = np.array(request.goal_id.uuid, np.uint8)
        key = identity.tobytes()
        if key in self._goals:
            return {"accepted": False}
        for other in self._goals.values():
            if not other.is_over:
                other.message = "another path was asked for"
                other.task.cancel()
        task = self._sim.start(_fly(pilot, path, speed), f"{self._vehicle} path of ROS 2")
        goal = self._goals[key] = Goal(identity, self._sim.time_ns, path, task)
        self._under_way[self._vehicle] = self
        task.when_done(lambda done: self._end(goal, done))
        while len(self._goals) > MOST_GOALS:
            del self._goals[next(iter(self._goals))]
        self._tell_status()
        return {"accepted": True, "stamp.sec": sec, "stamp.nanosec": nanosec}

    def _end(self, goal: Goal, task: Task) -> None:
        if task.error is not None:
            goal.status, goal.message = ABORTED, str(task.error)
        elif task.cancelled:
            goal.status = CANCELED if goal.status == CANCELING else ABORTED
        else:
            goal.status = SUCCEEDED
        for caller in goal.waiting:
            caller.reply(self._result_of(goal))
        if all(one.is_over for one in self._goals.values()):
            self._under_way.pop(self._vehicle, None)
        self._tell_status()

    def _result(self, request: Any, caller: Caller) -> dict[str, Any] | None:
        """When there is one."""
        goal = self._goals.get(request.goal_id.uuid.tobytes())
        if goal is None:
            return {"status": 0}
        if goal.is_over:
            return self._result_of(goal)
        goal.waiting.append(caller)
        return None

    def _result_of(self, goal: Goal) -> dict[str, Any]:
        return {
            "status": goal.status, "result.success": goal.status == SUCCEEDED, "result.message": goal.message,
        }  # fmt: skip

    def _cancel(self, request: Any, _: Caller) -> dict[str, Any]:
        """One goal, or all if none is named."""
        key = request.goal_info.goal_id.uuid.tobytes()
        if any(key) and key not in self._goals:
            return {"return_code": UNKNOWN_GOAL}
        chosen = [self._goals[key]] if any(key) else list(self._goals.values())
        running = [goal for goal in chosen if not goal.is_over]
        if not running:
            return {"return_code": OVER if any(key) else NO_ERROR}
        for goal in running:
            goal.status, goal.message = CANCELING, "cancelled"
            goal.task.cancel()
        return {"return_code": NO_ERROR, "goals_canceling": [_info(goal) for goal in running]}

    def tell(self) -> None:
        """How far the vehicle is, five times a second of simulation time."""
        if self._sim.time_ns - self._told_ns < FEEDBACK_PERIOD_NS and self._sim.time_ns >= self._told_ns:
            return
        self._told_ns = self._sim.time_ns
        for goal in self._goals.values():
            if not goal.is_over and self._vehicle in self._sim.vehicles:
                self._feedback.write(messages.serialize(self._progress(goal)))

    def _progress(self, goal: Goal) -> Any:
        vehicle = self._sim.vehicles[self._vehicle]
        sec, nanosec = divmod(self._sim.time_ns, NS_PER_SECOND)
        place = dict(zip((f"feedback.pose.pose.position.{axis}" for axis in "xyz"), vehicle.position, strict=True))
        turn = dict(zip((f"feedback.pose.pose.orientation.{axis}" for axis in "wxyz"), vehicle.attitude, strict=True))
        header = {"sec": sec, "nanosec": nanosec}
        return messages.build(
            self._feedback_type,
            {
                "goal_id.uuid": goal.identity,
                **{f"feedback.pose.header.stamp.{name}": value for name, value in header.items()},
                "feedback.pose.header.frame_id": "world",
                **place, **turn,
                "feedback.distance_remaining": remaining(goal.path.points, vehicle.position),
            },
        )  # fmt: skip

    def _tell_status(self) -> None:
        listed = [
            messages.build(STATUS, {"goal_info": _info(goal), "status": goal.status}) for goal in self._goals.values()
        ]
        self._status.write(messages.serialize(messages.build(STATUS_ARRAY, {"status_list": listed})))


def _info(goal: Goal) -> Any:
    sec, nanosec = divmod(goal.accepted_ns, NS_PER_SECOND)
    return messages.build(GOAL_INFO, {"goal_id.uuid": goal.identity, "stamp.sec": sec, "stamp.nanosec": nanosec})


def _checked(goal: Any) -> tuple[Polyline, float]:
    if not 2 <= len(goal.path.poses) <= MOST_POSES:
        raise ValueError(f"a path has 2 to {MOST_POSES} poses, got {len(goal.path.poses)}")
    if not (isfinite(goal.speed) and 0 <= goal.speed <= TOP_SPEED):
        raise ValueError(f"a speed is from 0, which means {SPEED:g}, to {TOP_SPEED:g} m/s, got {goal.speed:g}")
    places = [stamped.pose.position for stamped in goal.path.poses]
    return Polyline([(place.x, place.y, place.z) for place in places]), goal.speed or SPEED


async def _fly(pilot: Pilot, path: Polyline, speed: float) -> None:
    """Who stands on the ground takes off first."""
    if not pilot.vehicle.armed:
        await pilot.takeoff(max(float(path.points[0][2] - pilot.vehicle.position[2]), 0.5))
    await pilot.follow(path.points, speed)


def remaining(points: np.ndarray, place: np.ndarray) -> float:
    """Metres along a path from the nearest of its places to its end."""
    starts, legs = points[:-1], np.diff(points, axis=0)
    squares = (legs**2).sum(axis=1)
    share = np.clip(((place - starts) * legs).sum(axis=1) / np.where(squares > 0, squares, 1.0), 0.0, 1.0)
    gaps = np.linalg.norm(starts + share[:, None] * legs - place, axis=1)
    nearest, lengths = int(np.argmin(gaps)), np.sqrt(squares)
    return float((1.0 - share[nearest]) * lengths[nearest] + lengths[nearest + 1 :].sum())
