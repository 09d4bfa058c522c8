"""The wall clock, sockets and files from compiled code: functions of the C library."""

from __future__ import annotations

from typing import Any

from numba import types

MONOTONIC, ABSOLUTE = 1, 1  # CLOCK_MONOTONIC and TIMER_ABSTIME of Linux

clock_gettime: Any = types.ExternalFunction("clock_gettime", types.intc(types.intc, types.intp))
"""Clock, address of two int64: seconds and nanoseconds."""
clock_nanosleep: Any = types.ExternalFunction(
    "clock_nanosleep", types.intc(types.intc, types.intc, types.intp, types.intp)
)
"""Clock, kind of time, address of it, 0."""

send: Any = types.ExternalFunction("send", types.intp(types.intc, types.intp, types.intp, types.intc))
recv: Any = types.ExternalFunction("recv", types.intp(types.intc, types.intp, types.intp, types.intc))
"""File number, address, size, flags."""
NO_SIGNAL = 0x4000  # MSG_NOSIGNAL

read: Any = types.ExternalFunction("read", types.intp(types.intc, types.intp, types.intp))
write: Any = types.ExternalFunction("write", types.intp(types.intc, types.intp, types.intp))
"""File number, address, size."""

poll: Any = types.ExternalFunction("poll", types.intc(types.intp, types.intp, types.intc))
"""Address and number of questions, patience in ms. A question: a file number, and 32 bits above it what to look for."""
READABLE, BROKEN = 0x1, 0x8 | 0x10 | 0x20  # POLLIN; POLLERR, POLLHUP, POLLNVAL: answers, 48 bits above
