"""From the loop to the bus: records and sensor readings become messages, for the topics that somebody wants."""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Protocol

import numpy as np

from airloom.basics.clock import ticks_per_period
from airloom.bus import messages
from airloom.bus.bus import Bus, Chorus, Topic
from airloom.compiled import compiled, tables

if TYPE_CHECKING:
    from airloom.engines.fleet import Craft, Fleet


LONGEST_WAIT = 0.1  # s of wall time that a message may wait for others


class StateTopics:
    """The topics of a vehicle besides those of its sensors."""

    def __init__(self, bus: Bus, craft: Craft) -> None:
        name, frame = craft.name, f"{craft.name}/base_link"
        rotors, self.number = len(craft.airframe.rotors), craft.number
        self.state = bus.advertise(f"/{name}/state", messages.odometry("world", frame))
        self.others: dict[Topic, slice] = {}
        if craft.vehicle.autopilot is None:  # what an autopilot wants is its own affair
            setpoint = bus.advertise(f"/{name}/setpoint", messages.setpoint("world"))
            command = bus.advertise(f"/{name}/command", messages.flight_command(frame))
            self.others[setpoint] = slice(tables.RECORD_SETPOINT, tables.RECORD_COMMAND)
            self.others[command] = slice(tables.RECORD_COMMAND, tables.RECORD_SPEEDS)
        speeds = bus.advertise(f"/{name}/rotors", messages.actuators(frame, rotors))
        self.others[speeds] = slice(tables.RECORD_SPEEDS, tables.RECORD_SPEEDS + rotors)
        self.all = (self.state, *self.others)


@compiled
def turn_into_body(states):
    """ROS gives an odometry's velocity in the child frame; the state has it in the world. For all at once:
    states [time, vehicle, state], by the transpose of the attitude's matrix.
    """
    for n in range(states.shape[0]):
        for k in range(states.shape[1]):
            w, x, y, z = states[n, k, 3], states[n, k, 4], states[n, k, 5], states[n, k, 6]
            a, b, c = states[n, k, 7], states[n, k, 8], states[n, k, 9]
            states[n, k, 7] = (1 - 2 * (y * y + z * z)) * a + 2 * (x * y + w * z) * b + 2 * (x * z - w * y) * c
            states[n, k, 8] = 2 * (x * y - w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z + w * x) * c
            states[n, k, 9] = 2 * (x * z + w * y) * a + 2 * (y * z - w * x) * b + (1 - 2 * (x * x + y * y)) * c


