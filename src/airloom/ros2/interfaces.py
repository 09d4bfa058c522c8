"""Services and actions: their definitions, as in .srv and .action files, and the messages that ROS makes of them."""

from __future__ import annotations

from functools import cache
from typing import Any

from airloom.bus import messages

SET_BOOL, TRIGGER = "std_srvs/srv/SetBool", "std_srvs/srv/Trigger"
STEP, SPAWN, DELETE = "airloom_interfaces/srv/Step", "airloom_interfaces/srv/Spawn", "airloom_interfaces/srv/Delete"
SWITCH_MODE, START_MISSION = "airloom_interfaces/srv/SwitchMode", "airloom_interfaces/srv/StartMission"
FOLLOW_PATH = "airloom_interfaces/action/FollowPath"
CANCEL_GOAL = "action_msgs/srv/CancelGoal"

OWN_SERVICES = {
    STEP: """
        uint32 ticks
        ---
        bool success
        string message
    """,
    SPAWN: """
        string kind
        geometry_msgs/Pose pose
        ---
        bool success
        string message
        string name
    """,
    DELETE: """
        string name
        ---
        bool success
        string message
    """,
    SWITCH_MODE: """
        airloom_interfaces/ControlMode mode
        ---
        bool success
        string message
    """,
    START_MISSION: """
        string mission
        ---
        bool success
        string message
    """,
}
OWN_ACTIONS = {
    FOLLOW_PATH: """
        nav_msgs/Path path
        float64 speed
        ---
        bool success
        string message
        ---
        geometry_msgs/PoseStamped pose
        float64 distance_remaining
    """,
}
_OTHERS = {
    SET_BOOL: "bool data\n---\nbool success\nstring message",
    TRIGGER: "---\nbool success\nstring message",
    "rcl_interfaces/srv/DescribeParameters": "string[] names\n---\nrcl_interfaces/ParameterDescriptor[] descriptors",
    "rcl_interfaces/srv/GetParameters": "string[] names\n---\nrcl_interfaces/ParameterValue[] values",
    "rcl_interfaces/srv/GetParameterTypes": "string[] names\n---\nuint8[] types",
    "rcl_interfaces/srv/ListParameters": "string[] prefixes\nuint64 depth\n---\n"
    "rcl_interfaces/ListParametersResult result",
    "rcl_interfaces/srv/SetParameters": "rcl_interfaces/Parameter[] parameters\n---\n"
    "rcl_interfaces/SetParametersResult[] results",
    "rcl_interfaces/srv/SetParametersAtomically": "rcl_interfaces/Parameter[] parameters\n---\n"
    "rcl_interfaces/SetParametersResult result",
    CANCEL_GOAL: "action_msgs/GoalInfo goal_info\n---\nint8 return_code\naction_msgs/GoalInfo[] goals_canceling",
}
_INFO = "service_msgs/msg/ServiceEventInfo"
_NOTHING = "uint8 structure_needs_at_least_one_member"


@cache
def service(srvtype: str) -> str:
    """The type's name, once its messages and the type itself, which only its hash needs, are known."""
    parts = {**OWN_SERVICES, **_OTHERS}[srvtype].split("---")
    for part, text in zip(("Request", "Response"), parts, strict=True):
        _register(f"{srvtype}_{part}", text)
    _join(srvtype)
    return srvtype


def _join(srvtype: str) -> None:
    """Of a request and a response, which are known, a service."""
    from rosbags.interfaces import Nodetype

    _register_event_info()
    request, response = (((Nodetype.NAME, f"{srvtype}_{part}"), 1) for part in ("Request", "Response"))
    fields: list[Any] = [
        ("info", (Nodetype.NAME, _INFO)),
        ("request", (Nodetype.SEQUENCE, request)),
        ("response", (Nodetype.SEQUENCE, response)),
    ]
    parts_of_it: list[Any] = [
        (f"{p.lower()}_message", (Nodetype.NAME, f"{srvtype}_{p}")) for p in ("Request", "Response", "Event")
    ]
    messages.typestore().register({f"{srvtype}_Event": ([], fields)})
    messages.typestore().register({srvtype: ([], parts_of_it)})


@cache
def _register_event_info() -> None:
    """rosbags has its bytes as char, which ROS's hash takes for what they are in ROS 2: uint8."""
    from rosbags.interfaces import Nodetype

    store = messages.typestore()
    constants, fields = store.fielddefs[_INFO]
    whole: Any = ("client_gid", (Nodetype.ARRAY, ((Nodetype.BASE, ("uint8", 0)), 16)))
    store.fielddefs[_INFO] = constants, [whole if field[0] == "client_gid" else field for field in fields]


def _register(name: str, text: str) -> None:
    """A message with the name of a part, which is no name that a .msg file could have."""
    from rosbags.typesys import get_types_from_msg

    parsed = get_types_from_msg(text if text.strip() else _NOTHING, "unnamed/msg/Part")
    messages.typestore().register({name: ([], parsed["unnamed/msg/Part"][1])})


@cache
def action(kind: str) -> tuple[str, str, str]:
    """The services that send a goal and get its result, and the message of the feedback."""
    from rosbags.interfaces import Nodetype

    for part, text in zip(("Goal", "Result", "Feedback"), OWN_ACTIONS[kind].split("---"), strict=True):
        _register(f"{kind}_{part}", text)
    stamp: Any = ("stamp", (Nodetype.NAME, "builtin_interfaces/msg/Time"))
    identity: Any = ("goal_id", (Nodetype.NAME, "unique_identifier_msgs/msg/UUID"))
    accepted: Any = ("accepted", (Nodetype.BASE, ("bool", 0)))
    status: Any = ("status", (Nodetype.BASE, ("int8", 0)))

    def part_of(name: str) -> Any:
        return name.lower(), (Nodetype.NAME, f"{kind}_{name}")

    fields: dict[str, list[Any]] = {
        "SendGoal_Request": [identity, part_of("Goal")],
        "SendGoal_Response": [accepted, stamp],
        "GetResult_Request": [identity],
        "GetResult_Response": [status, part_of("Result")],
        "FeedbackMessage": [identity, part_of("Feedback")],
    }
    for name, made_of in fields.items():
        messages.typestore().register({f"{kind}_{name}": ([], made_of)})
    for name in ("SendGoal", "GetResult"):
        _join(f"{kind}_{name}")
    return f"{kind}_SendGoal", f"{kind}_GetResult", f"{kind}_FeedbackMessage"
