"""How fast the built-in radio is, and what ns-3 costs beside itself."""

from __future__ import annotations

import time
from statistics import median
from typing import Any, cast

import numpy as np

from airloom.bench.bench import Effort, processor_seconds
from airloom.radio.builtin import medium_of
from airloom.radio.jitter import spread
from airloom.radio.medium import EVERYBODY, Arrivals, Frame, Medium
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
    """What it costs Airloom to have a flock's frames carried by ns-3, as a share of the processor time that ns-3 takes:
    all that is done to tell it what is sent and from where, to wait, and to read what it answers.

    What any medium would cost is no part of it: to fly, to queue packets and to hand them to logic.
    """
    return median(_bridge_and_ns3(effort) for _ in range(effort.repeats))


def _bridge_and_ns3(effort: Effort) -> float:
    with Simulation.load("flock", overrides={"radio.ns3": {}}) as sim:
        sim.run(until=FLYING)
        assert sim.radio is not None, "a flock talks"
        band = sim.radio.bands[""]
        assert isinstance(band.medium, Ns3Medium)
        ns3, bridge = band.medium, _Watched(band.medium)
        band.medium, before = cast(Medium, bridge), ns3.processor_time
        sim.run(until=FLYING + round(20 * effort.seconds))
        band.medium = ns3
        return bridge.seconds / (ns3.processor_time - before)


class _Watched:
    """A medium with a clock at its door, which shows this process' own time."""

    def __init__(self, medium: Ns3Medium) -> None:
        self._medium, self.seconds = medium, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._medium, name)

    def send(self, frames: list[Frame], payloads: list[bytes]) -> None:
        began = time.process_time()
        self._medium.send(frames, payloads)
        self.seconds += time.process_time() - began

    def advance(self, until_ns: int, positions: np.ndarray) -> Arrivals:
        began = time.process_time()
        arrivals = self._medium.advance(until_ns, positions)
        self.seconds += time.process_time() - began
        return arrivals
