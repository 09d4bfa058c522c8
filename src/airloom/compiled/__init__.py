"""How Airloom compiles, and the rows that compiled code works on."""

from airloom.compiled.compile import (
    Kernel,
    bytes_at,
    call_by_address,
    compiled,
    integers_at,
    numbers_at,
)

__all__ = ["Kernel", "bytes_at", "call_by_address", "compiled", "integers_at", "numbers_at"]
