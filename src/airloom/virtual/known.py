"""Libraries and programs that people use and that cannot live on simulation time, and what to do instead."""

from __future__ import annotations

import os
import sys
from typing import Any

from airloom.errors import UserError
from airloom.virtual.refusals import tell

MAVSDK = (
    "MAVSDK ({name}) cannot follow the simulation's time under airloom exec: it is compiled code with a clock, threads "
    "and sockets of its own. Talk MAVLink by pymavlink here, or start the script by itself beside the run, without "
    "airloom exec, where it lives on the machine's time"
)
LIBRARY, SERVER = "libcmavsdk", "mavsdk_server"
"""What MAVSDK consists of: from version 4 on a library, before that a program that Python talks to by gRPC."""
BESIDE = {
    "cyclonedds": "Cyclone DDS",
    "grpc": "gRPC",
    "rclpy": "rclpy",
    "uvloop": "uvloop",
    "zenoh": "Zenoh",
    "zmq": "ZeroMQ",
}
"""Compiled modules with sockets of their own. They may do no harm: some scripts only read files with them."""
PROXY = "MAVProxy.modules.mavproxy_"


class NotOnSimulationTime(UserError, RuntimeError):
    """The script wants something that cannot follow the simulation; the message says what to do."""


def heed_known() -> None:
    """From now on, whoever loads or starts one of these is told, instead of hanging until the loom gives up."""
    sys.addaudithook(_heed)


def _heed(event: str, details: tuple[Any, ...]) -> None:
    if event == "import" and details[0] in BESIDE:
        tell(
            f"{BESIDE[details[0]]} is compiled code: it waits on the machine's time, and what it says passes the "
            "simulated radio by, so that two runs may differ (airloom docs exec)"
        )
    elif event == "ctypes.dlopen":
        _refuse_mavsdk(details[0], LIBRARY)
    elif event == "subprocess.Popen":
        _refuse_mavsdk(details[0], SERVER)


def _refuse_mavsdk(path: Any, known: str) -> None:
    name = os.path.basename(os.fsdecode(path)) if isinstance(path, str | bytes | os.PathLike) else ""
    if name.startswith(known):
        raise NotOnSimulationTime(MAVSDK.format(name=name))


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
