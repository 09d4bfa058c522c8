"""What all media have in common: frames go in, arrivals come out, period by period."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

EVERYBODY = -1
"""In the place of a node: a broadcast."""


class Frame(NamedTuple):
    """What a node gives to its radio."""

    number: int
    """Counts up over the run."""
    sender: int
    to: int
    """A node, or EVERYBODY."""
    size: int
    """Bytes of payload."""
    time_ns: int
    """When it was given to the radio."""


class Arrival(NamedTuple):
    """What a node hears."""

    number: int
    """Of the frame."""
    receiver: int
    heard_ns: int
    """The end of its reception."""
    strength: float
    """dBm"""


class Medium(Protocol):
    """The built-in model, or ns-3. Payloads stay with Airloom: a medium knows sizes."""

    def reset(self, seed: int) -> None: ...

    def send(self, frames: list[Frame]) -> None:
        """Queue them; nothing moves."""

    def advance(self, until_ns: int, positions: np.ndarray) -> list[Arrival]:
        """Let the radios work until then; `positions` [node, 3] are those at the beginning."""
        ...

    def close(self) -> None: ...
