"""A wind law with its numbers: a layer of the weather."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from airloom.compiled import Kernel
from airloom.scenario.models import World
from airloom.world.land import Land


class Surroundings(NamedTuple):
    """What a layer may need to know beside what its file says."""

    world: World
    land: Land
    duration: float
    """of the run that is planned, s"""
    mean_wind: np.ndarray
    """`world.wind` and constant layers together, m/s"""


class Law:
    """The kernel of a layer, and the numbers it works on, which are kept here as long as the loop may use them."""

    kernel: Kernel

    def __init__(self, layer: Any, around: Surroundings) -> None:
        self.numbers = np.zeros(0)

    def begin(self, key: int) -> None:
        """The run begins, with the noise of this key."""

    def change_mean(self, wind: np.ndarray, time: float) -> None:
        """From this time on, s, the mean wind is another one."""

    def state(self) -> np.ndarray:
        """Those of its numbers that may change in flight."""
        return np.zeros(0)

    def take_over(self, before: Law) -> None:
        """Go on as a law of the same kind in the same layer."""
        self.state()[:] = before.state()

    def why_not(self, time: float, position: tuple[float, float, float]) -> str:
        """What is wrong with it at a time and place where it gave no number."""
        return "gives no number"

    def complaint(self) -> str | None:
        """What the user should know by now, said once."""
        return None
