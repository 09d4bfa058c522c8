"""What all eyes share: where they look from, who wants what they see, and how late they tell it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from airloom.basics.rotations import matrix_from_euler, matrix_from_quaternion
from airloom.bus.bus import Bus, Topic
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.errors import UserError
from airloom.plugin import Parameters, Plugin
from airloom.scenario.models import NonNegative
from airloom.sensors.faults import Fault
from airloom.sensors.sensor import Mounted

if TYPE_CHECKING:
    from airloom.eyes.sight import Sight


class EyeError(UserError):
    """An eye cannot see for want of something; the message is meant for the user."""


class EyeErrors(Parameters):
    """How a measured distance d differs from the true one: σ = noise + growth d²."""

    noise: NonNegative = Field(0.0, description="standard deviation near by, m")
    growth: NonNegative = Field(0.0, description="of the standard deviation with the distance's square, 1/m")
    bias: float = Field(0.0, description="constant bias, m")
    dropout: float = Field(0.0, ge=0, le=1, description="share of rays that no answer comes back from")
    grazing: float = Field(0.0, ge=0, lt=1.5, description="surfaces seen at a smaller angle give no answer, rad")


@dataclass(frozen=True)
class Frame:
    """What an eye saw at one time, and from where."""

    time_ns: int
    """When it was measured."""
    position: np.ndarray
    """Of the eye, world, m."""
    rotation: np.ndarray
    """From the eye's axes, x forward and z up, to the world's."""

    def to_world(self, points: np.ndarray) -> np.ndarray:
        """Points [n, 3] in the eye's axes as places in the world."""
        return points @ self.rotation.T + self.position


class Eye(Plugin):
    """A sensor that sees. It has no kernel: it looks at its rate while the loop pauses, if somebody wants it."""

    category = "sensor"
    Parameters: ClassVar[type[Parameters]] = Mounted

    def __init__(self, name: str, vehicle: str, rate: float, parameters: Mounted) -> None:
        self.name, self.vehicle, self.rate, self.parameters = name, vehicle, rate, parameters
        self.is_asked = False
        """Whether a program wants what it sees."""
        self.topics: dict[str, Topic] = {}
        self._mount = matrix_from_euler(parameters.roll, parameters.pitch, parameters.yaw)
        self.reset(0)

    @classmethod
    def message_types(cls) -> dict[str, str]:
        """The last part of each of its topics, and what that carries."""
        raise NotImplementedError

    def reset(self, key: int) -> None:
        """Forget all that was seen; `key` is that of its noise."""
        self.key, self.fault = key, Fault()
        self.frame: Frame | None = None
        """The last that was published."""
        self._on_their_way: deque[tuple[int, Frame]] = deque()
        self._measured: Frame | None = None
        self.was_buried = False

    def advertise(self, bus: Bus) -> None:
        base = f"/{self.vehicle}/{self.name}"
        self.topics = {name: bus.advertise(f"{base}/{name}", kind) for name, kind in self.message_types().items()}

    @property
    def is_wanted(self) -> bool:
        return self.is_asked or any(topic.wanted for topic in self.topics.values())

    @property
    def frame_id(self) -> str:
        return f"{self.vehicle}/{self.name}"

    def pose(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Place and rotation in the world, from the vehicle's rows."""
        body = matrix_from_quaternion(column[row.QW // LANES :][:4])
        return column[row.PX // LANES :][:3] + body @ np.array(self.parameters.position), body @ self._mount

    def measure(self, sight: Sight, column: np.ndarray, tick: int, due: int) -> None:
        """Take a look, which is published at the tick `due`."""
        if self.fault.outage:
            self._on_their_way.clear()
            return
        if self._measured is None or not self.fault.frozen:
            self._measured = self.look(sight, *self.pose(column), tick)
        else:
            self._measured = replace(self._measured, time_ns=tick * sight.step_ns)
        self._on_their_way.append((due, self._measured))

    def deliver(self, tick: int, step_ns: int) -> None:
        """Publish the look whose time has come."""
        while self._on_their_way and self._on_their_way[0][0] <= tick:
            due, self.frame = self._on_their_way.popleft()
            self.publish(self.frame, due * step_ns)

    def look(self, sight: Sight, position: np.ndarray, rotation: np.ndarray, tick: int) -> Frame:
        raise NotImplementedError

    def publish(self, frame: Frame, time_ns: int) -> None:
        """On those of its topics that somebody wants."""
        raise NotImplementedError
