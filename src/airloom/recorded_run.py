"""A run from its first tick to its end, with all that it leaves in its folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any

import yaml

from airloom import __version__
from airloom.blame import blame
from airloom.bridges.control.link import ControlLink
from airloom.bridges.mcap import LogError, LogWriter
from airloom.clock import NS_PER_SECOND
from airloom.divergence import Diverged, Guard
from airloom.pacing import Pacer
from airloom.run_folder import RunFolder, RunFolderError
from airloom.scenario import Scenario
from airloom.simulation import Simulation
from airloom.vehicle import Vehicle

MOST_VEHICLES_IN_SUMMARY = 100


class Interrupted(BaseException):
    """Raised by a signal handler to leave a tick that cannot be waited for."""


@dataclass
class Outcome:
    status: str = "finished"
    reason: str = ""
    error: BaseException | None = None


class RecordedRun:
    """Flies a simulation to the scenario's duration; writes scenario, log and summary, however it ends."""

    def __init__(
        self, sim: Simulation, folder: RunFolder, *, speed: float | None = None, log: bool = True, link: bool = False
    ) -> None:
        """`link` lets other processes command the run, see `bridges/control/`."""
        self.sim, self.folder = sim, folder
        self.target = -(-round(sim.scenario.duration * NS_PER_SECOND) // sim.step_ns)
        self.pacer = None if speed is None else Pacer(speed)
        self.outcome = Outcome()
        self.started = False
        """Whether the first tick is over, for which everything must have been compiled."""
        self.paused = False
        self.link = ControlLink(self) if link else None
        self._stopping = False
        self._start_clock = self._end_clock = self._start_time = 0.0
        text = resolved_text(sim.scenario)
        _write(folder, text)
        about = {"scenario": sim.scenario.name, "seed": str(sim.seed), "airloom": __version__}
        wanted = sim.scenario.log
        self._log = None
        if log:
            self._log = LogWriter(
                folder.log, sim.bus, wanted.topics, rates=wanted.rates, metadata=about, scenario_text=text
            )

    def stop(self) -> None:
        """End at the next chunk; safe in a signal handler."""
        self._stopping = True
        self.sim.stop()

    @property
    def speed(self) -> float | None:
        """Seconds of simulation time a second; None for as fast as possible."""
        return self.pacer.speed if self.pacer else None

    def change_speed(self, speed: float | None) -> None:
        if speed is None:
            self.pacer = None
            return
        self.pacer = self.pacer or Pacer(speed)
        self.pacer.change(speed, self.sim.time)

    def fly(self, look: Callable[[], None] = lambda: None) -> Outcome:
        """Run to the end; `look` is called after every chunk."""
        try:
            self._first_tick()
            with self.link or nullcontext():
                self._fly(look)
        except Interrupted:
            pass
        except (Diverged, LogError, RunFolderError) as error:
            self.outcome = Outcome("failed", str(error), error)
        except Exception as error:
            if not self._was_interrupted_while_compiling():
                self.outcome = Outcome("failed", f"at t = {self.sim.time:.3f} s {blame(error)}", error)
        self._end_clock = time.perf_counter()
        self._close_log()
        if self._stopping and self.sim.tick < self.target and self.outcome.error is None:
            self.outcome = Outcome("stopped", f"stopped at t = {self.sim.time:.3f} s")
        self.folder.write_summary(self.summary())
        return self.outcome

    def _was_interrupted_while_compiling(self) -> bool:
        """Then the compiler may have lost the interruption and raised something of its own."""
        return self._stopping and not self.started

    @property
    def wall_time(self) -> float:
        """Seconds since the first tick was over."""
        return (self._end_clock or time.perf_counter()) - self._start_clock if self.started else 0.0

    @property
    def real_time_factor(self) -> float:
        return (self.sim.time - self._start_time) / self.wall_time if self.wall_time > 0 else 0.0

    def summary(self) -> dict[str, Any]:
        sim = self.sim
        shown = list(sim.vehicles.values())[:MOST_VEHICLES_IN_SUMMARY]
        return {
            "scenario": sim.scenario.name,
            "seed": sim.seed,
            "airloom": __version__,
            "status": self.outcome.status,
            "reason": self.outcome.reason,
            "simulated_time": sim.time,
            "wall_time": self.wall_time,
            "real_time_factor": self.real_time_factor,
            "state_hash": sim.state_hash(),
            "warnings": sim.warnings,
            **({"speed": self.pacer.speed, "lateness": self._lateness()} if self.pacer else {}),
            "vehicle_count": len(sim.vehicles),
            "vehicles": {vehicle.name: final_state(vehicle) for vehicle in shown},
        }

    def _lateness(self) -> dict[str, float]:
        assert self.pacer is not None
        return {**asdict(self.pacer.lateness), "mean": self.pacer.lateness.mean}

    def _first_tick(self) -> None:
        """Apart from the others, because it waits for whatever must be compiled."""
        self.sim.step()
        self._start_clock, self._start_time = time.perf_counter(), self.sim.time
        if self.pacer:
            self.pacer.start(self.sim.time)
        self.started = True

    def _fly(self, look: Callable[[], None]) -> None:
        guard = Guard()

        def watch(sim: Simulation) -> None:
            if self._log:
                self._log.tick(sim.time_ns)
            guard.check(sim)
            if self.pacer:
                self.pacer.wait(sim.time)
            if self.link:
                self._attend(self.link)
            if self._stopping:
                sim.stop()
            look()

        while self.sim.tick < self.target and not self._stopping:
            self.sim.run(self._next_stop() * self.sim.step_ns / NS_PER_SECOND, watch)

    def _attend(self, link: ControlLink) -> None:
        """Do what was asked for over the link, and stand still as long as that is to pause."""
        link.serve()
        if not self.paused:
            return
        while self.paused and not self._stopping:
            link.serve(wait=Pacer.slice)
        if self.pacer:
            self.pacer.start(self.sim.time)

    def _next_stop(self) -> int:
        """The tick to run to in one go: an instant ahead if paced or commanded over a link, else the end."""
        if self.pacer is None and self.link is None:
            return self.target
        ticks = round(Pacer.slice * (self.speed or 1.0) * NS_PER_SECOND / self.sim.step_ns)
        return min(self.target, self.sim.tick + max(ticks, 1))

    def _close_log(self) -> None:
        if not self._log:
            return
        try:
            self._log.close()
        except LogError as error:
            self.outcome = Outcome("failed", str(error), error)


def resolved_text(scenario: Scenario) -> str:
    """The scenario as a file with nothing left to look up, which repeats the run."""
    shared_by_rotors = {"vehicles": {"__all__": {"rotor"}}}
    plain = scenario.model_dump(mode="json", exclude=shared_by_rotors)
    return yaml.safe_dump(plain, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)


def final_state(vehicle: Vehicle) -> dict[str, Any]:
    return {
        "position": vehicle.position,
        "velocity": vehicle.velocity,
        "attitude": vehicle.attitude,
        "rates": vehicle.rates,
        "rotor_speeds": vehicle.rotor_speeds,
        "mass": vehicle.mass,
    }


def _write(folder: RunFolder, text: str) -> None:
    try:
        folder.scenario.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunFolderError(f"cannot write {folder.scenario}: {error.strerror}") from error
