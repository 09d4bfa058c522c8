"""CSMA/CA of an ad hoc network, as ns-3.37 does it: the loop over what happens next.

Each node has a timer for the end of its frame, for the moment it is noticed, for its turn, for an acknowledgement that
it owes and for one that it waits for. A frame for one node is acknowledged after SIFS, or sent again with twice the
contention window; a broadcast is sent once.
"""

from __future__ import annotations

from airloom.compiled import compiled
from airloom.radio.access import (
    ANSWER,
    ATTEMPT,
    END,
    SENSE,
    TIMEOUT,
    contend,
    draw_backoff,
    drop_expired,
    finish,
    give,
    ring,
    sense_medium,
)
from airloom.radio.air import preamble_lasted, settle, stop, transmit
from airloom.radio.medium import EVERYBODY
from airloom.radio.phy import ACK_BYTES, HEADERS
from airloom.radio.state import (
    ACKNOWLEDGEMENT,
    ARRIVED,
    CAPTURED,
    DATA,
    GIVEN_UP,
    NEXT_GIVEN,
    NOBODY,
    NOW,
    QUEUE_DROPS,
    RETRIES,
    SENT,
    SILENT,
)
from airloom.radio.timers import NEVER, next_timer


@compiled
def run(e, a, c, key, epoch, given, until):
    """Carry on until a time, or until arrivals or captures must be collected; True if the time is reached.

    `given` are frames in the order of time: time, node, to, number, size. At the same time timers come first.
    """
    while True:
        timer, g = next_timer(e.winners), e.clock[NEXT_GIVEN]
        time = e.times[timer]
        if g < given.shape[0] and given[g, 0] < min(time, until):
            e.clock[NOW] = max(e.clock[NOW], given[g, 0])
            e.clock[NEXT_GIVEN] += 1
            give(e, a, key, given[g, 1], given[g, 2], given[g, 3], given[g, 4])
            continue
        if time >= until:
            e.clock[NOW] = until
            return True
        kind, node = timer // e.nodes.shape[0], timer % e.nodes.shape[0]
        if kind == END and e.clock[ARRIVED] + e.nodes[node].row > e.arrivals.shape[0]:
            return False
        if has_no_room(e.captures, e):
            return False
        e.clock[NOW] = time
        ring(e, kind, node, NEVER)
        if kind == END:
            stop(e, a, key, node)
        elif kind == SENSE:
            preamble_lasted(e, a, node)
        elif kind == ANSWER:
            answer(e, a, c, key, epoch, node)
        elif kind == ATTEMPT:
            attempt(e, a, c, key, epoch, node)
        else:
            time_out(e, a, key, node)


@compiled
def has_no_room(captures, e):
    """Whether what the next timer brings, at most one capture for each node, does not fit."""
    return captures is not None and e.clock[CAPTURED] + e.nodes.shape[0] > captures.shape[0]


@compiled
def attempt(e, a, c, key, epoch, node):
    """The backoff is over: send what is at the head of the queue."""
    drop_expired(e, a, node)
    n = e.nodes[node]
    if n.length == 0:
        return
    e.counts[node, SENT if n.attempts == 0 else RETRIES] += 1
    n.attempts += 1
    frame = e.queues[node, n.head]
    rate = a.broadcast_rate if frame.to == EVERYBODY else a.rate
    transmit(e, a, c, key, epoch, node, DATA, frame.to, frame.number, n.attempts, frame.size + HEADERS, rate)


@compiled
def answer(e, a, c, key, epoch, node):
    """Acknowledge what has just been heard, whatever else is on the air."""
    n = e.nodes[node]
    if n.sends == SILENT:
        transmit(
            e, a, c, key, epoch, node, ACKNOWLEDGEMENT, n.answers, n.answers_number, n.answers_attempt, ACK_BYTES,
            a.acknowledgement_rate,
        )  # fmt: skip


@compiled
def time_out(e, a, key, node):
    """No acknowledgement has come, unless one is just coming."""
    n = e.nodes[node]
    if n.follows != NOBODY:
        ring(e, TIMEOUT, node, e.nodes[n.follows].until_ns)
        return
    n.idle_from = max(n.idle_from, e.clock[NOW])
    if n.attempts >= a.attempts:
        e.counts[node, GIVEN_UP] += 1
        finish(e, a, key, node)
        return
    n.awaits = NOBODY
    n.window = min(2 * n.window + 1, a.largest_window)
    draw_backoff(e, key, node)
    contend(e, a, node)


@compiled
def begin_interval(e, a, is_on, noise, jamming):
    """What is different from now on: radios that go on or off, and noise."""
    for node in range(e.nodes.shape[0]):
        settle(e, node)
        e.nodes[node].noise, e.nodes[node].jamming = noise, jamming[node]
        on = 1 if is_on[node] else 0
        if on != e.nodes[node].is_on:
            switch(e, a, node, on)
        sense_medium(e, a, node)


@compiled
def switch(e, a, node, on):
    """Turn a radio on or off. What it had on the air is cut, what it had queued is lost."""
    n, now = e.nodes[node], e.clock[NOW]
    n.is_on = on
    n.follows, n.candidate, n.awaits = NOBODY, NOBODY, NOBODY
    n.window, n.slots, n.backoff_from, n.idle_from = a.least_window, 0, now, max(n.idle_from, now)
    if on == 1:
        return
    ring(e, ANSWER, node, NEVER)
    ring(e, ATTEMPT, node, NEVER)
    ring(e, TIMEOUT, node, NEVER)
    e.counts[node, QUEUE_DROPS] += n.length
    n.length, n.attempts, n.is_delivered = 0, 0, 0
    if n.sends != SILENT:
        n.is_cut = 1
        ring(e, SENSE, node, NEVER)
        ring(e, END, node, now)
