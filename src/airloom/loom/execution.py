"""Run a script as a member of the loom, on simulation time, and end as Python ends."""

from __future__ import annotations

import runpy
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from airloom import member
from airloom.loom import patches
from airloom.loom.virtual_time import VirtualTime


def execute(script: Path, arguments: list[str], rate: float | None, epoch_ns: int) -> NoReturn:
    place = member.join(rate=rate)
    me = member.Current(place)
    start = me.next_turn()
    if start is None:
        sys.exit(0)
    member._current = me
    world = VirtualTime(me.next_turn, start)
    signal.signal(signal.SIGTERM, lambda *_: None if world.over else sys.exit(128 + signal.SIGTERM))
    patches.install(world, epoch_ns)
    time.tzset()
    code = _run(script, arguments)
    _outlast_threads(world)
    if code == 0:  # else the loom sees it go without a word: it has failed
        place.leave()
        world.over = True
    sys.exit(code)


def _run(script: Path, arguments: list[str]) -> int:
    """Its exit code."""
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.parent.resolve()))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        return _code_of(end)
    except BaseException as error:
        _tell(error)
        return 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _code_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


def _tell(error: BaseException) -> None:
    """As Python would, without the frames that are ours."""
    trace: TracebackType | None = error.__traceback__
    own = (__file__, runpy.__file__, "<frozen runpy>")
    while trace is not None and trace.tb_frame.f_code.co_filename in own:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


def _outlast_threads(world: VirtualTime) -> None:
    """What Python does at its end, where the real waits would hold the baton: pools are told, threads awaited."""
    farewells: list = threading._threading_atexits  # type: ignore[attr-defined]
    while farewells:
        farewells.pop()()
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    world.outlast(lambda: all(thread.daemon or world.has_ended(thread) for thread in others))
