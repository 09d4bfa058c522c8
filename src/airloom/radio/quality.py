"""How good a link is, as a colour: the same in figures and in the studio."""

from __future__ import annotations

import numpy as np

STOPS = (0.0, 0.5, 0.9, 1.0)
COLOURS = np.array([[176, 24, 72], [236, 142, 32], [126, 178, 92], [16, 134, 130]], dtype=float)
"""From nothing to everything delivered. They differ in brightness, too, and from each other for the colour-blind."""


def quality_colours(share: np.ndarray) -> np.ndarray:
    """Red, green and blue, uint8 [..., 3], of shares of packets delivered."""
    share = np.asarray(share, dtype=float)
    return np.stack([np.interp(share, STOPS, column) for column in COLOURS.T], axis=-1).astype(np.uint8)
