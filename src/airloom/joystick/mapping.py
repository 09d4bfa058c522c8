"""What the axes and buttons of a game controller mean: a YAML file."""

from __future__ import annotations

from functools import cached_property
from math import copysign, pi
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from airloom.joystick.state import AXES, BUTTONS, StickError, StickState
from airloom.scenario.document import read
from airloom.scenario.errors import ScenarioError, all_in_one, hint
from airloom.scenario.library import looks_like_path
from airloom.scenario.models import Positive, Vector3
from airloom.scenario.tree import plain
from airloom.scenario.validation import complaints

Action = Literal[
    "idle", "position_yaw", "velocity_yawrate", "thrust_attitude", "thrust_velocity", "thrust_torque",
    "takeoff", "land", "restart", "reset_pose",
]  # fmt: skip


def _known_axis(name: str | int) -> str | int:
    _number_of(name, AXES, "axis")
    return name


def _known_button(name: str) -> str:
    _number_of(name, BUTTONS, "button")
    return name


def _number_of(name: str | int, names: tuple[str, ...], what: str) -> int:
    if str(name).isdecimal():
        return int(name)
    if name not in names:
        article = "an" if what[0] in "aeiou" else "a"
        raise ValueError(f"'{name}' is not {article} {what}{hint(str(name), names, 'Known')}, or a number from 0")
    return names.index(str(name))


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class Axis(_Model):
    """An axis by its name, or by its number on a device that is no game controller."""

    axis: Annotated[str | int, AfterValidator(_known_axis)]
    inverted: bool = False

    @property
    def number(self) -> int:
        return _number_of(self.axis, AXES, "axis")

    def value(self, state: StickState, dead_zone: float) -> float:
        raw = state.axes[self.number]
        beyond = max(abs(raw) - dead_zone, 0.0) / (1.0 - dead_zone)
        return copysign(beyond, -raw if self.inverted else raw) if beyond else 0.0


class Axes(_Model):
    """Which axis moves what: forward, to the left, up, and a turn to the left."""

    x: Axis
    y: Axis
    z: Axis
    yaw: Axis


class Scales(_Model):
    """What a full deflection stands for."""

    position: Positive = Field(10.0, description="m")
    velocity: Positive = Field(1.0, description="m/s")
    yaw_rate: Positive = Field(1.0, description="rad/s")
    thrust: Positive = Field(10.0, description="more or less than the weight, N")
    attitude: Positive = Field(pi, description="rad")
    angular_velocity: Positive = Field(pi, description="rad/s")
    torque: float = Field(1.0, gt=0, le=1, description="part of what the vehicle can give while it hovers")


class Sticks(NamedTuple):
    """Deflections from −1 to 1: forward, to the left, up, turn to the left."""

    x: float
    y: float
    z: float
    yaw: float

    @property
    def ahead(self) -> np.ndarray:
        """Without the turn."""
        return np.array(self[:3])


class Mapping(_Model):
    """Axes, buttons and scales of a game controller."""

    description: str = ""
    axes: Axes
    buttons: dict[Annotated[str, AfterValidator(_known_button)], Action]
    dead_zone: float = Field(0.1, ge=0, lt=1, description="deflection below which an axis counts as released")
    scales: Scales = Scales()
    takeoff_height: Positive = Field(6.0, description="m")
    restart_position: Vector3 = Field((0.0, 0.0, 6.0), description="m")
    velocity_frame: Literal["body", "world"] = Field("body", description="body: forward is where the vehicle looks")

    @classmethod
    def load(cls, name_or_path: str | Path) -> Mapping:
        """A bundled mapping by name, or a file."""
        root = read(_file_of(str(name_or_path)))
        try:
            return cls.model_validate(plain(root))
        except ValidationError as error:
            raise all_in_one(complaints(error, root, cls).values()) from error

    def sticks(self, state: StickState) -> Sticks:
        return Sticks(*(axis.value(state, self.dead_zone) for axis in self._axes))

    def actions(self, state: StickState) -> set[Action]:
        """What the buttons that are down stand for."""
        return {action for number, action in self._actions.items() if state.buttons[number]}

    def must_suit(self, state: StickState) -> None:
        """Refuse a state with fewer axes or buttons than the mapping uses."""
        self._must_have("axes", len(state.axes), max(axis.number for axis in self._axes) + 1)
        self._must_have("buttons", len(state.buttons), max(self._actions, default=-1) + 1)

    def _must_have(self, what: str, there: int, needed: int) -> None:
        if there < needed:
            raise StickError(f"the mapping uses {needed} {what}, but the device has {there}")

    @cached_property
    def _axes(self) -> tuple[Axis, ...]:
        return self.axes.x, self.axes.y, self.axes.z, self.axes.yaw

    @cached_property
    def _actions(self) -> dict[int, Action]:
        return {_number_of(name, BUTTONS, "button"): action for name, action in self.buttons.items()}


def bundled() -> dict[str, Path]:
    return {file.stem: file for file in sorted(Path(__file__).parent.glob("*.yaml"))}


def _file_of(name: str) -> Path:
    if looks_like_path(name):
        return Path(name).absolute()
    if name not in bundled():
        raise ScenarioError(f"no mapping is called '{name}'{hint(name, bundled(), 'Known')}, or a path such as my.yaml")
    return bundled()[name]
