"""What a simulation asks of an engine."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from airloom.engines.lockstep import NO_WIRES


class Digest(Protocol):
    """As hashlib's."""

    def update(self, data: bytes, /) -> None: ...


class Engine(Protocol):
    """Moves the bodies of a fleet. The fleet's rows are what everybody else sees of them."""

    def reset(self) -> None:
        """Begin anew from the fleet's rows."""

    def take_state(self) -> None:
        """Go on from the fleet's rows, which somebody has changed."""

    def advance(self, tick: int, ticks: int, record_ticks: int, first_record: int, wires: np.ndarray = NO_WIRES) -> int:
        """Fly so many ticks; gives the tick reached, an earlier one if an autopilot needs attention there."""

    def contacts(self) -> tuple[np.ndarray, np.ndarray]:
        """Where vehicles touch something, and the forces on them there (world, N)."""

    def hash_into(self, digest: Digest) -> None:
        """What the next tick depends on beside the fleet's rows."""
