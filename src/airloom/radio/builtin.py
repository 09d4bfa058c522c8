"""The built-in medium: 802.11g ad hoc, over a channel that is computed.

With less bandwidth it is the same at a slower clock, as half- and quarter-clocked OFDM is in IEEE 802.11-2020, clause
17, and that of a tenth in clause 23 (S1G): at 20 MHz over n all times are n times as long, rates and noise are an n-th,
and so is what counts as busy. The loop knows nothing of it: its time is in units of n ns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from airloom.radio.access import KINDS
from airloom.radio.captures import Captures
from airloom.radio.channel import FADING_MARGIN_DB, Channel, add_jamming, fill_antennas, fill_row, reach_of
from airloom.radio.csma import begin_interval, run
from airloom.radio.fading import NAKAGAMI, NO_FADING, RICIAN
from airloom.radio.medium import ARRIVAL, EVERYBODY, Arrivals, Frame, Jammer, Outcomes
from airloom.radio.obstruction import HOW, IGNORED
from airloom.radio.path_loss import LAWS, LIGHT
from airloom.radio.phy import (
    DETECTABLE_SNR_DB,
    ENERGY_DBM,
    LONG_SLOT_NS,
    LONGEST,
    SHORT_SLOT_NS,
    SIFS_NS,
    UNHEEDED_DB,
    acknowledgement_rate,
    clear_from,
    error_ratios,
    noise_floor_dbm,
)
from airloom.radio.shadowing import WAVES, fill_phases, waves_of
from airloom.radio.state import (
    ARRIVED,
    CAPTURE,
    CAPTURED,
    DATA,
    EXPIRED,
    NEXT_GIVEN,
    NOBODY,
    NODE,
    NOW,
    QUEUED,
    REFUSED,
    Access,
    Ether,
)
from airloom.radio.timers import new_timers, set_timer
from airloom.scenario.radio import RATES, LogDistance, Nakagami, RadioKind, Rician
from airloom.sensors.noise import stream_key
from airloom.world.land import Land

REFERENCE_DISTANCE = 1.0
LEAST_WINDOW, LARGEST_WINDOW = 15, 1023
COLLECTED = 1 << 14
"""Arrivals that are collected at once, at least."""


def milliwatts(dbm: float | np.ndarray) -> np.ndarray:
    return np.asarray(10.0 ** (0.1 * np.asarray(dbm, dtype=float)))


def channel_of(radio: RadioKind, has_land: bool) -> Channel:
    """The scenario's words as numbers."""
    law, fading, obstruction = radio.channel.path_loss, radio.channel.fading, radio.channel.obstruction
    shapes, distances, kind = (1.0, 1.0, 1.0), (0.0, 0.0), NO_FADING
    if isinstance(fading, Nakagami):
        shapes, distances, kind = fading.m, fading.distances, NAKAGAMI
    elif isinstance(fading, Rician):
        shapes, kind = (fading.k, fading.k, fading.k), RICIAN
    logarithmic = law if isinstance(law, LogDistance) else LogDistance(kind="log-distance")
    return Channel(
        law=LAWS[law.kind],
        exponent=logarithmic.exponent,
        reference_distance=REFERENCE_DISTANCE,
        reference_loss=logarithmic.reference_loss,
        wavelength=LIGHT / radio.frequency,
        shadowing=radio.channel.shadowing.deviation,
        shadowing_distance=radio.channel.shadowing.distance,
        obstruction=HOW[obstruction.kind] if has_land else IGNORED,
        obstruction_loss=obstruction.loss,
        fading=kind,
        shapes=shapes,
        shape_distances=distances,
        least_mw=float(milliwatts(radio.least_followed - UNHEEDED_DB)),
        steady_mw=float(milliwatts(radio.least_followed - FADING_MARGIN_DB)),
    )


def access_of(radio: RadioKind) -> Access:
    slot = LONG_SLOT_NS if radio.slot == "long" else SHORT_SLOT_NS
    rate, broadcast_rate = radio.rate_indices
    return Access(
        slot=slot,
        difs=SIFS_NS + 2 * slot,
        least_window=LEAST_WINDOW,
        largest_window=LARGEST_WINDOW,
        attempts=radio.attempts,
        lifetime=round(radio.lifetime * 1e9) // radio.stretch,
        rate=rate,
        broadcast_rate=broadcast_rate,
        acknowledgement_rate=acknowledgement_rate(rate),
        detectable_mw=float(milliwatts(radio.least_followed)),
        detectable_snr=10.0 ** (0.1 * DETECTABLE_SNR_DB),
        energy_mw=float(milliwatts(ENERGY_DBM)) / radio.stretch,
    )


