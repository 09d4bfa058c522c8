"""A button for what cannot be taken back: it acts when it has been held for a second, and a click only says so."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import viser

from airloom.studio.panels.panel import StudioState

HOLD = 1.0
"""Seconds."""
LONGEST_GAP = 0.5
"""Seconds between two words of a browser that a button is held, on a slow connection."""
WORDS_PER_SECOND = 10.0

Act = Callable[[viser.ClientHandle], object]


class Hold:
    """How long one browser has held the button."""

    def __init__(self) -> None:
        self.began, self.heard, self.has_acted = 0.0, -math.inf, False

    def goes_on(self, now: float) -> bool:
        """Whether the button has now been held for long enough, which is said once."""
        if now - self.heard > LONGEST_GAP:
            self.began, self.has_acted = now, False
        self.heard = now
        if self.has_acted or now - self.began < HOLD:
            return False
        self.has_acted = True
        return True


def hold_button(
    studio: StudioState, label: str, consequence: str, act: Act, asks: Callable[[], bool] = lambda: True, **look: Any
) -> viser.GuiButtonHandle:
    """`consequence` ends the sentence that a click is answered with: `Hold it for a second to …`.

    While it does not ask, since there is nothing to lose, a click acts.
    """
    button = studio.server.gui.add_button(label, hint=f"Hold it for a second to {consequence}.", **look)
    holds: dict[int, Hold] = {}

    @button.on_hold(callback_hz=WORDS_PER_SECOND)
    def _(event: viser.GuiEvent) -> None:
        if event.client is not None and holds.setdefault(event.client.client_id, Hold()).goes_on(time.monotonic()):
            act(event.client)

    @button.on_click
    def _(event: viser.GuiEvent) -> None:
        if event.client is None or holds.setdefault(event.client.client_id, Hold()).has_acted:
            return
        if not asks():
            act(event.client)
        else:
            studio.tell(f"Hold it for a second to {consequence}.", event.client, label)

    return button
