"""What a process and all that it has started listen on, from `/proc`: nothing may be reached from another machine.

Linux alone has this; elsewhere nothing is found, and tests that need it are to be skipped.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

TABLES = {"tcp": "tcp", "tcp6": "tcp", "udp": "udp", "udp6": "udp"}
"""Of `/proc/PID/net`, and what they hold."""
OPEN = {"tcp": "0A", "udp": "07"}
"""The state of a socket that takes what anybody sends: TCP_LISTEN; for UDP, without a peer, TCP_CLOSE.

linux/include/net/tcp_states.h
"""


@dataclass(frozen=True, order=True)
class OpenPort:
    protocol: str
    """tcp or udp"""
    address: str
    port: int
    process: int
    program: str
    device: str = ""
    """The only one that it hears, if it is tied to one."""

    @property
    def is_on_loopback(self) -> bool:
        if self.device == "lo":
            return True
        address = ip_address(self.address)
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        return (mapped or address).is_loopback

    def __str__(self) -> str:
        return f"{self.protocol} {self.address} port {self.port} of {self.program} ({self.process})"


def open_ports(process: int, with_peers: bool = False) -> list[OpenPort]:
    """On which a process and its descendants listen now. Datagram sockets that are tied to one peer count if asked for.

    The kernel writes its tables in pieces, and may leave out a socket when others come and go: so we look three times.
    """
    return sorted({port for _ in range(3) for one in family(process) for port in _of(one, with_peers)})


def assert_on_loopback(process: int) -> list[OpenPort]:
    """The open ports, none of which can be reached from another machine."""
    found = open_ports(process)
    outside = [str(port) for port in found if not port.is_on_loopback]
    assert not outside, f"can be reached from outside: {'; '.join(outside)}"
    return found


def family(process: int) -> list[int]:
    """A process and its descendants, by number."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found


def _of(process: int, with_peers: bool) -> Iterator[OpenPort]:
    place = Path(f"/proc/{process}")
    with suppress(OSError):
        own = set(_sockets(place))
        program, devices = (place / "comm").read_text().strip(), _devices_of_datagram_sockets()
        for table, protocol in TABLES.items():
            for line in (place / "net" / table).read_text().splitlines()[1:]:
                _, local, _, state, *_, inode = line.split()[:10]
                if inode in own and (state == OPEN[protocol] or (with_peers and protocol == "udp")):
                    address, _, port = local.partition(":")
                    device = devices.get(inode, "")
                    yield OpenPort(protocol, str(_address(address)), int(port, 16), process, program, device)


def _sockets(place: Path) -> Iterator[str]:
    """The inodes of a process's sockets."""
    for link in (place / "fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            target = os.readlink(link)
            if target.startswith("socket:"):
                yield target.removeprefix("socket:[").rstrip("]")


def _devices_of_datagram_sockets() -> dict[str, str]:
    """By inode, of those that are tied to one: `/proc` has no word of it, sock_diag(7) has."""
    header, question, all_states = struct.Struct("=IHHII"), struct.Struct("=BBBBI48x"), 0xFFFFFFFF
    by_family, dump, done = 20, 0x301, 3  # SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, NLMSG_DONE
    asked = question.pack(socket.AF_INET, socket.IPPROTO_UDP, 0, 0, all_states)
    found: dict[str, str] = {}
    with suppress(OSError), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as kernel:
        kernel.send(header.pack(header.size + len(asked), by_family, dump, 0, 0) + asked)
        while True:
            answer = kernel.recv(1 << 16)
            while answer:
                size, kind, *_ = header.unpack_from(answer)
                if kind != by_family:
                    assert kind == done, "the kernel does not tell"
                    return found
                device, inode = (struct.unpack_from("=I", answer, header.size + at)[0] for at in (40, 68))
                if device:
                    found[str(inode)] = socket.if_indextoname(device)
                answer = answer[(size + 3) & ~3 :]
    return found


def _address(text: str) -> IPv4Address | IPv6Address:
    """Words of 32 bits in network order, each printed as a number of the machine's own order."""
    words = [int(text[k : k + 8], 16).to_bytes(4, "little") for k in range(0, len(text), 8)]
    return ip_address(socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, b"".join(words)))
