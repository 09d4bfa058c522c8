"""The batch engine: free flight and ground contact for thousands of vehicles, optionally on several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from airloom.autopilots.lockstep import NO_WIRES, advance_batch_in_lockstep
from airloom.fleet import Fleet
from airloom.loop import advance_batch
from airloom.physics.contact import corner_forces
from airloom.scenario.models import Scenario


class BatchEngine:
    def __init__(self, scenario: Scenario, fleet: Fleet) -> None:
        self.fleet, self.dt = fleet, scenario.step
        self.rk4 = scenario.engine.integrator == "rk4"
        self._shares = _shares(len(fleet.blocks), scenario.engine.threads)
        self._pool = ThreadPoolExecutor(len(self._shares)) if len(self._shares) > 1 else None

    def reset(self) -> None:
        """The fleet's rows are this engine's only state."""

    def take_state(self) -> None:
        """Likewise: a state that was set from outside is already here."""

    def advance(self, tick: int, ticks: int, frame_ticks: int, first_frame: int, wires: np.ndarray = NO_WIRES) -> int:
        """Every share of blocks by itself: vehicles do not touch one another, so the order cannot matter.

        Gives the tick reached, which is an earlier one if an autopilot needs attention there. With autopilots all
        blocks fly on one thread: they meet at every frame.
        """
        end, blocks = tick + ticks, len(self.fleet.blocks)
        rest: tuple = (self.dt, self.rk4, self.fleet.flight, self.fleet.sensing, frame_ticks, first_frame)
        if len(wires):
            return advance_batch_in_lockstep(wires, blocks, tick, end, *rest)
        if self._pool is None:
            advance_batch(0, blocks, tick, ticks, *rest)
            return end
        for job in [self._pool.submit(advance_batch, first, stop, tick, ticks, *rest) for first, stop in self._shares]:
            job.result()
        return end

    def contacts(self) -> tuple[np.ndarray, np.ndarray]:
        """Where vehicles touch the ground, and the forces on them there (world, N)."""
        found = [
            corner_forces(block.copy(), len(members), self.fleet.flight.world)
            for block, members in zip(self.fleet.flight.blocks, self.fleet.blocks, strict=True)
        ]
        points, forces = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return points, forces

    def hash_into(self, digest) -> None:
        """Nothing beyond the fleet's own state."""


def _shares(blocks: int, threads: int) -> list[tuple[int, int]]:
    threads = min(threads, blocks)
    edges = [blocks * k // threads for k in range(threads + 1)]
    return list(pairwise(edges))
