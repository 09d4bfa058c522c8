"""Who does what: tasks that members share out among themselves by radio, without anybody in charge.

It is the consensus-based bundle algorithm (CBBA; Choi, Brunet and How, IEEE Trans. Robotics 25, 2009). Each member adds
to its bundle the task that is worth most to it, as long as it can outbid whom it knows to have won it; it tells
everybody who it believes wins what with which bid, and how recent its news of each member is. Who is outbid gives up
that task and all that it took after it. Words are whole, so lost ones cost time only.

Once words have got through along some chain of links between all, for as many rounds as the network is wide times the
number of tasks, nobody's bundles conflict, and if bids only fall as a bundle grows, the sum is at least half of the
best possible. Bids are kept from rising so that it always converges (Johnson et al. 2012). Who has not been heard of,
by anybody, for `forget` seconds is taken to be dead, and its tasks are free again.

    score of a route = Σ_j value_j λ^(t_j)        t_j: time of arrival at task j, s
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from math import hypot
from typing import NamedTuple

import numpy as np

from airloom.radio.packet import LONGEST, Packet, PacketError

FORGET = 5.0  # s
NOBODY, NEVER = -1, -(2**62)
_KIND = 0x42
_HEAD = struct.Struct("<Bq")


class Recency(NamedTuple):
    """Of whom a sender knows something newer, or only something older, than this member: [member]."""

    newer: np.ndarray
    older: np.ndarray


class Auction:
    """What one member's computer does."""

    def __init__(
        self, name: str, members: Sequence[str], tasks: Sequence[tuple[float, float]], most: int,
        values: Sequence[float] | None = None, speed: float = 5.0, discount: float = 0.98, forget: float = FORGET,
    ) -> None:  # fmt: skip
        """`members` and `tasks`, places in m, are the same for all. A member takes `most` tasks at most; each is worth
        its value (1), times the discount for each second until it is reached at a speed, m/s.
        """
        self._names, self._me, self._most = list(members), list(members).index(name), most
        self._tasks, self._speed, self._discount = [tuple(task) for task in tasks], speed, discount
        self._values = [1.0] * len(tasks) if values is None else list(values)
        self._forget_ns = round(forget * 1e9)
        self._bids, self._winners = np.zeros(len(tasks)), np.full(len(tasks), NOBODY)
        self._times = np.full(len(members), NEVER)
        self._bundle: list[int] = []
        self.route: list[int] = []
        """Its tasks, in the order in which it goes to them."""
        if _HEAD.size + 8 * len(members) + 10 * len(tasks) > LONGEST:
            raise PacketError(
                f"{len(members)} members and {len(tasks)} tasks do not fit into a packet of {LONGEST} bytes"
            )

    def score(self, place: Sequence[float], route: Sequence[int]) -> float:
        """What a route is worth from a place, m."""
        x, y, away, total = place[0], place[1], 0.0, 0.0
        for task in route:
            to_x, to_y = self._tasks[task]
            away += hypot(to_x - x, to_y - y)
            x, y = to_x, to_y
            total += self._values[task] * self._discount ** (away / self._speed)
        return total

    def step(self, place: Sequence[float], time_ns: int) -> None:
        """Forget the dead, give up what is lost, and bid for more, from where it is, m. Once between two words."""
        self._times[self._me] = time_ns
        self._free_tasks_of_the_dead(time_ns)
        self._give_up_what_is_lost()
        least = min((float(self._bids[task]) for task in self._bundle), default=float("inf"))
        while len(self._bundle) < self._most and (found := self._best(place, least)):
            least, task, route = found
            self._bids[task], self._winners[task] = least, self._me
            self._bundle.append(task)
            self.route = route

    def _free_tasks_of_the_dead(self, time_ns: int) -> None:
        dead = (time_ns - self._times > self._forget_ns) & (self._times > NEVER)
        lost = np.isin(self._winners, np.flatnonzero(dead))
        self._bids[lost], self._winners[lost] = 0.0, NOBODY

    def _give_up_what_is_lost(self) -> None:
        for k, task in enumerate(self._bundle):
            if self._winners[task] != self._me:
                for later in self._bundle[k + 1 :]:
                    if self._winners[later] == self._me:
                        self._bids[later], self._winners[later] = 0.0, NOBODY
                self._bundle = self._bundle[:k]
                self.route = [task for task in self.route if task in self._bundle]
                return

    def _best(self, place: Sequence[float], least: float) -> tuple[float, int, list[int]] | None:
        """Bid, task and new route for the one that is worth most of those it can win; None if there is none."""
        now, found = self.score(place, self.route), None
        for task in range(len(self._tasks)):
            if task in self._bundle:
                continue
            routes = [[*self.route[:at], task, *self.route[at:]] for at in range(len(self.route) + 1)]
            route = max(routes, key=lambda one: self.score(place, one))
            bid = min(self.score(place, route) - now, least)
            if self._beats(task, bid) and (found is None or bid > found[0]):
                found = bid, task, route
        return found

    def _beats(self, task: int, bid: float) -> bool:
        """Whether a bid of its own wins a task; of equal bids that of the first member."""
        winner = int(self._winners[task])
        return bid > 0.0 and (bid > self._bids[task] or (bid == self._bids[task] and NOBODY < self._me < winner))

    def word(self, time_ns: int) -> bytes:
        winners = self._winners.astype("<i2").tobytes()
        return _HEAD.pack(_KIND, time_ns) + self._times.astype("<i8").tobytes() + self._bids.tobytes() + winners

    def hear(self, packets: Iterable[Packet]) -> None:
        members, tasks = len(self._names), len(self._tasks)
        for packet in packets:
            content = packet.content
            fits = len(content) == _HEAD.size + 8 * members + 10 * tasks and content[0] == _KIND
            if not fits or packet.sender not in self._names:
                continue
            numbers = np.frombuffer(content, "<i8", members, _HEAD.size)
            bids = np.frombuffer(content, "<f8", tasks, _HEAD.size + 8 * members)
            winners = np.frombuffer(content, "<i2", tasks, _HEAD.size + 8 * members + 8 * tasks)
            self._take(self._names.index(packet.sender), numbers, bids, winners.astype(np.int64))

    def _take(self, k: int, times: np.ndarray, bids: np.ndarray, winners: np.ndarray) -> None:
        """The table of actions of the paper (Table I): agree, reset or leave each task as it is."""
        if times[k] <= self._times[k]:
            return  # an older word of the same member
        news = Recency(times > self._times, times < self._times)
        for task in range(len(bids)):
            action = self._action(k, int(winners[task]), int(self._winners[task]), bids[task], self._bids[task], news)
            if action == "update":
                self._bids[task], self._winners[task] = bids[task], winners[task]
            elif action == "reset":
                self._bids[task], self._winners[task] = 0.0, NOBODY
        self._times = np.maximum(self._times, times)

    def _action(self, k: int, theirs: int, mine: int, bid: float, own: float, news: Recency) -> str:
        """What to do about a task that the sender k believes `theirs` to win, and this member `mine`."""
        me, newer = self._me, news.newer
        higher = bid > own or (bid == own and theirs < mine)
        if theirs == k:
            if mine in (k, NOBODY) or higher or (mine != me and newer[mine]):
                return "update"
            return "leave"
        if theirs == me:
            return "reset" if mine == k or (mine not in (me, NOBODY) and newer[mine]) else "leave"
        if theirs == NOBODY:
            return "update" if mine == k or (mine not in (me, NOBODY) and newer[mine]) else "leave"
        return self._action_on_third(k, theirs, mine, higher, news)

    def _action_on_third(self, k: int, theirs: int, mine: int, higher: bool, news: Recency) -> str:
        newer = news.newer
        if mine == self._me:
            return "update" if newer[theirs] and higher else "leave"
        if mine == k:
            return "update" if newer[theirs] else "reset"
        if mine in (theirs, NOBODY):
            return "update" if newer[theirs] else "leave"
        if newer[theirs] and (newer[mine] or higher):
            return "update"
        return "reset" if newer[mine] and news.older[theirs] else "leave"
