"""Links between nodes: of what one sent, how much another heard, as the topic `/radio/links` tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from airloom.bus import messages

_PAIRS = ("sender", "receiver", "meant", "delivered", "delay", "strength")


@dataclass(frozen=True)
class Links:
    """What became of the packets that were sent in an interval.

    Pairs of nodes are those where something was heard, or was meant for the one alone. Between all others, nothing was
    heard of as many packets as the sender's broadcasts.
    """

    end_ns: int
    interval: float
    """s"""
    names: tuple[str, ...]
    positions: np.ndarray
    """[node, xyz], in the middle of the interval, world, m."""
    broadcasts: np.ndarray
    """[node]: packets for everybody."""
    sender: np.ndarray
    """[pair], as all that follow: numbers of nodes."""
    receiver: np.ndarray
    meant: np.ndarray
    """Packets that the sender meant for the receiver, broadcasts too."""
    delivered: np.ndarray
    delay: np.ndarray
    """From `send` to the end of the reception, mean, s; NaN if nothing was heard."""
    strength: np.ndarray
    """Mean, dBm."""

    @property
    def time(self) -> float:
        """The middle of the interval, s."""
        return self.end_ns * 1e-9 - 0.5 * self.interval


@dataclass(frozen=True)
class Traffic:
    """Sums over some intervals, [sender, receiver] each."""

    meant: np.ndarray
    delivered: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Of what was meant, how much was delivered; NaN where nothing was meant. A packet may come twice."""
        with np.errstate(invalid="ignore"):
            return np.minimum(self.delivered / np.where(self.meant > 0, self.meant, np.nan), 1.0)


def traffic(links: Sequence[Links]) -> Traffic:
    """All links of some intervals together. Nodes may come in the meantime, and have the highest numbers."""
    nodes = len(links[-1].names)
    meant, delivered = np.zeros((2, nodes, nodes), dtype=np.int64)
    for one in links:
        there = len(one.names)
        rest = np.repeat(one.broadcasts[:, None], there, axis=1)
        rest[one.sender, one.receiver] = one.meant
        np.fill_diagonal(rest, 0)
        meant[:there, :there] += rest
        delivered[one.sender, one.receiver] += one.delivered
    return Traffic(meant, delivered)


def links_message(links: Links) -> Any:
    sec, nanosec = divmod(links.end_ns, 1_000_000_000)
    fields: dict[str, Any] = {
        "header.stamp.sec": sec, "header.stamp.nanosec": nanosec, "header.frame_id": "world",
        "interval": links.interval, "nodes": list(links.names), "positions": links.positions.ravel(),
        "broadcasts": links.broadcasts, **{name: getattr(links, name) for name in _PAIRS},
    }  # fmt: skip
    return messages.build(messages.RADIO_LINKS, fields)


def links_in(message: Any) -> Links:
    """The opposite of `links_message`."""
    stamp = message.header.stamp
    return Links(
        end_ns=stamp.sec * 1_000_000_000 + stamp.nanosec,
        interval=message.interval,
        names=tuple(message.nodes),
        positions=np.asarray(message.positions, dtype=float).reshape(-1, 3),
        broadcasts=np.asarray(message.broadcasts, dtype=np.int64),
        **{name: _numbers(getattr(message, name)) for name in _PAIRS},
    )


def _numbers(array: np.ndarray) -> np.ndarray:
    return array.astype(float if array.dtype.kind == "f" else np.int64)
