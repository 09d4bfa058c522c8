"""The time of a script that lives on simulation time, and who of its threads runs.

One thread runs at a time, the one that holds the baton. A thread that waits passes it on: to the one whose wake-up time
came first, and among equals to the one that began to wait first. Only when nobody can go on does the turn end, and the
clock moves at the beginning of the next. So the order of events is the same on every machine.
"""

from __future__ import annotations

import _thread
import itertools
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

NS = 1_000_000_000
NEVER = sys.maxsize
MOST_GLANCES = 1000
"""At the clock in one turn: a script that only looks at it would never let it move."""

Ready = Callable[[], bool]
_allocate_lock, _sleep, _is_alive = _thread.allocate_lock, time.sleep, threading.Thread.is_alive


def never() -> bool:
    return False


def always() -> bool:
    return True


class Strand:
    """A thread of the script, and what it waits for."""

    def __init__(self) -> None:
        self._gate = _allocate_lock()
        self._gate.acquire()
        self.ready: Ready = never
        self.deadline = NEVER
        self.rank = (0, 0)
        """Of those that can go on, the lowest does."""

    def waits_for(self, ready: Ready, deadline: int, began: int, order: int) -> None:
        self.ready, self.deadline, self.rank = ready, deadline, (began, order)

    def can_go_on(self, now: int) -> bool:
        if self.deadline <= now:
            self.rank = (self.deadline, self.rank[1])
            return True
        try:
            return self.ready()
        except Exception:
            return True  # it meets the same error when it tries again, in its own thread

    def stop(self) -> None:
        self._gate.acquire()

    def go(self) -> None:
        self._gate.release()


class VirtualTime:
    def __init__(self, next_turn: Callable[[], int | None], now_ns: int = 0) -> None:
        """`next_turn` ends the turn, waits for the next and returns its time; None once the run is over."""
        self._next_turn = next_turn
        self.now_ns = now_ns
        self.turns = 0
        self.over = False
        self.alarm: tuple[int, int] | None = None
        """When SIGALRM is due, and how long after that again; ns."""
        self._glances = 0
        self._orders = itertools.count()
        self._waiting: list[Strand] = []
        self._of_thread = threading.local()
        self._main = self._holder = self._of_thread.strand = Strand()
        self._ended: threading.Thread | None = None

    # -- what a thread may do ----------------------------------------------------------------------------------------

    def look(self) -> int:
        """The time, ns. Whoever does nothing but look gets to see it move in the end."""
        self._glances += 1
        if self._glances > MOST_GLANCES and self._mine() is self._holder:
            self.skip_turn()
        return self.now_ns

    def skip_turn(self) -> None:
        turn = self.turns
        self.wait(lambda: self.turns > turn)

    def wait(self, ready: Ready = never, timeout: float | None = None) -> bool:
        """Let the others run until something is so, for `timeout` seconds at most; whether it is so."""
        if ready():
            return True
        deadline = NEVER if timeout is None else self.now_ns + round(timeout * NS)
        if deadline > self.now_ns:
            self._rest(ready, deadline)
        return ready()

    def sleep(self, seconds: float) -> None:
        """Even for 0 s the others have their go."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self.look()
        self._rest(never, self.now_ns + round(seconds * NS))

    def outlast(self, gone: Ready) -> None:
        """Wait for the end of other threads, which unwind even when the run is over."""
        if not gone():
            self._let_others_run(gone, NEVER)

    def has_ended(self, thread: threading.Thread) -> bool:
        return thread is self._ended or not _is_alive(thread)

    def start(self, launch: Callable[..., Any], body: Callable, args: tuple, *rest: Any, **options: Any) -> Any:
        """A thread, by the means that Python has for it; it runs when the baton comes to it."""
        strand = Strand()
        strand.waits_for(always, NEVER, self.now_ns, next(self._orders))

        def live(*args: Any, **kwargs: Any) -> None:
            self._of_thread.strand = strand
            strand.stop()
            self._take_leave_of_the_ended()
            try:
                body(*args, **kwargs)
            finally:
                owner = getattr(body, "__self__", None)
                self._ended = owner if isinstance(owner, threading.Thread) else None
                self._pass_on()

        started = launch(live, args, *rest, **options)
        self._waiting.append(strand)
        return started

    # -- the baton ---------------------------------------------------------------------------------------------------

    def _mine(self) -> Strand:
        try:
            return self._of_thread.strand
        except AttributeError:  # a thread that something outside of Python has started
            self._of_thread.strand = Strand()
            return self._of_thread.strand

    def _rest(self, ready: Ready, deadline: int) -> None:
        alarmed = self._alarm_is_due if self._mine() is self._main else never
        self._leave_if_over()
        self._let_others_run(lambda: ready() or self.over or alarmed(), deadline)
        self._leave_if_over()
        if alarmed():
            self._ring()
            if not ready() and deadline > self.now_ns:
                self._rest(ready, deadline)

    def _leave_if_over(self) -> None:
        if self.over:
            sys.exit()

    def _let_others_run(self, ready: Ready, deadline: int) -> None:
        me = self._mine()
        me.waits_for(ready, deadline, self.now_ns, next(self._orders))
        self._waiting.append(me)
        try:
            if me is self._holder:
                self._pass_on()
            me.stop()
        except BaseException:  # of a signal's handler
            self._come_back(me)
            raise
        self._take_leave_of_the_ended()

    def _come_back(self, me: Strand) -> None:
        """Nobody runs without the baton."""
        me.ready = always
        while me is not self._holder:
            with suppress(KeyboardInterrupt):
                me.stop()
        if me in self._waiting:
            self._waiting.remove(me)

    def _pass_on(self) -> None:
        while not (able := [strand for strand in self._waiting if strand.can_go_on(self.now_ns)]):
            self._advance()
        self._holder = min(able, key=lambda strand: strand.rank)
        self._waiting.remove(self._holder)
        self._holder.go()

    def _take_leave_of_the_ended(self) -> None:
        """A thread is done a little after its last line; nobody shall see it in between."""
        thread, self._ended = self._ended, None
        while thread is not None and _is_alive(thread):
            _sleep(0)

    def _advance(self) -> None:
        interruption = None
        while True:
            try:
                now = self._next_turn()
                break
            except BaseException as raised:  # of a signal's handler, which has to wait for the turn
                interruption = raised
        self._glances = 0
        self.turns += 1
        if now is None:
            self.over = True
        else:
            self.now_ns = now
        if interruption is not None:
            raise interruption

    # -- alarms ------------------------------------------------------------------------------------------------------

    def _alarm_is_due(self) -> bool:
        return self.alarm is not None and self.alarm[0] <= self.now_ns

    def _ring(self) -> None:
        assert self.alarm is not None
        due, interval = self.alarm
        self.alarm = (due + interval, interval) if interval else None
        signal.raise_signal(signal.SIGALRM)
