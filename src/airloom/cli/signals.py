"""What Ctrl-C, SIGTERM and SIGHUP do: a closed terminal or a lost connection ends what it ends, as cleanly."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from airloom.cli.screen import out, warn

if TYPE_CHECKING:
    from airloom.runs.recorded import RecordedRun
    from airloom.serve.session import Session

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_interruptions: list[int] = []


def was_interrupted() -> bool:
    """Whether Ctrl-C has raised an exception, which the compiler may have turned into one of its own."""
    return bool(_interruptions)


@contextmanager
def interrupted_by_ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt inside, for there is something to put in order."""

    def interrupt(number: int, _: Any) -> None:
        _interruptions.append(number)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def abandoned_by_signals(tidy: Callable[[], None] = lambda: None, code: int | None = None) -> Iterator[None]:
    """Nothing is lost yet: a signal ends the process at once, for an exception could get lost inside the compiler.

    The exit code tells of the signal, unless another is given.
    """

    def leave(number: int) -> None:
        tidy()
        out.show_cursor()
        warn("Stopped.")
        os._exit(128 + number if code is None else code)

    with handled_by(leave):
        yield


class Ending:
    """What signals ended, and by which. They may come before the run, whose folder is begun as soon as it is made."""

    def __init__(self) -> None:
        self.signals: list[int] = []
        self._run: RecordedRun | None = None

    def of(self, run: RecordedRun) -> RecordedRun:
        """The first signal ends this run at its next chunk."""
        self._run = run
        if self.signals:
            run.stop()
        return run

    def end(self, number: int) -> None:
        from airloom.runs.recorded import Interrupted

        self.signals.append(number)
        _leave_the_second_to_the_system()
        if self._run is not None:
            self._run.stop()
            if self._run.is_starting and not _is_compiling():
                raise Interrupted


@contextmanager
def ended_by_signals() -> Iterator[Ending]:
    """The first signal ends a run, the second the process."""
    ending = Ending()
    with handled_by(ending.end):
        yield ending


@contextmanager
def ended_between_requests(session: Session) -> Iterator[None]:
    """The first signal ends a long step where it is, and then what is inside; the second the process."""
    from airloom.runs.recorded import Interrupted

    def end(number: int) -> None:
        session.ending = True
        _leave_the_second_to_the_system()
        if not session.busy:
            raise Interrupted

    with suppress(Interrupted), handled_by(end):
        yield


@contextmanager
def interrupted_by_signals() -> Iterator[list[int]]:
    """The first signal raises KeyboardInterrupt, the second ends the process. Yields what was caught."""
    caught: list[int] = []

    def end(number: int) -> None:
        caught.append(number)
        _leave_the_second_to_the_system()
        raise KeyboardInterrupt

    with handled_by(end):
        yield caught


@contextmanager
def handled_by(handle: Callable[[int], None]) -> Iterator[None]:
    """Leaves a signal alone that the process was started to ignore."""

    def receive(number: int, _: Any) -> None:
        if number == signal.SIGHUP:
            _write_nowhere_what_nobody_reads()
        handle(number)

    wanted = [one for one in ENDING if signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, receive) for one in wanted}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _is_compiling() -> bool:
    """Whether a signal came while the compiler was at work, which an exception may crash: it is waited for."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in ("numba", "llvmlite"):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _leave_the_second_to_the_system() -> None:
    for one in ENDING:
        signal.signal(one, signal.SIG_DFL)


def _write_nowhere_what_nobody_reads() -> None:
    """What is written to a terminal that is gone, or to a program that ended with it, would fail."""
    for number in (1, 2):
        question = select.poll()
        question.register(number, 0)
        if question.poll(0):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
