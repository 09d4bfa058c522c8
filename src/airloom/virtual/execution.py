"""Run a script as a member of the loom, on simulation time, and end as Python ends."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from types import CodeType, ModuleType
from typing import NoReturn

from airloom import member
from airloom.basics.given import MEGABYTE, bytes_of
from airloom.errors import UserError
from airloom.virtual import patches
from airloom.virtual.baton import VirtualTime
from airloom.virtual.datagrams import Datagrams

LARGEST_SCRIPT = 64 * MEGABYTE


def execute(script: Path, arguments: list[str], rate: float | None, epoch_ns: int) -> NoReturn:
    program = _compiled(script)
    place = member.join(rate=rate)
    me = member.Current(place)
    start = me.next_turn()
    if start is None:
        sys.exit(0)
    member._current = me
    world = VirtualTime(me.next_turn, start)
    signal.signal(signal.SIGTERM, lambda *_: _end(world))
    os.environ.setdefault("TZ", "UTC")  # local time is the same on every machine
    time.tzset()
    patches.install(world, epoch_ns, _datagrams(me))
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.parent.resolve()))
    code = _run(program, script)
    _outlast_threads(world)
    atexit._run_exitfuncs()  # while there is still a time for them to live on
    if code == 0:  # else the loom sees it go without a word: it has failed
        place.leave()
        world.over = True
    sys.exit(code)


def _datagrams(me: member.Current) -> Datagrams | None:
    """UDP by radio, if the run has one."""
    if me.nodes is None:
        return None
    net = Datagrams(me.nodes, lambda sender, data, to, band: me.radio(sender).send(data, to, band))
    me.takes = net.take
    if net.addresses.own:
        os.environ["AIRLOOM_ADDRESS"] = net.addresses.own[0]
    return net


def _end(world: VirtualTime) -> None:
    """When the loom asks for it, which may be before anybody has read that the run is over."""
    if not world.over:
        world.over = True
        sys.exit(128 + signal.SIGTERM)


def _compiled(script: Path) -> CodeType:
    text = bytes_of(script, UserError, LARGEST_SCRIPT)
    try:
        return compile(text, str(script), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:  # ValueError: a file of zeros
        traceback.print_exception(type(error), error, None)
        sys.exit(1)


def _run(program: CodeType, script: Path) -> int:
    """Its exit code."""
    main = ModuleType("__main__")
    main.__file__ = str(script)
    sys.modules["__main__"] = main
    try:
        exec(program, vars(main))
    except SystemExit as end:
        return _code_of(end)
    except BaseException as error:
        trace = error.__traceback__
        traceback.print_exception(type(error), error, trace and trace.tb_next)  # without the frame that is ours
        return 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _code_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


def _outlast_threads(world: VirtualTime) -> None:
    """What Python does at its end, where the real waits would hold the baton: pools are told, threads awaited."""
    farewells: list = threading._threading_atexits  # type: ignore[attr-defined]
    while farewells:
        with suppress(SystemExit):  # of a wait, as the run is over
            farewells.pop()()
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    world.outlast(lambda: all(thread.daemon or world.has_ended(thread) for thread in others))
