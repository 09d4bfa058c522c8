"""How far what a vehicle's estimator believes is from what is, and how far is too far.

A position loop that is turned by a wrong heading of ψ loses ψ of its phase margin, of which the tuned one has 34°
(control/multirotor.py): beyond that a vehicle circles its setpoint in ever larger turns. So a heading is *doubtful*
from half of it on, when there is still time to act, and *lost* at 40°. A position is doubtful at 3 m and lost at 15 m,
more by what a fast vehicle flies in half a second and in two, for readings are late.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import degrees, radians

import numpy as np

from airloom.compiled import rows as row

PERSISTS = 2.0  # s, for which they must be apart
LEVEL = 0.3  # of body x, below which it points up or down and has no heading


@dataclass(frozen=True)
class Bound:
    meters: float
    seconds: float
    heading: float

    def passed(self, off: np.ndarray, speed: np.ndarray, turned: np.ndarray) -> np.ndarray:
        return (off > self.meters + self.seconds * speed) | (turned > self.heading)


DOUBTFUL = Bound(3.0, 0.5, radians(17.0))
LOST = Bound(15.0, 2.0, radians(40.0))


def _forward(quaternions: np.ndarray) -> np.ndarray:
    """East and north of body x."""
    a, b, c, d = quaternions
    return np.array([1.0 - 2.0 * (c * c + d * d), 2.0 * (b * c + a * d)])


class Apart:
    """How far belief and truth are apart, for blocks as [row, block, lane]."""

    def __init__(self, states: np.ndarray, beliefs: np.ndarray) -> None:
        """Of each the first rows are position, velocity and attitude, as the workspace has those of the estimate."""
        self.off = np.sqrt(((beliefs[:3] - states[:3]) ** 2).sum(axis=0))
        self.speed = np.sqrt((states[3:6] ** 2).sum(axis=0))
        believed, real = _forward(beliefs[6:10]), _forward(states[6:10])
        turn = np.arctan2(real[0] * believed[1] - real[1] * believed[0], real[0] * believed[0] + real[1] * believed[1])
        steep = np.minimum(np.hypot(*believed), np.hypot(*real)) < LEVEL
        self.turned = np.where(steep, 0.0, np.abs(turn))

    def passes(self, bound: Bound) -> np.ndarray:
        return bound.passed(self.off, self.speed, self.turned)

    def told(self, block: int, lane: int) -> str:
        off, turned = self.off[block, lane], degrees(self.turned[block, lane])
        return f"its estimate is {off:.3g} m and {turned:.3g}° of heading from the truth"


def states_and_beliefs(rows: Callable[[int, int], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Both in the order of the estimate's rows; `rows(first, count)` gives some of all blocks."""
    states = np.concatenate([rows(row.PX, 3), rows(row.VX, 3), rows(row.QW, 4)])
    return states, rows(row.EPX, 10)
