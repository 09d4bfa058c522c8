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

from airloom.errors import UserError
from airloom.net.tls import Certificate
from airloom.runs.folder import RunFolder
from airloom.runs.link.client import LinkError
from airloom.studio.sources.live import LiveSource
from airloom.studio.studio import Studio

TOKEN = "AIRLOOM_TOKEN"
"""The variable that holds the token, which would be seen among the arguments of a process."""


def main() -> None:
    """Tells in a line of JSON where the studio is, or why there is none; ends when the run does, or by a signal."""
    options = _parsed()
    say = partial(_say, options.tell)
    try:
        source = _joined(RunFolder(options.run))
        tls = Certificate(*options.tls).context() if options.tls else None
        with Studio([source], options.host, options.port, os.environ.get(TOKEN), tls) as studio:
            signal.signal(signal.SIGTERM, lambda *_: studio.stop())
            say(url=studio.gateway.url, port=studio.gateway.port)
            studio.run()
    except UserError as error:
        say(error=str(error))
        sys.exit(2)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m airloom.studio")
    parser.add_argument("run", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=None)
    parser.add_argument("--tell", type=int, default=1, help="the file number that gets what it tells; others may print")
    parser.add_argument("--tls", type=Path, nargs="+", help="certificate and private key")
    return parser.parse_args()


def _joined(folder: RunFolder) -> LiveSource:
    """The simulation, which has its link as soon as everything is compiled; should it end before, so does this."""
    while True:
        try:
            return LiveSource(folder)
        except LinkError:
            time.sleep(0.05)


def _say(to: int, **what: object) -> None:
    os.write(to, f"{json.dumps(what)}\n".encode())


main()
