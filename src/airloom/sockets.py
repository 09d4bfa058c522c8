"""Sending and receiving from compiled code."""

from __future__ import annotations

from typing import Any

from numba import types

NO_SIGNAL = 0x4000  # MSG_NOSIGNAL of Linux

send: Any = types.ExternalFunction("send", types.intp(types.intc, types.intp, types.intp, types.intc))
recv: Any = types.ExternalFunction("recv", types.intp(types.intc, types.intp, types.intp, types.intc))
"""Of the C library: file number, address, size, flags."""
