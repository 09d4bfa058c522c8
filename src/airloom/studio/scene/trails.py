"""Where vehicles were in the last seconds, in a fixed number of lines; farther back where time runs fast."""

from __future__ import annotations

import numpy as np

from airloom.studio.scene.gltf import linear
from airloom.world.meshes import Colour

SECONDS = (2.0, 8.0)  # shorter the more vehicles there are, or nothing else would be seen
LINES_AT_MOST = 3000  # for all vehicles together
LINES_EACH = (8, 80)
PALE = np.array([200, 204, 202])
FEW = 8  # vehicles, whose trails are brighter and wider than those of many


class Trails:
    def __init__(self, vehicles: int) -> None:
        self.lines = int(np.clip(LINES_AT_MOST // vehicles, *LINES_EACH))
        self.seconds = float(np.clip(24.0 / np.sqrt(vehicles), *SECONDS))
        self.interval = self.seconds / self.lines
        self.strength = float(np.clip(np.sqrt(FEW / vehicles), 0.55, 1.0))
        """Of the newest end's colour: the vehicles stand out before the trails of many."""
        self.width = 2.0 if vehicles <= FEW else 1.2  # pixels
        self._time: float | None = None
        self._points = np.zeros((vehicles, self.lines + 1, 3), dtype=np.float32)

    def push(self, time: float, positions: np.ndarray) -> bool:
        """Go on to new positions, once they are an interval later. Says whether anything has changed.

        Where time has gone back or made a leap, the trail starts anew.
        """
        if self._time is None or not self._time <= time < self._time + self.seconds:
            self._points[:] = positions[:, None]
        elif time < self._time + 0.99 * self.interval:
            return False
        else:
            self._points[:, :-1] = self._points[:, 1:]
            self._points[:, -1] = positions
        self._time = time
        return True

    def segments(self) -> np.ndarray:
        """Ends of all lines [line, end, xyz], each vehicle's from the oldest to the newest."""
        return np.stack([self._points[:, :-1], self._points[:, 1:]], axis=2).reshape(-1, 2, 3)

    def colours(self, newest: Colour) -> np.ndarray:
        """Of all ends of lines, of light as the browser takes them."""
        ages = self.strength * np.linspace(0.0, 1.0, self.lines + 1)[:, None] ** 0.7
        shades = linear(PALE + ages * (np.array(newest) - PALE))
        pairs = (255 * np.stack([shades[:-1], shades[1:]], axis=1)).astype(np.uint8)
        return np.tile(pairs, (len(self._points), 1, 1))
