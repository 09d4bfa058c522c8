"""What a process that reads strangers' files may not do, whatever they make of it: take all memory, call the network.

The kernel holds it to that: limits by setrlimit(2), calls by a filter of seccomp(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource

ROOM, ROOM_FOR_EACH_BYTE = 4 << 30, 64
"""Bytes that reading a file may take; what is packed grows when it is unpacked."""
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
REFUSE, ALLOW = 0x00050000 | errno.EACCES, 0x7FFF0000
CALL, ARCHITECTURE = 0, 4  # places in struct seccomp_data
X32 = 0x40000000  # numbers from here on are a second set of calls of x86-64
IO_URING_SETUP = 425
CALLS = {
    # architecture: its number, then those of socket, execve, execveat
    "x86_64": (0xC000003E, (41, 59, 322, IO_URING_SETUP)),
    "aarch64": (0xC00000B7, (198, 221, 281, IO_URING_SETUP)),
}


class _Step(ctypes.Structure):
    """struct sock_filter"""

    _fields_ = [("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint)]


class _Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.POINTER(_Step))]


def forbid_calling_out() -> None:
    """No new socket and no other program from now on; on other processors, and other kernels, nothing happens."""
    if platform.machine() not in CALLS:
        return
    architecture, refused = CALLS[platform.machine()]
    n = len(refused)
    steps = [(LOAD, 0, 0, ARCHITECTURE), (JUMP_IF_EQUAL, 0, n + 3, architecture)]
    steps += [(LOAD, 0, 0, CALL), (JUMP_IF_AT_LEAST, n + 1, 0, X32)]
    steps += [(JUMP_IF_EQUAL, n - k, 0, number) for k, number in enumerate(refused)]
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    array = (_Step * len(steps))(*(_Step(*step) for step in steps))
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(_Program(len(steps), array)), 0, 0)


def make_room_for(size: int) -> int:
    """Bytes of memory that a file of so many bytes may take beyond what is in use."""
    with open("/proc/self/statm") as numbers:
        used = int(numbers.read().split()[0]) * resource.getpagesize()
    room = min(ROOM + ROOM_FOR_EACH_BYTE * size, os.sysconf("SC_PHYS_PAGES") * resource.getpagesize())
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = used + room if hard == resource.RLIM_INFINITY else min(used + room, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return room


def leave_no_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
