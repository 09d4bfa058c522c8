"""What a base station knows of its vehicles, and how old that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf, nan
from typing import Any

from airloom.basics.clock import NS_PER_SECOND
from airloom.bus import messages
from airloom.radio.packet import Packet
from airloom.station.link import Link, News
from airloom.station.words import Telemetry


@dataclass
class Seen:
    """A vehicle, as the station knows it."""

    link: Link
    telemetry: Telemetry | None = None
    """The latest by when it was measured; None before the first."""
    strength: float = nan
    """Of the last packet, dBm."""
    count: int = 0
    """Of telemetry so far."""

    def age(self, now_ns: int) -> float:
        """Of the telemetry, s, by the clocks of vehicle and station: `now_ns` is what the station's shows."""
        return inf if self.telemetry is None else (now_ns - self.telemetry.time_ns) / NS_PER_SECOND


class Picture(Mapping[str, Seen]):
    def __init__(self, vehicles: Iterable[str], silence: float) -> None:
        self._seen = {name: Seen(Link(silence)) for name in vehicles}

    def __getitem__(self, name: str) -> Seen:
        return self._seen[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)

    def __len__(self) -> int:
        return len(self._seen)

    def hear(self, packet: Packet, telemetry: Telemetry | None, now_ns: int) -> None:
        seen = self._seen[packet.sender]
        seen.link.hear(now_ns)
        seen.strength = packet.strength
        if telemetry is not None:
            seen.count += 1
            if seen.telemetry is None or telemetry.time_ns > seen.telemetry.time_ns:
                seen.telemetry = telemetry

    def look(self, now_ns: int) -> Iterator[tuple[str, News]]:
        """Who was lost, or is back, since the last look."""
        for name, seen in self._seen.items():
            if (news := seen.link.look(now_ns)) is not None:
                yield name, news

    def remembered(self) -> list[tuple[Any, ...]]:
        return [
            (name, seen.link.heard_ns, seen.link.is_lost, seen.telemetry, seen.strength, seen.count)
            for name, seen in self._seen.items()
        ]

    def message(self, time_ns: int, clock_ns: int) -> Any:
        """For the bus, by what the station's clock shows: a row for each vehicle that was ever heard."""
        rows = {name: seen for name, seen in self._seen.items() if seen.telemetry is not None}
        told = [seen.telemetry for seen in rows.values() if seen.telemetry is not None]
        vectors = {"position": [it.position for it in told], "velocity": [it.velocity for it in told]}
        values = {
            "yaw": [it.yaw for it in told],
            "doing": [it.doing.name.lower() for it in told],
            "order": [it.order for it in told],
            "battery": [it.battery for it in told],
            "age": [seen.age(clock_ns) for seen in rows.values()],
            "strength": [seen.strength for seen in rows.values()],
            "lost": [seen.link.is_lost for seen in rows.values()],
        }
        return messages.base_picture(time_ns, list(rows), vectors, values)
