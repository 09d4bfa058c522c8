"""File numbers that a run keeps for its own files: whoever comes from outside gets none of the last ones."""

from __future__ import annotations

import os
import resource

RESERVE = 32
SHORT_OF_FILES = "too many files are open here; `ulimit -n` tells the most allowed"
"""What is told to whoever cannot be let in for that."""


def is_kept() -> bool:
    """Whether enough file numbers are left for a run's own files."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        return most - len(os.listdir("/proc/self/fd")) >= min(RESERVE, most // 4)
    except OSError:  # to look takes one, too
        return False
