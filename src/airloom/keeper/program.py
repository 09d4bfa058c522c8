"""The keeper: a process between Airloom and a program that it starts.

    python -I -S program.py PATIENCE REACH MOST [FOLDER ...] -- [COMMAND ...]

Whatever the program starts in turn, even in a session of its own, becomes a child of the keeper when its parent is gone
(Linux calls the keeper a subreaper), so nothing gets lost. When the program ends, or Airloom, all that is left is asked
to end, and after PATIENCE seconds made to; then the folders are removed. The keeper ends as the program did, with its
code or by its signal. REACH is `anywhere`, or `loopback` if what the program opens is to stay there, followed by its
peer or 0 and the ports that are to be sealed, see `loopback.py`: `loopback:9002:5501`. Of what it prints MOST bytes are
kept and the last (`printed.py`), or all if that is 0.

Its standard input is the leash: a socket whose other end only Airloom holds, so that the kernel closes it however
Airloom ends, by SIGKILL too. It runs without Airloom's modules and without `site`, and so begins in 20 ms.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module

TYPE_CHECKING = False  # as of `typing`, which takes long to import
if TYPE_CHECKING:
    from typing import Any

    from airloom.keeper.loopback import Fence
    from airloom.keeper.printed import Printed

LEASH = 0
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
MOST_PATIENCE = 5.0  # s for the kernel to end what was killed
LOOK_AGAIN = 0.1  # s: a process may have begun after the last look
PARENT = 1  # place in /proc/PID/stat, counted after the name, which may hold anything

prctl = ctypes.CDLL(None).prctl


class Keeper:
    def __init__(self, command: list[str], fence: Fence | None, printed: Printed | None) -> None:
        self._alarm, self._bell = _woken_by_signals()
        self._statuses: dict[int, int] = {}
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._program = _started(command, fence, printed) if command else 0
        used = (each.files for each in (fence, printed) if each)
        _let_go_of_everything({LEASH, self._alarm, self._bell}.union(*used))
        if fence:
            fence.guard()
        if printed:
            printed.keep()

    def keep(self) -> None:
        """Until the program is over, or is to be."""
        watched = select.poll()
        watched.register(LEASH, select.POLLIN)
        watched.register(self._alarm, select.POLLIN)
        while self._program not in self._statuses:
            ready = [number for number, _ in watched.poll()]
            if LEASH in ready or self._heard() & set(ENDING):
                break
            self._reap()

    def end_all(self, patience: float) -> None:
        for how, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, MOST_PATIENCE)):
            deadline = time.monotonic() + seconds
            told: set[int] = set()
            while self._reap() and (left := deadline - time.monotonic()) > 0:
                new = _descendants() - told
                for process in new:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(process, how)
                told |= new
                select.select([self._alarm], [], [], min(left, LOOK_AGAIN))
                self._heard()

    def end_as_the_program_did(self) -> None:
        code = os.waitstatus_to_exitcode(self._statuses.get(self._program, 0))
        if code < 0:
            prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # its core may be of interest, ours is not
            with suppress(OSError):  # nobody can change what SIGKILL does
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        os._exit(code)

    def _heard(self) -> set[int]:
        """Signals that came since the last time."""
        with suppress(BlockingIOError):
            return set(os.read(self._alarm, 1024))
        return set()

    def _reap(self) -> bool:
        """Whether any child is left; without one there are no further descendants either."""
        with suppress(ChildProcessError):
            while found := os.waitpid(-1, os.WNOHANG):
                process, status = found
                if not process:
                    return True
                self._statuses[process] = status
        return False


def _woken_by_signals() -> tuple[int, int]:
    """A pipe from which the numbers of signals can be read; those that are ignored stay so."""
    alarm, bell = os.pipe()
    for number in (alarm, bell):
        os.set_blocking(number, False)
    signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
    for one in (signal.SIGCHLD, *ENDING):
        if one == signal.SIGCHLD or signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, lambda *_: None)
    return alarm, bell


def _started(command: list[str], fence: Fence | None, printed: Printed | None) -> int:
    """The process of the program. Its number goes over the leash, or less than 0, the error why there is none."""
    told, tell = os.pipe()  # closed by the kernel when the program begins
    process = os.fork()
    if process == 0:
        _become(command, tell, fence, printed)
    os.close(tell)
    failure = os.read(told, 16)
    os.close(told)
    os.write(LEASH, failure or str(process).encode())
    return process


def _become(command: list[str], tell: int, fence: Fence | None, printed: Printed | None) -> None:
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # should somebody kill the keeper
        os.dup2(os.open(os.devnull, os.O_RDONLY), LEASH)
        for one in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and who is ignored stays so
            signal.signal(one, signal.SIG_DFL)
        if printed:
            printed.begin()
        if fence:
            fence.put_up()
        os.execvp(command[0], command)
    except OSError as error:
        os.write(tell, f"-{error.errno}".encode())
    os._exit(127)


def _let_go_of_everything(but: set[int]) -> None:
    """Of files whose other end waits until nobody has them, and of the folder, which somebody may want to remove."""
    for number in {int(name) for name in os.listdir("/proc/self/fd")} - but:
        with suppress(OSError):  # that of the listing itself
            os.close(number)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in {1, 2} - {nowhere}:
        os.dup2(nowhere, number)
    os.chdir("/")


def _descendants() -> set[int]:
    parents = {int(name): _parent(name) for name in os.listdir("/proc") if name.isdecimal()}
    found, before = {os.getpid()}, 0
    while len(found) > before:
        before = len(found)
        found |= {process for process, parent in parents.items() if parent in found}
    return found - {os.getpid()}


def _parent(process: str) -> int:
    with suppress(OSError), open(f"/proc/{process}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[PARENT])
    return 0


def _fence(reach: str) -> Fence | None:
    where, *ports = reach.split(":")
    if where != "loopback":
        return None
    peer, *sealed = map(int, ports)
    return _beside("loopback").Fence(peer, sealed)


def _beside(name: str) -> Any:
    """A module that most programs do without."""
    if (here := os.path.dirname(__file__)) not in sys.path:
        sys.path.append(here)
    return import_module(name)


def main() -> None:
    divider = sys.argv.index("--")
    patience, reach, most, folders = float(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:divider]
    printed = _beside("printed").Printed(most) if most else None
    keeper = Keeper(sys.argv[divider + 1 :], _fence(reach), printed)
    keeper.keep()
    keeper.end_all(patience)
    if printed:
        printed.conclude()
    if folders:
        import shutil  # late: it takes as long to import as all the others

        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    keeper.end_as_the_program_did()


if __name__ == "__main__":
    main()
