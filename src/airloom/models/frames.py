"""Frames of SDF: everything has a pose as seen from something else, in any order, perhaps within models in models."""

from __future__ import annotations

from dataclasses import dataclass

from airloom.models.description import ModelError, Pose

ROOT = "__root__"


@dataclass(frozen=True)
class Scope:
    """The model in which names are looked up: what stands before them, and the model's own frame."""

    prefix: str = ""
    frame: str = ROOT

    def full(self, name: str) -> str:
        name = name.removesuffix("::__model__")
        if name in ("__model__", ""):
            return self.frame
        return ROOT if name == "world" else self.prefix + name


@dataclass(frozen=True)
class _Frame:
    relative_to: str
    pose: Pose
    placement: str | None
    """The frame within a model that the pose is meant for, instead of the model's own."""
    place: str


class Frames:
    def __init__(self) -> None:
        self._frames: dict[str, _Frame] = {}
        self._known: dict[str, Pose] = {ROOT: Pose()}

    def __contains__(self, name: str) -> bool:
        return name == ROOT or name in self._frames

    def add(self, name: str, relative_to: str, pose: Pose, place: str, placement: str | None = None) -> None:
        if name in self._frames:
            raise ModelError(f"{place}: there are two of the name '{name}'")
        self._frames[name] = _Frame(relative_to, pose, placement, place)

    def pose(self, name: str) -> Pose:
        """In the axes of the outermost model."""
        if name not in self._known:
            self._known[name] = self._pose_in(name, ROOT, ())
        return self._known[name]

    def _pose_in(self, name: str, root: str, way: tuple[str, ...]) -> Pose:
        if name == root:
            return Pose()
        frame = self._frames.get(name)
        if frame is None:
            place = self._frames[way[-1]].place if way else "the model"
            raise ModelError(f"{place}: something is placed relative to '{name}', and there is none")
        if name in way:
            raise ModelError(
                f"{frame.place}: frames are placed relative to each other in a circle: {' → '.join([*way, name])}"
            )
        pose = self._pose_in(frame.relative_to, root, (*way, name)) @ frame.pose
        if frame.placement is not None:
            pose = pose @ self._pose_in(frame.placement, name, ()).inverse()
        return pose
