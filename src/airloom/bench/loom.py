"""What lockstep costs: a round of turns, compared with the bare exchange of as many messages of the same sizes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from airloom.bench.echo import echo
from airloom.loom import protocol
from airloom.loom.round import LIST_AT
from airloom.simulation import Simulation

LOGIC = """
from airloom import PositionYaw
from airloom.member import join

with join() as me:
    drone = me.vehicles[0]
    for turn in me:
        turn.command(drone, PositionYaw((0.0, 0.0, 2.0)))
"""
SLICE = 0.1  # s before the other has its go: both meet the same noise of the machine


def times_the_bare_exchange(members: int, seconds: float) -> tuple[float, float]:
    """How often the bare exchange fits into a round, and microseconds of a round."""
    with _simulation(members, rate=1000) as sim, _echoes(members) as bare:
        rounds, exchanges = [], []
        for advance in (sim.loom.take_turns, bare):
            _microseconds(advance)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            rounds.append(_microseconds(sim.loom.take_turns))
            exchanges.append(_microseconds(bare))
    return median(rounds) / median(exchanges), median(rounds)


def cost_between_turns(seconds: float) -> float:
    """Percent by which ticks between the turns of a member at 50 Hz are slower than without members."""
    with _simulation(1, rate=50) as sim, _simulation(0, rate=50) as alone:
        slower = []
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            slower.append(_ticks_between(sim) / _ticks_between(alone))
    return 100.0 * (median(slower) - 1.0)


def speed_with_members(members: int, rate: float, seconds: float) -> float:
    """Seconds of simulation time a second."""
    with _simulation(members, rate, engine="mujoco") as sim:
        began, start = time.perf_counter(), sim.time
        while time.perf_counter() - began < seconds:
            sim.step(100)
        return (sim.time - start) / (time.perf_counter() - began)


def _ticks_between(sim: Simulation) -> float:
    """Processor time: nobody is waited for there."""
    taken = 0.0
    for _ in range(50):
        sim.step(1)
        began = time.process_time()
        sim.step(18)
        taken += time.process_time() - began
        sim.step(1)
    return taken


def _microseconds(advance: Callable[[], object]) -> float:
    """Of one call, in a slice of many."""
    calls, began = 0, time.perf_counter()
    while (taken := time.perf_counter() - began) < SLICE:
        advance()
        calls += 1
    return 1e6 * taken / calls


@contextmanager
def _simulation(members: int, rate: float, engine: str = "batch") -> Iterator[Simulation]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "logic.py").write_text(LOGIC)
        described = {
            f"member_{k}": {"command": ["python", "logic.py"], "folder": folder, "rate": rate, "vehicles": f"drone_{k}"}
            for k in range(members)
        }
        drone = {"extends": "multirotor", "pose": {"position": [0, 0, 2]}, "copies": {"count": max(members, 2)}}
        changes = {"engine": engine, "systems": {}, "vehicles": {"drone": drone}, "members": described}
        with Simulation.load("hover", overrides=changes) as sim:
            sim.step(100)
            yield sim


@contextmanager
def _echoes(count: int) -> Iterator[Callable[[], None]]:
    """A round with processes that only echo: to each, then from each."""
    from airloom.commands import PositionYaw

    begin = LIST_AT + 8 * protocol.STATE_NUMBERS + len(protocol.NO_LETTERS)
    end = len(protocol.end(0, [protocol.order(0, PositionYaw((0.0, 0.0, 2.0)))]))
    with ExitStack() as stack:
        lines = [stack.enter_context(echo(end)) for _ in range(count)]
        message = b"x" * begin

        def exchange() -> None:
            for line in lines:
                line.sendall(message)
            for line in lines:
                line.recv(65536)

        yield exchange
