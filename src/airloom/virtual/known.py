"""Libraries and programs that people use and that cannot live on simulation time, and what to do instead."""

from __future__ import annotations

import os
import sys
from typing import Any

from airloom.errors import UserError

MAVSDK = (
    "MAVSDK ({name}) cannot follow the simulation's time under airloom exec: it is compiled code with a clock, threads "
    "and sockets of its own. Talk MAVLink by pymavlink here, or start the script by itself beside the run, without "
    "airloom exec, where it lives on the machine's time"
)
LIBRARY, SERVER = "libcmavsdk", "mavsdk_server"
"""What MAVSDK consists of: from version 4 on a library, before that a program that Python talks to by gRPC."""
PROXY = "MAVProxy.modules.mavproxy_"


class NotOnSimulationTime(UserError, RuntimeError):
    """The script wants something that cannot follow the simulation; the message says what to do."""


def refuse_known() -> None:
    """From now on, whoever loads or starts one of these is told, instead of hanging until the loom gives up."""
    sys.addaudithook(_watch)


def _watch(event: str, details: tuple[Any, ...]) -> None:
    if event == "ctypes.dlopen":
        name, known = details[0], LIBRARY
    elif event == "subprocess.Popen":
        name, known = details[0], SERVER
    else:
        return
    if isinstance(name, str | bytes | os.PathLike) and os.path.basename(os.fsdecode(name)).startswith(known):
        raise NotOnSimulationTime(MAVSDK.format(name=os.path.basename(os.fsdecode(name))))


def advice_for_caller() -> str:
    """What to do about the module of MAVProxy that has called us, empty if none has."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(PROXY):
            module = name.removeprefix(PROXY).split(".")[0]
            return f". MAVProxy's module '{module}' asks for it: leave it out of --default-modules and --load-module"
        frame = frame.f_back  # type: ignore[assignment]
    return ""
