"""Locks and threads whose waits are on simulation time.

Everything else in `threading`, and `queue` and `concurrent.futures` above it, is made of these.
"""

from __future__ import annotations

import _thread
import queue
import threading
from typing import Any

from airloom.virtual.baton import VirtualTime

_is_alive = threading.Thread.is_alive


class VirtualLock:
    """One thread runs at a time, so a plain flag will do."""

    world: VirtualTime

    def __init__(self) -> None:
        self._held = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        self.world.touch()
        if self._held and not (blocking and self.world.wait(self._is_free, None if timeout == -1 else timeout)):
            return False
        self._held = True
        return True

    def release(self) -> None:
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held = False

    def locked(self) -> bool:
        self.world.touch()
        return self._held

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _is_free(self) -> bool:
        return not self._held

    def _at_fork_reinit(self) -> None:
        self._held = False


def patch_threads(world: VirtualTime) -> dict[Any, Any]:
    """What takes the place of what."""
    VirtualLock.world = world

    def join(self: threading.Thread, timeout: float | None = None) -> None:
        _must_be_joinable(self)
        world.wait(lambda: world.has_ended(self), None if timeout is None else max(timeout, 0))

    def is_alive(self: threading.Thread) -> bool:
        world.look()
        return _is_alive(self) and not world.has_ended(self)

    def is_set(self: threading.Event) -> bool:
        world.look()
        return self._flag  # type: ignore[attr-defined]

    setattr(threading.Thread, "join", join)  # noqa: B010 (mypy takes no plain assignment to a method)
    setattr(threading.Thread, "is_alive", is_alive)  # noqa: B010
    setattr(threading.Event, "is_set", is_set)  # noqa: B010
    return {
        _thread.allocate_lock: VirtualLock,
        _thread.LockType: VirtualLock,
        _thread.RLock: threading._PyRLock,  # type: ignore[attr-defined]  # in Python, upon our lock
        queue.SimpleQueue: queue._PySimpleQueue,  # type: ignore[attr-defined]
        **{launch: _launcher(world, launch) for launch in _launchers()},
    }


def _launchers() -> list[Any]:
    names = ("start_new_thread", "start_joinable_thread")
    return [getattr(_thread, name) for name in names if hasattr(_thread, name)]


def _launcher(world: VirtualTime, launch: Any) -> Any:
    def started(body: Any, *args: Any, **options: Any) -> Any:
        return world.start(launch, body, *args, **options)

    return started


def _must_be_joinable(thread: threading.Thread) -> None:
    if not thread._started.is_set():  # type: ignore[attr-defined]
        raise RuntimeError("cannot join thread before it is started")
    if thread is threading.current_thread():
        raise RuntimeError("cannot join current thread")
