"""The bus: typed publish/subscribe inside the process.

Subscribers get message objects, or with `raw=True` the CDR bytes. Objects arrive ordered by (time, order of
advertisement), also when a subscriber publishes in its callback. Raw subscribers, such as the log, get every batch
whole as soon as it is published.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from airloom.basics.hints import did_you_mean
from airloom.basics.patterns import matcher
from airloom.bus import messages
from airloom.bus.messages import Template

Callback = Callable[["Topic", Any, Any], None]
"""Called with the topic, the message and its time in ns; with `raw=True`, a list of bytes and a list of times."""

Batch = tuple["Topic", np.ndarray, np.ndarray] | tuple["Topic", np.ndarray, np.ndarray, np.ndarray]
"""A topic, times in ns, values, and the stamps if the messages were measured before the time they are published."""

Encode = Callable[[], Sequence[bytes]]
"""Makes the bytes of several messages; may be called later, and by another thread."""


class Gathered(NamedTuple):
    """How messages of several topics that come together are taken at once, without a call for each."""

    by: Callable[[Sequence[Any], Sequence[int], Encode], None]
    """Called with the keys of those wanted, their numbers among all, and what makes the bytes of all. A message that is
    wanted under several keys, as a state and an odometry are, is named once for each.
    """
    key: Any


_TOPIC_NAME = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+")


class Subscription:
    """A callback and the topics it listens to, present and future. `cancel` ends it."""

    def __init__(
        self, bus: Bus, patterns: tuple[str, ...], callback: Callback, raw: bool, gathered: Gathered | None
    ) -> None:
        self.raw, self.gathered = raw, gathered
        self.active = True
        self._bus = bus
        self._matchers = [matcher(pattern) for pattern in patterns]
        self.callback = callback

    def matches(self, name: str) -> bool:
        return any(fits(name) for fits in self._matchers)

    def cancel(self) -> None:
        self.active = False
        self._bus._forget(self)

    def deliver(self, topic: Topic, what: Any, when: Any) -> None:
        if not self.active:
            return
        try:
            self.callback(topic, what, when)
        except Exception as error:
            error.add_note(f"raised by a subscriber of {topic.name}")
            raise


class Topic:
    """A named stream of messages of one type. Made by `Bus.advertise`."""

    def __init__(self, bus: Bus, name: str, msgtype: str, order: int) -> None:
        self.name = name
        self.msgtype = msgtype
        self.order = order
        self.template: Template | None = None
        self.latched = False
        self.wanted = False
        """Whether publishing has any effect; a publisher may skip building its messages when it has none."""
        self._bus = bus
        self._listeners: tuple[Subscription, ...] = ()
        self._raw_listeners: tuple[Subscription, ...] = ()
        self._last: tuple[Callable[[], Any], int] | None = None
        self._reach: tuple = (False, (), ())

    def __repr__(self) -> str:
        return f"<Topic {self.name} ({self.msgtype})>"

    @property
    def reactive(self) -> bool:
        """Whether a subscriber may act on a message, so that it must not come late."""
        return bool(self._listeners)

    @property
    def is_only_raw(self) -> bool:
        """Whether all that is wanted of it are bytes."""
        return bool(self._raw_listeners) and not self._listeners and not self.latched

    def publish(self, message: Any, time_ns: int) -> None:
        msgtype = getattr(message, "__msgtype__", None)
        if msgtype != self.msgtype:
            given = msgtype or f"a Python {type(message).__name__}"
            raise TypeError(f"{self.name} carries {self.msgtype}; {given} cannot be published on it")
        if not self.wanted:
            return
        if self._raw_listeners:
            self._deliver_raw([messages.serialize(message)], [time_ns])
        self._queue(lambda: message, time_ns)
        self._bus._drain()

    def publish_bytes(self, cdr: bytes, time_ns: int) -> None:
        """Publish a message that is serialised already."""
        if not self.wanted:
            return
        if self._raw_listeners:
            self._deliver_raw([cdr], [time_ns])
        self._queue(partial(messages.deserialize, cdr, self.msgtype), time_ns)
        self._bus._drain()

    def publish_values(self, time_ns: int, values: Sequence[float] | np.ndarray) -> None:
        """Publish one sample: the numbers of the topic's template."""
        template = self._needed_template()
        if not self.wanted:
            return
        if self._raw_listeners:
            self._deliver_raw([template.encode(time_ns, values)], [time_ns])
        self._queue(partial(template.message, time_ns, np.array(values)), time_ns)
        self._bus._drain()

    def publish_batch(self, times_ns: np.ndarray, values: np.ndarray) -> None:
        """Publish N samples: int64[N] and float64[N, width of the template]."""
        self._bus.publish_batches([(self, times_ns, values)])

    def _needed_template(self) -> Template:
        if self.template is None:
            raise TypeError(f"{self.name} was advertised without a template: publish message objects on it")
        return self.template

    def _take_batch(self, times_ns: np.ndarray, values: np.ndarray, stamps_ns: np.ndarray | None = None) -> None:
        template = self._needed_template()
        if not self.wanted or not len(times_ns):
            return
        stamps_ns = times_ns if stamps_ns is None else stamps_ns
        times = times_ns.tolist()
        if self._raw_listeners:
            self._deliver_raw(template.encode_all(stamps_ns, values), times)
        if self._listeners or self.latched:
            for time_ns, stamp_ns, row in zip(times, stamps_ns.tolist(), np.array(values), strict=True):
                self._queue(partial(template.message, stamp_ns, row), time_ns)

    def _queue(self, message: Callable[[], Any], time_ns: int) -> None:
        if self.latched:
            self._last = message, time_ns
        if self._listeners:
            self._bus._push(self, message, time_ns)

    def _deliver_raw(self, cdr: list[bytes], times_ns: list[int]) -> None:
        for subscription in self._raw_listeners:
            subscription.deliver(self, cdr, times_ns)

    def _deliver(self, message: Any, time_ns: int) -> None:
        for subscription in self._listeners:
            subscription.deliver(self, message, time_ns)

    def _connect(self, subscription: Subscription) -> None:
        if subscription.raw:
            self._raw_listeners += (subscription,)
        else:
            self._listeners += (subscription,)
        self._refresh()
        if self._last is not None:
            message, time_ns = self._last[0](), self._last[1]
            if subscription.raw:
                subscription.deliver(self, [messages.serialize(message)], [time_ns])
            else:
                subscription.deliver(self, message, time_ns)

    def _disconnect(self, subscription: Subscription) -> None:
        self._listeners = tuple(other for other in self._listeners if other is not subscription)
        self._raw_listeners = tuple(other for other in self._raw_listeners if other is not subscription)
        self._refresh()

    def _refresh(self) -> None:
        reach = self.latched, self._listeners, self._raw_listeners
        if reach != self._reach:
            self._reach, self.wanted = reach, any(reach)
            self._bus.changes += 1


