"""A run from its first tick to its end, with all that it leaves in its folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from airloom.basics.clock import NS_PER_SECOND
from airloom.basics.hints import did_you_mean
from airloom.basics.version import VERSION
from airloom.commands import CommandError
from airloom.errors import RunError, UserError
from airloom.runs.bag import Bag
from airloom.runs.folder import RunFolder, RunFolderError
from airloom.runs.link.link import ControlLink
from airloom.runs.mcap import LogError, LogWriter
from airloom.runs.mcap.format import matches_any
from airloom.runs.pacing import Pacer
from airloom.scenario import resolved_text
from airloom.scenario.models import Log
from airloom.simulation import LONGEST_CHUNK, Simulation
from airloom.swarm.watch import SwarmWatch
from airloom.vehicle import Vehicle
from airloom.watch.flight import FlightWatch
from airloom.watch.origin import find_origin
from airloom.watch.verdict import Finding
from airloom.watch.water import WaterWatch

MOST_VEHICLES_IN_SUMMARY = 100


class Interrupted(BaseException):
    """Raised by a signal handler to leave a tick that cannot be waited for."""


@dataclass
class RunOutcome:
    status: str = "finished"
    reason: str = ""
    error: BaseException | None = None


class Glance:
    """What a run does many times a second while it flies on: keep its pace, serve its link."""

    slice = Pacer.slice

    def __init__(self, run: RecordedRun) -> None:
        self._run = run
        if run.pacer:
            run.pacer.start(run.sim.time)
        run.sim.longest_chunk = 1
        self._clock, self._tick = time.perf_counter(), run.sim.tick

    def __call__(self, sim: Simulation) -> None:
        run = self._run
        if run.is_stopping:  # perhaps since before the simulation was told to run
            sim.stop()
        if run.link:
            run.link.serve()
        if run.pacer:
            run.pacer.wait(sim.time)
        sim.longest_chunk = min(max(round(self._ticks_a_second(sim) * self.slice), 1), LONGEST_CHUNK)

    def _ticks_a_second(self, sim: Simulation) -> float:
        if self._run.pacer:
            return self._run.pacer.speed * NS_PER_SECOND / sim.step_ns
        before, self._clock = self._clock, time.perf_counter()
        tick, self._tick = self._tick, sim.tick
        return (self._tick - tick) / (self._clock - before)


class RecordedRun:
    """Flies a simulation to the scenario's duration; writes scenario, log and summary, however it ends."""

    def __init__(
        self, sim: Simulation, folder: RunFolder, *, speed: float | None = None, log: bool = True, link: bool = False
    ) -> None:
        """`link` lets other processes command the run, see `bridges/control/`."""
        self.sim, self.folder = sim, folder
        sim.member_logs = folder.path
        if sim.radio is not None:
            sim.radio.folder = folder.path / "radio"
        self.target = -(-round(sim.scenario.duration * NS_PER_SECOND) // sim.step_ns)
        self.pacer = None if speed is None or sim.autopilots.are_live else Pacer(speed)
        self.outcome = RunOutcome()
        self.is_starting = False
        """Whether it is in its first tick, which cannot be waited for."""
        self.started = False
        """Whether the first tick is over, for which everything must have been compiled."""
        self.paused = False
        self.audience = 0
        """How many look on: with any, a run that is over stays to be looked at, and may be flown again."""
        self.link = ControlLink(self) if link or sim.ros2 else None
        if sim.ros2 and self.link:
            sim.ros2.requests = self.link.carry_out
        self._stopping = False
        self._restarting = False
        self._start_clock = self._end_clock = self._start_time = self._stood_still = 0.0
        _write(folder, resolved_text(sim.scenario))
        self._log = self._new_log() if log else None
        self._bag = self._new_bag(self._log) if self._log else None
        self._watches, self._swarms = (FlightWatch(sim), WaterWatch(sim)), SwarmWatch(sim)

    def _new_log(self, seed: int | None = None) -> LogWriter:
        sim, wanted = self.sim, self.sim.scenario.log
        seed = sim.seed if seed is None else seed
        about = {"scenario": sim.scenario.name, "seed": str(seed), "airloom": VERSION}
        text = resolved_text(sim.scenario)
        topics = self._logged_topics
        return LogWriter(self.folder.log, sim.bus, topics, rates=wanted.rates, metadata=about, scenario_text=text)

    def _new_bag(self, log: LogWriter) -> Bag:
        return Bag(self.sim, log, self._logged_topics)

    @property
    def _logged_topics(self) -> tuple[str, ...]:
        scenario = self.sim.scenario
        drawn = {topic for figure in scenario.figures.values() for topic in figure.topics}
        return *scenario.log.topics, *sorted(drawn)

    def stop(self) -> None:
        """End at the next chunk; safe in a signal handler."""
        self._stopping = True
        self.sim.stop()

    @property
    def is_stopping(self) -> bool:
        return self._stopping

    @property
    def speed(self) -> float | None:
        """Seconds of simulation time a second; None for as fast as possible."""
        if self.sim.autopilots.are_live:
            return 1.0
        return self.pacer.speed if self.pacer else None

    def change_speed(self, speed: float | None) -> None:
        if self.sim.autopilots.are_live and speed not in (None, 1.0):
            raise CommandError("a board is in the loop, which lives on the wall clock: the speed must stay 1")
        if speed is None or self.sim.autopilots.are_live:
            self.pacer = None
            return
        self.pacer = self.pacer or Pacer(speed)
        self.pacer.change(speed, self.sim.time)

    def fly(self, look: Callable[[], None] = lambda: None) -> RunOutcome:
        """Run to the end; `look` is called after every chunk."""
        with self.recorded():
            self._first_tick()
            with self.link or nullcontext():
                self._fly(look)
        return self.outcome

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """However it ends what is done inside, the folder is complete afterwards, and `outcome` says how."""
        try:
            yield
        except Interrupted:
            pass
        except LogError as error:
            self._fail_to_log(error)
        except (RunError, UserError) as error:
            self._fail(str(error), error)
        except Exception as error:
            if not self._was_interrupted_while_compiling():
                self._fail(f"at t = {self.sim.time:.3f} s {find_origin(error)}", error)
        self._end_clock = time.perf_counter()
        try:
            self._let_systems_keep()
            if self._stopping and self.sim.tick < self.target and self.outcome.error is None:
                self.outcome = RunOutcome("stopped", f"stopped at t = {self.sim.time:.3f} s")
            elif self.outcome.error is None:
                self._judge()
            self._tell_of_idle_patterns()
            self._close_log()
            self._write_summary()
        finally:
            self.sim.close()

    def _fail(self, reason: str, error: BaseException) -> None:
        """The run cannot go on, so whoever had a job in it has not done it."""
        self.outcome = RunOutcome("failed", reason, error)
        self.sim.verdict.findings.append(Finding(self.sim.time, "run", reason, good=False))

    @property
    def could_not_begin(self) -> bool:
        """Whether something that it needs was missing or wrong before anything moved."""
        return not self.started and isinstance(self.outcome.error, RunError | UserError)

    def _let_systems_keep(self) -> None:
        for name, system in self.sim.systems.items():
            try:
                system.keep(self.sim)
            except Exception as error:
                self.sim.fail(name, f"cannot keep what it has: {find_origin(error)}")

    def _judge(self) -> None:
        """A run that went on to its end may have failed nevertheless, or have ended too early."""
        for name in self.sim.missions_under_way:
            self.sim.event(name, "its mission was not over when the run ended", level="warning")
        for system in self.sim.systems.values():
            system.conclude(self.sim)
        self._swarms.judge()
        self.sim.loom.finish()
        self.sim.autopilots.conclude()
        if not self.sim.verdict.is_good:
            self.outcome = RunOutcome("failed", str(self.sim.verdict))

    def _was_interrupted_while_compiling(self) -> bool:
        """Then the compiler may have lost the interruption and raised something of its own."""
        return self._stopping and not self.started

    @property
    def wall_time(self) -> float:
        """Seconds since the first tick was over, without those in which the run stood still to be looked at."""
        if not self.started:
            return 0.0
        return (self._end_clock or time.perf_counter()) - self._start_clock - self._stood_still

    @property
    def real_time_factor(self) -> float:
        return (self.sim.time - self._start_time) / self.wall_time if self.wall_time > 0 else 0.0

    def summary(self) -> dict[str, Any]:
        sim = self.sim
        shown = list(sim.vehicles.values())[:MOST_VEHICLES_IN_SUMMARY]
        reports = {name: told for name, system in sim.systems.items() if (told := system.report(sim))}
        boards, ends, swarms = sim.autopilots.reports(), sim.loom.ends(), self._swarms.summary()
        return {
            "scenario": sim.scenario.name,
            "seed": sim.seed,
            "airloom": VERSION,
            "status": self.outcome.status,
            "reason": self.outcome.reason,
            "verdict": sim.verdict.summary(),
            "simulated_time": sim.time,
            "wall_time": self.wall_time,
            "real_time_factor": self.real_time_factor,
            "state_hash": sim.state_hash(),
            "warnings": sim.warnings,
            **({"speed": self.pacer.speed, "lateness": self._lateness()} if self.pacer else {}),
            **({"autopilots": boards} if boards else {}),
            **({"members": ends} if ends else {}),
            **({"systems": reports} if reports else {}),
            **({"radio": sim.radio.summary()} if sim.radio is not None else {}),
            **({"ros2": sim.ros2.report()} if sim.ros2 else {}),
            **({"swarm": swarms} if swarms else {}),
            "vehicle_count": len(sim.vehicles),
            "vehicles": {vehicle.name: final_state(vehicle) for vehicle in shown},
        }

    def _lateness(self) -> dict[str, float]:
        assert self.pacer is not None
        return {**asdict(self.pacer.lateness), "mean": self.pacer.lateness.mean}

    @property
    def finished(self) -> bool:
        return self.sim.tick >= self.target

    def step(self, ticks: int) -> None:
        """Some ticks at once, for a run that is paused."""
        self.sim.step(min(ticks, self.target - self.sim.tick))
        self.note_time()

    def note_time(self) -> None:
        """Let the log know how far the run is."""
        if self._log and self._bag:
            self._bag.tick(self.sim.time_ns)
            self._log.tick(self.sim.time_ns)

    def restart(self) -> None:
        """Back to time 0 as soon as the compiled loop pauses."""
        self._restarting = True
        self.sim.stop()

    def pause(self) -> None:
        self.paused = True
        self.sim.stop()

    def resume(self) -> None:
        self.paused = False

    def _first_tick(self) -> None:
        """Apart from the others, because it waits for whatever must be compiled."""
        self.is_starting = True
        if not self._stopping:
            self.sim.step()
            self.start_counting()
        self.is_starting = False

    def start_counting(self) -> None:
        """From now on the clock on the wall counts."""
        self._start_clock, self._start_time, self._stood_still = time.perf_counter(), self.sim.time, 0.0
        self.started = True

    def _fly(self, look: Callable[[], None]) -> None:
        def watch(_: Simulation) -> None:
            self.note_time()
            look()

        while self._goes_on():
            if self._restarting:
                self._restarting = False
                self.begin_anew()
            if self._stands_still() and self.link:
                self._stand_still()
            else:
                glance = Glance(self) if self.link or self.pacer else None
                self.sim.run(self.target * self.sim.step_ns / NS_PER_SECOND, watch, glance)

    def _stand_still(self) -> None:
        assert self.link is not None
        began = time.perf_counter()
        self.note_time()
        self.link.serve(wait=Glance.slice)
        for bridge in self.sim.bridges:
            bridge.serve()
        self.sim.loom.stay_in_touch()
        self._stood_still += time.perf_counter() - began

    def _goes_on(self) -> bool:
        return not self._stopping and (not self.finished or self.audience > 0 or self._restarting)

    def _stands_still(self) -> bool:
        return self.paused or self.finished

    def begin_anew(self, seed: int | None = None) -> None:
        """Back to time 0. The log of a flight so far is kept beside the new one."""
        if self._log:
            self._end_log(self._log)
            if self.sim.tick > 0:
                self.folder.put_log_aside()
            self._log = self._new_log(seed)
        self.sim.reset(seed)
        self._bag = self._new_bag(self._log) if self._log else None
        for watch in self._watches:
            watch.start()
        self._swarms.start()
        self.start_counting()

    def _tell_of_idle_patterns(self) -> None:
        """Whoever asks for a topic that nobody has may have mistyped it; the usual patterns suit most runs, not all."""
        if self.outcome.error or not self.sim.tick:
            return
        scenario, bridge = self.sim.scenario, self.sim.ros2
        if self._log:
            drawn = {f"figures.{name}": figure.topics for name, figure in scenario.figures.items()}
            chosen = [*({*scenario.log.topics} - {*Log().topics})]
            asked = {"log.topics": chosen, "log.rates": scenario.log.rates, **drawn}
            self._tell_of_idle("log", asked, [*(topic.name for topic in self.sim.bus.topics()), *self._own_topics()])
        if bridge and bridge.is_open:
            wishes = bridge.wishes
            asked = {"ros2.topics": wishes.topics, "ros2.rates": wishes.rates, "ros2.qos": wishes.qos}
            self._tell_of_idle("ros2", asked, sorted(bridge.outgoing.offered))

    def _own_topics(self) -> list[str]:
        return self._bag.topics if self._bag else []

    def _tell_of_idle(self, source: str, asked: Mapping[str, Iterable[str]], names: Sequence[str]) -> None:
        for key, patterns in asked.items():
            for pattern in sorted({*patterns}):
                if not any(matches_any(name, (pattern,)) for name in names):
                    text = f"{key}: no topic is like '{pattern}'{did_you_mean(pattern, names)}"
                    self.sim.event(source, text, level="warning")

    def _close_log(self) -> None:
        if not self._log:
            return
        try:
            self._end_log(self._log)
        except LogError as error:
            self._fail_to_log(error)

    def _end_log(self, log: LogWriter) -> None:
        if self.sim.radio is not None:
            self.sim.radio.finish()
        if self._bag is not None:
            self._bag.close()
        log.close()

    def _fail_to_log(self, error: LogError) -> None:
        self._fail(f"at t = {self.sim.time:.3f} s: {error}", error)

    def _write_summary(self) -> None:
        """Of a run without a tick, this is its first look. What went wrong before explains more than this may."""
        try:
            self.folder.write_summary(self.summary())
            self._swarms.write(self.folder.path)
        except (RunFolderError, OSError) as error:
            reason = f"{self.outcome.reason}; {error}" if self.outcome.error else str(error)
            self.outcome = RunOutcome("failed", reason, self.outcome.error or error)


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
