"""Asks the process that reads strangers' files, and starts another when it has died of one.

Open CASCADE, lazrs, GDAL, HDF5 and their like are large, written in languages where a wrong number ends the process,
and follow what a file says: one that is damaged, or made to harm, crashes them, has them ask for all memory, or never
come back. Here that ends one process, which is started for the first file and then kept warm, and is one message.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Any

from airloom.basics.given import regular_file
from airloom.errors import AirloomError, RunError
from airloom.keeper import Kept, how_it_ended
from airloom.reading.letters import receive, send

PROGRAM = Path(__file__).with_name("worker.py")
PATIENCE, PATIENCE_FOR_EACH_BYTE = 60.0, 5e-6
"""s without a sign of life, after which a file is given up: a minute, and 5 s for each MB of it."""
ENVIRONMENT = {
    "CPL_DEBUG": "OFF", "GDAL_CONFIG_FILE": "", "GDAL_DRIVER_PATH": "disable", "HDF5_PLUGIN_PRELOAD": "::",
    "PROJ_NETWORK": "OFF", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2",
}  # fmt: skip
"""No configuration and no plugins from elsewhere; few threads, since each takes room for itself."""
FOREIGN = ("GDAL_", "CPL_", "OGR_", "VSI_", "AWS_", "HDF5_", "LD_PRELOAD")
"""What variables begin with that would tell its libraries otherwise."""
DAMAGED = "it is damaged, or made to do harm: get it anew, or open and save it in the program that it comes from"


class BoxError(RunError):
    """The process that reads files cannot be had."""


class _Worker:
    def __init__(self) -> None:
        self.owner = os.getpid()
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        with theirs:
            number = theirs.fileno()
            self._process = Kept(
                [sys.executable, "-P", str(PROGRAM), str(number), *sys.path], pass_fds=[number], env=own | ENVIRONMENT,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip

    def end(self) -> int:
        """Its code."""
        self.line.close()
        self._process.end()
        return self._process.returncode

    def code(self) -> int:
        """Of one that has left the line."""
        self.line.close()
        return self._process.wait()


_worker: _Worker | None = None
_turn = RLock()


def read_boxed(
    function: Callable[..., Any],
    file: Path | str,
    *arguments: Any,
    refusal: type[AirloomError],
    progress: Callable[[float], None] | None = None,
) -> Any:
    """What a function of a module returns for a file: plain values and arrays, see `letters`.

    Args:
        function: called there with the path, the arguments and, if there is one, `progress`.
        file: the path, which messages name as it is here.
        arguments: plain values.
        refusal: raised with one clear message if the file cannot be read.
        progress: called with the part that is done; whoever tells it is given more time.
    """
    path = regular_file(file, refusal)
    size = path.stat().st_size
    asked = {
        "function": f"{function.__module__}:{function.__qualname__}", "arguments": [path, *arguments], "size": size,
        "folder": Path.cwd(), "progress": progress is not None,
    }  # fmt: skip
    with _turn:
        kind, value = _asked(asked, path, PATIENCE + PATIENCE_FOR_EACH_BYTE * size, refusal, progress)
    match kind:
        case "done":
            return value
        case "refused":
            raise refusal(os.fsdecode(value))
        case "too large":
            raise refusal(
                f"{path} asks for more than the {value / 1e9:.0f} GB of memory that reading it may take: {DAMAGED}"
            )
        case "lost":
            raise refusal(f"{path} cannot be read: its reader has lost its way ({os.fsdecode(value)}); {DAMAGED}")
    raise RuntimeError(f"reading {path} failed:\n{os.fsdecode(value)}")


def _asked(
    asked: dict[str, Any],
    path: Path,
    patience: float,
    refusal: type[AirloomError],
    progress: Callable[[float], None] | None,
) -> tuple[str, Any]:
    worker, is_old = _warm_worker()
    try:
        worker.line.settimeout(patience)
        send(worker.line, asked)
        while (answer := receive(worker.line))[0] == "progress":
            if progress is not None:
                progress(answer[1])
        return answer[0], answer[1]
    except TimeoutError:
        end_worker()
        raise refusal(f"{path} cannot be read: nothing had come of it after {patience:.0f} s; {DAMAGED}") from None
    except (EOFError, ConnectionError):
        code = worker.code()
        _forget_worker()
        if is_old and code == 0:  # it had nothing to do for so long that it ended while it was asked
            return _asked(asked, path, patience, refusal, progress)
        raise refusal(
            f"{path} cannot be read: the process that reads it {how_it_ended(code)}, as when it takes all memory or is "
            f"misled; {DAMAGED}"
        ) from None
    except BaseException:
        end_worker()  # which is in the middle of something
        raise


def _warm_worker() -> tuple[_Worker, bool]:
    """And whether it has been asked before."""
    global _worker
    if _worker is not None and _worker.owner == os.getpid():
        return _worker, True
    try:
        _worker = _Worker()
    except OSError as error:
        raise BoxError(f"the process that reads files cannot be started: {error.strerror or error}") from None
    return _worker, False


def _forget_worker() -> None:
    global _worker
    _worker = None


@atexit.register
def end_worker() -> None:
    if _worker is not None and _worker.owner == os.getpid():
        with suppress(OSError):
            _worker.end()
    _forget_worker()
