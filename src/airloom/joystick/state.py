"""What a game controller shows at one moment.

A known game controller is laid out as browsers do it ("standard gamepad"), with the names on a PS4 controller. Any
other device shows its axes and buttons in its own order, and a mapping calls them by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from airloom.errors import Refusal

AXES = ("left_x", "left_y", "right_x", "right_y")
"""Right and down are positive."""

BUTTONS = (
    "cross", "circle", "square", "triangle", "l1", "r1", "l2", "r2", "share", "options", "left_stick", "right_stick",
    "up", "down", "left", "right", "ps",
)  # fmt: skip


class StickError(Refusal):
    """A state that no game controller shows, or that does not suit the mapping; the message is meant for the user."""


@dataclass(frozen=True)
class StickState:
    """Axes from −1 to 1, and whether each button is down."""

    axes: Sequence[float]
    buttons: Sequence[bool]

    def __post_init__(self) -> None:
        for number, value in enumerate(self.axes):
            if not -1.0 <= value <= 1.0:
                raise StickError(f"an axis goes from -1 to 1, but axis {number} is {value}")
