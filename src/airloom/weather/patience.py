"""Says what is waited for when it takes long, while it does."""

from __future__ import annotations

import sys
import threading
import time
import weakref

LONG = 2.0  # s until somebody is told, and from then on until he is told again
LOOK = 0.25  # s


class Patience:
    """`with patience("is being called"):` around what may take long. A thread looks, so that a call costs little."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._since, self._what, self._said = 0.0, "", 0
        self._thread: threading.Thread | None = None

    def __call__(self, what: str) -> Patience:
        self._what = what
        return self

    def __enter__(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=_watch, args=(weakref.ref(self),), daemon=True)
            self._thread.start()
        self._said, self._since = 0, time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._since = 0.0

    def look(self) -> None:
        since = self._since
        waited = time.monotonic() - since if since else 0.0
        if waited > LONG * (self._said + 1):
            self._said += 1
            print(f"{self._who} {self._what}, {waited:.0f} s so far; Ctrl-C gives up", file=sys.stderr, flush=True)


def _watch(watched: weakref.ref[Patience]) -> None:
    while (patience := watched()) is not None:
        patience.look()
        del patience
        time.sleep(LOOK)