class Tape(Protocol):
    """What the loop writes down besides records and readings, with room for RECORD_COUNT samples."""

    topic: Topic
    ticks: int
    """from sample to sample"""
    over: bool
    """Nothing will be added."""

    def listen(self, wanted: bool) -> None:
        """From now on samples are wanted, or not."""

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Ticks and values of the samples since the last call."""


class Publisher:
    """Drains what the loop has recorded: often enough for those who act on messages, rarely enough to cost little."""

    def __init__(self, bus: Bus, fleet: Fleet, rate: float, after: Publisher | None = None) -> None:
        """`after` another one, whose fleet this one follows, it goes on where that has published to."""
        self.bus, self.fleet = bus, fleet
        self.record_period = ticks_per_period(rate, fleet.step_ns)
        self.clock = bus.advertise("/clock", messages.clock())
        self.state_topics = [StateTopics(bus, craft) for craft in fleet.crafts]
        self.sensor_topics = [bus.advertise(f"/{s.vehicle}/{s.name}", s.template()) for s in fleet.sensors]
        self._taped: list[int] = []
        self._tapes: list[Tape] = after._tapes if after else []
        self._states: list[Topic] = []
        self._state_rows = np.zeros(0, np.int64)
        self._together: tuple[Chorus, messages.Together] | None = None
        """Of all states, if nobody wants more than their bytes, as those do who tell others."""
        self._others: list[tuple[Topic, int, slice]] = []
        """What else is wanted of the records: topics, numbers of their vehicles, and which columns."""
        self._changes_seen = -1
        self._capacity = 0
        self._published_at = 0.0
        self._published_to: int = after._published_to if after else -1
        self.record_ticks = 0
        """Ticks between two records, 0 if nobody wants any."""
        self.turns: list[tuple[int, int]] = []
        """(period, phase) in ticks of the topics whose subscribers may act on a message at once."""

    def restart(self) -> None:
        """Begin again at time 0, with new tapes: a reset of the fleet has taken the old ones away."""
        self._taped, self._tapes, self._changes_seen, self._published_to = [], [], -1, -1

    def record(self, tape: Tape) -> None:
        self._tapes.append(tape)
        if tape.topic.wanted:
            self._changes_seen = -1

    def prepare(self, tick: int) -> None:
        """See which topics are wanted now; to be called before the loop runs on."""
        if self._changes_seen == self.bus.changes:
            return
        self.publish(tick)
        self._changes_seen = self.bus.changes
        wanted = [s for s, topic in enumerate(self.sensor_topics) if topic.wanted]
        if wanted != self._taped:
            self._taped = wanted
            self.fleet.set_tapes(wanted)
        wanted_states = [it for it in self.state_topics if it.state.wanted]
        self._states = [it.state for it in wanted_states]
        self._state_rows = np.array([it.number for it in wanted_states], np.int64)
        raw = all(topic.is_only_raw for topic in self._states)
        templates = [topic.template for topic in self._states if topic.template]
        self._together = (Chorus(self.bus, self._states), messages.Together(templates)) if raw else None
        self._others = [
            (topic, it.number, columns)
            for it in self.state_topics
            for topic, columns in it.others.items()
            if topic.wanted
        ]
        record_topics = [self.clock, *(t for topics in self.state_topics for t in topics.all)]
        self.record_ticks = self.record_period if any(t.wanted for t in record_topics) else 0
        for tape in self._tapes:
            tape.listen(tape.topic.wanted)
        periods = [int(self.fleet.sensing.table[s, tables.TICKS]) for s in wanted]
        periods += [tape.ticks for tape in self._tapes if tape.topic.wanted]
        self._capacity = min([tables.RECORD_COUNT * self.record_period, *(tables.TAPE_LENGTH * p for p in periods)])
        self.turns = self._turns(any(t.reactive for t in record_topics))

    def _turns(self, on_records: bool) -> list[tuple[int, int]]:
        turns = {(self.record_period, 0)} if on_records else set()
        turns |= {(tape.ticks, 0) for tape in self._tapes if tape.topic.reactive}
        for s in self._taped:
            if self.sensor_topics[s].reactive:
                period, delay = (int(x) for x in self.fleet.sensing.table[s, [tables.TICKS, tables.DELAY]])
                turns.add((period, delay % period))
        return sorted(turns)

    @property
    def first_record(self) -> int:
        """The number of the record that comes first in the buffer."""
        return self._published_to // self.record_period + 1

    def room(self, tick: int) -> int:
        """Ticks until records or tapes are full."""
        return self._published_to + self._capacity - tick

    def is_due(self, tick: int) -> bool:
        """Whether somebody waits for messages: to act on them, for room in the buffers, or for longer than a blink."""
        return bool(self.turns) or self.room(tick) <= 0 or monotonic() - self._published_at > LONGEST_WAIT

    @property
    def is_idle(self) -> bool:
        """Whether nobody wants anything, and nobody has changed his mind."""
        return self._changes_seen == self.bus.changes and not (self.record_ticks or self._taped or self._tapes)

    def skip(self, tick: int) -> None:
        """There was nothing to publish up to `tick`."""
        self._published_to = tick

    def publish(self, tick: int) -> None:
        """Everything recorded up to `tick`, in order of time."""
        if self.record_ticks or self._taped or self._tapes:
            self.bus.publish_batches([*self._record_batches(tick), *self._reading_batches(), *self._tape_batches()])
            self._tapes = [tape for tape in self._tapes if not tape.over]
        self._published_to, self._published_at = tick, monotonic()

    def _record_batches(self, tick: int):
        period, first = self.record_ticks, self.first_record
        count = tick // period - first + 1 if period else 0
        if count <= 0:
            return
        times = np.arange(first, first + count, dtype=np.int64) * (period * self.fleet.step_ns)
        records = self.fleet.flight.records[:count]
        if self.clock.wanted:
            yield self.clock, times, np.zeros((count, 0))
        states = records[:, self._state_rows, : tables.RECORD_SETPOINT]
        turn_into_body(states)
        if count == 1 and self._together is not None:
            chorus, together = self._together
            chorus.publish(partial(together.encode, times.item(), states[0]), times.item())
        else:
            yield from (
                (topic, times, values) for topic, values in zip(self._states, states.swapaxes(0, 1), strict=True)
            )
        for topic, number, columns in self._others:
            yield topic, times, records[:, number, columns]

    def _reading_batches(self):
        taped = self.fleet.sensing.taped
        for track, s in enumerate(self._taped):
            if count := int(taped[track]):
                lines = self.fleet.sensing.tape[track, :count]
                times = lines[:, :2].astype(np.int64) * self.fleet.step_ns
                values = self.fleet.sensors[s].message_values(lines[:, 2:])
                yield self.sensor_topics[s], times[:, 0], values, times[:, 1]
        taped[:] = 0

    def _tape_batches(self):
        for tape in self._tapes:
            if tape.topic.wanted:
                ticks, values = tape.take()
                yield tape.topic, ticks * self.fleet.step_ns, values
