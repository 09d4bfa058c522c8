"""The studio's process beside a simulation, started by `airloom run`: python -m airloom.studio RUN"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from airloom.bridges.control.client import LinkError
from airloom.run_folder import RunFolder
from airloom.studio.ports import GatewayError
from airloom.studio.live import LiveSource
from airloom.studio.studio import Studio

TOKEN = "AIRLOOM_TOKEN"
"""The variable that holds the token, which would be seen among the arguments of a process."""


def main() -> None:
    """Tells in a line of JSON where the studio is, or why there is none; ends when the run does, or by a signal."""
    options = _parsed()
    say = partial(_say, options.tell)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the simulation, which then ends this
    try:
        source = _joined(RunFolder(options.run), options.parent)
        with Studio([source], options.host, options.port, os.environ.get(TOKEN)) as studio:
            signal.signal(signal.SIGTERM, lambda *_: studio.stop())
            say(url=studio.gateway.url, port=studio.gateway.port)
            studio.run()
    except (LinkError, GatewayError) as error:
        say(error=str(error))
        sys.exit(2)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m airloom.studio")
    parser.add_argument("run", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=None)
    parser.add_argument("--tell", type=int, default=1, help="the file number that gets what it tells; others may print")
    parser.add_argument("--parent", type=int, default=os.getppid(), help="the process of the simulation")
    return parser.parse_args()


def _joined(folder: RunFolder, parent: int) -> LiveSource:
    """The simulation, which has its link as soon as everything is compiled; as long as our parent lives, it may."""
    while True:
        try:
            return LiveSource(folder)
        except LinkError:
            if os.getppid() != parent:
                raise
            time.sleep(0.05)


def _say(to: int, **what: object) -> None:
    os.write(to, f"{json.dumps(what)}\n".encode())


main()
