"""Waiting for input and output: sockets and pipes are looked at once a turn, timeouts are on simulation time."""

from __future__ import annotations

import select
import selectors
import socket
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from airloom.virtual.baton import VirtualTime
from airloom.virtual.datagrams import Datagrams, patch_names
from airloom.virtual.radio_socket import RadioSocket

_select, _poll, _epoll = select.select, select.poll, select.epoll


class VirtualPoll:
    """A poll or epoll object whose timeouts are on simulation time."""

    world: VirtualTime

    def __init__(self, real: Any, ticks_per_second: float) -> None:
        self._real, self._ticks_per_second = real, ticks_per_second

    def poll(self, timeout: float | None = None, *more: Any, **options: Any) -> list:
        seconds = None if timeout is None or timeout < 0 else timeout / self._ticks_per_second
        return repeated(self.world, lambda: self._real.poll(0, *more, **options), seconds, bool)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __enter__(self) -> VirtualPoll:
        return self

    def __exit__(self, *_: object) -> None:
        self._real.close()


class VirtualSocket(RadioSocket):
    """A socket whose waits, for data and for room, are on simulation time."""

    world: VirtualTime

    _told_its_end = -1
    """When it was told last that the other end has hung up, ns."""

    def recv(self, *args: Any) -> bytes:
        self._wait_for_data()
        data = super().recv(*args)
        self._note(data)
        return data

    def recv_into(self, *args: Any) -> int:
        self._wait_for_data()
        size = super().recv_into(*args)
        self._note(size)
        return size

    def recvfrom(self, *args: Any) -> tuple[bytes, Any]:
        self._wait_for_data()
        heard = super().recvfrom(*args)
        self._note(heard[0])
        return heard

    def recvfrom_into(self, *args: Any) -> tuple[int, Any]:
        self._wait_for_data()
        heard = super().recvfrom_into(*args)
        self._note(heard[0])
        return heard

    def recvmsg(self, *args: Any) -> Any:
        self._wait_for_data()
        heard = super().recvmsg(*args)
        self._note(heard[0])
        return heard

    def recvmsg_into(self, *args: Any) -> Any:
        self._wait_for_data()
        heard = super().recvmsg_into(*args)
        self._note(heard[0])
        return heard

    def _note(self, heard: bytes | int) -> None:
        """Who asks again after the end of a stream hears of it again, but at a later time: or would ask for ever."""
        if heard or self.type != socket.SOCK_STREAM:
            return
        if self._told_its_end == self.world.now_ns:
            self.world.skip_turn()
        self._told_its_end = self.world.now_ns

    def accept(self) -> tuple[socket.socket, Any]:
        self._wait_for_data()
        return super().accept()

    def send(self, data: Any, flags: int = 0) -> int:
        if self.gettimeout() == 0:
            return super().send(data, flags)
        while True:
            self._wait(self._has_room)
            try:
                return super().send(data, flags | socket.MSG_DONTWAIT)
            except BlockingIOError:  # room, but less than this needs
                self.world.skip_turn()

    def sendall(self, data: Any, flags: int = 0) -> None:
        rest = memoryview(data).cast("B")
        while rest:
            rest = rest[self.send(rest, flags) :]

    def _wait_for_data(self) -> None:
        if self.gettimeout() == 0:
            self.world.touch()
        else:
            self._wait(self._has_data)

    def _wait(self, ready: Callable[[], bool]) -> None:
        if self.fileno() >= 0 and not self.world.wait(ready, self.gettimeout()):
            raise TimeoutError("timed out")

    def _has_data(self) -> bool:
        return self._is(select.POLLIN)

    def _has_room(self) -> bool:
        return self._is(select.POLLOUT)

    def _is(self, event: int) -> bool:
        looking = _poll()
        looking.register(self, event)
        return bool(looking.poll(0))


def patch_io(world: VirtualTime, datagrams: Datagrams | None) -> dict[Any, Any]:
    """What takes the place of what."""
    VirtualPoll.world = VirtualSocket.world = world
    VirtualSocket.net = datagrams

    def virtual_select(readers: Any, writers: Any, others: Any, timeout: float | None = None) -> Any:
        return repeated(world, lambda: _select(readers, writers, others, 0), timeout, any)

    def poll() -> VirtualPoll:
        return VirtualPoll(_poll(), 1000)

    def epoll(*args: Any, **options: Any) -> VirtualPoll:
        return VirtualPoll(_epoll(*args, **options), 1)

    classes: Any = selectors
    classes.PollSelector._selector_cls = staticmethod(poll)
    classes.EpollSelector._selector_cls = staticmethod(epoll)
    classes.SelectSelector._select = staticmethod(virtual_select)
    classes.math = SimpleNamespace(ceil=float)  # the real ones count whole milliseconds, ours any fraction
    replaced = {_select: virtual_select, _poll: poll, _epoll: epoll, socket.socket: VirtualSocket}
    return replaced | (patch_names(datagrams) if datagrams else {})


def repeated(
    world: VirtualTime,
    look: Callable[[], Any],
    timeout: float | None,
    found: Callable[[Any], bool],
    for_child: bool = False,
) -> Any:
    """What `look` returns once there is something, or when the time is over."""
    seen = look()

    def something() -> bool:
        nonlocal seen
        seen = look()
        return found(seen)

    if found(seen):
        world.touch()  # or who does nothing about it would see it for ever
        return seen
    if timeout is not None and timeout <= 0:
        world.look()
    else:
        world.wait(something, timeout, for_child)
    return look()
