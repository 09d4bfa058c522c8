"""A way to go for those who agree on it by radio alone.

Each goes from the middle of those it knows, itself among them, towards the point that it is at. It counts the points it
has left behind and tells the others; whoever hears of a higher number takes it. So one that reaches a point takes along
all that hear of it, at once or later.
"""

from __future__ import annotations

import numpy as np

from airloom.swarm.words import MOST_LEGS


def middles(own: np.ndarray, others: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Of each member and those it knows, in the plane: [member, 6], [member, node, 6], [member, node] → [member, 2]."""
    sums = own[:, :2].copy()
    for node in range(known.shape[1]):  # one by one, so that a sum does not depend on how many members there are
        sums += np.where(known[:, node, None], others[:, node, :2], 0.0)
    return sums / (1 + known.sum(axis=1))[:, None]


class Way:
    """Points in the plane, and how far each member has come."""

    def __init__(self, points: list[tuple[float, float]], near: float, again: bool, members: int) -> None:
        self._points, self._near, self._again = np.array(points, float).reshape(-1, 2), near, again
        self.legs = np.zeros(members, np.int64)

    def __len__(self) -> int:
        return len(self._points)

    def headings(self, middle: np.ndarray, heard: np.ndarray) -> np.ndarray:
        """Where each goes, [member, 2], of length 1 or less near the last point.

        `heard` are the highest legs that each has heard of, [member].
        """
        self.legs = np.maximum(self.legs, heard)
        left = self._targets() - middle
        away = np.sqrt(left[:, 0] * left[:, 0] + left[:, 1] * left[:, 1])
        last = MOST_LEGS if self._again else len(self._points) - 1
        self.legs = np.where((away < self._near) & (self.legs < last), self.legs + 1, self.legs)
        left = self._targets() - middle
        away = np.sqrt(left[:, 0] * left[:, 0] + left[:, 1] * left[:, 1])
        slowing = np.zeros(len(away)) if self._again else np.where(self.legs == last, self._near, 0.0)
        return left / np.maximum(np.maximum(away, slowing), 1e-9)[:, None]

    def _targets(self) -> np.ndarray:
        count = len(self._points)
        return self._points[self.legs % count if self._again else np.minimum(self.legs, count - 1)]
