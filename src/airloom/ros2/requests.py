"""The services of the run and of its vehicles: pause, step, reset, spawn, delete; modes and missions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from airloom.basics.rotations import yaw_from_quaternion
from airloom.errors import AirloomError, Refusal
from airloom.missions.files import MissionFile
from airloom.missions.mission import Mission
from airloom.ros2 import interfaces
from airloom.scenario.document import read_text
from airloom.scenario.tree import plain

if TYPE_CHECKING:
    from airloom.ros2.bridge import Bridge

LONGEST_MISSION = 100_000  # characters


class RunServices:
    def __init__(self, bridge: Bridge, node: str) -> None:
        self._bridge, self._sim = bridge, bridge.sim
        for name, (srvtype, handler) in {
            "pause": (interfaces.SET_BOOL, self._pause),
            "step": (interfaces.STEP, self._step),
            "reset": (interfaces.TRIGGER, self._reset),
            "spawn": (interfaces.SPAWN, self._spawn),
            "delete": (interfaces.DELETE, self._delete),
        }.items():
            bridge.services.offer(f"/{node}/{name}", interfaces.service(srvtype), handler)

    def update(self) -> None:
        """Take in the vehicles there are."""
        for vehicle in self._sim.vehicles:
            for name, (srvtype, handler) in {
                "switch_mode": (interfaces.SWITCH_MODE, self._switch),
                "start_mission": (interfaces.START_MISSION, self._start),
            }.items():
                self._bridge.services.offer(
                    f"/{vehicle}/{name}", interfaces.service(srvtype), partial(handler, vehicle)
                )

    # -- the run -----------------------------------------------------------------------------------------------------

    def _ask(self, method: str, **fields: Any) -> dict[str, Any]:
        """As over the control link, which says what may be done when."""
        if self._bridge.requests is None:
            return _answer(False, "this simulation is run by a program, which decides about its time")
        reply = self._bridge.requests({"method": method, **fields})
        return _answer(reply["ok"], reply.get("error", "")) | {"name": reply.get("name", "")}

    def _pause(self, request: Any, _: Any) -> dict[str, Any]:
        return _of_two(self._ask("pause" if request.data else "resume"))

    def _step(self, request: Any, _: Any) -> dict[str, Any]:
        return _of_two(self._ask("step", ticks=max(int(request.ticks), 1)))

    def _reset(self, _: Any, __: Any) -> dict[str, Any]:
        return _of_two(self._ask("reset"))

    def _spawn(self, request: Any, _: Any) -> dict[str, Any]:
        place, turn = request.pose.position, request.pose.orientation
        q = np.array([turn.w, turn.x, turn.y, turn.z])
        yaw = yaw_from_quaternion(q / np.linalg.norm(q)) if np.linalg.norm(q) > 0 else 0.0
        position = [place.x, place.y, place.z]
        if not np.isfinite([*position, yaw]).all():
            return _answer(False, "the pose must be finite numbers")
        reply = self._ask("spawn", kind=request.kind, position=position, yaw=float(yaw))
        return {**_of_two(reply), "name": reply.get("name", "")}

    def _delete(self, request: Any, _: Any) -> dict[str, Any]:
        return _of_two(self._ask("delete", name=request.name))

    # -- a vehicle ---------------------------------------------------------------------------------------------------

    def _switch(self, vehicle: str, request: Any, _: Any) -> dict[str, Any]:
        try:
            self._vehicle(vehicle).switch_mode(request.mode.mode)
        except Refusal as error:
            return _answer(False, str(error))
        return _answer(True, self._vehicle(vehicle).mode.label)

    def _start(self, vehicle: str, request: Any, _: Any) -> dict[str, Any]:
        """The mission is text in YAML, as in a mission file or the list of its items alone."""
        try:
            mission = _mission(request.mission)
            pilot = self._sim.pilot(self._vehicle(vehicle).name)
        except (AirloomError, ValueError) as error:
            return _answer(False, str(error)[:1000])
        self._sim.start(mission.fly(pilot), f"{vehicle} mission of ROS 2")
        return _answer(True, f"{len(mission.items)} items")

    def _vehicle(self, name: str) -> Any:
        if name not in self._sim.vehicles:
            raise Refusal(f"no vehicle is called '{name}' any more")
        return self._sim.vehicles[name]


def _mission(text: str) -> Mission:
    if len(text) > LONGEST_MISSION:
        raise Refusal(f"a mission has at most {LONGEST_MISSION} characters")
    given = plain(read_text(text, "the mission"))
    try:
        return Mission(MissionFile.model_validate(given if isinstance(given, dict) else {"mission": given}).mission)
    except ValidationError as error:
        first = error.errors()[0]
        raise Refusal(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _answer(success: bool, message: str) -> dict[str, Any]:
    return {"success": success, "message": message}


def _of_two(reply: dict[str, Any]) -> dict[str, Any]:
    return {key: reply[key] for key in ("success", "message")}
