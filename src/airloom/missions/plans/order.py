"""The order in which a plan's steps are flown, through jumps, and what they lead to on the way.

What a step leads to depends on what was flown before: speed, place and height.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import dist, inf
from typing import Any

from airloom.missions.fence import Point
from airloom.missions.items import Follow, GoTo, Land
from airloom.missions.plans.file import Heights, Place, PlanFile
from airloom.scenario.models import Vector3

MOST_STEPS = 100_000


@dataclass(frozen=True)
class SplinePoint:
    """A point to fly through without a stop, together with those beside it."""

    place: Vector3
    speed: float | None


@dataclass
class Way:
    """How far the plan has come."""

    place: Vector3
    speed: float | None
    """None for what the pilot chooses."""
    ground: Heights
    in_the_air: bool = False
    is_over: bool = False

    def goto(self, place: Place, yaw: float | None = None, acceptance: float | None = None) -> GoTo:
        self.place = (place.x, place.y, place.z)
        more = {"yaw": yaw, "acceptance": acceptance, **self.pace}
        if place.height is None:
            return GoTo(goto=self.place, **more)
        return GoTo(goto=(place.x, place.y, place.height), above_ground=True, **more)

    @property
    def pace(self) -> dict[str, float]:
        return {} if self.speed is None else {"speed": self.speed}

    def goto_level(self, point: Point) -> GoTo:
        return self.goto(Place(*point, self.place[2]))

    def land(self, at: Point | None = None, course: float | None = None) -> Land:
        x, y = self.place[:2] if at is None else at
        self.in_the_air, self.place = False, (x, y, self.ground(x, y))
        return Land(land=None, at=at, course=course)

    @property
    def circumstances(self) -> tuple[Any, ...]:
        return self.place, self.speed, self.in_the_air


Flight = Callable[[Way], Iterator[Any]]


def nothing(way: Way) -> Iterator[Any]:
    return iter(())


@dataclass
class Step:
    where: str
    fly: Flight
    jump_id: int | None = None
    jumps_to: int | None = None
    """the jump_id of the step to go on with, `times` times"""
    times: float = 0


@dataclass
class Flown:
    """What is flown, each item with the place of its step in the file."""

    items: list[tuple[str, Any]] = field(default_factory=list)
    again_from: int | None = None
    """of an endless jump, the item from which all begins again"""


def in_order(plan: PlanFile, steps: list[Step]) -> Flown:
    """A jump that was made as often as it may is passed by, as autopilots do, also when it is reached again."""
    flown, way = Flown(), Way((*plan.home, plan.home_height), plan.speed, plan.ground)
    left, targets = [step.times for step in steps], _targets(plan, steps)
    passed: dict[int, tuple[int, Any]] = {}
    at, reached = 0, set()
    for _ in range(MOST_STEPS):
        if at >= len(steps) or way.is_over:
            break
        step = steps[at]
        plan.where = step.where
        reached.add(at)
        if step.jumps_to is None or left[at] == 0:
            flown.items += [(step.where, item) for item in step.fly(way)]
            at += 1
            continue
        left[at] -= 1
        if left[at] == inf:
            begun, before = passed.get(at, (0, None))
            passed[at] = len(flown.items), (tuple(left), way.circumstances)
            if passed[at][1] == before:
                flown.again_from = begun
                break
        at = targets[step.jumps_to]
    else:
        raise plan.error(f"with its jumps the plan has more than {MOST_STEPS} steps")
    _check(plan, flown, [step for k, step in enumerate(steps) if k not in reached])
    return flown


def _targets(plan: PlanFile, steps: list[Step]) -> dict[int, int]:
    targets = {step.jump_id: at for at, step in reversed(list(enumerate(steps))) if step.jump_id is not None}
    for step in steps:
        if step.jumps_to is not None and step.jumps_to not in targets:
            plan.where = step.where
            raise plan.error(f"jumps to doJumpId {step.jumps_to}, which no item outside surveys has")
    return targets


def _check(plan: PlanFile, flown: Flown, unreached: list[Step]) -> None:
    if flown.items and flown.again_from == len(flown.items):
        raise plan.error("the jump leads back to itself, and nothing is flown on the way")
    if not flown.items:
        plan.where = plan.name
        raise plan.error("the plan holds nothing to fly")
    if unreached:
        plan.where = unreached[0].where
        plan.warn("is never reached" + (f", nor {len(unreached) - 1} others" if len(unreached) > 1 else ""))


def with_splines(flown: Flown) -> Flown:
    """Points of splines that follow one another become one path; where all begins again, another begins."""
    joined = Flown()
    run: list[tuple[str, SplinePoint]] = []

    def end_run() -> None:
        if run:
            points, speed = [point.place for _, point in run], run[0][1].speed
            pace = {} if speed is None else {"speed": speed}
            path = GoTo(goto=points[0], **pace) if len(run) == 1 else Follow(follow=points, **pace)
            joined.items.append((run[0][0], path))
            run.clear()

    for k, (where, item) in enumerate(flown.items):
        is_point = isinstance(item, SplinePoint)
        if not is_point or k == flown.again_from or (run and run[-1][1].speed != item.speed):
            end_run()
        if k == flown.again_from:
            joined.again_from = len(joined.items)
        if not is_point:
            joined.items.append((where, item))
        elif not run or dist(run[-1][1].place, item.place) > 1e-3:
            run.append((where, item))
    end_run()
    return joined
