"""The time of a script that lives on simulation time, and who of its threads runs.

One thread runs at a time, the one that holds the baton. A thread that waits passes it on: to the one whose wake-up time
came first, and among equals to the one that began to wait first. Only when nobody can go on does the turn end, and the
clock moves at the beginning of the next. So the order of events is the same on every machine.

Other processes live on the machine's time. For whoever waits for a child the simulation stands still, so that it takes
no time here; but only for as many real seconds as are left until another wait ends, so that no child holds up the run.
"""

from __future__ import annotations

import _thread
import itertools
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

NS = 1_000_000_000
NEVER = sys.maxsize
A_TOUCH, A_LOOK, MOST_LOOKS = 1, 10, 10_000
"""What it costs to take a lock and to look at the clock, and how much is granted in one turn: a script that does
nothing but look would never let the clock move."""
A_MOMENT = 0.001  # s between two looks whether a child has ended
A_WHILE = 0.5  # s until a signal is noticed at the latest

Ready = Callable[[], bool]
_allocate_lock, _sleep, _monotonic_ns = _thread.allocate_lock, time.sleep, time.monotonic_ns


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
        self.for_child = False
        self.looks = 0
        self.uncounted: list[int] = []
        """Looks before each piece of work within another whose looks do not count."""

    def waits_for(self, ready: Ready, deadline: int, rank: tuple[int, int], for_child: bool = False) -> None:
        self.ready, self.deadline, self.rank, self.for_child = ready, deadline, rank, for_child

    def can_go_on(self, now: int) -> bool:
        if self.deadline <= now:
            self.rank = max(self.rank, (self.deadline, self.rank[1]))
            return True
        try:
            return self.ready()
        except Exception:
            return True  # it meets the same error when it tries again, in its own thread

    def stop(self) -> None:
        while not self._gate.acquire(timeout=A_WHILE):
            pass  # but Python has called the handlers of signals that came just before the wait began

    def go(self) -> None:
        self._gate.release()

    def forget_call(self) -> None:
        """It has the baton already: a `go` that it did not come to wait for must not let it pass a later stop."""
        self._gate.acquire(blocking=False)


