"""A simulation: load a scenario, run it, look at it."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Coroutine, Mapping
from itertools import count
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airloom.autopilots.autopilot import Autopilots
from airloom.basics.clock import NS_PER_SECOND, ticks_per_period
from airloom.basics.patterns import matching
from airloom.basics.text import sound
from airloom.bus import messages
from airloom.bus.bus import Bus
from airloom.bus.command_topics import CommandTopics
from airloom.bus.publishing import Publisher, Tape
from airloom.control.flight_stack import StackError
from airloom.engines.engine import Engine
from airloom.engines.fleet import Fleet
from airloom.engines.tick import look_once
from airloom.eyes.eyes import Eyes
from airloom.group import Group
from airloom.loom.loom import Loom
from airloom.missions.guides import Guides
from airloom.missions.pilot import Pilot
from airloom.missions.pilots import pilot_of
from airloom.missions.tasks import Task
from airloom.plugin import find
from airloom.radio.radio import Radio
from airloom.scenario import ScenarioError, load
from airloom.scenario.models import Scenario
from airloom.scenario.objects import ObjectError
from airloom.scenario.terrain import TerrainError
from airloom.scenario.weather import WeatherError
from airloom.system import HOOKS, System
from airloom.vehicle import Vehicle
from airloom.vehicles.hull import HullError, too_heavy_to_float
from airloom.watch.complaints import Complaints
from airloom.watch.divergence import Sanity
from airloom.watch.guard import Guard
from airloom.watch.verdict import Finding, Verdict
from airloom.weather.water import WaterNow
from airloom.weather.weather import Weather
from airloom.world.ground import ground
from airloom.world.objects import oddities

if TYPE_CHECKING:
    from airloom.ros2.bridge import Bridge
    from airloom.ros2.foxglove import Foxglove

LONGEST_CHUNK = 1000  # ticks
Onlooker = Callable[["Simulation"], None]


class Simulation:
    """One run of a scenario, in exact steps of integer nanoseconds.

    The same scenario and seed give the same bits, however the steps are called and whoever watches. A state that is no
    longer a number ends any run with `Diverged`.
    """

    def __init__(self, scenario: Scenario, seed: int | None = None) -> None:
        self.scenario = scenario
        self.seed = scenario.seed if seed is None else _checked_seed(seed)
        self.bus = Bus()
        self._complaints = Complaints()
        self.verdict = Verdict()
        self.systems = {name: _make_system(name, choice) for name, choice in scenario.systems.items() if choice.enabled}
        try:
            self.fleet = Fleet(scenario, self.systems.values())
            self.engine = _make_engine(scenario, self.fleet)
        except (StackError, TerrainError, ObjectError, WeatherError, HullError) as error:
            raise ScenarioError(f"{scenario.name}: {error}") from None
        self.step_ns = self.fleet.step_ns
        self.tick = 0
        self.vehicles = {member.name: Vehicle(self, member) for member in self.fleet.crafts}
        self._events = self.bus.advertise("/events", messages.EVENT)
        self._publisher = Publisher(self.bus, self.fleet, scenario.log.rate)
        self.eyes = Eyes(self)
        self.weather = Weather(self)
        self.water = WaterNow(self)
        """Surface and currents, if the world has water."""
        self._hooks = _Hooks(self)
        self.guard = Guard(self)
        self._sanity = Sanity(self)
        CommandTopics(self)
        self.guides = Guides(self)
        self.autopilots = Autopilots(self)
        self.radio = _make_radio(self)
        """Nodes by name, if the scenario has a radio."""
        self.ros2 = _make_ros2(self)
        """The bridge, if the scenario has one."""
        self.foxglove = _make_foxglove(self)
        """The server for Foxglove's app, if the scenario has one."""
        self.bridges = [bridge for bridge in (self.ros2, self.foxglove) if bridge is not None]
        self.loom = Loom(self)
        self.member_logs: Path | None = None
        """Where the output of members goes that the scenario starts."""
        self.is_excerpt = False
        """Whether somebody has asked for another time than the scenario's: what is not over by then is no failure."""
        self.longest_chunk = LONGEST_CHUNK
        """Ticks between two looks from outside; what the simulation does is the same with any number."""
        self._started = self._stopping = False
        self._tasks: list[Task] = []
        for system in self.systems.values():
            system.configure(self)
        if self.ros2 is not None:
            self.ros2.check()
        self._prepare()

    @classmethod
    def load(
        cls, scenario: str | Path, seed: int | None = None, overrides: Mapping[str, Any] | None = None
    ) -> Simulation:
        """A bundled scenario by name, or a file; `overrides` such as {"vehicles.cf.mass": 0.03}."""
        return cls(load(scenario, overrides), seed)

    @property
    def has_started(self) -> bool:
        """Whether the look at time 0 has been taken."""
        return self._started

    @property
    def time_ns(self) -> int:
        return self.tick * self.step_ns

    @property
    def time(self) -> float:
        """Seconds of simulation time."""
        return self.time_ns / NS_PER_SECOND

    def run(self, until: float | None = None, watch: Onlooker | None = None, glance: Onlooker | None = None) -> None:
        """Run to a time in seconds (the scenario's duration if left out).

        `watch` is called some ten times a second, when messages have been published, and last when the time is
        reached; `glance` whenever the compiled loop pauses, which is at least every `longest_chunk` ticks.
        """
        until_ns = round((self.scenario.duration if until is None else until) * NS_PER_SECOND)
        self._stopping = False
        self._advance(-(-until_ns // self.step_ns), watch, glance)

    def step(self, ticks: int = 1, glance: Onlooker | None = None) -> None:
        """Advance by exactly this many ticks; `glance` as for `run`."""
        if ticks < 0:
            raise ValueError(f"a simulation only goes forward, got {ticks} ticks")
        self._stopping = False
        if ticks == 1 and glance is None and self._is_alone():
            self.engine.advance(self.tick, 1, 0, 0)
            self.tick += 1
            self._publisher.skip(self.tick)
            self._check()
        else:
            self._advance(self.tick + ticks, glance=glance)

    def _is_alone(self) -> bool:
        """Whether nobody acts or looks before the tick after this one: a loop that goes tick by tick needs no more."""
        others = self.radio is not None or len(self.bridges) > 0
        outside = self.loom.listeners is not None or len(self.autopilots) > 0 or others
        idle = self._hooks.is_idle and self._publisher.is_idle and self.eyes.is_idle and not self.weather.info.turns
        return self._started and not outside and idle

    def stop(self) -> None:
        """Let `run` return at the next opportunity; safe in a signal handler."""
        self._stopping = True

    @property
    def is_stopping(self) -> bool:
        """Whether `stop` was called and `run` has not returned yet: who waits for others need wait no longer."""
        return self._stopping

    def warm_up(self) -> None:
        """Compile whatever a tick needs, without one: no time passes, nothing looks, no member is started."""
        flight, sensing = self.fleet.flight, self.fleet.sensing
        look_once(0, flight._replace(blocks=flight.blocks[:0]), sensing, 0, 0)
        self.engine.advance(self.tick, 0, 0, 0)

    def first_look(self) -> None:
        """The look at time 0, before anything moves; once, when somebody first asks: late subscribers miss nothing.

        Members are started, sensors have readings from then on.
        """
        if self._started:
            return
        self._started = True
        if self.radio is not None:
            self.radio.open()
        self.autopilots.open(self.member_logs)
        self.loom.open(self.member_logs)
        for bridge in self.bridges:
            bridge.open()
        self._publisher.restart()
        self._publisher.prepare(-1)
        self.eyes.prepare()
        look_once(0, self.fleet.flight, self.fleet.sensing, self._publisher.record_ticks, 0)
        self._look_back()

    def reset(self, seed: int | None = None) -> None:
        """Back to time 0, as if freshly loaded; missions that still run are cancelled."""
        self.seed = self.seed if seed is None else _checked_seed(seed)
        for task in self._tasks:
            task.cancel()
        self.loom.close("the run begins anew")
        self.autopilots.close()
        self.tick, self._started = 0, False
        self._complaints.clear()
        self.verdict = Verdict()
        self._prepare()

    def change(self, scenario: Scenario) -> None:
        """Go on with another scenario: time goes on, and vehicles that are in both keep their state.

        One that has only another pose is put there, at rest. Systems stay as they are: they do not learn of new
        vehicles before they are made anew. The step, the seed and the engine must remain.
        """
        try:
            fleet = Fleet(scenario, self.systems.values())
            fleet.reset(self.seed)
            fleet.take_over(self.fleet)
            engine = _make_engine(scenario, fleet)
        except (StackError, TerrainError, ObjectError, WeatherError, HullError) as error:
            raise ScenarioError(f"{scenario.name}: {error}") from None
        self._publisher.publish(self.tick)
        engine.reset()
        self.scenario, self.fleet, self.engine = scenario, fleet, engine
        self._take_in_vehicles()
        self._publisher = Publisher(self.bus, fleet, scenario.log.rate, after=self._publisher)
        self.eyes.settle()
        self.weather.settle()
        self._hooks.find_controllers()
        self.autopilots.settle()
        if self.radio is not None:
            self.radio.settle()
        for bridge in self.bridges:
            bridge.settle()

    def _take_in_vehicles(self) -> None:
        before, self.vehicles = self.vehicles, {}
        for member in self.fleet.crafts:
            vehicle = before.pop(member.name, None) or Vehicle(self, member)
            vehicle.settle(member)
            self.vehicles[member.name] = vehicle
        for gone in before.values():
            self.guard.drop(gone)
        self.guides.settle()
        self._sanity.settle()

    def close(self) -> None:
        """Take leave of members: processes that the scenario started end. Without members there is nothing to do."""
        self.loom.close()
        self.autopilots.close()
        if self.radio is not None:
            self.radio.close()
        for bridge in self.bridges:
            bridge.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            self.loom.finish()
        self.close()

    def pilot(self, vehicle: str) -> Pilot:
        """A pilot for a vehicle, who flies it in a mission."""
        if vehicle not in self.vehicles:
            raise KeyError(f"no vehicle is called '{vehicle}'; vehicles: {', '.join(list(self.vehicles)[:8])}")
        return pilot_of(self, self.vehicles[vehicle])

    def start(self, mission: Coroutine, name: str = "mission") -> Task:
        """Let a coroutine run on simulation time, beginning with the next tick."""
        self._tasks = [task for task in self._tasks if not task.done]
        self._tasks.append(Task(self, mission, name))
        return self._tasks[-1]

    def cancel(self, name: str) -> None:
        """Cancel the missions that were started under a name, such as a vehicle's."""
        for task in [task for task in self._tasks if task.name == name]:
            task.cancel()

    @property
    def missions_under_way(self) -> list[str]:
        """The names of those that were started and are not over."""
        return [task.name for task in self._tasks if task.is_on_its_own and not task.done]

    def record(self, tape: Tape) -> None:
        """Publish what the loop writes to a tape until the tape is over."""
        self._publisher.record(tape)

    def group(self, pattern: str = "*") -> Group:
        """The vehicles whose names match, as one group; empty if none does."""
        return Group(self, matching(self.vehicles.items(), pattern))

    def call_at(self, time: float, function: Callable[[], None]) -> None:
        """Call a function once, before the first tick that starts at or after `time` seconds."""
        self._hooks.call_at(max(-(-round(time * NS_PER_SECOND) // self.step_ns), self.tick), function)

    @property
    def warnings(self) -> list[str]:
        """What went wrong so far; what was said again and again stands there once, with how often."""
        return self._complaints.texts()

    def event(self, source: str, text: str, level: str = "info") -> None:
        """Note something that happened: on the topic /events, and in the summary if it is a warning."""
        source, text = sound(source), sound(text)
        if level != "info":
            self._complaints.add(self.time, f"{source}: {text}")
        self._tell(source, text, level)

    def fail(self, source: str, why: str) -> None:
        """Note that somebody did not do its job. The run goes on, and is a failed one: see `verdict`."""
        self.verdict.findings.append(Finding(self.time, source, why, good=False))
        self._tell(source, why, "error")

    def succeed(self, source: str, what: str) -> None:
        """Note that somebody did its job: a mission is done, an autopilot has landed."""
        self.verdict.findings.append(Finding(self.time, source, what, good=True))
        self._tell(source, what, "info")

    def _tell(self, source: str, text: str, level: str) -> None:
        if self._events.wanted:
            self._events.publish(messages.event(self.time_ns, source, level, text), self.time_ns)

    def state_hash(self) -> str:
        """Digest of the full state: equal for equal runs."""
        self.first_look()
        digest = hashlib.blake2b(digest_size=16)
        digest.update(self.time_ns.to_bytes(8, "little"))
        self.fleet.hash_into(digest)
        self.engine.hash_into(digest)
        if self.radio is not None:
            self.radio.hash_into(digest)
        for system in self.systems.values():
            system.hash_into(digest)
        return digest.hexdigest()

    # -- the way of a tick -------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self.fleet.reset(self.seed)
        self.engine.reset()
        self._publisher.restart()
        for member in self.fleet.crafts:
            if member.controller is not None:
                member.controller.reset()
        for vehicle in self.vehicles.values():
            vehicle.forget()
        self.weather.begin()
        self._hooks.forget_calls()
        self._sanity.settle()
        self._warn_of_buried_vehicles()
        self._warn_of_dry_land()
        self._check_starts()
        for vehicle in self.vehicles.values():
            vehicle.warn_of_weight()
            vehicle.warn_of_inertia()
            for text in () if vehicle.controller is None else vehicle.controller.doubts():
                self.event(vehicle.name, text, level="warning")
        for text in oddities(self.scenario.world, self.fleet.land.things):
            self.event("world", text, level="warning")
        self.guard.forget()
        self.guides.forget()
        if self.radio is not None:
            self.radio.forget()
        for system in self.systems.values():
            system.reset(self)

    def _warn_of_buried_vehicles(self) -> None:
        for member in self.fleet.crafts:
            if (depth := self.fleet.depth_in_ground(member)) > 0.01:
                needed = ceil(1000 * (self.vehicles[member.name].position[2] + depth) - 1e-6) / 1000
                cure = f"raise pose.position to z = {needed}"
                text = f"starts {depth:.3g} m deep in the ground, which will throw it up; {cure}"
                self.event(member.name, text, level="warning")
            if (thing := self.fleet.thing_around(member)) is not None:
                self.event(member.name, f"starts inside '{thing}', which holds it; move pose.position", level="warning")

    def _warn_of_dry_land(self) -> None:
        water = self.scenario.world.water
        for vehicle in self.vehicles.values():
            if vehicle.controller is None or vehicle.controller.flies != "in water":
                continue
            x, y, _ = vehicle.position
            if water is None or ground(self.fleet.flight.world, x, y)[0] > water.level:
                self.event(vehicle.name, "starts on dry land, where its thrusters move nothing", level="warning")

    def _check_starts(self) -> None:
        for vehicle in self.vehicles.values():
            if vehicle.controller is not None:
                x, y, z = vehicle.position
                height = z - ground(self.fleet.flight.world, x, y)[0] - vehicle.description.stands
                try:
                    vehicle.controller.check_start(vehicle, float(height))
                    self._check_it_floats(vehicle)
                except StackError as error:
                    raise ScenarioError(f"{self.scenario.name}: vehicle {vehicle.name}: {error}") from None

    def _check_it_floats(self, vehicle: Vehicle) -> None:
        hull, water = vehicle.description.hull, self.scenario.world.water
        if hull is None or water is None or not getattr(vehicle.controller, "floats", False):
            return
        if (why := too_heavy_to_float(hull, water, vehicle.mass)) is not None:
            raise StackError(why)

    def _advance(self, target: int, watch: Onlooker | None = None, glance: Onlooker | None = None) -> None:
        publisher = self._publisher
        self.first_look()
        self._sanity.check()
        try:
            while self.tick < target and not self._stopping:
                self._hooks.call_due()
                self._hooks.call("pre_update")
                publisher.prepare(self.tick)
                self.eyes.prepare()
                room = min(self.longest_chunk, publisher.room(self.tick))
                turn = self._hooks.next_turn(publisher.turns + self.eyes.turns + self.weather.info.turns)
                if not self._fly_to(min(target, turn, self.tick + room)):
                    continue
                if self._look_back() and watch is not None and self.tick < target:
                    watch(self)
                if glance is not None:
                    glance(self)
        finally:
            publisher.publish(self.tick)
        if watch is not None:
            watch(self)

    def _fly_to(self, turn: int) -> bool:
        """Whether it was reached: an autopilot that needs attention is given it at once."""
        publisher, wires = self._publisher, self.autopilots.wires
        ticks = turn - self.tick
        self.tick = self.engine.advance(self.tick, ticks, publisher.record_ticks, publisher.first_record, wires)
        self._check()
        if self.tick < turn:
            self.autopilots.attend()
        return self.tick == turn

    def _check(self) -> None:
        """End the run if what was flown makes no sense."""
        self.weather.check()
        self._sanity.check()

    def _look_back(self) -> bool:
        """Whatever follows the compiled ticks; tells whether messages were published."""
        self._hooks.control()
        published = self._publisher.is_due(self.tick) or len(self.bridges) > 0
        if published:
            self._publisher.publish(self.tick)
        self.eyes.look()
        self.weather.info.tell()
        self._hooks.call("update")
        self._hooks.call("post_update")
        self.autopilots.carry()
        self.autopilots.tell()
        had_turns = self.loom.take_turns()
        if self.radio is not None:
            self.radio.take_turn()
        for bridge in self.bridges:
            bridge.take_turn()
        self.autopilots.hear()
        if had_turns:
            self.autopilots.carry()
        return published


class _Hooks:
    """Who wants to be called, and when."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._systems: dict[str, list[tuple[int, Callable]]] = {hook: [] for hook in HOOKS}
        for name, system in sim.systems.items():
            rate = sim.scenario.systems[name].rate or system.rate
            for hook in HOOKS:
                if system.overrides(hook):
                    self._systems[hook].append((ticks_per_period(rate, sim.step_ns), getattr(system, hook)))
        self._calls: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self.find_controllers()

    @property
    def is_idle(self) -> bool:
        """Whether there is nobody to call at this tick."""
        return not self._periods and not (self._calls and self._calls[0][0] <= self._sim.tick)

    def find_controllers(self) -> None:
        """Those of the vehicles there are now that are written in plain Python."""
        sim = self._sim
        self._controllers = [
            (
                ticks_per_period(member.controller.parameters.rate, sim.step_ns),
                sim.vehicles[member.name],
                member.controller,
            )
            for member in sim.fleet.crafts
            if member.controller is not None and member.controller.kernel is None
        ]
        periods = {period for hooks in self._systems.values() for period, _ in hooks}
        self._periods = sorted(periods | {period for period, _, _ in self._controllers})

    def call_at(self, tick: int, function: Callable[[], None]) -> None:
        heapq.heappush(self._calls, (tick, next(self._order), function))

    def forget_calls(self) -> None:
        self._calls.clear()

    def call_due(self) -> None:
        while self._calls and self._calls[0][0] <= self._sim.tick:
            heapq.heappop(self._calls)[2]()

    def call(self, hook: str) -> None:
        for period, function in self._systems[hook]:
            if self._sim.tick % period == 0:
                function(self._sim)

    def control(self) -> None:
        """Controllers written in plain Python take their turn where the compiled ones do: after the sensors."""
        for period, vehicle, controller in self._controllers:
            if self._sim.tick % period == 0 and vehicle.armed:
                vehicle.set_rotor_speeds(controller.control(vehicle))

    def next_turn(self, others: list[tuple[int, int]]) -> int:
        """The next tick at which anybody must be called."""
        tick = self._sim.tick
        others_outside = [one.period for one in (self._sim.radio, *self._sim.bridges) if one is not None]
        periods = (*self._periods, *self._sim.loom.periods, *others_outside)
        turns = [(tick // period + 1) * period for period in periods]
        turns += [((tick - phase) // period + 1) * period + phase for period, phase in others]
        turns += [call[0] for call in self._calls[:1]]
        return min(turns, default=tick + LONGEST_CHUNK)


def _checked_seed(seed: int) -> int:
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ValueError(f"a seed is a whole number from 0 to 2⁶³ − 1, got {seed!r}")
    return seed


def _make_system(name: str, choice: Any) -> System:
    plugin: Any = find("system", choice.kind)
    return plugin(name, plugin.Parameters.model_validate(choice.parameters))


def _make_radio(sim: Simulation) -> Radio | None:
    return None if sim.scenario.radio is None else Radio(sim, sim.scenario.radio)


def _make_ros2(sim: Simulation) -> Bridge | None:
    if sim.scenario.ros2 is None:
        return None
    from airloom.ros2.bridge import Bridge

    return Bridge(sim, sim.scenario.ros2)


def _make_foxglove(sim: Simulation) -> Foxglove | None:
    if sim.scenario.foxglove is None:
        return None
    from airloom.ros2.foxglove import Foxglove

    return Foxglove(sim, sim.scenario.foxglove)


def _make_engine(scenario: Scenario, fleet: Fleet) -> Engine:
    if scenario.engine.kind == "batch":
        from airloom.engines.batch import BatchEngine

        return BatchEngine(scenario, fleet)
    from airloom.engines.mujoco import MujocoEngine

    return MujocoEngine(scenario, fleet)