class BuiltinMedium:
    """A `Medium` that is computed here. More can be changed than others know of: `power` [node], transmitted, dBm,
    `jamming` [node], noise from elsewhere at a node, dBm, −inf for none, and `is_on` [node], whether its radio works.
    """

    def __init__(
        self, radio: RadioKind, nodes: int, land: Land | None = None, captures: Captures | None = None
    ) -> None:
        self.radio, self.nodes, self._land, self._captures = radio, nodes, land, captures
        has_land = land is not None and not _is_bare_plane(land)
        self._channel, self._access = channel_of(radio, has_land), access_of(radio)
        self._stretch = radio.stretch
        self._floor = float(milliwatts(noise_floor_dbm(radio.noise_figure))) / self._stretch
        self.reset(0)

    def reset(self, seed: int) -> None:
        self.power = np.full(self.nodes, self.radio.power)
        self.jamming = np.full(self.nodes, -inf)
        self.is_on = np.ones(self.nodes, dtype=bool)
        self.jammers: Sequence[Jammer] = ()
        self.links: np.ndarray | None = None
        self._key = np.uint64(stream_key(seed, "radio"))
        self._waves = waves_of(stream_key(seed, "radio", "shadowing"), self._channel.shadowing_distance)
        self._given = np.empty((0, 5), dtype=np.int64)
        self._before: tuple[np.ndarray, ...] | None = None
        self._epoch = 0
        self._ether = self._empty_ether(self.nodes)

    def _empty_ether(self, nodes: int) -> Ether:
        times, winners = new_timers(len(KINDS) * nodes)
        return Ether(
            nodes=_idle_nodes(nodes),
            queues=np.empty((nodes, self.radio.queue), dtype=QUEUED),
            times=times,
            winners=winners,
            who=np.empty((nodes, nodes), dtype=np.int32),
            mean=np.empty((nodes, nodes)),
            distance=np.empty((nodes, nodes)),
            power=np.empty((nodes, nodes)),
            words=np.empty((4, nodes), dtype=np.uint64),
            uniform=np.empty((4, nodes)),
            transmitted=np.empty(nodes),
            reach=np.empty(nodes),
            world=np.empty(0) if self._land is None else self._land.array,
            antennas=np.empty((nodes, 3)),
            heights=np.empty(nodes),
            phases=np.empty((nodes, WAVES if self._channel.shadowing > 0.0 else 0, 4)),
            links=np.empty((0, nodes), dtype=bool),
            ratios=(ratios := error_ratios()),
            clear_from=clear_from(ratios),
            megabits=np.array(RATES, dtype=np.int64),
            arrivals=np.empty(max(COLLECTED, nodes), dtype=ARRIVAL),
            captures=np.empty(max(COLLECTED, nodes), dtype=CAPTURE) if self._captures else None,
            counts=np.zeros((nodes, len(Outcomes._fields)), dtype=np.int64),
            clock=np.zeros(4, dtype=np.int64),
        )

    def add_node(self, name: str) -> None:
        """What is on the air stays there."""
        if self._captures is not None:
            self._captures.add(name)
        old, new, n = self._ether, self._empty_ether(self.nodes + 1), self.nodes
        for field in ("nodes", "queues", "counts"):
            getattr(new, field)[:n] = getattr(old, field)
        for field in ("who", "power"):
            getattr(new, field)[:n, :n] = getattr(old, field)
        new.clock[:] = old.clock
        for kind in KINDS:
            for node in range(n):
                set_timer(new.times, new.winners, kind * (n + 1) + node, old.times[kind * n + node])
        self._ether, self._before, self.nodes = new, None, n + 1
        self.power, self.jamming = np.append(self.power, self.radio.power), np.append(self.jamming, -inf)
        self.is_on = np.append(self.is_on, True)

    def send(self, frames: Sequence[Frame], payloads: Sequence[bytes] | None = None) -> None:
        if not frames:
            return
        if self._captures is not None:
            self._captures.remember(frames, payloads or [bytes(frame.size) for frame in frames])
        number, sender, to, size, time = np.array(frames, dtype=np.int64).T
        fits = (size >= 0) & (size <= LONGEST) & (to >= EVERYBODY) & (to < self.nodes) & (to != sender)
        np.add.at(self._ether.counts[:, REFUSED], sender[~fits], 1)
        time = -(-time // self._stretch)
        given = np.stack([time, sender, to, number, size], axis=1)[fits]
        given = np.concatenate([self._given, given])
        self._given = given[np.lexsort((given[:, 3], given[:, 0]))]

    def advance(self, until_ns: int, positions: np.ndarray) -> Arrivals:
        self._take_places(positions)
        ether, until = self._ether, -(-until_ns // self._stretch)
        here = self.is_on & np.isfinite(positions).all(axis=1)
        begin_interval(ether, self._access, here, self._floor, self._noise_from_elsewhere())
        heard: list[np.ndarray] = []
        ether.clock[NEXT_GIVEN], is_over = 0, False
        while not is_over:
            ether.clock[ARRIVED] = ether.clock[CAPTURED] = 0
            is_over = run(ether, self._access, self._channel, self._key, self._epoch, self._given, until)
            heard.append(ether.arrivals[: ether.clock[ARRIVED]].copy())
            self._write_captures()
        self._given = self._given[ether.clock[NEXT_GIVEN] :]
        arrivals = np.concatenate(heard)
        arrivals["heard_ns"] *= self._stretch
        return Arrivals(arrivals)

    def _write_captures(self) -> None:
        if self._captures is None or self._ether.captures is None:
            return
        captured = self._ether.captures[: self._ether.clock[CAPTURED]]
        captured["time_ns"] *= self._stretch
        self._captures.write(captured)
        self._captures.forget_before(self._ether.clock[NOW] * self._stretch)

    def _noise_from_elsewhere(self) -> np.ndarray:
        """At each node, mW."""
        noise = milliwatts(self.jamming)
        for jammer in self.jammers:
            add_jamming(self._channel, self._ether, np.array(jammer.position), jammer.power, noise)
        return noise

    def _take_places(self, positions: np.ndarray) -> None:
        """Who hears whom is found out anew if somebody has moved, or something else is different."""
        links = np.empty((0, self.nodes), dtype=bool) if self.links is None else self.links
        now = (np.array(positions, dtype=float), self.power.copy(), links.copy())
        if self._before and all(map(_are_equal, now, self._before)):
            return
        self._before, ether = now, self._ether._replace(links=now[2])
        self._ether, self._epoch = ether, self._epoch + 1
        ether.transmitted[:] = self.power
        ether.reach[:] = reach_of(self._channel, self.power)
        fill_antennas(ether.world, now[0], self.radio.antenna, ether.antennas, ether.heights)
        if self._channel.shadowing > 0.0:
            fill_phases(self._waves, ether.antennas, ether.phases)

    @property
    def channel(self) -> Channel:
        return self._channel

    def strengths(self, sender: int, positions: np.ndarray) -> np.ndarray:
        """With which mean strength each node hears a sender, dBm; −inf where that is so weak that it does not count."""
        self._take_places(positions)
        count = fill_row(self._channel, self._ether, sender)
        found = np.full(self.nodes, -inf)
        found[self._ether.who[sender, :count]] = 10.0 * np.log10(self._ether.mean[sender, :count])
        return found

    def hash_into(self, digest: Any) -> None:
        ether = self._ether
        for array in (
            ether.nodes, ether.queues[self._waiting()], ether.times, ether.clock[NOW:NOW + 1],
            ether.counts, self._given, self.power, self.jamming, self.is_on, ether.links,
        ):  # fmt: skip
            digest.update(array.tobytes())
        digest.update(repr([*self.jammers]).encode())

    def _waiting(self) -> np.ndarray:
        """Which places of the queues are taken, [node, place]."""
        nodes, places = self._ether.nodes, self._ether.queues.shape[1]
        return (np.arange(places) - nodes["head"][:, None]) % places < nodes["length"][:, None]

    def report(self) -> dict[str, Any]:
        return {}

    def outcomes(self) -> Outcomes:
        """What has waited too long is expired, though a node finds that out only when it may send."""
        ether, counts = self._ether, self._ether.counts.copy()
        overdue = ether.clock[NOW] - ether.queues["time_ns"] > self._access.lifetime
        on_its_way = (ether.nodes["sends"] == DATA) | (ether.nodes["awaits"] != NOBODY)
        expired = np.count_nonzero(overdue & self._waiting(), axis=1)
        counts[:, EXPIRED] += np.where(on_its_way, 0, expired)
        return Outcomes(*counts.T)

    def close(self) -> None:
        """Files are complete afterwards."""
        if self._captures is not None:
            self._captures.close()


def _idle_nodes(count: int) -> np.ndarray:
    nodes = np.zeros(count, dtype=NODE)
    nodes["is_on"], nodes["window"], nodes["epoch"] = 1, LEAST_WINDOW, -1
    for field in ("awaits", "candidate", "follows"):
        nodes[field] = NOBODY
    return nodes


def _are_equal(one: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _is_bare_plane(land: Land) -> bool:
    return land.grid is None and not land.things and not land.world.obstacles


def medium_of(
    radio: RadioKind, nodes: int, land: Land | None = None, captures: Captures | None = None
) -> BuiltinMedium:
    """The medium that a scenario asks for, for so many nodes. The land is what may be in the way."""
    return BuiltinMedium(radio, nodes, land, captures)
