"""Look at the swarms of a run five times a second: for its summary, its verdict, a file and a figure.

A swarm is the vehicles of a system `flock`, `coverage` or `formation`, enabled or not (its members may be flown by
programs); without one, all vehicles that have a radio. What is measured is the truth, not what members believe.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from airloom.group import Group
from airloom.swarm.coverage.parameters import CoverageParameters
from airloom.swarm.coverage.watching import CoverageSeen
from airloom.swarm.formation import FormationParameters, FormationSeen
from airloom.swarm.metrics import Metrics, closest_approaches, measure
from airloom.swarm.parameters import USUAL_REACH, FlockParameters, SwarmParameters

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

PERIOD = 0.2  # s
FILE = "swarm.json"
USUAL_RADIUS = 1.0  # m
KINDS: dict[str, type[SwarmParameters]] = {
    "flock": FlockParameters, "coverage": CoverageParameters, "formation": FormationParameters,
}  # fmt: skip


class Purpose(Protocol):
    """What a swarm is for, beside holding together, and how well it does it."""

    keys: tuple[str, ...]
    """Of what `look` returns."""

    def look(self, time: float, positions: np.ndarray, flying: np.ndarray) -> tuple[float, ...]:
        """At those that fly: where they are, [member, 3], and which of the swarm, [member]."""

    def summary(self) -> dict[str, Any]: ...

    def told(self) -> str:
        """A few words for the verdict."""

    def complaint(self) -> str | None:
        """What is missing, if anything is."""


@dataclass
class Swarm:
    """One of them, and what was seen of it."""

    name: str
    group: Group
    parameters: SwarmParameters | None
    purpose: Purpose | None = None
    times: list[float] = field(default_factory=list)
    seen: list[Metrics] = field(default_factory=list)
    members: list[int] = field(default_factory=list)
    """How many were in the air."""
    done: list[tuple[float, ...]] = field(default_factory=list)
    """What was seen of the purpose."""
    collisions: int = 0
    nearest: float = np.inf
    _near: set[tuple[int, int]] = field(default_factory=set)

    @property
    def reach(self) -> float:
        return USUAL_REACH if self.parameters is None else self.parameters.reach

    @property
    def radius(self) -> float:
        return USUAL_RADIUS if self.parameters is None else self.parameters.collision_radius

    def look(self, time: float) -> None:
        flying = self._flying()
        self.members.append(len(flying))
        self.times.append(time)
        positions, velocities = self.group.positions[flying], self.group.velocities[flying]
        arena = self.parameters.arena if isinstance(self.parameters, FlockParameters) else None
        self.seen.append(measure(positions, velocities, self.reach, self.radius, arena))
        self._count_collisions(flying, positions, velocities)
        if self.purpose is not None:
            self.done.append(self.purpose.look(time, positions, flying))

    def _flying(self) -> np.ndarray:
        """Of a swarm with a height those that are there, of others those whose rotors may turn."""
        if (p := self.parameters) is not None:
            return np.flatnonzero(np.abs(self.group.positions[:, 2] - p.height) < p.layer)
        return np.flatnonzero([vehicle.armed for vehicle in self.group])

    def _count_collisions(self, flying: np.ndarray, positions: np.ndarray, velocities: np.ndarray) -> None:
        """A pair that has come nearer than the radius, or will have before the next look if both fly on."""
        approaches = closest_approaches(positions, velocities, PERIOD)
        self.nearest = min(self.nearest, float(approaches.min(initial=np.inf)))
        first, second = flying[np.stack(np.nonzero(np.triu(approaches <= self.radius, 1)))]
        near = set(zip(first.tolist(), second.tolist(), strict=True))
        self.collisions += len(near - self._near)
        self._near = near

    def summary(self) -> dict[str, Any]:
        """Means over the time in which at least two were in the air."""
        flown = [seen for seen, members in zip(self.seen, self.members, strict=True) if members >= 2]
        means = {key: _mean([getattr(seen, key) for seen in flown]) for key in Metrics._fields}
        return {
            "vehicles": len(self.group),
            "in_the_air_at_the_end": self.members[-1] if self.members else 0,
            "reach": self.reach,
            "collision_radius": self.radius,
            "collisions": self.collisions,
            "nearest": self.nearest,
            "mean": {key: means[key] for key in means if key not in ("too_near", "nearest")},
            **({} if self.purpose is None else self.purpose.summary()),
        }

    def series(self) -> dict[str, list[float | None]]:
        """All that was seen over time."""
        columns = {key: [getattr(seen, key) for seen in self.seen] for key in Metrics._fields}
        if self.purpose is not None:
            columns |= {key: [done[k] for done in self.done] for k, key in enumerate(self.purpose.keys)}
        return {"time": list(self.times), "members": list(map(float, self.members)), **columns}

    def judge(self, sim: Simulation) -> None:
        """Tell how it went, if the scenario says what is good."""
        if self.parameters is None or not any(members >= 2 for members in self.members):
            return
        text = f"{self._told()}, collisions {self.collisions}, nearest {self.nearest:.2f} m"
        if complaint := self._complaint(self.parameters):
            sim.fail(self.name, f"{text}; {complaint}")
        else:
            sim.succeed(self.name, text)

    def _told(self) -> str:
        if self.purpose is not None:
            return self.purpose.told()
        means = self.summary()["mean"]
        text = f"order {means['order']:.3f}, largest cluster {means['largest']:.1f} of {len(self.group)}, "
        return f"{text}{means['alone']:.1f} alone, {means['speed']:.2f} m/s"

    def _complaint(self, p: SwarmParameters) -> str | None:
        if self.purpose is not None and (complaint := self.purpose.complaint()):
            return complaint
        least = p.least_order if isinstance(p, FlockParameters) else None
        if least is not None and not self.summary()["mean"]["order"] >= least:
            return f"an order of {least:g} is wanted"
        most = p.most_collisions
        return f"{most} are allowed" if most is not None and self.collisions > most else None


class SwarmWatch:
    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.start()

    def start(self) -> None:
        """Look on from now on, without a memory."""
        self.swarms = _swarms(self._sim)
        if self.swarms:
            self._look_later()

    def _look_later(self) -> None:
        self._sim.call_at(self._sim.time + PERIOD, self._look)

    def _look(self) -> None:
        for swarm in self.swarms:
            swarm.look(self._sim.time)
        self._look_later()

    def judge(self) -> None:
        for swarm in self.swarms:
            swarm.judge(self._sim)

    def summary(self) -> dict[str, Any]:
        return {swarm.name: swarm.summary() for swarm in self.swarms}

    def write(self, folder: Path) -> None:
        """All that was seen, for figures and for others."""
        if self.swarms:
            found = {swarm.name: self._all_of(swarm) for swarm in self.swarms}
            (folder / FILE).write_text(json.dumps(_without_nan(found), allow_nan=False), encoding="utf-8")

    def _all_of(self, swarm: Swarm) -> dict[str, Any]:
        all_of_it: dict[str, Any] = {"summary": swarm.summary(), "series": swarm.series()}
        if isinstance(swarm.purpose, CoverageSeen):
            system = self._sim.systems.get(swarm.name)
            all_of_it |= {"map": swarm.purpose.map(), **({} if system is None else system.report(self._sim))}
        return all_of_it


def _swarms(sim: Simulation) -> list[Swarm]:
    if sim.radio is None:
        return []
    found = []
    for name, choice in sim.scenario.systems.items():
        if choice.kind in KINDS:
            parameters = KINDS[choice.kind].model_validate(choice.parameters)
            found.append(Swarm(name, sim.group(parameters.vehicles), parameters, _purpose(sim, parameters)))
    if not found:
        heard: Sequence[Vehicle] = [vehicle for name, vehicle in sim.vehicles.items() if name in sim.radio]
        found.append(Swarm("swarm", Group(sim, heard), None))
    return [swarm for swarm in found if len(swarm.group) > 1]


def _purpose(sim: Simulation, parameters: SwarmParameters) -> Purpose | None:
    if isinstance(parameters, CoverageParameters):
        from airloom.swarm.coverage.coverage import area_of  # all that flies a coverage, of no use to other runs

        return CoverageSeen(parameters, area_of(parameters, sim.scenario))
    return FormationSeen(parameters) if isinstance(parameters, FormationParameters) else None


def _mean(values: list[float]) -> float:
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else float("nan")


def _without_nan(value: Any) -> Any:
    """JSON has no such numbers: what is not known is null."""
    if isinstance(value, dict):
        return {key: _without_nan(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_nan(one) for one in value]
    return value if not isinstance(value, float) or np.isfinite(value) else None
