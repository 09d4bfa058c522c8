"""A hand at a stick."""

from __future__ import annotations

from airloom.joystick import AXES, BUTTONS, Mapping, Stick, StickState
from airloom.simulation import Simulation


def shown(*down: str, **axes: float) -> StickState:
    return StickState([axes.get(name, 0.0) for name in AXES], [name in down for name in BUTTONS])


class Hand:
    """Holds a stick for a while."""

    def __init__(self, sim: Simulation, name: str = "drone", **options) -> None:
        self.sim, self.vehicle = sim, sim.vehicles[name]
        self.stick = Stick(sim, self.vehicle, Mapping.load("ps4"), **options)
        self.stick.feed(shown())

    def press(self, *buttons: str) -> None:
        self.stick.feed(shown(*buttons))
        self.stick.feed(shown())

    def hold(self, seconds: float, **axes: float) -> None:
        end = self.sim.time + seconds
        while self.sim.time < end:
            self.stick.feed(shown(**axes))
            self.sim.run(self.sim.time + 0.02)
