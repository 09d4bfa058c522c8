"""What scripts ask of a socket about multicast (Linux, ip(7) and ipv6(7))."""

from __future__ import annotations

import socket
import struct
from typing import Any, NamedTuple

from airloom.virtual.addresses import ANYWHERE

JOIN, LEAVE, EXIT = socket.IP_ADD_MEMBERSHIP, socket.IP_DROP_MEMBERSHIP, socket.IP_MULTICAST_IF
ALL = 49  # IP_MULTICAST_ALL, which Python has no name for
OF_GROUPS = (JOIN, LEAVE, EXIT, ALL)
BY_SOURCE = range(37, 49)
"""IP_UNBLOCK_SOURCE to MCAST_MSFILTER of <linux/in.h>: groups heard from some senders only; also for IPv6."""
IPV6_GROUPS = (socket.IPV6_JOIN_GROUP, *BY_SOURCE)
_ADDRESS, _REQUEST = 4, 8  # bytes of in_addr, and of ip_mreq, of which ip_mreqn is a longer one


class Asked(NamedTuple):
    group: str
    """ANYWHERE where none is named, as for IP_MULTICAST_IF."""
    interface: str
    number: int
    """Of an interface of the machine; 0 for none."""


def asked_in(value: Any) -> Asked | None:
    """From an in_addr, ip_mreq or ip_mreqn; None if it is too short."""
    data = struct.pack("@i", value) if isinstance(value, int) else bytes(value)
    if len(data) < _ADDRESS:
        return None
    if len(data) < _REQUEST:
        return Asked(ANYWHERE, socket.inet_ntoa(data[:4]), 0)
    number = int.from_bytes(data[8:12], "little") if len(data) >= 12 else 0
    return Asked(socket.inet_ntoa(data[:4]), socket.inet_ntoa(data[4:8]), number)


def flag_in(value: Any) -> bool:
    return bool(value) if isinstance(value, int) else any(bytes(value))
