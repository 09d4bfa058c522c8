"""What the computer of each member of a coverage does."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import numpy as np

from airloom.basics.patterns import matches
from airloom.compiled import compiled
from airloom.radio.packet import Packet
from airloom.swarm.braking import braking_speed
from airloom.swarm.coverage.area import Area
from airloom.swarm.coverage.duties import AT_THE_BASE, COVERING, DUTY_SIZE, RETURNING, Duties, duty_told
from airloom.swarm.coverage.findings import BEACON_NS, found
from airloom.swarm.coverage.frontier import cheapest, close
from airloom.swarm.coverage.hearsay import directly, passed_on
from airloom.swarm.coverage.lloyd import centroid, importance
from airloom.swarm.coverage.maps import Map
from airloom.swarm.coverage.parameters import CoverageParameters, Frontier
from airloom.swarm.coverage.sight import look
from airloom.swarm.coverage.ways import Ways, in_sight
from airloom.swarm.mesh import Mesh
from airloom.swarm.onboard import Onboard, limit
from airloom.swarm.surroundings import out_of
from airloom.swarm.vasarhelyi import Vasarhelyi, add_vasarhelyi
from airloom.swarm.words import SIZE

DECIDE_NS = 1_000_000_000
"""From one decision where to go to the next, if the way does not turn before."""
TELL_NS = 1_000_000_000
"""From one piece of a map that is told to the next."""
HEARSAY_NS = 400_000_000
"""From one time that words of others are passed on to the next."""
URGENT_NS = 3 * BEACON_NS
"""Time without news of the base after which one that has found something goes home, at the latest."""
GAIN = 1.0  # 1/s, of the last part of braking, and of turning away from obstacles
FRICTION = 0.3
"""Share of the velocity towards another, beyond what lets both brake, that a member takes off."""


@compiled
def _keep_off(own, corners, starts, radii, clearance, gain, out):
    """Push those out that are nearer to an obstacle than the clearance: [member, 6], …, [member, 2]."""
    for i in range(own.shape[0]):
        for k in range(radii.shape[0]):
            r, ex, ey = out_of(own[i, 0], own[i, 1], corners, starts[k], starts[k + 1])
            short = clearance - (r - radii[k])
            if short > 0.0:
                out[i, 0] += gain * short * ex
                out[i, 1] += gain * short * ey


class Covering(Onboard):
    def __init__(
        self, parameters: CoverageParameters, area: Area, members: Sequence[str], nodes: Sequence[str]
    ) -> None:
        super().__init__(parameters, members, nodes)
        self._p, self._area, count = parameters, area, len(members)
        self._nodes, self._members, self._columns = (
            list(nodes),
            list(members),
            [list(nodes).index(name) for name in members],
        )
        self._duties = Duties(count, len(nodes))
        self._meshes = [Mesh(name, nodes) for name in members]
        self._maps = [Map(area.shape) for _ in members]
        law = parameters.law
        self._maps_are_told = isinstance(law, Frontier)
        relays = law.relays if isinstance(law, Frontier) else None
        self._relays = np.array([relays is not None and matches(name, relays) for name in nodes])
        self._weights = importance(parameters.importance, area)
        self._shared, self._mine = Ways(area.shape), Ways(area.shape)
        self._closed = np.zeros(area.shape, bool)
        self._duty = np.full(count, COVERING)
        self._homes = np.zeros((count, 2))
        self._goals, self._turns = np.zeros((count, 2)), np.zeros((count, 2))
        """Where each goes, and where it turns next on the way there, m."""
        self._left = np.zeros(count)
        self._decided, self._mapped = np.full(count, -DECIDE_NS), np.zeros(count, np.int64)
        self._spread, self._news = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._latest: list[dict[int, bytes]] = [{} for _ in members]
        self._grown = np.zeros(count, np.int64)
        self._found: list[set[str]] = [set() for _ in members]
        self._ends = [_endurance(parameters, name) for name in members]
        keep_apart = Vasarhelyi(
            kind="vasarhelyi", r_rep=parameters.apart, p_rep=2.0 * GAIN, v_rep=2.0 * parameters.speed,
            r_frict=parameters.apart, c_frict=FRICTION, p_frict=GAIN, a_frict=parameters.acceleration,
        )  # fmt: skip
        self._repulsion = np.array(keep_apart.numbers())

    def measured(self, member: int, time_ns: int, state: np.ndarray) -> None:
        if self._times[member] < 0:
            self._homes[member] = self._goals[member] = self._turns[member] = state[:2]
        super().measured(member, time_ns, state)
        if self._risen[member]:
            self._look(member, time_ns)

    def _look(self, member: int, time_ns: int) -> None:
        p, area = self._p, self._area
        x, y = area.to_cells(self._own[member, :2])
        if self._maps_are_told:
            here = self._maps[member]
            look(area.opaque, x, y, p.radius / area.cell, here.known, here.fresh)
        if p.base is None:
            return
        for name, place in p.targets.items():
            at, near = area.to_cells(np.array(place)), np.hypot(*(self._own[member, :2] - place)) <= p.radius
            if name not in self._found[member] and near and in_sight(area.opaque, x, y, *at):
                self._found[member].add(name)
                self._meshes[member].say(found(name, place, time_ns), p.base)

    def hear(self, members: Sequence[int], packets: Sequence[Packet]) -> None:
        if not packets:
            return
        self._hear_places(members, packets)
        for member, packet in zip(members, packets, strict=True):
            if not self.stopped[member]:
                self._maps[member].hear(packet.content)
                self._meshes[member].hear([packet])

    def _hear_places(self, members: Sequence[int], packets: Sequence[Packet]) -> None:
        """Directly, or from others; who hears of itself passes over it."""
        heard = [
            (member, word)
            for member, packet in zip(members, packets, strict=True)
            for word in (packet, *directly(packet, self._nodes))
            if word.sender != self._members[member]
        ]
        words = [word for _, word in heard]
        kept = self._neighbours.hear([member for member, _ in heard], words)
        self._duties.hear(kept, words)
        for member, node, k in kept:
            if len(words[k].content) == SIZE + DUTY_SIZE:
                self._latest[member][node] = words[k].content

    def _passed_on(self, member: int, now: int) -> bytes | None:
        """What it has heard of others that are not forgotten."""
        known = self._neighbours.at(now)[1][member]
        words = {node: word for node, word in sorted(self._latest[member].items()) if known[node]}
        return passed_on(words) if words else None

    def _told(self, member: int) -> list[bytes]:
        tail = duty_told(
            int(self._duty[member]), int(self._duties.beacons[member]), self._goals[member], float(self._left[member])
        )
        words = [self._place(member) + tail]
        now = int(self._times[member])
        if now >= self._spread[member]:
            self._spread[member] = now + HEARSAY_NS
            words += [hearsay] if (hearsay := self._passed_on(member, now)) else []
        if self._maps_are_told and now >= self._mapped[member]:
            self._mapped[member] = now + TELL_NS
            words += [piece] if (piece := self._maps[member].told()) else []
        return words + self._meshes[member].words(now)

    def _in_the_plane(self, own: np.ndarray, time_ns: int) -> np.ndarray:
        others, known = self._others(own, time_ns)
        known &= self._duties.duties != AT_THE_BASE
        self._notice_duties(time_ns)
        wanted = np.zeros((len(own), 2))
        for k in np.flatnonzero(self._risen & ~self._landing & ~self.stopped).tolist():
            reached = np.hypot(*(self._turns[k] - own[k, :2])) < self._area.cell
            if time_ns - self._decided[k] >= DECIDE_NS or (reached and (self._turns[k] != self._goals[k]).any()):
                self._decided[k] = time_ns
                self._decide(k, own[k, :2], others[k, :, :2], known[k])
            wanted[k] = self._towards_turn(k, own[k, :2])
        add_vasarhelyi(own, others, known, self._repulsion, wanted)
        _keep_off(own, *self._area.obstacles, self._p.clearance, GAIN, wanted)
        limit(self._p.speed, wanted)
        return wanted

    def _notice_duties(self, time_ns: int) -> None:
        """Whose battery is low lands. Who has not heard of the base for long goes home, with a finding sooner."""
        for k, end in enumerate(self._ends):
            self._landing[k] |= self._risen[k] and time_ns >= end
        if self._p.base is None:
            return
        grown = self._duties.beacons > self._grown
        self._news[grown | ~self._risen] = time_ns
        self._grown = self._duties.beacons.copy()
        urgent = np.array([mesh.unanswered > 0 for mesh in self._meshes])
        patience = np.where(urgent, URGENT_NS, round(self._p.patience * 1e9))
        duty = np.where(time_ns - self._news > patience, RETURNING, COVERING)
        self._decided[duty != self._duty] = -DECIDE_NS
        self._duty = duty

    def _towards_turn(self, k: int, place: np.ndarray) -> np.ndarray:
        to = self._turns[k] - place
        away = np.hypot(*to)
        left = self._left[k] if (self._turns[k] != self._goals[k]).any() else away
        return to * (min(self._p.speed, braking_speed(left, self._p.acceleration, GAIN)) / max(away, 1e-9))

    def _decide(self, k: int, place: np.ndarray, others: np.ndarray, known: np.ndarray) -> None:
        """Where one goes, from where it is and where it believes those to be that do their part, m."""
        area, me = self._area, self._columns[k]
        points = area.to_cells(others)
        points[me] = area.to_cells(place)
        working = known & (self._duties.duties[k] == COVERING)
        working[me] = True
        alone = np.zeros(len(points), bool)
        alone[me] = True
        if self._duty[k] == RETURNING:
            self._mine.spread(self._open_to(k), points, alone)
            self._go(k, self._mine, area.to_cells(self._homes[k]))
        elif isinstance(self._p.law, Frontier):
            self._explore(k, self._p.law, points, working, alone)
        else:
            self._shared.spread(area.closed, points, working)
            self._go(k, self._shared, centroid(self._shared, me, self._weights))

    def _open_to(self, k: int) -> np.ndarray:
        """Where it must not fly, as far as it knows."""
        if not self._maps_are_told:
            return self._area.closed
        close(self._maps[k].known, self._area.clearance, self._closed)
        return self._closed

    def _explore(self, k: int, law: Frontier, points: np.ndarray, working: np.ndarray, alone: np.ndarray) -> None:
        area, me, closed = self._area, self._columns[k], self._open_to(k)
        if self._relays[me]:
            self._shared.spread(closed, points, working & self._relays)
            self._go(k, self._shared, centroid(self._shared, me, self._weights))
            return
        explorers = working & ~self._relays
        self._mine.spread(closed, points, alone)
        self._shared.spread(closed, points, explorers)
        binding = explorers & ~alone & self._goes_less_far(k)
        radius = self._p.radius / area.cell
        row, column = cheapest(
            self._maps[k].known, closed, self._mine.lengths, self._shared.owners, me,
            area.to_cells(self._duties.goals[k]), binding, law.detour * radius, *area.to_cells(self._goals[k]), radius,
        )  # fmt: skip
        everything_is_seen = row < 0
        goal = area.to_cells(self._homes[k]) if everything_is_seen else np.array([column + 0.5, row + 0.5])
        self._go(k, self._mine, goal)

    def _goes_less_far(self, k: int) -> np.ndarray:
        """Which others have less of a way left to where they go than this one; of two with as much the first."""
        left, mine, first = (
            self._duties.left[k],
            self._left[k],
            np.arange(self._duties.left.shape[1]) < self._columns[k],
        )
        return (left > 0.0) & ((left < mine) | ((left == mine) & first))

    def _go(self, k: int, ways: Ways, goal: np.ndarray | None) -> None:
        """By ways that have spread from it, to a place in cells; if there is none, or no way, it stays."""
        area, rows, columns = self._area, *self._area.shape
        if goal is not None:
            row, column = min(max(floor(goal[1]), 0), rows - 1), min(max(floor(goal[0]), 0), columns - 1)
            if np.isfinite(ways.lengths[row, column]):
                turn = ways.turn(row, column)
                direct = turn[0] == column + 0.5 and turn[1] == row + 0.5
                self._goals[k] = area.to_metres(goal)
                self._turns[k] = self._goals[k] if direct else area.to_metres(turn)
                self._left[k] = ways.lengths[row, column] * area.cell
                return
        self._goals[k] = self._turns[k] = self._own[k, :2]
        self._left[k] = 0.0


def _endurance(parameters: CoverageParameters, name: str) -> int:
    """When a member's battery is low, ns."""
    ends = [end for pattern, end in parameters.endurance.items() if matches(name, pattern)]
    return round(min(ends, default=1e9) * 1e9)
