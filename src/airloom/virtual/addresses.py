"""Addresses of the radio's networks, as a script sees them.

Every node has an address, 10.73.0.1 and so on in the order of the scenario, and its name stands for it. 10.73.255.255,
255.255.255.255 and the groups of multicast are for all in reach. Other bands are networks of their own: 10.74.0.0 and
so on, in which a node is called NODE.BAND. The rest of these networks belongs to nobody. All other addresses are the
machine's.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv4Network
from typing import Any, NamedTuple

from airloom.radio.packet import EVERYBODY, Nodes

FIRST_NETWORK = 73  # 10.73.0.0 is the first band
ANYWHERE = "0.0.0.0"
BROADCAST = "255.255.255.255"
"""To all of the network by which it leaves."""
ALL_HOSTS = "224.0.0.1"
"""The group that every host is in (RFC 1112)."""
MOST_NAMED = 6
_WORDS = {"": ANYWHERE, "<broadcast>": BROADCAST}  # of Python's sockets


class Place(NamedTuple):
    """What an address stands for."""

    node: str
    """EVERYBODY for all in reach."""
    band: str


class Addresses:
    """Of all radios of a run, and those of a script's own nodes."""

    def __init__(self, nodes: Nodes) -> None:
        self.places: dict[str, Place] = {}
        """By address."""
        self._networks = {band: IPv4Network(f"10.{k}.0.0/16") for k, band in enumerate(nodes.bands, FIRST_NETWORK)}
        self._of_nodes: dict[Place, str] = {}
        for band, network in self._networks.items():
            members = set(nodes.bands[band])
            places = {Place(name, band): str(network[k]) for k, name in enumerate(nodes.all, 1) if name in members}
            self._of_nodes |= places
            self.places |= {address: place for place, address in places.items()}
            self.places[self.broadcast(band)] = Place(EVERYBODY, band)
        self._by_name = {".".join(filter(None, place)): address for place, address in self._of_nodes.items()}
        both = [Place(node, band) for node in nodes.own for band in nodes.bands]
        self.own = [self._of_nodes[place] for place in both if place in self._of_nodes]
        """Those of the first node first."""

    def find(self, host: Any) -> str | None:
        """The address that a script means, if it is one of the radio's: of a node, of all in reach, or of nobody."""
        text = bytes(host).decode("ascii", "replace") if isinstance(host, bytes | bytearray) else host
        if not isinstance(text, str):
            return None
        address = self._by_name.get(text) or numeric(text)
        return address if address is not None and self._is_of_radio(address) else None

    def _is_of_radio(self, address: str) -> bool:
        if address in self.places or address == BROADCAST or is_group(address):
            return True
        return any(IPv4Address(address) in network for network in self._networks.values())

    def of_node(self, node: str, band: str) -> str:
        return self._of_nodes[Place(node, band)]

    def broadcast(self, band: str) -> str:
        return str(self._networks[band].broadcast_address)

    def way_out(self, bound: str | None, band: str | None = None) -> str | None:
        """The own address by which something leaves: the one that its socket is bound to, another of the same node, or
        the first; None if no own node has a radio for that band.
        """
        fitting = [one for one in self.own if band in (None, self.places[one].band)]
        if bound in fitting or bound not in self.own:
            return bound if bound in fitting else next(iter(fitting), None)
        of_the_node = [one for one in fitting if self.places[one].node == self.places[bound].node]
        return next(iter(of_the_node or fitting), None)

    @property
    def number_of_first(self) -> int:
        """Of the script's first node among all; 0 if it has none."""
        return int(IPv4Address(self.own[0])) & 0xFFFF if self.own else 0

    def may_be_bound(self, address: str) -> bool:
        """By a socket of this script: its own addresses, and those that are for all in reach."""
        place = self.places.get(address)
        is_for_all = address == BROADCAST or is_group(address) or (place is not None and place.node == EVERYBODY)
        return is_for_all or address in self.own

    def in_words(self) -> str:
        named = [f"{name} ({address})" for name, address in list(self._by_name.items())[:MOST_NAMED]]
        more = len(self._by_name) - len(named)
        return ", ".join(named) + (f" and {more} more" if more else "")


def numeric(host: Any) -> str | None:
    """An address of IPv4 in any form that the C library takes, as four numbers; None if it is a name."""
    try:
        return _WORDS.get(host) or socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, ValueError, TypeError):
        return None


def is_group(address: str) -> bool:
    return IPv4Address(address).is_multicast
