"""On the air: who hears a frame, what else is there to be heard, and whether it is understood.

Nodes that do not hear each other send at once, and both signals meet at those who hear both. There the stronger one is
followed if it is 4 dB above the rest when its preamble has lasted 4 µs; what comes later is noise to it, part by part
of the frame (`phy.error_events`). Signals take no time to arrive: 300 m are 1 µs, a slot is 20.
"""

from __future__ import annotations

from math import exp, log10

from airloom.compiled import compiled
from airloom.radio.access import ANSWER, END, SENSE, TIMEOUT, finish, ring, sense_medium
from airloom.radio.channel import fade_row, fill_row
from airloom.radio.fading import uniforms
from airloom.radio.medium import EVERYBODY
from airloom.radio.phy import (
    ACK_BYTES,
    DETECTION_NS,
    LONG_FROM,
    PREAMBLE_NS,
    SIFS_NS,
    SIGNAL_NS,
    SLOWEST_ACK_NS,
    US,
    air_time,
    error_events,
)
from airloom.radio.state import (
    ACKNOWLEDGED,
    ACKNOWLEDGEMENT,
    ARRIVED,
    CAPTURED,
    COLLISIONS,
    DATA,
    FADING_OF_ACKNOWLEDGEMENT,
    FADING_OF_DATA,
    HEARD,
    LUCK_OF_ACKNOWLEDGEMENT,
    LUCK_OF_DATA,
    NOBODY,
    NOISE_LOSSES,
    NOW,
    SILENT,
)
from airloom.radio.timers import NEVER


@compiled
def transmit(e, a, c, key, epoch, node, kind, to, number, attempt, size, rate):
    """Begin to send. Everybody in reach has one signal more."""
    now, n = e.clock[NOW], e.nodes[node]
    if n.epoch != epoch:
        n.row = fill_row(c, e, node)
        n.epoch = epoch
    n.sends, n.to, n.number, n.attempt, n.rate = kind, to, number, attempt, rate
    n.from_ns, n.until_ns = now, now + air_time(size, e.megabits[rate])
    n.is_long = 1 if (n.until_ns - now - PREAMBLE_NS - SIGNAL_NS) * e.megabits[rate] >= 8 * LONG_FROM * US else 0
    n.is_sensed, n.is_cut = 0, 0
    n.follows, n.candidate, n.error_until = NOBODY, NOBODY, 0
    sense_medium(e, a, node)
    ring(e, SENSE, node, now + DETECTION_NS)
    ring(e, END, node, n.until_ns)
    capture(e.captures, e, node, node, 0.0)
    purpose = FADING_OF_DATA if kind == DATA else FADING_OF_ACKNOWLEDGEMENT
    fade_row(c, e, node, key, number, attempt, purpose)
    for k in range(n.row):
        if e.power[node, k] > 0.0:
            add_signal(e, node, e.who[node, k], e.power[node, k])


@compiled
def add_signal(e, sender, node, power):
    settle(e, node)
    n = e.nodes[node]
    n.incident += power
    n.signals += 1
    if n.follows != NOBODY:
        n.is_spoiled = 1
    elif n.is_on == 1 and n.sends == SILENT and (n.candidate == NOBODY or power > n.candidate_power):
        n.candidate, n.candidate_power = sender, power


@compiled
def settle(e, node):
    """Add up the errors to be expected in the part of a frame that has been heard since something changed.

    The signal extension counts as if it carried bits, as in ns-3.
    """
    n = e.nodes[node]
    if n.follows == NOBODY:
        return
    now, since, sender = e.clock[NOW], n.settled_ns, e.nodes[n.follows]
    header, data = sender.from_ns + PREAMBLE_NS, sender.from_ns + PREAMBLE_NS + SIGNAL_NS
    snr = n.followed_power / (n.noise + n.jamming + max(n.incident - n.followed_power, 0.0))
    in_header, in_data = min(now, data) - max(since, header), now - max(since, data)
    if in_header > 0 and snr < e.clear_from[0, 0]:
        n.errors += in_header * e.megabits[0] / US * error_events(e.ratios, 0, 0, snr)
    if in_data > 0 and snr < e.clear_from[sender.rate, sender.is_long]:
        events = error_events(e.ratios, sender.rate, sender.is_long, snr)
        n.errors += in_data * e.megabits[sender.rate] / US * events
    n.settled_ns = now


