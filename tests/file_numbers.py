"""A process that may open only a few files more."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def few_file_numbers(left: int) -> Iterator[None]:
    """So many are left for this process, until the context ends."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    holes = []
    while (number := os.open(os.devnull, os.O_RDONLY)) < highest:
        holes.append(number)
    os.close(number)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1 + left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for number in holes:
            os.close(number)
