"""A packet as logic sees it, and as it travels between the loom and its members.

To and from a member packets are letters with a name that no member can have: `radio:NODE>TO` asks the radio of a node
to send the content, `radio:NODE<SENDER>TO` brings what it has heard, after a head with the times and the strength. In
another band than the first NODE is `NODE/BAND`. So programs in other languages need no more than letters. The first
letter of all, from `radio:`, names the nodes.
"""

from __future__ import annotations

import json
import struct
from typing import NamedTuple

from airloom.errors import Refusal

PREFIX = "radio:"
HEAD = struct.Struct("<QQd")  # time sent and heard in ns, strength in dBm
EVERYBODY = "*"
LONGEST = 1400
"""Bytes of a packet, so that it fits into a frame of any medium with the heads that it adds."""


class Nodes(NamedTuple):
    """Who has a radio, and whose radios are a member's."""

    all: list[str]
    own: list[str]
    bands: dict[str, list[str]]
    """Who has a radio for each band; the first is called ''."""


class Packet(NamedTuple):
    """Something heard."""

    sender: str
    to: str
    """A node, a pattern, or `*`."""
    content: bytes
    sent_ns: int
    heard_ns: int
    strength: float
    """dBm"""
    band: str = ""
    """By which it came; the first has no name."""


class PacketError(Refusal):
    """What a radio cannot send; the message says why."""


def checked(content: bytes) -> bytes:
    """The bytes of a packet, or a PacketError."""
    if not isinstance(content, bytes | bytearray | memoryview):
        raise PacketError(f"a packet is bytes, not {type(content).__name__}: text.encode() or struct.pack make them")
    if len(content) > LONGEST:
        raise PacketError(f"{len(content)} bytes are more than a packet can have, which is {LONGEST}: send several")
    return bytes(content)


def address_of_request(sender: str, to: str, band: str = "") -> str:
    """The name on the letter by which a member asks a radio of `sender` to send."""
    return f"{PREFIX}{_radio_name(sender, band)}>{to}"


def request_from(address: str) -> tuple[str, str, str]:
    """The opposite of `address_of_request`; ValueError if it is no such name."""
    sender, mark, to = address.removeprefix(PREFIX).partition(">")
    if not (address.startswith(PREFIX) and mark):
        raise ValueError(f"'{address}' does not ask a radio to send: write {PREFIX}NODE>TO or {PREFIX}NODE/BAND>TO")
    name, _, band = sender.partition("/")
    return name, to, band


def _radio_name(node: str, band: str) -> str:
    return f"{node}/{band}" if band else node


def letter_of_nodes(nodes: Nodes) -> tuple[str, bytes]:
    """Name and content of the first letter to a member."""
    return PREFIX, json.dumps(nodes._asdict()).encode()


def nodes_from(content: bytes) -> Nodes:
    return Nodes(**json.loads(content))


def letter_for(receiver: str, packet: Packet) -> tuple[str, bytes]:
    """Name and content of the letter that brings a packet to a member."""
    head = HEAD.pack(packet.sent_ns, packet.heard_ns, packet.strength)
    return f"{PREFIX}{_radio_name(receiver, packet.band)}<{packet.sender}>{packet.to}", head + packet.content


def packet_from(address: str, content: bytes) -> tuple[str, Packet]:
    """Who heard it, and what: the opposite of `letter_for`."""
    receiver, _, rest = address.removeprefix(PREFIX).partition("<")
    sender, _, to = rest.partition(">")
    node, _, band = receiver.partition("/")
    sent, heard, strength = HEAD.unpack_from(content)
    return node, Packet(sender, to, content[HEAD.size :], sent, heard, strength, band)
