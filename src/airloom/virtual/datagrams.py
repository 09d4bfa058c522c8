"""UDP of scripts that are not to be changed, carried by the radio of their vehicle.

What a script sends to an address of the radio's (`addresses.py`) goes through the radio, with the eight bytes that a
head of UDP has, and four for the group if it is multicast. What comes in is put into the script's own socket by a
datagram on loopback, so that `select`, `poll` and asyncio see it as they see any other; the socket takes off the
address that was put in front.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from airloom.radio.packet import EVERYBODY, LONGEST, Nodes, Packet
from airloom.virtual.addresses import ALL_HOSTS, BROADCAST, Addresses, Place, is_group
from airloom.virtual.refusals import refuse, tell

if TYPE_CHECKING:
    from airloom.virtual.radio_place import PlacedSocket

HEAD = struct.Struct("<4sHH")  # a mark, the ports it is from and to
MARK, GROUP_MARK = b"UDP\0", b"UDPM"
GROUP_BYTES = 4  # after the head
BY = struct.Struct("<4sH")  # put in front on loopback: address and port of the sender
FREE_PORTS = range(49152, 65536)
"""For who asks for none (RFC 6335)."""
APART = 97
"""How far from each other the nodes begin with these: some programs know their own datagrams by the port alone, as
pymavlink does with multicast.
"""

Send = Callable[[str, bytes, str, str], None]


class Datagram(NamedTuple):
    source: int
    """The sender's port."""
    port: int
    content: bytes
    group: str = ""
    """Of multicast."""

    def packed(self) -> bytes:
        mark, group = (GROUP_MARK, socket.inet_aton(self.group)) if self.group else (MARK, b"")
        return HEAD.pack(mark, self.source, self.port) + group + self.content


def datagram_in(content: bytes) -> Datagram | None:
    """The opposite of `packed`; None if a packet is something else."""
    size = HEAD.size + (GROUP_BYTES if content.startswith(GROUP_MARK) else 0)
    if len(content) < size or not content.startswith((MARK, GROUP_MARK)):
        return None
    _, source, port = HEAD.unpack_from(content)
    group = socket.inet_ntoa(content[HEAD.size : size]) if size > HEAD.size else ""
    return Datagram(source, port, content[size:], group)


class Membership(NamedTuple):
    group: str
    own: str
    """The own address at which it is heard."""


class Datagrams:
    """Sockets of this script that take part, and what goes from and to them."""

    def __init__(self, nodes: Nodes, send: Send) -> None:
        self.addresses, self._send = Addresses(nodes), send
        self._sockets: weakref.WeakSet[PlacedSocket] = weakref.WeakSet()
        self._ports_given = APART * self.addresses.number_of_first
        self._postman = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._postman.bind(("127.0.0.1", 0))
        self.postman_address = self._postman.getsockname()

    def join(self, one: PlacedSocket) -> None:
        self._sockets.add(one)

    def free_port(self) -> int:
        self._ports_given += 1
        return FREE_PORTS[(self._ports_given - 1) % len(FREE_PORTS)]

    def way_out(self, one: PlacedSocket, address: str) -> str:
        """The own address by which a socket sends to an address of the radio's."""
        place = self.addresses.places.get(address)
        own = one.group_exit if one.group_exit and is_group(address) else None
        own = own or self.addresses.way_out(one.radio_host, place and place.band)
        if own is None:
            refuse(
                errno.ENETUNREACH,
                f"nothing goes to {address}: this script has no radio for it; give the member a vehicle or a station "
                "that has one",
            )
        return own

    def send(self, one: PlacedSocket, content: bytes, address: str, port: int) -> int:
        own = self.way_out(one, address)
        it = Datagram(one.radio_port, port, content, address if is_group(address) else "")
        packed = it.packed()
        if len(packed) > LONGEST:
            raise OSError(errno.EMSGSIZE, os.strerror(errno.EMSGSIZE))  # as scripts know it of any other socket
        sender, band = self.addresses.places[own]
        to = Place(EVERYBODY, band) if it.group or address == BROADCAST else self.addresses.places.get(address)
        if to is None:
            tell(f"{address} is nobody's: what is sent there is lost; nodes are {self.addresses.in_words()}")
        elif to.node == sender:
            self._deliver(it, own, own, {own})
        elif not it.group or one.group_hops > 0:
            self._send(sender, packed, to.node, band)
        if it.group and one.groups_come_back:
            self._deliver(it, own, own, {it.group})
        return len(content)

    def take(self, node: str, packet: Packet) -> bool:
        """Whether a packet was a datagram; then it is in the sockets that it is for."""
        it = datagram_in(packet.content)
        if it is None:
            return False
        own = self.addresses.of_node(node, packet.band)
        to = {it.group or own}
        if packet.to == EVERYBODY and not it.group:
            to |= {BROADCAST, self.addresses.broadcast(packet.band)}
        self._deliver(it, self.addresses.of_node(packet.sender, packet.band), own, to)
        return True

    def _deliver(self, it: Datagram, by: str, own: str, to: set[str]) -> None:
        """Put it into the sockets that hear it: those bound to one of the addresses that it is to, or to none."""
        listening = sorted((one for one in self._sockets if one.fileno() >= 0), key=lambda one: one.order)
        if it.group:
            listening = _in_group(listening, Membership(it.group, own))
        front = BY.pack(socket.inet_aton(by), it.source)
        for loopback in dict.fromkeys(one.loopback for one in listening if one.hears(it, by, to)):
            self._postman.sendto(front + it.content, loopback)


def _in_group(sockets: list[PlacedSocket], group: Membership) -> list[PlacedSocket]:
    """As in Linux, what one socket has joined all hear that have not turned IP_MULTICAST_ALL off (ip(7))."""
    members = [one for one in sockets if group in one.groups]
    if not members and group.group != ALL_HOSTS:
        return []
    return [one for one in sockets if one in members or one.hears_all_groups]


def patch_names(net: Datagrams) -> dict[Any, Any]:
    """Names of nodes are names of hosts."""
    by_name, more_by_name, information = socket.gethostbyname, socket.gethostbyname_ex, socket.getaddrinfo

    def gethostbyname(host: str) -> str:
        return net.addresses.find(host) or by_name(host)

    def gethostbyname_ex(host: str) -> tuple[str, list, list]:
        address = net.addresses.find(host)
        return (host, [], [address]) if address else more_by_name(host)

    def getaddrinfo(host: Any, *more: Any, **options: Any) -> list:
        return information(net.addresses.find(host) or host, *more, **options)

    return {by_name: gethostbyname, more_by_name: gethostbyname_ex, information: getaddrinfo}
