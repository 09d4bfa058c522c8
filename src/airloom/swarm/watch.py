"""Look at the swarms of a run five times a second: for its summary, its verdict, a file and a figure.

A swarm is the vehicles of a system `flock`, enabled or not (its members may be flown by programs); without one, all
vehicles that have a radio. What is measured is the truth, not what members believe.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.group import Group
from airloom.swarm.metrics import Metrics, closest_approaches, measure
from airloom.swarm.parameters import FlockParameters

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

PERIOD = 0.2  # s
FILE = "swarm.json"
USUAL_REACH, USUAL_RADIUS = 50.0, 1.0  # m


@dataclass
class Swarm:
    """One of them, and what was seen of it."""

    name: str
    group: Group
    flock: FlockParameters | None
    times: list[float] = field(default_factory=list)
    seen: list[Metrics] = field(default_factory=list)
    members: list[int] = field(default_factory=list)
    """How many were in the air."""
    collisions: int = 0
    nearest: float = np.inf
    _near: set[tuple[int, int]] = field(default_factory=set)

    @property
    def reach(self) -> float:
        return USUAL_REACH if self.flock is None else self.flock.reach

    @property
    def radius(self) -> float:
        return USUAL_RADIUS if self.flock is None else self.flock.collision_radius

    def look(self, time: float) -> None:
        flying = self._flying()
        self.members.append(len(flying))
        self.times.append(time)
        positions, velocities = self.group.positions[flying], self.group.velocities[flying]
        arena = None if self.flock is None else self.flock.arena
        self.seen.append(measure(positions, velocities, self.reach, self.radius, arena))
        self._count_collisions(flying, positions, velocities)

    def _flying(self) -> np.ndarray:
        """Of a flock those that are where it flies, of others those whose rotors may turn."""
        if self.flock is not None:
            return np.flatnonzero(np.abs(self.group.positions[:, 2] - self.flock.height) < self.flock.layer)
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
        }

    def series(self) -> dict[str, list[float | None]]:
        """All that was seen over time."""
        columns = {key: [getattr(seen, key) for seen in self.seen] for key in Metrics._fields}
        return {"time": list(self.times), "members": list(map(float, self.members)), **columns}

    def judge(self, sim: Simulation) -> None:
        """Tell how it went, if the scenario says what is good."""
        if self.flock is None or not any(members >= 2 for members in self.members):
            return
        means, order = self.summary()["mean"], self.summary()["mean"]["order"]
        text = f"order {order:.3f}, largest cluster {means['largest']:.1f} of {len(self.group)}, {means['alone']:.1f} "
        text += f"alone, {means['speed']:.2f} m/s, collisions {self.collisions}, nearest {self.nearest:.2f} m"
        least, most = self.flock.least_order, self.flock.most_collisions
        if least is not None and not order >= least:
            sim.fail(self.name, f"{text}; an order of {least:g} is wanted")
        elif most is not None and self.collisions > most:
            sim.fail(self.name, f"{text}; {most} are allowed")
        else:
            sim.succeed(self.name, text)


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
            found = {swarm.name: {"summary": swarm.summary(), "series": swarm.series()} for swarm in self.swarms}
            (folder / FILE).write_text(json.dumps(_without_nan(found), allow_nan=False), encoding="utf-8")


def _swarms(sim: Simulation) -> list[Swarm]:
    if sim.radio is None:
        return []
    flocks = {name: choice.parameters for name, choice in sim.scenario.systems.items() if choice.kind == "flock"}
    found = []
    for name, parameters in flocks.items():
        flock = FlockParameters.model_validate(parameters)
        found.append(Swarm(name, sim.group(flock.vehicles), flock))
    if not flocks:
        heard: Sequence[Vehicle] = [vehicle for name, vehicle in sim.vehicles.items() if name in sim.radio]
        found.append(Swarm("swarm", Group(sim, heard), None))
    return [swarm for swarm in found if len(swarm.group) > 1]


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
