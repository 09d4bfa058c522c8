"""What clients drive, one after the other: the simulation, and what stands in the way of its next step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airloom.errors import RunError
from airloom.net.json_lines import RequestError
from airloom.runs.folder import RunFolderError
from airloom.runs.mcap import LogError
from airloom.runs.recorded import RecordedRun, RunOutcome
from airloom.simulation import Simulation
from airloom.vehicle import Vehicle
from airloom.watch.origin import find_origin


class Session:
    def __init__(self, sim: Simulation, run: RecordedRun | None = None) -> None:
        """With a `run`, what clients do is logged there."""
        self.sim, self._run = sim, run
        self.failure = ""
        """Why a tick was left half done: nothing but a reset helps then."""
        self.busy = False
        """Whether a request is being carried out, which a signal must not tear apart."""
        self.ending = False
        """Whether a signal has come."""
        self._cut_short: set[str] = set()
        """Vehicles whose rotors were asked for more than they can."""
        self.is_awaited: Callable[[], bool] = lambda: True
        """Whether anybody still waits for the reply; asked now and then in a long step."""

    def step(self, ticks: int) -> None:
        sim, target = self.sim, self.sim.tick + ticks
        self._do(sim.step, ticks, self._glance if ticks > 1 else None)
        if self._run:
            self._run.note_time()
        if sim.tick < target:
            done = f"the step ended at t = {sim.time:.3f} s, after {sim.tick - target + ticks} of {ticks} ticks"
            raise RequestError(f"{done}: {'the server ends' if self.ending else 'the simulation was told to stop'}")

    def _glance(self, sim: Simulation) -> None:
        if self.ending or not self.is_awaited():
            sim.stop()

    def reset(self, seed: int | None) -> None:
        if self._run:
            self._do(self._run.begin_anew, seed)
            self._run.outcome = RunOutcome()
        else:
            self._do(self.sim.reset, seed)
        self.failure = ""
        self._cut_short.clear()

    def warn_of_speeds(self, vehicle: Vehicle, speeds: list[float]) -> None:
        """Tell once of rotor speeds that are cut to what the rotors can."""
        if vehicle.name in self._cut_short:
            return
        for speed, (name, rotor) in zip(speeds, vehicle.description.rotors.items(), strict=True):
            if not 0.0 <= speed <= rotor.max_speed:
                self._cut_short.add(vehicle.name)
                text = f"rotor {name} was told {speed:g} rad/s and turns at 0 to {rotor.max_speed:g}: such are cut"
                self.sim.event(vehicle.name, text, level="warning")
                return

    def first_look(self) -> None:
        self._do(self.sim.first_look)

    def _do(self, act: Callable[..., None], *arguments: Any) -> None:
        """Whatever systems, controllers and members raise in it, be it the like of a refusal, left something undone."""
        try:
            act(*arguments)
        except Exception as error:
            raise RequestError(self.fail(error)) from None

    def fail(self, error: Exception) -> str:
        """Remember what has come between; gives what to tell the client."""
        known = isinstance(error, LogError | RunError | RunFolderError)
        self.failure = str(error) if known else f"at t = {self.sim.time:.3f} s {find_origin(error)}"
        if self._run:
            self._run.outcome = RunOutcome("failed", self.failure, error)
        return f"{self.failure}; reset to go on"
