"""What goes to and from the process that reads files: plain values, paths and arrays, in memory that both see.

No pickle: what reads a stranger's file may have been taken over by it, and must not be able to run anything here.
"""

from __future__ import annotations

import array
import mmap
import os
import socket
import struct
from fcntl import F_ADD_SEALS, F_SEAL_GROW, F_SEAL_SHRINK, fcntl
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

ARRAY, PATH = 1, 2
ALIGNED = 64  # bytes
KINDS = "biufS"
"""Of arrays: numbers and bytes, no objects."""
WHERE = struct.Struct("<QQ")
"""A message on the line: where the text begins in the memory that comes with it, and where it ends."""


def send(line: socket.socket, value: Any) -> None:
    """None, truth, numbers, texts, bytes, paths and arrays; lists and mappings of such. Tuples arrive as lists."""
    memory = os.memfd_create("airloom-reading", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        end = 0

        def put(one: Any) -> msgspec.msgpack.Ext:
            nonlocal end
            if isinstance(one, Path):
                return msgspec.msgpack.Ext(PATH, os.fsencode(one))
            whole = np.ascontiguousarray(one)
            start = -(-end // ALIGNED) * ALIGNED
            _write(memory, whole.reshape(-1).view(np.uint8).data, start)
            end = start + whole.nbytes
            return msgspec.msgpack.Ext(ARRAY, msgspec.msgpack.encode((whole.dtype.str, one.shape, start)))

        text = msgspec.msgpack.encode(value, enc_hook=put)
        _write(memory, memoryview(text), end)
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)
        socket.send_fds(line, [WHERE.pack(end, end + len(text))], [memory])
    finally:
        os.close(memory)


def receive(line: socket.socket) -> Any:
    """What was sent; arrays lie where the other has put them, and may be written to. EOFError if nobody is there."""
    message, rights, _, _ = line.recvmsg(
        WHERE.size, socket.CMSG_SPACE(array.array("i").itemsize), socket.MSG_CMSG_CLOEXEC
    )
    if not message:
        raise EOFError("the other end of the line is closed")
    [memory] = [number for _, _, data in rights for number in array.array("i", data)]
    try:
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK)  # or to read it could end this process
        whole = mmap.mmap(memory, os.fstat(memory).st_size)
    finally:
        os.close(memory)
    start, end = WHERE.unpack(message)

    def get(kind: int, data: memoryview) -> Any:
        if kind == PATH:
            return Path(os.fsdecode(bytes(data)))
        name, shape, offset = msgspec.msgpack.decode(data, type=tuple[str, tuple[int, ...], int])
        dtype = np.dtype(name)
        if dtype.kind not in KINDS:
            raise ValueError(f"an array of {dtype} is not taken")
        return np.ndarray(shape, dtype, whole, offset)

    return msgspec.msgpack.decode(whole[start:end], ext_hook=get)


def _write(memory: int, data: memoryview, at: int) -> None:
    """One call writes 2 GB at most."""
    while len(data):
        written = os.pwrite(memory, data, at)
        data, at = data[written:], at + written
