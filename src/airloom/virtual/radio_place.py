"""Where a socket of a script stands in the radio's networks: what it is bound to, connected to, and a member of.

UDP over IPv4 takes part; nothing else gets into these networks, neither ours nor those of the machine that have the
same numbers.
"""

from __future__ import annotations

import errno
import os
import socket
from typing import Any, NoReturn

from airloom.virtual import group_options as options
from airloom.virtual.addresses import ANYWHERE, is_group, numeric
from airloom.virtual.datagrams import Datagram, Datagrams, Membership
from airloom.virtual.refusals import refuse

ROOM = 4 * 1024 * 1024  # bytes in a socket that a script has not read yet
MAPPED = "::ffff:"
"""Before an address of IPv4 that stands in one of IPv6."""
_order = iter(range(2**62))


class PlacedSocket(socket.socket):
    net: Datagrams | None = None
    radio_port = 0
    """0 while it does not take part."""
    radio_host: str | None = None
    """What it is bound to: its node's address, or one that is for all in reach; None for all addresses."""
    loopback: tuple[str, int] = ("", 0)
    order = 0
    groups: frozenset[Membership] = frozenset()
    group_exit: str | None = None
    """The own address by which multicast leaves, if the script has said."""
    hears_all_groups = True
    _peer: tuple[str, int] | None = None

    @property
    def _net(self) -> Datagrams:
        assert self.net is not None
        return self.net

    @property
    def _may_take_part(self) -> bool:
        is_udp = self.type == socket.SOCK_DGRAM and self.proto in (0, socket.IPPROTO_UDP)
        return self.net is not None and is_udp and self.family == socket.AF_INET

    def hears(self, it: Datagram, by: str, to: set[str]) -> bool:
        """As in Linux, who is connected hears nobody but the one it is connected to."""
        is_meant = it.port == self.radio_port and (self.radio_host is None or self.radio_host in to)
        return is_meant and self._peer in (None, (by, it.source))

    # -- addresses ---------------------------------------------------------------------------------------------------

    def _on_radio(self, address: Any) -> str | None:
        """The address of the radio's that is meant, if this socket may use it; None if it is the machine's."""
        if self.net is None or not isinstance(address, tuple) or self.family not in (socket.AF_INET, socket.AF_INET6):
            return None
        host = address[0].lower().removeprefix(MAPPED) if self.family == socket.AF_INET6 else address[0]
        found = self.net.addresses.find(host)
        if self.family == socket.AF_INET6 and host.startswith("ff") and ":" in host:
            found = host
        if found is not None and not self._may_take_part:
            self._refuse(found)
        return found

    def _refuse(self, address: str) -> NoReturn:
        kind = {socket.SOCK_STREAM: "TCP", socket.SOCK_RAW: "a raw socket"}.get(self.type, "this kind of datagrams")
        if self.family == socket.AF_INET6:
            kind += " over IPv6"
        number = errno.ECONNREFUSED if self.type == socket.SOCK_STREAM else errno.ENETUNREACH
        refuse(number, f"{kind} to {address} is not carried by the simulated radio: use UDP over IPv4 instead")

    def bind(self, address: Any) -> None:
        host = self._on_radio(address)
        if host is not None:
            if not self._net.addresses.may_be_bound(host):
                raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
            self._take_part(address[1], host, None)
        elif self._may_take_part and self._net.addresses.own and numeric(address[0]) == ANYWHERE:
            self._take_part(address[1], None, address)
        else:
            super().bind(address)

    def connect(self, address: Any) -> None:
        host = self._on_radio(address)
        if host is None:
            super().connect(address)
            self._peer = None
            return
        way_out = self._net.way_out(self, host)
        self._take_part_by_now()
        self.radio_host = self.radio_host or way_out
        self._peer = host, address[1]

    def connect_ex(self, address: Any) -> int:
        try:
            if self._on_radio(address) is None:
                return super().connect_ex(address)
            self.connect(address)
        except OSError as refused:
            return refused.errno or errno.ENETUNREACH
        return 0

    def _take_part_by_now(self) -> None:
        if self.radio_port:
            return
        host, port = super().getsockname()
        if host != ANYWHERE:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))  # bound to loopback: Linux lets nothing out of there
        if not port:
            self._bind_alone(None)
        self._enter(0, None)

    def _take_part(self, port: int, host: str | None, asked: tuple | None) -> None:
        """Where the machine has the port for it too, it hears the machine's datagrams as well."""
        self._bind_alone(asked)
        self._enter(port, host)

    def _bind_alone(self, asked: tuple | None) -> None:
        """Whoever shared its port on the machine would get what is put into this socket."""
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            super().setsockopt(socket.SOL_SOCKET, option, 0)
        try:
            super().bind(asked or ("127.0.0.1", 0))
        except OSError:
            super().bind(("127.0.0.1", 0))

    def _enter(self, port: int, host: str | None) -> None:
        super().setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
        super().setsockopt(socket.IPPROTO_IP, options.ALL, 0)  # groups that other programs of the machine are in
        self.loopback = ("127.0.0.1", super().getsockname()[1])
        self.radio_port, self.radio_host = port or self._net.free_port(), host
        self.order = next(_order)
        self._net.join(self)

    def dup(self) -> PlacedSocket:
        twin = super().dup()
        vars(twin).update(vars(self))
        if self.radio_port:
            self._net.join(twin)
        return twin

    def getsockname(self) -> Any:
        if not self.radio_port:
            return super().getsockname()
        return self.radio_host or ANYWHERE, self.radio_port

    def getpeername(self) -> Any:
        return self._peer or super().getpeername()

    # -- options -----------------------------------------------------------------------------------------------------

    def setsockopt(self, level: int, name: int, value: Any, *length: Any) -> None:
        if self.net is not None and level == socket.IPPROTO_IPV6 and name in options.IPV6_GROUPS:
            refuse(errno.ENODEV, "groups of IPv6 are not carried by the simulated radio: join one of IPv4 instead")
        if not self._may_take_part:
            super().setsockopt(level, name, value, *length)
        elif level == socket.IPPROTO_IP and name in options.OF_GROUPS:
            self._set_group_option(name, value)
        elif level == socket.IPPROTO_IP and name in options.BY_SOURCE:
            refuse(errno.EOPNOTSUPP, "the simulated radio knows no groups by source: join with IP_ADD_MEMBERSHIP")
        elif (level, name) == (socket.SOL_SOCKET, socket.SO_BINDTODEVICE) and value.rstrip(b"\0") not in (b"", b"lo"):
            self._refuse_interface(os.fsdecode(value.rstrip(b"\0")))
        else:
            super().setsockopt(level, name, value, *length)

    def _refuse_interface(self, name: str) -> NoReturn:
        own = ", ".join(self._net.addresses.own) or "none, as the script has no radio"
        refuse(errno.ENODEV, f"'{name}' is no interface of the simulated radio: name one by its address ({own})")

    def _set_group_option(self, name: int, value: Any) -> None:
        if name == options.ALL:
            self.hears_all_groups = options.flag_in(value)
            return
        asked = options.asked_in(value)
        if asked is None or (name != options.EXIT and not is_group(asked.group)):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        own = self._interface(asked)
        if name == options.EXIT:
            self.group_exit = own
            return
        membership = Membership(asked.group, own or self._net.way_out(self, asked.group))
        if (membership in self.groups) == (name == options.JOIN):
            wrong = errno.EADDRINUSE if name == options.JOIN else errno.EADDRNOTAVAIL
            raise OSError(wrong, os.strerror(wrong))
        self.groups ^= {membership}

    def _interface(self, asked: options.Asked) -> str | None:
        """The own address that is asked for, None if it is left to us."""
        if asked.number or asked.interface not in (ANYWHERE, *self._net.addresses.own):
            self._refuse_interface(str(asked.number or asked.interface))
        return None if asked.interface == ANYWHERE else asked.interface

    @property
    def group_hops(self) -> int:
        return self.getsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL)

    @property
    def groups_come_back(self) -> bool:
        return bool(self.getsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP))
