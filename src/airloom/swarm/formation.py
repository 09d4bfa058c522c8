"""A formation: each member keeps its place beside a leader that it hears of; if the leader is silent, the next leads.

The order of the members is their rank. Who hears of nobody of a higher rank leads: it goes the way. All others follow
the highest-ranked of whom they hear:

    v_i = v_l + k (r_l + o_i − o_l − r_i)

r_l, v_l  position, m, and velocity, m/s, of the leader, flown on from what it told last
o_i, o_l  places of the member and of the leader in the formation, m, in the world's axes
k         gain, 1/s

For a leader of constant velocity the error of a follower goes as e^(−k t) towards what its sensor is off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from airloom.basics.patterns import matches
from airloom.scenario.values import NonNegative, Point, Positive
from airloom.swarm.driven import Driven
from airloom.swarm.onboard import Onboard, limit
from airloom.swarm.parameters import SwarmParameters
from airloom.swarm.vasarhelyi import Vasarhelyi, add_vasarhelyi
from airloom.swarm.way import Way

if TYPE_CHECKING:
    from airloom.scenario.models import Scenario
    from airloom.simulation import Simulation


class FormationParameters(SwarmParameters):
    places: list[Point] = Field(
        min_length=2, max_length=1000, description="of the members in the formation, the leader's first, m"
    )
    way: list[Point] = Field(min_length=1, max_length=1000, description="points that the leader goes to in turn, m")
    near: Positive = Field(3.0, description="a point of the way is reached when the leader is so near, m")
    again: bool = Field(True, description="whether the way begins anew after its last point")
    speed: Positive = Field(3.0, le=100, description="of the leader, m/s")
    v_max: Positive = Field(6.0, le=100, description="greatest speed that is commanded, m/s")
    gain: Positive = Field(0.8, le=10, description="of the followers, 1/s")
    apart: Positive = Field(3.0, description="two that are nearer turn away from each other, m")
    most_error: NonNegative | None = Field(
        None, description="mean distance of followers from their places above which the run has failed, m"
    )


def leaders(known: np.ndarray, columns: Sequence[int], ranked: Sequence[int]) -> np.ndarray:
    """The rank of whom each follows, its own if it leads: [member].

    known    [member, node]  of whom each has heard
    columns  [member]        where each stands among the nodes
    ranked   [rank]          where those of the formation do
    """
    heard = known[:, list(ranked)]
    own = np.array([list(ranked).index(column) for column in columns])
    heard[np.arange(len(own)), own] = True
    return heard.argmax(axis=1)


class Following(Onboard):
    """What the computer of each member of a formation does. `formation` has the names of all, by rank."""

    def __init__(
        self, parameters: FormationParameters, formation: Sequence[str], members: Sequence[str], nodes: Sequence[str]
    ) -> None:
        super().__init__(parameters, members, nodes)
        self._p, at = parameters, list(nodes)
        self._columns, self._ranked = [at.index(name) for name in members], [at.index(name) for name in formation]
        self._ranks = np.array([list(formation).index(name) for name in members])
        self._places = np.array(parameters.places)
        self._way = Way(parameters.way, parameters.near, parameters.again, len(members))
        self.leaders = self._ranks.copy()
        """The rank of whom each follows."""
        self._repulsion = np.array(
            Vasarhelyi(
                kind="vasarhelyi", r_rep=parameters.apart, p_rep=1.0, v_rep=parameters.v_max, c_frict=0.0
            ).numbers()
        )

    def _told(self, member: int) -> list[bytes]:
        return [self._place(member, int(self._way.legs[member]))]

    def _in_the_plane(self, own: np.ndarray, time_ns: int) -> np.ndarray:
        p = self._p
        others, known = self._others(own, time_ns)
        self.leaders = leaders(known, self._columns, self._ranked)
        heard = np.where(known, self._neighbours.legs, 0).max(axis=1, initial=0)
        before = self._way.legs.copy()
        headings = self._way.headings(own[:, :2], heard)
        leads = self.leaders == self._ranks
        self._way.legs = np.where(leads, self._way.legs, np.maximum(before, heard))  # who follows counts no points
        leader = others[np.arange(len(own)), np.array(self._ranked)[self.leaders]]
        place = leader[:, :2] + self._places[self._ranks] - self._places[self.leaders]
        follow = leader[:, 3:5] + p.gain * (place - own[:, :2])
        wanted = np.where(leads[:, None], p.speed * headings, follow)
        add_vasarhelyi(own, others, known, self._repulsion, wanted)
        limit(p.v_max, wanted)
        return wanted


class Formation(Driven):
    """Fly vehicles in a formation by radio alone: a leader goes a way, followers keep their places beside it."""

    Parameters = FormationParameters
    parameters: FormationParameters

    @classmethod
    def mistakes(cls, parameters: FormationParameters, scenario: Scenario) -> Iterator[tuple[str, str]]:
        yield from super().mistakes(parameters, scenario)
        names = [name for key, vehicle in scenario.vehicles.items() for name in vehicle.names(key)]
        members = sum(matches(name, parameters.vehicles) for name in names)
        if members > len(parameters.places):
            yield "places", f"{members} vehicles need as many places, not {len(parameters.places)}"

    def _logic_for(self, sim: Simulation, members: list[str], nodes: list[str]) -> Following:
        return Following(self.parameters, self._group.names, members, nodes)


class FormationSeen:
    """How far followers are from their places, by the truth, beside the first in rank that flies."""

    keys: tuple[str, ...] = ("formation_error", "formation_worst")

    def __init__(self, parameters: FormationParameters) -> None:
        self._p, self._places = parameters, np.array(parameters.places)
        self._errors: list[float] = []

    def look(self, time: float, positions: np.ndarray, flying: np.ndarray) -> tuple[float, float]:
        """From where those are that fly, [member, 3], and their ranks, [member]."""
        if len(flying) < 2:
            return float("nan"), float("nan")
        wanted = positions[0, :2] + self._places[flying[1:]] - self._places[flying[0]]
        errors = np.linalg.norm(positions[1:, :2] - wanted, axis=1)
        self._errors.append(float(errors.mean()))
        return float(errors.mean()), float(errors.max())

    @property
    def error(self) -> float:
        """Mean over the second half of the flight: before, they find their places."""
        later = self._errors[len(self._errors) // 2 :]
        return float(np.mean(later)) if later else float("nan")

    def summary(self) -> dict[str, Any]:
        return {"formation_error": self.error}

    def told(self) -> str:
        return f"followers {self.error:.2f} m from their places"

    def complaint(self) -> str | None:
        most = self._p.most_error
        return f"{most:g} m are allowed" if most is not None and not self.error <= most else None
