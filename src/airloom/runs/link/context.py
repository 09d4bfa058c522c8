"""The context: what requests act upon."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from math import inf
from typing import TYPE_CHECKING

from airloom.basics.hints import did_you_mean
from airloom.basics.patterns import matches
from airloom.commands import Mode
from airloom.joystick import Mapping as StickMapping
from airloom.joystick import Stick
from airloom.missions.pilot import Pilot
from airloom.missions.tasks import Task
from airloom.net.json_lines import RequestError
from airloom.runs.link.observers import EventTape, Plots, Tapes
from airloom.runs.link.window import PERIOD, RealTimeFactor, Window
from airloom.scenario import Scenario, ScenarioError
from airloom.scenario.errors import shortened
from airloom.systems.push import Push

if TYPE_CHECKING:
    from airloom.runs.recorded import RecordedRun
    from airloom.vehicle import Vehicle

SILENCE = 5.0  # s after which a studio counts as gone
HANDS_OFF = 1.0  # s after which a stick that says nothing counts as put down


class RequestContext:
    """A run, the missions and sticks that fly in it from outside, and what is kept for those who look on."""

    def __init__(self, run: RecordedRun) -> None:
        self.run, self.sim = run, run.sim
        self.events = EventTape(self.sim.bus)
        self.plots = Plots(self.sim.bus)
        self.tapes = Tapes(self.sim.bus)
        self.edition = 0
        """Grows with every change of the scenario."""
        self.window: Window | None = None
        self._missions: dict[str, Task] = {}
        self._sticks: dict[str, Stick] = {}
        self._held_at: dict[str, float] = {}
        self._held: set[str] = set()
        """Vehicles whose mode somebody holds who looks on."""
        self._audiences: dict[str, tuple[float, int]] = {}
        self._factor = RealTimeFactor()
        self._shown_at = 0.0

    def close(self) -> None:
        self.events.close()
        self.plots.close()
        self.tapes.close()
        self.close_window()

    # -- who looks on ------------------------------------------------------------------------------------------------

    def hear_of_audience(self, studio: str, count: int) -> None:
        self._audiences[studio] = time.monotonic(), count
        self._count_audience()

    def _count_audience(self) -> None:
        """A studio that has not spoken for a while is gone, and its audience with it."""
        now = time.monotonic()
        self._audiences = {name: told for name, told in self._audiences.items() if now - told[0] < SILENCE}
        self.run.audience = sum(count for _, count in self._audiences.values())
        if not self.run.audience:
            while self._held:
                self._release(self._held.pop())

    def open_window(self) -> Window:
        if self.window is None:
            self.window = Window(self.run.folder.window.absolute(), self.sim.fleet)
            self._write_window()
        return self.window

    def close_window(self) -> None:
        if self.window:
            self._write_window()
            self.window.close()
            self.window = None

    def show(self, at_once: bool = False) -> None:
        """Let those who look on see how things are, if the last time is long enough ago."""
        now = time.perf_counter()
        if self.window and (at_once or now - self._shown_at > PERIOD):
            self._shown_at = now
            self._write_window()
            self.plots.forget_unread()
            self.tapes.forget_unread()
            self._count_audience()

    def _write_window(self) -> None:
        assert self.window is not None
        run, sim = self.run, self.sim
        end = run.target * sim.step_ns * 1e-9
        factor = self._factor.at(sim.time)
        status = [sim.time, end, run.speed or 0.0, factor, run.paused, run.finished, self.edition, self.events.count]
        self.window.write(status)

    # -- what there is -----------------------------------------------------------------------------------------------

    def change(self, scenario: Scenario) -> None:
        try:
            self.sim.change(scenario)
        except (ScenarioError, ValueError) as error:
            raise RequestError(str(error)) from None
        self.edition += 1
        self.close_window()  # with the new edition in its last picture, so that those who look on open the next
        for name in self._missions.keys() - self.sim.vehicles.keys():
            self._missions.pop(name).cancel()
        self._sticks = {name: stick for name, stick in self._sticks.items() if name in self.sim.vehicles}

    def must_go_on(self) -> None:
        """Time does not go on after the end: what is told to a vehicle there would never happen."""
        if self.run.finished:
            raise RequestError("the run is over: begin anew to fly it again")

    # -- who flies ---------------------------------------------------------------------------------------------------

    def stick(self, vehicle: Vehicle) -> Stick:
        """The stick that flies a vehicle, mapped as a PS4 controller."""
        if vehicle.name not in self._held_at:
            self.take_over(vehicle)
        if vehicle.name not in self._sticks:
            mapping = StickMapping.load("ps4")
            self._sticks[vehicle.name] = Stick(self.sim, vehicle, mapping, first_mode=Mode.VELOCITY_YAWRATE)
        self._held_at[vehicle.name] = time.monotonic()
        return self._sticks[vehicle.name]

    def lay_down_stick(self, vehicle: Vehicle, for_good: bool = True) -> None:
        self._held_at.pop(vehicle.name, None)
        if stick := self._sticks.get(vehicle.name):
            stick.let_go()
        if for_good:
            self._sticks.pop(vehicle.name, None)

    def hold_mode(self, vehicle: Vehicle) -> None:
        """Until somebody else commands it, or nobody looks on any more."""
        self._held.add(vehicle.name)
        self.sim.guard.hold(vehicle)

    def _release(self, name: str) -> None:
        if vehicle := self.sim.vehicles.get(name):
            self.sim.guard.release(vehicle)

    def must_not_be_in_hand(self, vehicle: Vehicle) -> None:
        """A stick speaks many times a second: whoever else commands its vehicle would be overheard."""
        if time.monotonic() - self._held_at.get(vehicle.name, -inf) < HANDS_OFF:
            raise RequestError(f"{vehicle.name} is flown by hand; put the stick down first")

    def forget(self) -> None:
        """The run begins anew."""
        self._missions.clear()
        self._sticks.clear()
        self._held_at.clear()
        self._held.clear()

    def vehicles(self, pattern: str) -> list[Vehicle]:
        """Those whose names match; an error with the closest name if there are none."""
        found = list(self.sim.group(pattern))
        if not found:
            hint = did_you_mean(pattern, self.sim.vehicles, "vehicles are")
            raise RequestError(f"no vehicle is called '{shortened(pattern)}'{hint}")
        return found

    def systems_of(self, vehicle: Vehicle) -> list[str]:
        """Those of the scenario that were given the vehicle, and may command it again after anybody else."""
        found = []
        for name, system in self.sim.systems.items():
            given = system.parameters
            pattern = getattr(given, "vehicles", None) or getattr(given, "vehicle", None)
            if isinstance(pattern, str) and matches(vehicle.name, pattern) and not isinstance(system, Push):
                found.append(name)
        return found

    def mission_of(self, vehicle: Vehicle) -> str | None:
        task = self._missions.get(vehicle.name)
        return task.name.removeprefix(f"{vehicle.name} ") if task and not task.done else None

    def start(self, vehicle: Vehicle, what: str, mission: Callable[[Pilot], Coroutine]) -> None:
        """Replaces what the vehicle was doing; what is wrong from the start is told at once, else on /events."""
        self.must_not_be_in_hand(vehicle)
        self.take_over(vehicle)
        if vehicle.armed and vehicle.mode is not Mode.POSITION_YAW:
            vehicle.recover()
        task = self.sim.start(mission(self.sim.pilot(vehicle.name)), f"{vehicle.name} {what}")
        task.when_done(self._tell_failure)
        task.wake()
        if task.error is not None:
            raise RequestError(str(task.error))
        self._missions[vehicle.name] = task

    def must_be_able(self, vehicle: Vehicle, mode: Mode) -> None:
        if why := self.sim.pilot(vehicle.name).why_not_in(mode):
            raise RequestError(why)

    def take_over(self, vehicle: Vehicle) -> None:
        """End the vehicle's mission, which brakes it: from now on somebody else says where to go."""
        self._held.discard(vehicle.name)
        self._release(vehicle.name)
        if task := self._missions.pop(vehicle.name, None):
            task.cancel()

    def _tell_failure(self, task: Task) -> None:
        if task.error is not None and task in self._missions.values():
            self.sim.event(task.name, f"failed: {task.error}", level="error")
