"""The exchange with members on this machine, compiled: send to each, then read from each, without Python in between.

Between a process's turns on a processor the interpreter's data grow cold, so that every line of Python after a wait
costs several times as much as in a benchmark of that line.
"""

from __future__ import annotations

from numba import types

from airloom.compiled import compiled

ROOM = 8192  # bytes for an answer; a longer one is read on in Python
NO_SIGNAL = 0x4000  # MSG_NOSIGNAL of Linux

_send = types.ExternalFunction("send", types.intp(types.intc, types.intp, types.intp, types.intc))
_recv = types.ExternalFunction("recv", types.intp(types.intc, types.intp, types.intp, types.intc))


@compiled
def exchange(lines, outgoing, ends, incoming, sizes):
    """Message k goes from where k−1 ends in `outgoing` to line k; sizes[k] bytes come back to incoming[k].

    A size of −1 has still to be read: by whoever handles signals, timeouts and errors. 0 is a closed line, −2 one on
    which nothing could be sent.
    """
    start = 0
    for k in range(lines.size):
        size = ends[k] - start
        sent = _send(lines[k], outgoing.ctypes.data + start, size, NO_SIGNAL)
        sizes[k] = 0 if sent == size else -2
        start = ends[k]
    interrupted = False
    for k in range(lines.size):
        if interrupted:
            sizes[k] = min(sizes[k], -1)
        elif sizes[k] == 0:
            sizes[k] = _recv(lines[k], incoming.ctypes.data + k * incoming.shape[1], incoming.shape[1], 0)
            interrupted = sizes[k] < 0
