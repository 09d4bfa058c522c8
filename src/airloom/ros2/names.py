"""What ROS 2 calls a topic and a type on DDS, and the hash by which it knows a type."""

from __future__ import annotations

from functools import cache

from airloom.bus import messages

TOPIC, REQUEST, REPLY = "rt", "rq", "rr"
"""What stands before the names of topics, requests and replies."""


def dds_topic(name: str) -> str:
    return TOPIC + name


def dds_type(msgtype: str) -> str:
    """nav_msgs/msg/Odometry is nav_msgs::msg::dds_::Odometry_."""
    package, kind, name = msgtype.split("/")
    return f"{package}::{kind}::dds_::{name}_"


@cache
def type_hash(msgtype: str) -> str:
    """RIHS01_…, of the definition with all that it is made of (REP 2016)."""
    return messages.typestore().hash_rihs01(msgtype)


def type_note(msgtype: str) -> bytes:
    """What a reader or writer says of its type in its USER_DATA."""
    return f"typehash={type_hash(msgtype)};".encode()