@compiled
def preamble_lasted(e, a, sender):
    """The signal is noticed by who hears it strongly enough, and followed by who heard nothing stronger."""
    e.nodes[sender].is_sensed = 1
    for k in range(e.nodes[sender].row):
        power, node = e.power[sender, k], e.who[sender, k]
        if power == 0.0:
            continue
        n = e.nodes[node]
        n.sensed += power
        sense_medium(e, a, node)
        if n.candidate != sender:
            continue
        n.candidate = NOBODY
        if power < a.detectable_mw:
            continue
        rest = n.noise + n.jamming + max(n.incident - power, 0.0)
        if power < a.detectable_snr * rest:
            e.counts[node, COLLISIONS if n.signals > 1 else NOISE_LOSSES] += 1
        else:
            n.follows, n.followed_power, n.settled_ns, n.errors = sender, power, e.clock[NOW], 0.0
            n.is_spoiled = 1 if n.signals > 1 else 0
            n.error_until = 0


@compiled
def stop(e, a, key, sender):
    """A frame is over: who has followed it has understood it, or not."""
    s = e.nodes[sender]
    for k in range(s.row):
        power, node = e.power[sender, k], e.who[sender, k]
        if power == 0.0:
            continue
        n = e.nodes[node]
        settle(e, node)
        if n.follows == sender:
            decode(e, a, key, sender, node)
        elif n.candidate == sender:
            n.candidate = NOBODY
        n.signals -= 1
        n.incident = max(n.incident - power, 0.0) if n.signals > 0 else 0.0
        if s.is_sensed == 1:
            n.sensed = max(n.sensed - power, 0.0) if n.signals > 0 else 0.0
        sense_medium(e, a, node)
    was_broadcast, was_data = s.to == EVERYBODY, s.sends == DATA and s.is_on == 1
    s.sends = SILENT
    if was_data and not was_broadcast:
        s.awaits = s.to
        ring(e, TIMEOUT, sender, e.clock[NOW] + SIFS_NS + a.slot + PREAMBLE_NS + SIGNAL_NS)
    sense_medium(e, a, sender)
    if was_data and was_broadcast:
        finish(e, a, key, sender)


@compiled
def decode(e, a, key, sender, node):
    """Whether a frame that was followed to its end is understood, and what then happens."""
    s, n = e.nodes[sender], e.nodes[node]
    n.follows = NOBODY
    if s.is_cut == 1 or not is_lucky(key, s, node, n.errors):
        e.counts[node, COLLISIONS if n.is_spoiled == 1 else NOISE_LOSSES] += 1
        n.error_until = e.clock[NOW] + SIFS_NS + SLOWEST_ACK_NS
        return
    capture(e.captures, e, sender, node, 10.0 * log10(n.followed_power))
    if s.sends == ACKNOWLEDGEMENT:
        if s.to == node and n.awaits == sender:
            e.counts[node, ACKNOWLEDGED] += 1
            ring(e, TIMEOUT, node, NEVER)
            finish(e, a, key, node)
    elif s.to == EVERYBODY or s.to == node:
        hear(e, sender, node)
    else:
        acknowledgement = air_time(ACK_BYTES, e.megabits[a.acknowledgement_rate])
        n.reserved_until = max(n.reserved_until, e.clock[NOW] + SIFS_NS + acknowledgement)


@compiled
def capture(captures, e, sender, node, strength):
    """Note what a sender has on the air, for the node itself or one that understood it."""
    if captures is not None:
        s, it = e.nodes[sender], captures[e.clock[CAPTURED]]
        it.time_ns, it.node, it.sender, it.to, it.number = e.clock[NOW], node, sender, s.to, s.number
        it.attempt, it.kind, it.rate, it.strength = s.attempt, s.sends, s.rate, strength
        e.clock[CAPTURED] += 1


@compiled
def is_lucky(key, sender, node, errors):
    """Whether a frame is understood in which so many errors begin in the mean."""
    if errors == 0.0:
        return True
    purpose = LUCK_OF_DATA if sender.sends == DATA else LUCK_OF_ACKNOWLEDGEMENT
    u, _, _, _ = uniforms(key, sender.number, sender.attempt, node, purpose)
    return u < exp(-errors)


@compiled
def hear(e, sender, node):
    """A frame arrives; a repeated one only makes the acknowledgement be repeated."""
    s, n, now = e.nodes[sender], e.nodes[node], e.clock[NOW]
    if s.to == node:
        n.answers, n.answers_number, n.answers_attempt = sender, s.number, s.attempt
        ring(e, ANSWER, node, now + SIFS_NS)
        if s.is_delivered == 1:
            return
        s.is_delivered = 1
    k = e.clock[ARRIVED]
    e.arrivals[k].number, e.arrivals[k].receiver, e.arrivals[k].heard_ns = s.number, node, now
    e.arrivals[k].strength = 10.0 * log10(n.followed_power)
    e.clock[ARRIVED] += 1
    e.counts[node, HEARD] += 1
