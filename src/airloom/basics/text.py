"""Text that can be written down: Python's own may hold halves of characters (lone surrogates), which no file takes.

They come from escapes such as `\\ud800` in JSON, and from names of files that are no UTF-8.
"""

from __future__ import annotations


def is_sound(text: str) -> bool:
    """Whether it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def sound(text: str) -> str:
    """The text with halves of characters spelled out as escapes."""
    return text.encode(errors="backslashreplace").decode()
