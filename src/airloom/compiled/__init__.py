"""How Airloom compiles, and the rows that compiled code works on.

The compiler is loaded when it is first asked for: members, who only need the rows, start without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airloom.compiled.compile import (
        Kernel,
        bytes_at,
        call_by_address,
        compiled,
        integers_at,
        numbers_at,
    )

__all__ = ["Kernel", "bytes_at", "call_by_address", "compiled", "integers_at", "numbers_at"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module("airloom.compiled.compile"), name)
