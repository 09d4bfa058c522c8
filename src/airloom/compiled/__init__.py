"""How Airloom compiles, and the rows that compiled code works on.

The compiler is loaded when it is first asked for: members, who only need the rows, start without it.
"""

from typing import TYPE_CHECKING

from airloom.basics.lazy import lazily

if TYPE_CHECKING:
    from airloom.compiled.compile import (
        Kernel,
        bytes_at,
        call_by_address,
        compiled,
        integers_at,
        numbers_at,
        singles_at,
    )

__all__ = ["Kernel", "bytes_at", "call_by_address", "compiled", "integers_at", "numbers_at", "singles_at"]

__getattr__ = lazily(__name__, dict.fromkeys(__all__, "compile"))
