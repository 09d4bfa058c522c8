"""Gains as parameters of the node, `<vehicle>.<gain>`, by the six services that every node of ROS has; and those of one
vehicle by a service of its own.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.basics.clock import NS_PER_SECOND
from airloom.bus import messages
from airloom.commands import CommandError
from airloom.errors import Refusal
from airloom.ros2 import interfaces, names
from airloom.ros2.dds import Profile

if TYPE_CHECKING:
    from airloom.ros2.bridge import Bridge

EVENT = "rcl_interfaces/msg/ParameterEvent"
PARAMETER, VALUE = "rcl_interfaces/msg/Parameter", "rcl_interfaces/msg/ParameterValue"
DESCRIPTOR, LIST = "rcl_interfaces/msg/ParameterDescriptor", "rcl_interfaces/msg/ListParametersResult"
RESULT = "rcl_interfaces/msg/SetParametersResult"
NOT_SET, BOOL, INTEGER, DOUBLE, TEXT, DOUBLES = 0, 1, 2, 3, 4, 8
FIELDS = {
    BOOL: "bool_value", INTEGER: "integer_value", DOUBLE: "double_value", TEXT: "string_value",
    DOUBLES: "double_array_value",
}  # fmt: skip
SEPARATOR = "."
EVENTS = Profile(depth=1000)


def kind_of(value: Any) -> int:
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INTEGER
    if isinstance(value, float):
        return DOUBLE
    if isinstance(value, str):
        return TEXT
    is_row = isinstance(value, list | tuple) and all(isinstance(one, int | float) for one in value)
    return DOUBLES if is_row else NOT_SET


class Parameters:
    def __init__(self, bridge: Bridge, node: str) -> None:
        self._sim, self._services, self._node = bridge.sim, bridge.services, node
        self._events = bridge.participant.writer(names.dds_topic("/parameter_events"), EVENT, EVENTS)
        bridge.graph.writers.append(self._events.gid)
        handlers = {
            "DescribeParameters": self._describe, "GetParameters": self._get, "GetParameterTypes": self._types,
            "ListParameters": self._list, "SetParameters": self._set, "SetParametersAtomically": self._set_together,
        }  # fmt: skip
        for kind, handler in handlers.items():
            srvtype = interfaces.service(f"rcl_interfaces/srv/{kind}")
            bridge.services.offer(f"/{node}/{_in_snakes(kind)}", srvtype, handler)

    def update(self) -> None:
        """Take in the vehicles there are."""
        srvtype = interfaces.service("rcl_interfaces/srv/SetParametersAtomically")
        for vehicle in self._sim.vehicles:
            self._services.offer(f"/{vehicle}/set_gains", srvtype, partial(self._set_gains, vehicle))

    def all(self) -> dict[str, Any]:
        """Those that ROS has a type for. None, which is tuned from the airframe, shows what it was tuned to."""
        found: dict[str, Any] = {"use_sim_time": False}
        for vehicle in self._sim.vehicles.values():
            for gain, value in vehicle.gains_in_force.items():
                if kind_of(value) != NOT_SET:
                    found[f"{vehicle.name}{SEPARATOR}{gain}"] = value
        return found

    def _describe(self, request: Any, _: Any) -> dict[str, Any]:
        known = self.all()
        fixed = "use_sim_time"
        return {
            "descriptors": [
                messages.build(
                    DESCRIPTOR,
                    {
                        "name": name,
                        "type": kind_of(known.get(name)),
                        "read_only": name == fixed or name.endswith("rate"),
                    },
                )
                for name in request.names
            ]
        }

    def _get(self, request: Any, _: Any) -> dict[str, Any]:
        known = self.all()
        return {"values": [_as_message(known.get(name)) for name in request.names]}

    def _types(self, request: Any, _: Any) -> dict[str, Any]:
        known = self.all()
        return {"types": np.array([kind_of(known.get(name)) for name in request.names], np.uint8)}

    def _list(self, request: Any, _: Any) -> dict[str, Any]:
        deep = request.depth or 1 << 62
        found = [name for name in self.all() if _is_below(name, request.prefixes, deep)]
        groups = sorted({name.rpartition(SEPARATOR)[0] for name in found} - {""})
        return {"result": messages.build(LIST, {"names": found, "prefixes": groups})}

    def _set(self, request: Any, _: Any) -> dict[str, Any]:
        """One after the other, each on its own."""
        return {"results": [self._set_all([one]) for one in request.parameters]}

    def _set_together(self, request: Any, _: Any) -> dict[str, Any]:
        return {"result": self._set_all(request.parameters)}

    def _set_gains(self, vehicle: str, request: Any, caller: Any) -> dict[str, Any]:
        """Of one vehicle, whose name need not be said again."""
        for one in request.parameters:
            one.name = f"{vehicle}{SEPARATOR}{one.name}"
        return self._set_together(request, caller)

    def _set_all(self, given: list[Any]) -> Any:
        """All or none."""
        try:
            changes: dict[str, dict[str, Any]] = {}
            for one in given:
                vehicle, gain = self._place(one.name)
                changes.setdefault(vehicle, {})[gain] = _from_message(one)
            for vehicle, gains in changes.items():
                self._sim.vehicles[vehicle].check_tuning(**gains)
            for vehicle, gains in changes.items():
                self._sim.vehicles[vehicle].tune(**gains)
        except Refusal as error:
            return messages.build(RESULT, {"successful": False, "reason": str(error)})
        self._tell(given)
        return messages.build(RESULT, {"successful": True})

    def _place(self, name: str) -> tuple[str, str]:
        if name not in self.all():
            raise CommandError(f"no parameter is called '{name[:80]}'; they are called <vehicle>.<gain>")
        if name == "use_sim_time":
            raise CommandError("use_sim_time cannot change: this node is who makes the time")
        vehicle, _, gain = name.partition(SEPARATOR)
        return vehicle, gain

    def _tell(self, changed: list[Any]) -> None:
        sec, nanosec = divmod(self._sim.time_ns, NS_PER_SECOND)
        about = {"stamp.sec": sec, "stamp.nanosec": nanosec, "node": f"/{self._node}", "changed_parameters": changed}
        self._events.write(messages.serialize(messages.build(EVENT, about)))


def _in_snakes(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _is_below(name: str, prefixes: list[str], depth: int) -> bool:
    if not prefixes:
        return name.count(SEPARATOR) < depth
    return any(
        name == prefix or (name.startswith(prefix + SEPARATOR) and name[len(prefix) + 1 :].count(SEPARATOR) < depth)
        for prefix in prefixes
    )


def _as_message(value: Any) -> Any:
    kind = kind_of(value)
    return messages.build(VALUE, {"type": kind, **({FIELDS[kind]: value} if kind else {})})


def _from_message(parameter: Any) -> Any:
    value = parameter.value
    if value.type not in FIELDS:
        raise CommandError(f"{parameter.name[:80]} takes a number, a text or a row of numbers")
    found = getattr(value, FIELDS[value.type])
    return found.tolist() if isinstance(found, np.ndarray) else found
