"""Tells when functions are really compiled, and not just loaded from the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def noticing_compilation(tell: Callable[[str], None]) -> Iterator[None]:
    """Call `tell` with the name of every function that Numba begins to compile meanwhile."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event) -> None:
            tell(event.data["dispatcher"].py_func.__name__)

        def on_end(self, event) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield
