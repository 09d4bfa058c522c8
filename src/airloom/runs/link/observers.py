"""What is kept of the bus for those who look on from outside: the latest events, and the numbers they plot."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np

from airloom.bus import messages
from airloom.bus.bus import Bus, Topic
from airloom.bus.messages import Layout, Leaf

MOST_EVENTS = 2000
MOST_SAMPLES = 20_000
MOST_MESSAGES = 64
MOST_TRACES = 256
"""One more takes the place of the one that has been unread longest."""
PATIENCE = 10.0  # s that a plot may go unread


class EventTape:
    """The last things that happened, numbered from the start of the run."""

    def __init__(self, bus: Bus) -> None:
        self.count = 0
        self._kept: deque[dict[str, Any]] = deque(maxlen=MOST_EVENTS)
        self._subscription = bus.subscribe("/events", self._hear, raw=True)

    def _hear(self, _: Topic, cdr: list[bytes], times_ns: list[int]) -> None:
        for data, time_ns in zip(cdr, times_ns, strict=True):
            event = messages.deserialize(data, messages.EVENT)
            self._kept.append(
                {"time": time_ns * 1e-9, "source": event.source, "level": event.level, "text": event.text}
            )
            self.count += 1

    def since(self, number: int) -> list[dict[str, Any]]:
        """Those after the first `number`, as far as they are kept."""
        new = min(max(self.count - number, 0), len(self._kept))
        return list(self._kept)[len(self._kept) - new :]

    def close(self) -> None:
        self._subscription.cancel()


class Plots:
    """Fields of topics that somebody plots: listened to from the first time they are read, until nobody does."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._traces: dict[tuple[str, str], NumberTape] = {}

    def trace(self, topic: Topic, field: str) -> NumberTape:
        key = topic.name, field
        if key not in self._traces:
            if len(self._traces) >= MOST_TRACES:
                self._forget(min(self._traces, key=lambda other: self._traces[other].read_at))
            self._traces[key] = NumberTape(self._bus, topic, field)
        return self._traces[key]

    def forget_unread(self) -> None:
        now = time.monotonic()
        for key, trace in list(self._traces.items()):
            if now - trace.read_at > PATIENCE:
                self._forget(key)

    def _forget(self, key: tuple[str, str]) -> None:
        self._traces.pop(key).close()

    def close(self) -> None:
        for trace in self._traces.values():
            trace.close()


class NumberTape:
    """The latest values of one number in the messages of a topic."""

    def __init__(self, bus: Bus, topic: Topic, field: str) -> None:
        self._topic, self._field = topic, field
        self._samples: deque[tuple[float, float]] = deque(maxlen=MOST_SAMPLES)
        self._size = 0
        self._place: Leaf | None = None
        self.read_at = time.monotonic()
        self._subscription = bus.subscribe(topic.name, self._hear, raw=True)

    def _hear(self, _: Topic, cdr: list[bytes], times_ns: list[int]) -> None:
        if self._samples and times_ns[0] * 1e-9 < self._samples[-1][0]:
            self._samples.clear()  # the run began anew
        for data, time_ns in zip(cdr, times_ns, strict=True):
            value = self._value(data)
            if value is not None:
                self._samples.append((time_ns * 1e-9, value))

    def _value(self, data: bytes) -> float | None:
        """Messages of equal size are taken to be laid out alike, which only those with texts inside may not be."""
        if len(data) != self._size:
            self._size, self._place = len(data), numbers_in(messages.layout(data, self._topic.msgtype)).get(self._field)
        if self._place is None:
            return None
        return float(np.frombuffer(data, self._place.dtype, 1, self._place.offset)[0])

    def since(self, moment: float) -> list[tuple[float, float]]:
        self.read_at = time.monotonic()
        fresh: list[tuple[float, float]] = []
        for sample in reversed(self._samples):
            if sample[0] <= moment:
                break
            fresh.append(sample)
        return fresh[::-1]

    def close(self) -> None:
        self._subscription.cancel()


class Tapes:
    """Whole messages that somebody looks at: listened to from the first time they are read, until nobody does."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._tapes: dict[str, MessageTape] = {}

    def since(self, pattern: str, moment: float) -> list[tuple[str, float, bytes]]:
        """Topic, time and CDR of the messages on topics that match, after a moment."""
        if pattern not in self._tapes:
            self._tapes[pattern] = MessageTape(self._bus, pattern)
        return self._tapes[pattern].since(moment)

    def forget_unread(self) -> None:
        now = time.monotonic()
        for pattern, tape in list(self._tapes.items()):
            if now - tape.read_at > PATIENCE:
                self._tapes.pop(pattern).close()

    def close(self) -> None:
        for tape in self._tapes.values():
            tape.close()


class MessageTape:
    """The latest messages of some topics."""

    def __init__(self, bus: Bus, pattern: str) -> None:
        self._kept: deque[tuple[str, float, bytes]] = deque(maxlen=MOST_MESSAGES)
        self.read_at = time.monotonic()
        self._subscription = bus.subscribe(pattern, self._hear, raw=True)

    def _hear(self, topic: Topic, cdr: list[bytes], times_ns: list[int]) -> None:
        if self._kept and times_ns[0] * 1e-9 < self._kept[-1][1]:
            self._kept.clear()  # the run began anew
        self._kept.extend((topic.name, time_ns * 1e-9, data) for data, time_ns in zip(cdr, times_ns, strict=True))

    def since(self, moment: float) -> list[tuple[str, float, bytes]]:
        self.read_at = time.monotonic()
        return [told for told in self._kept if told[1] > moment]

    def close(self) -> None:
        self._subscription.cancel()


def numbers_in(layout: Layout) -> dict[str, Leaf]:
    """The single numbers of a message by name: `pose.pose.position.z`, `velocity[0]`; no stamps and covariances."""
    found = {}
    for name, leaf in layout.leaves.items():
        if name.startswith(("header.stamp", "clock")) or "covariance" in name:
            continue
        if leaf.length is None:
            found[name] = leaf
        for k, offset in enumerate(leaf.elements() if leaf.length else []):
            found[f"{name}[{k}]"] = Leaf(offset, leaf.dtype, None)
    return found


def fields_of(topic: Topic) -> list[str]:
    """The numbers that a topic's messages hold, as far as can be known before one comes."""
    if topic.template is not None:
        data = topic.template.encode(0, np.zeros(topic.template.width))
    else:
        data = messages.serialize(messages.build(topic.msgtype))
    return list(numbers_in(messages.layout(data, topic.msgtype)))
