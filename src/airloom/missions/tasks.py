"""Coroutines that live on simulation time.

`await sleep(2)` waits two simulated seconds, however fast the simulation runs. Whoever waits for a condition looks at
it on a grid of times common to all, so that a hundred missions interrupt the compiled loop no more than one does.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from math import inf
from typing import TYPE_CHECKING, Any

from airloom.basics.clock import NS_PER_SECOND
from airloom.errors import AirloomError
from airloom.watch.origin import told

if TYPE_CHECKING:
    from airloom.simulation import Simulation

LOOK_PERIOD_NS = NS_PER_SECOND // 10


class MissionError(AirloomError):
    """A mission cannot go on; the message says why."""


class MissionTimeout(MissionError):
    """Something took longer than it was given."""


class Cancelled(BaseException):
    """Thrown into a coroutine that is cancelled."""


class Wait:
    """Something a coroutine awaits. `begin` is told which task waits, and must wake it up some time."""

    def __await__(self) -> Generator[Wait, Any, Any]:
        return (yield self)

    def begin(self, task: Task) -> None:
        raise NotImplementedError

    def abandon(self) -> None:
        """The task is cancelled and waits no longer."""


class Sleep(Wait):
    """Wait for some time, and for the next tick at least: a loop around `sleep(0)` lets time go on."""

    def __init__(self, seconds: float) -> None:
        if not 0 <= seconds < inf:
            raise MissionError(f"cannot sleep for {seconds} s")
        self.seconds = seconds

    def begin(self, task: Task) -> None:
        task.wake_at(task.sim.time + max(self.seconds, task.sim.step_ns / NS_PER_SECOND))


class Until(Wait):
    """Wait for a condition that cannot be met before `earliest` seconds; give up after `timeout` seconds."""

    def __init__(
        self, condition: Callable[[], bool], what: str, timeout: float | None = None, earliest: float = 0.0
    ) -> None:
        self.condition, self.what, self.timeout, self.earliest = condition, what, timeout, earliest

    def begin(self, task: Task) -> None:
        self._deadline = None if self.timeout is None else task.sim.time + self.timeout
        self._look_later(task, task.sim.time_ns + round(self.earliest * NS_PER_SECOND))

    def _look_later(self, task: Task, after_ns: int) -> None:
        turn = (after_ns // LOOK_PERIOD_NS + 1) * LOOK_PERIOD_NS / NS_PER_SECOND
        if self._deadline is not None:
            turn = min(turn, self._deadline)
        task.call_at(turn, lambda: self._look(task))

    def _look(self, task: Task) -> None:
        try:
            met = self.condition()
        except Exception as error:
            task.wake(error=error)
            return
        if met:
            task.wake()
        elif self._deadline is not None and task.sim.time >= self._deadline:
            task.wake(error=MissionTimeout(f"{self.what} took longer than {self.timeout:g} s"))
        else:
            self._look_later(task, task.sim.time_ns)


class All(Wait):
    """Wait for several tasks. If one fails, the others are cancelled and its error is raised."""

    def __init__(self, tasks: list[Task]) -> None:
        self.tasks = tasks

    def begin(self, task: Task) -> None:
        self._open, self._over = len(self.tasks), False
        if not self.tasks:
            task.wake_at(task.sim.time)
        for other in self.tasks:
            other.when_done(lambda other: self._one_done(task, other))

    def abandon(self) -> None:
        self._over = True
        for task in self.tasks:
            task.cancel()

    def _one_done(self, task: Task, other: Task) -> None:
        self._open -= 1
        if self._over:
            return
        if other.error is not None:
            self.abandon()
            task.wake(error=other.error)
        elif self._open == 0:
            task.wake([t.result for t in self.tasks])


class Task:
    """A running coroutine."""

    def __init__(self, sim: Simulation, coroutine: Coroutine, name: str) -> None:
        self.sim, self.name = sim, name
        self.done, self.cancelled = False, False
        self.result: Any = None
        self.error: BaseException | None = None
        self._coroutine = coroutine
        self._listeners: list[Callable[[Task], None]] = []
        self._waiting: Wait | None = None
        self._turn = 0
        self.wake_at(sim.time)

    def when_done(self, listener: Callable[[Task], None]) -> None:
        if self.done:
            listener(self)
        else:
            self._listeners.append(listener)

    @property
    def is_on_its_own(self) -> bool:
        """Whether nobody waits for its end: what becomes of it is then told on /events."""
        return not self._listeners

    def call_at(self, time: float, function: Callable[[], None]) -> None:
        """As `sim.call_at`, but forgotten when the task has moved on in the meantime."""
        turn = self._turn
        self.sim.call_at(time, lambda: function() if turn == self._turn and not self.done else None)

    def wake_at(self, time: float) -> None:
        self.call_at(time, self.wake)

    def wake(self, value: Any = None, error: BaseException | None = None) -> None:
        """Let the coroutine go on with a value or an error."""
        if self.done:
            return
        self._turn += 1
        try:
            waiting = self._coroutine.send(value) if error is None else self._coroutine.throw(error)
        except StopIteration as end:
            self._finish(result=end.value)
        except Cancelled:
            self.cancelled = True
            self._finish()
        except Exception as failure:
            self._finish(error=failure)
        else:
            self._begin(waiting)

    def _begin(self, waiting: Any) -> None:
        if not isinstance(waiting, Wait):
            self.wake(
                error=MissionError(
                    f"{self.name} awaits {type(waiting).__name__}; a mission awaits drone.sleep and such"
                )
            )
            return
        self._waiting = waiting
        waiting.begin(self)

    def cancel(self) -> None:
        """Stop at the point where it waits, and whatever it waits for; its `finally` blocks run."""
        if self.done:
            return
        if self._waiting is not None:
            self._waiting.abandon()
        self.wake(error=Cancelled())

    def _finish(self, result: Any = None, error: BaseException | None = None) -> None:
        self.done, self.result, self.error = True, result, error
        if error is not None and self.is_on_its_own:
            self.sim.fail(self.name, f"mission failed: {told(error)}")
        for listener in self._listeners:
            listener(self)
