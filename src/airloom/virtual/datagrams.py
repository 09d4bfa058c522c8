"""UDP of scripts that are not to be changed, carried by the radio of their vehicle.

Every node has an address, 10.73.0.1 and so on in the order of the scenario, and its name stands for it. What a script
sends to one of them, to 10.73.255.255 or to 255.255.255.255 goes through the radio, with the eight bytes that a head of
UDP has. Other bands are networks of their own: 10.74.0.0 and so on, in which a node is called NODE.BAND. What comes in
is put into the script's own socket by a datagram on loopback, so that `select`, `poll` and asyncio see it as they see
any other; the socket takes off the address that was put in front. All other addresses are the machine's.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from airloom.radio.packet import EVERYBODY, LONGEST, Nodes, Packet

FIRST_NETWORK = 73  # 10.73.0.0 is the first band
BROADCASTS = ("255.255.255.255", "<broadcast>")  # to all of the first band
ANYWHERE = ("", "0.0.0.0")
HEAD = struct.Struct("<4sHH")  # a mark, the ports it is from and to
MARK = b"UDP\0"
BY = struct.Struct("<4sH")  # put in front on loopback: address and port of the sender
FIRST_PORT = 49152  # of those for who asks for none
ROOM = 4 * 1024 * 1024  # bytes in a socket that a script has not read yet

Send = Callable[[str, bytes, str, str], None]


class Place(NamedTuple):
    """What an address stands for."""

    node: str
    """EVERYBODY for all in reach."""
    band: str


def places_of(nodes: Nodes) -> dict[str, Place]:
    """Addresses of all radios and of all in reach, by the order of nodes and bands."""
    places = {}
    for network, (band, members) in enumerate(nodes.bands.items(), FIRST_NETWORK):
        for number, name in enumerate(nodes.all, 1):
            if name in members:
                places[f"10.{network}.{number // 256}.{number % 256}"] = Place(name, band)
        places[f"10.{network}.255.255"] = Place(EVERYBODY, band)
    return {**places, **dict.fromkeys(BROADCASTS, Place(EVERYBODY, ""))}


class Datagrams:
    """Sockets of this script that take part, and the addresses of all nodes."""

    def __init__(self, nodes: Nodes, send: Send) -> None:
        self.own, self._send = nodes.own, send
        self._places = places_of(nodes)
        self._addresses = {place: address for address, place in self._places.items() if place.node != EVERYBODY}
        self._hosts = {".".join(filter(None, place)): address for place, address in self._addresses.items()}
        self._sockets: weakref.WeakSet[RadioSocket] = weakref.WeakSet()
        self._next_port = FIRST_PORT
        self._postman = _plain_socket()
        self._postman.bind(("127.0.0.1", 0))
        self.postman_address = self._postman.getsockname()

    def address(self, host: Any) -> str | None:
        """The radio address that a host stands for, None if it is none."""
        if not isinstance(host, str):
            return None
        return self._hosts.get(host) or (host if host in self._places else None)

    def address_of(self, node: str) -> str:
        """In the first band that it has a radio for."""
        return next(address for place, address in self._addresses.items() if place.node == node)

    def is_own(self, host: Any) -> bool:
        address = self.address(host)
        return host in ANYWHERE or (address is not None and self._places[address].node in self.own)

    def join(self, one: RadioSocket) -> None:
        self._sockets.add(one)

    def free_port(self) -> int:
        self._next_port += 1
        return self._next_port - 1

    def send(self, one: RadioSocket, data: bytes, host: str, port: int) -> int:
        if HEAD.size + len(data) > LONGEST:
            raise OSError(errno.EMSGSIZE, os.strerror(errno.EMSGSIZE))  # as scripts know it of any other socket
        address = self.address(host)
        assert address is not None
        to, band = self._places[address]
        sender = self._places[one.radio_host].node if one.radio_host else self.own[0]
        self._send(sender, HEAD.pack(MARK, one.radio_port, port) + data, to, band)
        return len(data)

    def take(self, node: str, packet: Packet) -> bool:
        """Whether a packet was a datagram; then it is in the sockets that it is for."""
        if len(packet.content) < HEAD.size or not packet.content.startswith(MARK):
            return False
        _, source, port = HEAD.unpack_from(packet.content)
        front = BY.pack(socket.inet_aton(self._addresses[Place(packet.sender, packet.band)]), source)
        here = self._addresses[Place(node, packet.band)]
        for one in sorted(self._sockets, key=lambda it: it.order):
            if one.radio_port == port and one.radio_host in (None, here):
                self._postman.sendto(front + packet.content[HEAD.size :], one.loopback)
        return True


def patch_names(net: Datagrams) -> dict[Any, Any]:
    """Names of nodes are names of hosts."""
    by_name, information = socket.gethostbyname, socket.getaddrinfo

    def gethostbyname(host: str) -> str:
        return net.address(host) or by_name(host)

    def getaddrinfo(host: Any, *more: Any, **options: Any) -> list:
        return information(net.address(host) or host, *more, **options)

    return {by_name: gethostbyname, information: getaddrinfo}


def _plain_socket() -> socket.socket:
    return _REAL(socket.AF_INET, socket.SOCK_DGRAM)


_REAL = socket.socket
_order = iter(range(2**62))


class RadioSocket(socket.socket):
    """What a UDP socket of a script does otherwise while there is a radio."""

    net: Datagrams | None = None
    radio_port = 0
    radio_host: str | None = None
    """Its node's address, None for all nodes of the script."""
    loopback: tuple[str, int] = ("", 0)
    order = 0
    _peer: tuple[str, int] | None = None

    @property
    def _may_take_part(self) -> bool:
        return self.net is not None and self.family == socket.AF_INET and self.type == socket.SOCK_DGRAM

    def bind(self, address: Any) -> None:
        if not (self._may_take_part and isinstance(address, tuple) and self._net.is_own(address[0])):
            super().bind(address)
            return
        self._take_part(address[1], self._net.address(address[0]), address)

    @property
    def _net(self) -> Datagrams:
        assert self.net is not None
        return self.net

    def _take_part(self, port: int, host: str | None, asked: tuple | None) -> None:
        """Where the machine has the port for it too, it hears the machine's datagrams as well."""
        try:
            super().bind(asked if asked and host is None else ("127.0.0.1", 0))
        except OSError:
            super().bind(("127.0.0.1", 0))
        self.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
        self.loopback = ("127.0.0.1", super().getsockname()[1])
        self.radio_port, self.radio_host = port or self._net.free_port(), host
        self.order = next(_order)
        self._net.join(self)

    def _goes_by_radio(self, address: Any) -> bool:
        return self._may_take_part and isinstance(address, tuple) and self._net.address(address[0]) is not None

    def sendto(self, data: Any, *rest: Any) -> int:
        address = rest[-1]
        return self._by_radio(data, address) if self._goes_by_radio(address) else super().sendto(data, *rest)

    def send(self, data: Any, flags: int = 0) -> int:
        return self._by_radio(data, self._peer) if self._peer else super().send(data, flags)

    def connect(self, address: Any) -> None:
        if self._goes_by_radio(address):
            self._peer = self._net.address(address[0]) or "", address[1]
        else:
            super().connect(address)

    def _by_radio(self, data: Any, address: tuple) -> int:
        if not self.radio_port:
            self._take_part(0, None, None)
        return self._net.send(self, bytes(data), address[0], address[1])

    def recvfrom(self, size: int, flags: int = 0) -> tuple[bytes, Any]:
        if not self.radio_port:
            return super().recvfrom(size, flags)
        data, address = super().recvfrom(size + BY.size, flags)
        if address != self._net.postman_address:
            return data[:size], address
        host, port = BY.unpack_from(data)
        return data[BY.size :], (socket.inet_ntoa(host), port)

    def recv(self, size: int, flags: int = 0) -> bytes:
        return self.recvfrom(size, flags)[0] if self.radio_port else super().recv(size, flags)

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        return (
            self.recvfrom_into(buffer, nbytes, flags)[0]
            if self.radio_port
            else super().recv_into(buffer, nbytes, flags)
        )

    def recvfrom_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> tuple[int, Any]:
        if not self.radio_port:
            return super().recvfrom_into(buffer, nbytes, flags)
        view = memoryview(buffer).cast("B")
        data, address = self.recvfrom(nbytes or len(view), flags)
        view[: len(data)] = data
        return len(data), address

    def getsockname(self) -> Any:
        if not self.radio_port:
            return super().getsockname()
        return self.radio_host or "0.0.0.0", self.radio_port

    def getpeername(self) -> Any:
        return self._peer or super().getpeername()
