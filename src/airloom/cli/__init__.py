"""The command `airloom`. Signals are heeded before anything else is imported, and end it cleanly from then on."""

import gc
import os
import signal
import sys

ENDED_BY_CTRL_C = ("view", "replay", "serve")
"""Commands that go on until somebody ends them: there Ctrl-C is no failure."""
GARBAGE = 50_000
"""Objects after which to look for garbage: after 700, as is usual, it takes a fifteenth of the time to start."""


def main() -> None:
    """Run the command line; a user's mistake becomes one clear message and exit code 2."""
    gc.set_threshold(GARBAGE)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number, usual in before.items():
        if usual is not signal.SIG_IGN:  # whoever started it may want it to pass by
            signal.signal(number, _leave)
    try:
        from airloom.cli.app import run_command_line

        run_command_line()
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)


def _leave(number: int, _: object) -> None:
    """At once, for nothing needs to be put in order, and an exception could get lost in the middle of an import."""
    if os.isatty(1):
        os.write(1, b"\x1b[?25h")  # a spinner may have hidden the cursor
    os.write(2, b"Stopped.\n")
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    is_usual = command in ENDED_BY_CTRL_C or (command == "fly" and os.isatty(0))  # as at its prompt
    os._exit(0 if is_usual and number == signal.SIGINT else 128 + number)
