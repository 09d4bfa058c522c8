"""Keeps a program's internet sockets on loopback, whatever it asks for: others must not reach what it opens.

Autopilots listen on all addresses of a machine and have no option against it. A datagram socket is in reach even
without `bind`, from the first datagram that it sends. So the kernel is told to ask us (seccomp_unotify(2), Linux 5.9)
about each `socket` for datagrams and each `bind`:

- A datagram socket is one of ours, which is bound to loopback before the program has it. If the fence has a *peer*, a
  port of this machine, the socket hears nobody else until the program binds or connects it.
- `bind` to every address becomes one to loopback; to an address of another network it fails with EACCES.
- A port for datagrams that is *sealed* is bound, and hears nobody: its only peer is itself.

This is no prison for a program that wants out, but one that does not know of it stays in. It runs in the keeper, which
has none of Airloom's modules. Numbers of the kernel are from linux/seccomp.h, linux/filter.h and linux/audit.h.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import select
import socket
import struct
from collections.abc import Collection
from contextlib import suppress
from threading import Thread

PR_SET_NO_NEW_PRIVS = 38
SET_FILTER, NEW_LISTENER, SPEC_ALLOW = 1, 1 << 3, 1 << 2
ASK, ALLOW, KILL = 0x7FC00000, 0x7FFF0000, 0x80000000
"""What a filter answers: SECCOMP_RET_USER_NOTIF, _ALLOW and _KILL_PROCESS."""
LOAD, EQUAL, AT_LEAST, AND, ANSWER = 0x20, 0x15, 0x35, 0x54, 0x06
"""Instructions: BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_JMP|JGE|K, BPF_ALU|AND|K, BPF_RET|K."""
CALL, ARCHITECTURE, FAMILY, KIND = 0, 4, 16, 24
"""Where a filter finds the system call and the low halves of its first arguments: `struct seccomp_data`."""
OF_ANOTHER_ABI = 0x40000000  # from this number on, of x86_64 alone: x32
SORT = 0xF  # of a kind of socket, without its flags

MACHINES = {
    "x86_64": (0xC000003E, {"socket": 41, "bind": 49, "seccomp": 317}),
    "aarch64": (0xC00000B7, {"socket": 198, "bind": 200, "seccomp": 277}),
}
"""How the kernel calls a machine, and its numbers of system calls."""

NOTICE, REPLY, NEW_FILE = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI"), struct.Struct("=QIIII")
RECEIVE, SEND, IS_VALID, ADD_FILE = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103
"""Requests of ioctl: SECCOMP_IOCTL_NOTIF_…"""
GO_ON, IN_PLACE = 1, 1
"""SECCOMP_USER_NOTIF_FLAG_CONTINUE, SECCOMP_ADDFD_FLAG_SETFD"""

OPTIONS = (socket.SO_REUSEADDR, socket.SO_REUSEPORT, socket.SO_BROADCAST, socket.SO_RCVTIMEO, socket.SO_SNDTIMEO)
"""Of a datagram socket, that may have been set before it is bound."""
HERE: dict[int, str] = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}
LONGEST_ADDRESS = 28  # bytes: struct sockaddr_in6
ADDRESS_AT: dict[int, slice] = {socket.AF_INET: slice(4, 8), socket.AF_INET6: slice(8, 24)}
"""Of an address and its port: struct sockaddr_in and sockaddr_in6."""


def confine() -> int:
    """This process and what it becomes, for good; gives the file from which `Guard` hears. OSError where that cannot
    be.
    """
    machine = platform.machine()
    if machine not in MACHINES:
        raise OSError(errno.EOPNOTSUPP, f"not for machines of kind {machine}")
    libc = ctypes.CDLL(None, use_errno=True)
    instructions = _filter(machine)
    program = struct.pack("HxxxxxxP", len(instructions) // 8, _address_of(instructions))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    listener = libc.syscall(
        MACHINES[machine][1]["seccomp"], SET_FILTER, NEW_LISTENER | SPEC_ALLOW, ctypes.c_char_p(program)
    )
    if listener < 0:
        raise OSError(errno.EOPNOTSUPP, f"filters of system calls: {os.strerror(ctypes.get_errno())}")
    return listener


def _address_of(data: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def _filter(machine: str) -> bytes:
    """Asks about `bind`, and `socket` for datagrams of the internet. A jump skips so many instructions."""
    name, calls = MACHINES[machine]
    steps = [
        (LOAD, 0, 0, ARCHITECTURE), (EQUAL, 0, 11, name),
        (LOAD, 0, 0, CALL), (AT_LEAST, 9, 0, OF_ANOTHER_ABI),
        (EQUAL, 9, 0, calls["bind"]), (EQUAL, 0, 6, calls["socket"]),
        (LOAD, 0, 0, FAMILY), (EQUAL, 1, 0, socket.AF_INET), (EQUAL, 0, 3, socket.AF_INET6),
        (LOAD, 0, 0, KIND), (AND, 0, 0, SORT), (EQUAL, 2, 0, socket.SOCK_DGRAM),
        (ANSWER, 0, 0, ALLOW), (ANSWER, 0, 0, KILL), (ANSWER, 0, 0, ASK),
    ]  # fmt: skip
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


class Fence:
    """Around what a program opens: put up by the process that becomes the program, guarded by the one before it."""

    def __init__(self, peer: int, sealed: Collection[int]) -> None:
        self._peer, self._sealed = peer, sealed
        self._ours, self._theirs = socket.socketpair()

    @property
    def files(self) -> set[int]:
        return {self._ours.fileno()}

    def put_up(self) -> None:
        socket.send_fds(self._theirs, [b"!"], [confine()])

    def guard(self) -> None:
        """If it was put up."""
        self._theirs.detach()  # closed already
        _, listeners, *_ = socket.recv_fds(self._ours, 1, 1)
        for listener in listeners:
            Thread(target=Guard(listener, self._peer, self._sealed).serve, daemon=True).start()


class Guard:
    """Answers the kernel for one program and all that it starts."""

    def __init__(self, listener: int, peer: int, sealed: Collection[int]) -> None:
        self._listener, self._peer, self._sealed = listener, peer, sealed
        self._given: dict[int, socket.socket] = {}
        """Datagram sockets of the program by their inodes, until it has bound them."""

    def serve(self) -> None:
        """Until nobody is left who could ask."""
        watched = select.poll()
        watched.register(self._listener, select.POLLIN)
        while all(what & select.POLLIN for _, what in watched.poll()):
            with suppress(OSError):  # who has asked was killed meanwhile
                self._answer(Notice(self._listener))

    def _answer(self, notice: Notice) -> None:
        try:
            if notice.is_for_binding:
                self._bind(notice)
            else:
                self._give(notice)
        except (OSError, ValueError) as error:
            notice.reply(error=getattr(error, "errno", None) or errno.EINVAL)

    def _give(self, notice: Notice) -> None:
        """A socket that is on loopback from its beginning."""
        family, kind, protocol = notice.numbers[:3]
        mine = socket.socket(family, kind | socket.SOCK_CLOEXEC, protocol)
        mine.bind((HERE[mine.family], 0))
        if self._peer:
            mine.connect((HERE[mine.family], self._peer))
        used = notice.inodes()
        self._given = {inode: held for inode, held in self._given.items() if inode in used}
        self._given[os.fstat(mine.fileno()).st_ino] = mine
        notice.reply(notice.put(mine, closes=bool(kind & socket.SOCK_CLOEXEC)))

    def _bind(self, notice: Notice) -> None:
        number, place, size = notice.numbers[0], notice.arguments[1], notice.numbers[2]
        wanted = notice.memory(place, min(size, LONGEST_ADDRESS))
        family = int.from_bytes(wanted[:2], "little")
        if family not in HERE or len(wanted) < ADDRESS_AT[family].stop:
            notice.go_on()  # not of the internet, or nonsense, of which the kernel tells it
            return
        address, port = wanted[ADDRESS_AT[family]], int.from_bytes(wanted[2:4], "big")
        here = socket.inet_pton(family, HERE[family])
        if any(address) and address != here:
            raise OSError(errno.EACCES, "not an address of loopback")
        if mine := self._given.pop(notice.inode_of(number), None):
            with mine:
                self._bind_datagrams(notice, number, mine, port)
        else:
            notice.change_memory(place + ADDRESS_AT[family].start, here)
            notice.go_on()

    def _bind_datagrams(self, notice: Notice, number: int, given: socket.socket, port: int) -> None:
        """One that is bound cannot be bound again: another takes its place."""
        with socket.socket(given.family, socket.SOCK_DGRAM) as other:
            for option in OPTIONS:
                other.setsockopt(socket.SOL_SOCKET, option, given.getsockopt(socket.SOL_SOCKET, option, 16))
            other.bind((HERE[given.family], 0 if port in self._sealed else port))
            if port in self._sealed:
                other.connect(other.getsockname())
            os.set_blocking(other.fileno(), os.get_blocking(given.fileno()))
            notice.put(other, number)
        notice.reply()


class Notice:
    """A system call that waits for an answer."""

    def __init__(self, listener: int) -> None:
        data = bytearray(NOTICE.size)
        fcntl.ioctl(listener, RECEIVE, data)
        self._listener = listener
        self._id, self._process, _, self._number, _, _, *self.arguments = NOTICE.unpack(data)

    @property
    def numbers(self) -> list[int]:
        """The arguments, as those that are whole numbers of 32 bits."""
        return [argument & 0xFFFFFFFF for argument in self.arguments]

    @property
    def is_for_binding(self) -> bool:
        return self._number == MACHINES[platform.machine()][1]["bind"]

    def reply(self, value: int = 0, error: int = 0) -> None:
        fcntl.ioctl(self._listener, SEND, REPLY.pack(self._id, value, -error, 0))

    def go_on(self) -> None:
        """The kernel does what was asked for."""
        fcntl.ioctl(self._listener, SEND, REPLY.pack(self._id, 0, 0, GO_ON))

    def put(self, mine: socket.socket, place: int | None = None, closes: bool = False) -> int:
        """Among the files of who asks; gives its number there."""
        where = (IN_PLACE, mine.fileno(), place) if place is not None else (0, mine.fileno(), 0)
        flags = os.O_CLOEXEC if closes else 0
        return fcntl.ioctl(self._listener, ADD_FILE, bytearray(NEW_FILE.pack(self._id, *where, flags)))

    def memory(self, place: int, size: int) -> bytes:
        with open(f"/proc/{self._process}/mem", "rb", buffering=0) as memory:
            self._must_be_there()
            return os.pread(memory.fileno(), size, place)

    def change_memory(self, place: int, data: bytes) -> None:
        with open(f"/proc/{self._process}/mem", "r+b", buffering=0) as memory:
            self._must_be_there()
            os.pwrite(memory.fileno(), data, place)

    def _must_be_there(self) -> None:
        """Or another process may have its number by now."""
        fcntl.ioctl(self._listener, IS_VALID, struct.pack("=Q", self._id))

    def inode_of(self, number: int) -> int:
        return os.stat(f"/proc/{self._process}/fd/{number}").st_ino

    def inodes(self) -> set[int]:
        """Of its files."""
        found = set()
        for name in os.listdir(f"/proc/{self._process}/fd"):
            with suppress(FileNotFoundError):  # closed meanwhile
                found.add(self.inode_of(int(name)))
        return found
