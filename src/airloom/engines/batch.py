"""The batch engine: free flight and ground contact for thousands of vehicles, optionally on several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from airloom.compiled import compiled
from airloom.engines.engine import Digest
from airloom.engines.fleet import Fleet
from airloom.engines.lockstep import NO_WIRES, next_frame, tell_and_hear
from airloom.engines.tick import effects_of, keep_mean_acceleration, look_and_think, prepare_forces
from airloom.physics.contact import corner_forces
from airloom.physics.integrators import step_euler, step_rk4
from airloom.physics.standing import stand_still
from airloom.scenario.models import Scenario


@compiled
def advance_batch(first_block, end_block, tick, ticks, dt, rk4, flight, sensing, record_ticks, first_record):
    """Fly each block for `ticks` before the next: vehicles do not touch one another in this engine."""
    for b in range(first_block, end_block):
        w = flight.blocks[b]
        effects, parameters = effects_of(flight.stacks[b], flight)
        for t in range(tick, tick + ticks):
            prepare_forces(b, t, flight)
            if rk4:
                step_rk4(w, flight.world, effects, parameters, dt)
            else:
                step_euler(w, flight.world, effects, parameters, dt)
            stand_still(w, flight.world, rk4)
            keep_mean_acceleration(w, dt)
            look_and_think(b, t + 1, flight, sensing, record_ticks, first_record)


@compiled
def advance_batch_in_lockstep(wires, blocks, tick, end, dt, rk4, flight, sensing, record_ticks, first_record):
    """Fly to the tick `end`, or to one before it whose frame needs attention; the frame at `end` is left to others."""
    while True:
        turn = next_frame(tick, end, wires)
        advance_batch(0, blocks, tick, turn - tick, dt, rk4, flight, sensing, record_ticks, first_record)
        tick = turn
        if tick == end or not tell_and_hear(tick, flight, wires):
            return tick


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

    def advance(self, tick: int, ticks: int, record_ticks: int, first_record: int, wires: np.ndarray = NO_WIRES) -> int:
        """Every share of blocks by itself: vehicles do not touch one another, so the order cannot matter.

        Gives the tick reached, which is an earlier one if an autopilot needs attention there. With autopilots all
        blocks fly on one thread: they meet at every frame.
        """
        end, blocks = tick + ticks, len(self.fleet.blocks)
        rest: tuple = (self.dt, self.rk4, self.fleet.flight, self.fleet.sensing, record_ticks, first_record)
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
            corner_forces(block.copy(), len(crafts), self.fleet.flight.world)
            for block, crafts in zip(self.fleet.flight.blocks, self.fleet.blocks, strict=True)
        ]
        points, forces = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return points, forces

    def hash_into(self, digest: Digest) -> None:
        """Nothing beyond the fleet's own state."""


def _shares(blocks: int, threads: int) -> list[tuple[int, int]]:
    threads = min(threads, blocks)
    edges = [blocks * k // threads for k in range(threads + 1)]
    return list(pairwise(edges))
