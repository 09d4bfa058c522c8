"""Numba at work takes thousands of locks and looks at the clock, or hardly any if its cache knows the function already.

So that the time of a script does not depend on a cache, none of that counts as waiting without a wait.
"""

from __future__ import annotations

import sys

from airloom.virtual.baton import VirtualTime

EVENTS = "numba.core.event"
LOCK = "numba:compiler_lock"
"""The event of Numba that lasts as long as it compiles a function, or reads it from its cache."""


def spare_compiler(world: VirtualTime) -> bool:
    """Whether Numba is there, and spared from now on."""
    events = sys.modules.get(EVENTS)
    if events is None or not hasattr(events, "register"):  # not yet, or not all of it
        return False

    hooks = {"on_start": lambda *_: world.stop_counting(), "on_end": lambda *_: world.count_again()}
    events.register(LOCK, type("Spared", (events.Listener,), hooks)())
    return True
