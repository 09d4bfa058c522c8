"""What a script finds in the place of Python's clocks and waits, so that it lives on simulation time unmodified."""

from __future__ import annotations

import _thread
import logging
import signal
import sys
import time
from collections.abc import Callable
from types import FunctionType
from typing import Any

from airloom.virtual.baton import NS, VirtualTime
from airloom.virtual.children import patch_children
from airloom.virtual.compiler import spare_compiler
from airloom.virtual.datagrams import Datagrams
from airloom.virtual.dates import virtual_dates
from airloom.virtual.io import patch_io
from airloom.virtual.known import heed_known
from airloom.virtual.pipes import patch_pipes
from airloom.virtual.threads import VirtualLock, patch_threads

OURS = ("airloom.loom.", "airloom.virtual.")
"""Modules that go on using the real things: they are what makes the time."""
BEGINS_WITH_REAL_LOCKS = ("threading",)
"""Its own locks are held for a moment only, and the interpreter takes them when it ends."""
REAL_LOCK = type(_thread.allocate_lock())

UNIX_CLOCKS = ("CLOCK_REALTIME", "CLOCK_REALTIME_COARSE", "CLOCK_TAI")
STEADY_CLOCKS = (
    "CLOCK_MONOTONIC", "CLOCK_MONOTONIC_RAW", "CLOCK_MONOTONIC_COARSE", "CLOCK_BOOTTIME",
)  # fmt: skip


def install(world: VirtualTime, epoch_ns: int, datagrams: Datagrams | None = None) -> None:
    """For good: a process lives on one time only. `epoch_ns` is the Unix time at 0 s of the simulation."""

    def unix_ns() -> int:
        return epoch_ns + world.look()

    replaced = {
        **_clocks(world, unix_ns),
        **_calendar(unix_ns),
        **_alarms(world),
        **virtual_dates(unix_ns),
        **patch_threads(world),
        **patch_io(world, datagrams),
        **patch_pipes(world),
        **patch_children(world),
    }
    _replace_everywhere({id(old): _as_in_c(new) for old, new in replaced.items()})
    heed_known()
    world.spares_compiler = lambda: spare_compiler(world)
    logging._startTime = unix_ns() / NS  # type: ignore[attr-defined]


def _as_in_c(new: Any) -> Any:
    """A class that holds a function makes a method of it, but not if the function is in C as those replaced are."""
    return staticmethod(new) if isinstance(new, FunctionType) else new


def _clocks(world: VirtualTime, unix_ns: Callable[[], int]) -> dict[Any, Any]:
    steady = {getattr(time, name): world.look for name in STEADY_CLOCKS if hasattr(time, name)}
    by_number = steady | {getattr(time, name): unix_ns for name in UNIX_CLOCKS if hasattr(time, name)}
    real_gettime_ns = time.clock_gettime_ns

    def steady_seconds() -> float:
        return world.look() / NS

    def steady_ns() -> int:
        return world.look()

    def gettime_ns(clock: int) -> int:
        return by_number[clock]() if clock in by_number else real_gettime_ns(clock)

    return {
        time.time: lambda: unix_ns() / NS,
        time.time_ns: unix_ns,
        time.monotonic: steady_seconds,
        time.perf_counter: steady_seconds,
        time.monotonic_ns: steady_ns,
        time.perf_counter_ns: steady_ns,
        time.clock_gettime: lambda clock: gettime_ns(clock) / NS,
        time.clock_gettime_ns: gettime_ns,
        time.sleep: world.sleep,
    }


def _calendar(unix_ns: Callable[[], int]) -> dict[Any, Any]:
    """Functions that mean now if they are not told otherwise."""
    asctime, strftime, local = time.asctime, time.strftime, time.localtime

    def from_seconds(real: Callable[[float], Any]) -> Callable[..., Any]:
        return lambda seconds=None: real(unix_ns() / NS if seconds is None else seconds)

    def now() -> time.struct_time:
        return local(unix_ns() / NS)

    return {
        **{real: from_seconds(real) for real in (time.localtime, time.gmtime, time.ctime)},
        asctime: lambda when=None: asctime(now() if when is None else when),
        strftime: lambda form, when=None: strftime(form, now() if when is None else when),
    }


def _alarms(world: VirtualTime) -> dict[Any, Any]:
    real_set, real_get = signal.setitimer, signal.getitimer

    def get(which: int) -> tuple[float, float]:
        if which != signal.ITIMER_REAL:
            return real_get(which)
        due, interval = world.alarm or (world.now_ns, 0)
        return (due - world.now_ns) / NS, interval / NS

    def put(which: int, seconds: float, interval: float = 0.0) -> tuple[float, float]:
        if which != signal.ITIMER_REAL:
            return real_set(which, seconds, interval)
        before = get(which)
        world.alarm = (world.now_ns + round(seconds * NS), round(interval * NS)) if seconds else None
        return before

    def alarm(seconds: int) -> int:
        return round(put(signal.ITIMER_REAL, seconds)[0])

    return {real_set: put, real_get: get, signal.alarm: alarm}


def _replace_everywhere(by_id: dict[int, Any]) -> None:
    """In all modules that are there already; what a script imports later finds it in the modules that it comes from."""
    for name, module in list(sys.modules.items()):
        if module is not None and not name.startswith(OURS):
            with_locks = name not in BEGINS_WITH_REAL_LOCKS
            _replace_in(vars(module), by_id, with_locks)
    sys.modules.pop("sched", None)  # its defaults hold the real clock


def _replace_in(names: dict[str, Any], by_id: dict[int, Any], with_locks: bool) -> None:
    for name, value in list(names.items()):
        if id(value) in by_id:
            names[name] = by_id[id(value)]
        elif with_locks and type(value) is REAL_LOCK and not value.locked():
            names[name] = VirtualLock()