class Bus:
    def __init__(self) -> None:
        self.changes = 0
        """Counts every change of who listens to what."""
        self._topics: dict[str, Topic] = {}
        self._subscriptions: list[Subscription] = []
        self._pending: list[tuple[int, int, int, Topic, Callable[[], Any]]] = []
        self._arrivals = count()
        self._draining = False

    def advertise(self, name: str, kind: str | Template, *, latched: bool = False) -> Topic:
        """A topic of a message type, or of the messages a template makes.

        A late subscriber of a latched topic gets its last message. Several publishers may share a topic by
        advertising it with the same kind.
        """
        template = kind if isinstance(kind, Template) else None
        msgtype = kind.msgtype if isinstance(kind, Template) else kind
        topic = self._topics.get(name) or self._add(name, msgtype)
        if topic.msgtype != msgtype:
            raise ValueError(f"{name} is already advertised as {topic.msgtype}, not {msgtype}")
        if template and topic.template not in (None, template):
            raise ValueError(f"{name} is already advertised with another template")
        topic.template = topic.template or template
        topic.latched = topic.latched or latched
        topic._refresh()
        return topic

    def _add(self, name: str, msgtype: str) -> Topic:
        if not _TOPIC_NAME.fullmatch(name):
            raise ValueError(
                f"'{name}' is no topic name: write /name or /vehicle/name with letters, digits, underscores"
            )
        if not messages.is_known(msgtype):
            hint = did_you_mean(msgtype, messages.typestore().types)
            raise ValueError(f"no message type is called '{msgtype}'{hint}")
        topic = self._topics[name] = Topic(self, name, msgtype, len(self._topics))
        for subscription in self._subscriptions:
            if subscription.matches(name):
                topic._connect(subscription)
        return topic

    def subscribe(
        self,
        patterns: str | Iterable[str],
        callback: Callback,
        *,
        raw: bool = False,
        gathered: Gathered | None = None,
    ) -> Subscription:
        """Call back for each message on the topics that match, such as /cf/imu or /*/odometry.

        With `raw`, what comes together may be `gathered` instead.
        """
        chosen = (patterns,) if isinstance(patterns, str) else tuple(patterns)
        subscription = Subscription(self, chosen, callback, raw, gathered)
        self._subscriptions.append(subscription)
        for topic in self.topics():
            if subscription.matches(topic.name):
                topic._connect(subscription)
        return subscription

    def topics(self) -> list[Topic]:
        """All topics in the order of advertisement."""
        return list(self._topics.values())

    def publish_batches(self, batches: Iterable[Batch]) -> None:
        """Publish batches of several topics; their messages are merged by (time, order of advertisement)."""
        for topic, *batch in batches:
            topic._take_batch(*batch)
        self._drain()

    def _push(self, topic: Topic, message: Callable[[], Any], time_ns: int) -> None:
        heapq.heappush(self._pending, (time_ns, topic.order, next(self._arrivals), topic, message))

    def _drain(self) -> None:
        if self._draining:
            return
        self._draining = True
        try:
            while self._pending:
                time_ns, _, _, topic, message = heapq.heappop(self._pending)
                topic._deliver(message(), time_ns)
        finally:
            self._draining = False
            self._pending.clear()

    def _forget(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
        for topic in self.topics():
            topic._disconnect(subscription)


class Chorus:
    """Topics whose messages come together, and of which nothing but bytes is wanted, as a fleet's states often are."""

    def __init__(self, bus: Bus, topics: Sequence[Topic]) -> None:
        self._bus, self._topics = bus, topics
        self._see_who_listens()

    def _see_who_listens(self) -> None:
        self._changes_seen = self._bus.changes
        self._singly: list[tuple[int, Topic, Subscription]] = []
        gathered: dict[Any, tuple[list[Any], list[int]]] = {}
        for number, topic in enumerate(self._topics):
            for subscription in topic._raw_listeners:
                if subscription.gathered is None:
                    self._singly.append((number, topic, subscription))
                else:
                    keys, numbers = gathered.setdefault(subscription.gathered.by, ([], []))
                    keys.append(subscription.gathered.key)
                    numbers.append(number)
        self._gathered = [(by, *those) for by, those in gathered.items()]

    def publish(self, encode: Encode, time_ns: int) -> None:
        """A message of each topic. If all is gathered, nothing is encoded here."""
        if self._changes_seen != self._bus.changes:
            self._see_who_listens()
        if self._singly:
            cdr = encode()
            for number, topic, subscription in self._singly:
                subscription.deliver(topic, [cdr[number]], [time_ns])
            encode = lambda: cdr  # noqa: E731
        for by, keys, numbers in self._gathered:
            by(keys, numbers, encode)
