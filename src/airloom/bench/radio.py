"""How fast the built-in radio is, and what ns-3 costs beside itself."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np

from airloom.bench.bench import Effort, processor_seconds
from airloom.radio.builtin import medium_of
from airloom.radio.jitter import spread
from airloom.radio.medium import EVERYBODY, Frame
from airloom.radio.ns3 import Ns3Medium
from airloom.scenario.radio import Radio
from airloom.simulation import Simulation

PERIOD_NS = 10_000_000
FLYING = 5.0
"""Seconds of simulation time after which a flock is in the air."""
FADING = {"fading": {"kind": "nakagami"}}


def times_real_time(nodes: int, rate: float, side: float, effort: Effort) -> float:
    """Of nodes in a square that all broadcast 100 bytes so often, and move, over a channel that fades.

    In processor time, for it runs on one core.
    """
    random = np.random.default_rng(0)
    positions = np.column_stack([random.uniform(0, side, (nodes, 2)), random.uniform(10, 30, nodes)])
    medium, number, now = medium_of(Radio.model_validate({"channel": FADING}), nodes), 0, 0
    due = random.uniform(0, 1, nodes)

    def advance(periods: int) -> None:
        nonlocal number, now
        for _ in range(periods):
            due[:] += rate * PERIOD_NS * 1e-9
            frames = []
            for node in np.flatnonzero(due >= 1.0).tolist():
                for _ in range(int(due[node])):
                    frames.append(Frame(number, node, EVERYBODY, 100, now))
                    number += 1
            due[:] %= 1.0
            medium.send(spread(frames, PERIOD_NS, 0))
            now += PERIOD_NS
            medium.advance(now, positions + 1e-9 * now)

    advance(10)
    periods = max(10, round(10 * effort.seconds / processor_seconds(advance, 10)))
    return periods * PERIOD_NS * 1e-9 / min(processor_seconds(advance, periods) for _ in range(effort.repeats))


def beside_ns3(effort: Effort) -> float:
    """What the flock takes of a processor on ns-3 and not on the built-in medium, as a share of ns-3's own time."""
    shares = []
    for _ in range(effort.repeats):
        built_in, _ = _flock_seconds({}, effort)
        ours, theirs = _flock_seconds({"radio.ns3": {}}, effort)
        shares.append((ours - built_in) / theirs)
    return median(shares)


def _flock_seconds(medium: dict[str, Any], effort: Effort) -> tuple[float, float]:
    """Of Airloom's process, and of ns-3's."""
    with Simulation.load("flock", overrides=medium) as sim:
        sim.run(until=FLYING)
        assert sim.radio is not None, "a flock talks"
        air = sim.radio.bands[""].medium
        before = air.processor_time if isinstance(air, Ns3Medium) else 0.0
        ours = processor_seconds(lambda seconds: sim.run(until=FLYING + seconds), round(20 * effort.seconds))
        return ours, air.processor_time - before if isinstance(air, Ns3Medium) else 0.0
