"""Many radios at once: who stands where, who sends when, and what became of it. The same for any medium.

Each node gives its radio one frame in every interval of 1/r, at a moment that is uniformly random in it. Frames of the
first `LEAD` seconds fill the queues and do not count; sending goes on for `TAIL` after those that count, so that the
last of them meets the same load as the first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from airloom.radio.medium import EVERYBODY, Frame, Medium

NS = 1_000_000_000
PERIOD_NS = 10_000_000
LEAD, TAIL = 3.0, 0.6  # s
RADIUS = 10.0  # m, of the circle
CLUSTER_RADIUS, CLUSTER_SPACING = 1.0, 45.0  # m: neighbours hear each other, the outer clusters do not
REACH = 51.5  # m, of 802.11 over ns-3's default channel


class Contention(NamedTuple):
    layout: str
    """circle: all on one, equally spaced. clusters: three small circles in a line, the outer hidden from each other."""
    nodes: int
    packets_per_second: int
    """Of each node."""
    size: int
    kind: str
    """broadcast; or unicast: on the circle to the next node, of outer clusters to the middle one and back."""

    @property
    def seconds(self) -> float:
        """Long enough for some thousand frames."""
        return float(np.clip(3000 / (self.nodes * self.packets_per_second), 2.0, 20.0))

    def positions(self) -> np.ndarray:
        if self.layout == "circle":
            return _circle(self.nodes, RADIUS)
        third = _circle(self.nodes // 3, CLUSTER_RADIUS)
        return np.concatenate([third + np.array([CLUSTER_SPACING * cluster, 0.0, 0.0]) for cluster in range(3)])

    def to(self, node: int) -> int:
        if self.kind == "broadcast":
            return EVERYBODY
        if self.layout == "circle":
            return (node + 1) % self.nodes
        third = self.nodes // 3
        cluster, place = divmod(node, third)
        return third + place if cluster != 1 else place + 2 * third * (place % 2)

    def frames(self) -> list[Frame]:
        """In the order of time."""
        interval = 1.0 / self.packets_per_second
        count = round((LEAD + self.seconds + TAIL) * self.packets_per_second)
        draws = np.random.default_rng([self.nodes, self.packets_per_second]).random((count, self.nodes))
        times = np.rint((np.arange(count)[:, None] + draws) * interval * NS).astype(int)
        order = np.argsort(times, axis=None, kind="stable")
        return [
            Frame(number, int(place % self.nodes), self.to(int(place % self.nodes)), self.size, int(times.flat[place]))
            for number, place in enumerate(order)
        ]


class Result(NamedTuple):
    delivery: float
    """Share of what could have been heard: of frames to all, by each node in reach."""
    delay_ms: float
    delay_median_ms: float
    delay_p90_ms: float


def _circle(nodes: int, radius: float) -> np.ndarray:
    angles = 2 * np.pi * np.arange(nodes) / nodes
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(nodes)], axis=1)


def measure(medium: Medium, case: Contention, seed: int = 1) -> Result:
    medium.reset(seed)
    positions, frames = case.positions(), case.frames()
    arrivals = []
    sent = 0
    for now in range(0, round((LEAD + case.seconds + TAIL) * NS), PERIOD_NS):
        due = sent
        while due < len(frames) and frames[due].time_ns < now + PERIOD_NS:
            due += 1
        medium.send(frames[sent:due])
        sent = due
        arrivals += medium.advance(now + PERIOD_NS, positions)
    counted = {f.number: f for f in frames if LEAD * NS <= f.time_ns < (LEAD + case.seconds) * NS}
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    in_reach = (apart < REACH) & ~np.eye(len(positions), dtype=bool)
    could = sum(int(in_reach[f.sender].sum()) if f.to == EVERYBODY else 1 for f in counted.values())
    delays = np.array([(a.heard_ns - counted[a.number].time_ns) / 1e6 for a in arrivals if a.number in counted])
    return Result(len(delays) / could, delays.mean(), float(np.median(delays)), float(np.percentile(delays, 90)))