class VirtualTime:
    def __init__(self, next_turn: Callable[[], int | None], now_ns: int = 0) -> None:
        """`next_turn` ends the turn, waits for the next and returns its time; None once the run is over."""
        self._next_turn = next_turn
        self.now_ns = now_ns
        self.over = False
        self.alarm: tuple[int, int] | None = None
        """When SIGALRM is due, and how long after that again; ns."""
        self._orders = itertools.count()
        self._waiting: list[Strand] = []
        self._choosing = False
        self._of_thread = threading.local()
        self._main = self._holder = self._of_thread.strand = Strand()
        self._ended: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        self._stood_still_since: int | None = None
        self.spares_compiler: Ready | None = None
        """Asked, until it says yes, whether the compiler that a script may load is spared from counting."""
        self._moves_until = 0
        """No standing still for children before this time: they had theirs."""

    # -- what a thread may do ----------------------------------------------------------------------------------------

    def look(self) -> int:
        """The time, ns. Whoever does nothing but look gets to see it move in the end."""
        self._spend(A_LOOK)
        return self.now_ns

    def touch(self) -> None:
        """A look at what another thread may change, such as a lock."""
        self._spend(A_TOUCH)

    def _spend(self, cost: int) -> None:
        if self._choosing:  # the baton's own looks, as many as it takes
            return
        me = self._mine()
        me.looks += cost
        if self.spares_compiler is not None and self.spares_compiler():
            self.spares_compiler = None
        if me.looks > MOST_LOOKS and me is self._holder and not me.uncounted:
            self.skip_turn()

    def stop_counting(self) -> None:
        """This thread's looks: until `count_again`, which must follow, as many are free as are taken."""
        self._mine().uncounted.append(self._mine().looks)

    def count_again(self) -> None:
        me = self._mine()
        me.looks = me.uncounted.pop()

    def skip_turn(self) -> None:
        """Until the next, and there after all others, so that what they do is seen."""
        self._rest(never, self.now_ns + 1, began=NEVER)

    def wait(self, ready: Ready = never, timeout: float | None = None, for_child: bool = False) -> bool:
        """Let the others run until something is so, for `timeout` seconds at most; whether it is so."""
        if ready():
            return True
        deadline = NEVER if timeout is None else self.now_ns + round(timeout * NS)
        if deadline > self.now_ns:
            self._rest(ready, deadline, for_child)
        return ready()

    def sleep(self, seconds: float) -> None:
        """Even for 0 s the others have their go."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self.look()
        self._rest(never, self.now_ns + round(seconds * NS))

    def outlast(self, gone: Ready) -> None:
        """The main thread is done and waits for the end of others, which unwind even when the run is over."""
        self._ended.add(threading.main_thread())
        while not gone():
            with suppress(SystemExit):  # of a signal that asks us to end: that is what goes on here
                self._let_others_run(gone, NEVER)

    def has_ended(self, thread: threading.Thread) -> bool:
        """Once its last line has run: when the machine is done with it depends on the machine."""
        return thread in self._ended

    def start(self, launch: Callable[..., Any], body: Callable, args: tuple, *rest: Any, **options: Any) -> Any:
        """A thread, by the means that Python has for it; it runs when the baton comes to it."""
        strand = Strand()
        strand.waits_for(always, NEVER, (self.now_ns, next(self._orders)))

        def live(*args: Any, **kwargs: Any) -> None:
            self._of_thread.strand = strand
            strand.stop()
            try:
                body(*args, **kwargs)
            finally:
                owner = getattr(body, "__self__", None)
                if isinstance(owner, threading.Thread):
                    self._ended.add(owner)
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

    def _rest(self, ready: Ready, deadline: int, for_child: bool = False, began: int | None = None) -> None:
        me = self._mine()
        alarmed = self._alarm_is_due if me is self._main else never
        while True:
            self._leave_if_dismissed(me)
            self._let_others_run(lambda: ready() or alarmed() or self._is_dismissed(me), deadline, for_child, began)
            if alarmed():
                self._ring()
            if ready() or deadline <= self.now_ns:
                return

    def _is_dismissed(self, strand: Strand) -> bool:
        """When the run is over the main thread goes first: as it ends, it tells the threads of pools to end as well."""
        return self.over and (strand is self._main or threading.main_thread() in self._ended)

    def _leave_if_dismissed(self, strand: Strand) -> None:
        if self._is_dismissed(strand):
            sys.exit()

    def _let_others_run(self, ready: Ready, deadline: int, for_child: bool = False, began: int | None = None) -> None:
        me = self._mine()
        me.waits_for(ready, deadline, (self.now_ns if began is None else began, next(self._orders)), for_child)
        self._waiting.append(me)
        try:
            if me is self._holder:
                self._pass_on()
            me.stop()
        except BaseException:  # of a signal's handler
            self._come_back(me)
            raise

    def _come_back(self, me: Strand) -> None:
        """Nobody runs without the baton."""
        me.ready = always
        while me is not self._holder:
            with suppress(KeyboardInterrupt):
                me.stop()
        me.forget_call()
        if me in self._waiting:
            self._waiting.remove(me)

    def _pass_on(self) -> None:
        while not (able := self._able()):
            if self._stands_still():
                _sleep(A_MOMENT)
            else:
                self._advance()
        self._holder = min(able, key=lambda strand: strand.rank)
        self._waiting.remove(self._holder)
        self._holder.go()

    def _able(self) -> list[Strand]:
        self._choosing = True
        try:
            return [strand for strand in self._waiting if strand.can_go_on(self.now_ns)]
        finally:
            self._choosing = False

    def _stands_still(self) -> bool:
        if self.now_ns < self._moves_until or not any(strand.for_child for strand in self._waiting):
            return False
        real_now = _monotonic_ns()
        if self._stood_still_since is None:
            self._stood_still_since = real_now
        alarm = self.alarm[0] if self.alarm else NEVER
        next_deadline = min(alarm, *(strand.deadline for strand in self._waiting))
        if real_now - self._stood_still_since < next_deadline - self.now_ns:
            return True
        self._moves_until = next_deadline
        return False

    def _advance(self) -> None:
        interruption = None
        while True:
            try:
                now = self._next_turn()
                break
            except BaseException as raised:  # of a signal's handler, which has to wait for the turn
                interruption = raised
        for strand in self._waiting:
            strand.looks = 0
        self._stood_still_since = None
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
