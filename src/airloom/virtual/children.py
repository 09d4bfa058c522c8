"""Other processes: they live on the machine's time, so the simulation stands still for whoever waits for one.

A copy of the script itself would be a second script at one place of the loom; it is refused.
"""

from __future__ import annotations

import multiprocessing.process
import os
import selectors
import signal
import subprocess
from typing import Any, NoReturn

from airloom.virtual.baton import VirtualTime
from airloom.virtual.io import repeated
from airloom.virtual.known import NotOnSimulationTime, advice_for_caller

_waitpid = os.waitpid


def patch_children(world: VirtualTime) -> dict[Any, Any]:
    """What takes the place of what."""

    def waitpid(pid: int, options: int) -> tuple[int, int]:
        if options & os.WNOHANG:
            world.touch()
            return _waitpid(pid, options)
        ended = (0, 0)

        def has_ended() -> bool:
            nonlocal ended
            ended = ended if ended[0] else _waitpid(pid, options | os.WNOHANG)
            return ended[0] != 0

        world.wait(has_ended, for_child=True)
        return ended

    def wait(self: subprocess.Popen, timeout: float | None) -> int:
        if not world.wait(lambda: self.poll() is not None, timeout, for_child=True):
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    class PatientSelector(selectors.PollSelector):
        def select(self, timeout: float | None = None) -> list:
            return repeated(world, lambda: super(PatientSelector, self).select(0), timeout, bool, for_child=True)

    setattr(subprocess, "_PopenSelector", PatientSelector)  # noqa: B010 (mypy knows no private names)
    setattr(subprocess.Popen, "_wait", wait)  # noqa: B010
    setattr(multiprocessing.process.BaseProcess, "start", _refusal("multiprocessing", FORK_ADVICE))  # noqa: B010
    return {
        _waitpid: waitpid,
        **{getattr(os, name): _refusal(f"os.{name}", FORK_ADVICE) for name in ("fork", "forkpty")},
        **{getattr(signal, name): _refusal(f"signal.{name}", SIGNAL_ADVICE) for name in SIGNAL_WAITS},
    }


FORK_ADVICE = "use threads, start other programs with subprocess, or make each process a member of the scenario"
SIGNAL_ADVICE = "use a handler and time.sleep, or threading.Event"
SIGNAL_WAITS = ("pause", "sigwait", "sigwaitinfo", "sigtimedwait")


def _refusal(name: str, advice: str) -> Any:
    def refused(*_: Any, **__: Any) -> NoReturn:
        raise NotOnSimulationTime(
            f"{name} cannot follow the simulation's time under airloom exec: {advice}{advice_for_caller()}"
        )

    return refused
