"""Access to the medium: when a node may send. The distributed coordination function of IEEE 802.11-2020, clause 10.3.

A node that wants to send waits until the medium was idle for DIFS, then for its backoff, which stands still while the
medium is busy. The medium is busy for a node while it sends, while the signals there add up to what it can notice
(−82 dBm, after 4 µs), or while energy of whatever kind is beyond −62 dBm.
"""

from __future__ import annotations

from airloom.compiled import compiled
from airloom.radio.fading import uniforms
from airloom.radio.state import (
    BACKOFF,
    DATA,
    EXPIRED,
    GIVEN,
    NOBODY,
    NOW,
    QUEUE_DROPS,
    REFUSED,
    SILENT,
)
from airloom.radio.timers import NEVER, set_timer

END, SENSE, ANSWER, ATTEMPT, TIMEOUT = KINDS = range(5)
"""Kinds of timers; at the same time they ring in this order."""


@compiled
def ring(e, kind, node, time):
    """Set a timer of a node."""
    timer = kind * e.nodes.shape[0] + node
    if e.times[timer] != time:
        set_timer(e.times, e.winners, timer, time)


@compiled
def backoff_begins(e, a, node):
    """When slots are counted down from: after DIFS, or EIFS, or what others have reserved."""
    n = e.nodes[node]
    return max(n.backoff_from, max(n.idle_from, max(n.error_until, n.reserved_until)) + a.difs)


@compiled
def count_down(e, a, node):
    """Take the slots off that have passed while the medium was idle."""
    n = e.nodes[node]
    if n.slots == 0:
        return
    begins = backoff_begins(e, a, node)
    passed = min((e.clock[NOW] - begins) // a.slot, n.slots)
    if passed > 0:
        n.slots -= passed
        n.backoff_from = begins + passed * a.slot


@compiled
def draw_backoff(e, key, node):
    """0 … window slots, from now on."""
    n = e.nodes[node]
    u, _, _, _ = uniforms(key, n.draws, 0, node, BACKOFF)
    n.draws += 1
    n.slots = int(u * (n.window + 1))
    n.backoff_from = e.clock[NOW]


@compiled
def contend(e, a, node):
    """Wait for the turn, if there is something to send and the medium is idle."""
    n, turn = e.nodes[node], NEVER
    if n.length > 0 and n.awaits == NOBODY and n.sends == SILENT and n.is_busy == 0:
        turn = backoff_begins(e, a, node) + n.slots * a.slot
    ring(e, ATTEMPT, node, turn)


@compiled
def sense_medium(e, a, node):
    """Notice that the medium has become busy, or idle."""
    n = e.nodes[node]
    is_busy = n.sends != SILENT or n.sensed >= a.detectable_mw or n.sensed + n.jamming >= a.energy_mw
    if is_busy and n.is_busy == 0:
        count_down(e, a, node)
        n.is_busy = 1
        ring(e, ATTEMPT, node, NEVER)
    elif not is_busy and n.is_busy == 1:
        n.is_busy = 0
        n.idle_from = e.clock[NOW]
        contend(e, a, node)


@compiled
def give(e, a, key, node, to, number, size):
    """Queue a frame. On an idle medium, with no backoff left from the last one, it waits for DIFS only."""
    n, places = e.nodes[node], e.queues.shape[1]
    e.counts[node, GIVEN] += 1
    if n.is_on == 0:
        e.counts[node, REFUSED] += 1
        return
    if n.length == places:
        drop_expired(e, a, node)
    if n.length == places:
        e.counts[node, QUEUE_DROPS] += 1
        return
    if n.length == 0:
        if n.is_busy == 0:
            count_down(e, a, node)
        if n.slots == 0 and n.is_busy == 0:
            n.backoff_from = e.clock[NOW] + a.difs
        elif n.slots == 0:
            draw_backoff(e, key, node)
    place = (n.head + n.length) % places
    e.queues[node, place].number, e.queues[node, place].to = number, to
    e.queues[node, place].size, e.queues[node, place].time_ns = size, e.clock[NOW]
    n.length += 1
    if n.length == 1:
        contend(e, a, node)


@compiled
def drop_expired(e, a, node):
    """Forget frames that have waited too long, unless the first is just on its way."""
    n = e.nodes[node]
    if n.sends == DATA or n.awaits != NOBODY:
        return
    while n.length > 0 and e.clock[NOW] - e.queues[node, n.head].time_ns > a.lifetime:
        e.counts[node, EXPIRED] += 1
        take_head(e, node)


@compiled
def take_head(e, node):
    n = e.nodes[node]
    n.head = (n.head + 1) % e.queues.shape[1]
    n.length -= 1
    n.attempts, n.is_delivered = 0, 0


@compiled
def finish(e, a, key, node):
    """The frame at the head is done with, well or not."""
    take_head(e, node)
    e.nodes[node].awaits = NOBODY
    e.nodes[node].window = a.least_window
    draw_backoff(e, key, node)
    contend(e, a, node)
