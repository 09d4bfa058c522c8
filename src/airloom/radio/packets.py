"""Packets one by one, as the topic `/radio/packets` tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from airloom.bus import messages


class Sent(NamedTuple):
    """A packet that was given to a radio."""

    number: int
    sender: int
    size: int
    sent_ns: int


_FIELDS = {
    "number": "number", "sender": "sender", "size": "size", "sent": "sent_ns",
}  # fmt: skip
_HEARD_FIELDS = {
    "heard_number": "number", "heard_sender": "sender", "receiver": "receiver", "heard_sent": "sent_ns",
    "heard": "heard_ns", "strength": "strength",
}  # fmt: skip
SENT = np.dtype([("number", "i8"), ("sender", "i8"), ("size", "i8"), ("sent_ns", "i8")])
HEARD = np.dtype(
    [("sender", "i8"), ("sent_ns", "i8"), ("number", "i8"), ("receiver", "i8"), ("heard_ns", "i8"), ("strength", "f8")]
)


@dataclass(frozen=True)
class Packets:
    """Of an interval: those that were given to a radio in it, and those that were heard."""

    names: tuple[str, ...]
    sent: np.ndarray
    """Of SENT."""
    heard: np.ndarray
    """Of HEARD."""

    @classmethod
    def of(cls, names: tuple[str, ...], sent: Sequence[Sent], heard: Sequence[tuple[float, ...]]) -> Packets:
        """What was heard comes as rows of HEARD."""
        rows = np.array(heard, dtype=float).reshape(-1, 6)  # thrice as quick as rows of that type
        table = np.empty(len(rows), dtype=HEARD)
        for name, column in zip(HEARD.fields or (), rows.T, strict=True):
            table[name] = column
        return cls(names, np.array(sent, dtype=SENT), table)

    def __len__(self) -> int:
        return len(self.sent) + len(self.heard)


def packets_message(time_ns: int, packets: Packets) -> Any:
    sec, nanosec = divmod(time_ns, 1_000_000_000)
    fields: dict[str, Any] = {"header.stamp.sec": sec, "header.stamp.nanosec": nanosec, "nodes": list(packets.names)}
    fields |= {field: packets.sent[name] for field, name in _FIELDS.items()}
    fields |= {field: packets.heard[name] for field, name in _HEARD_FIELDS.items()}
    return messages.build(messages.RADIO_PACKETS, fields)


def packets_in(message: Any) -> Packets:
    """The opposite of `packets_message`."""
    sent, heard = np.empty(len(message.number), dtype=SENT), np.empty(len(message.heard), dtype=HEARD)
    for field, name in _FIELDS.items():
        sent[name] = getattr(message, field)
    for field, name in _HEARD_FIELDS.items():
        heard[name] = getattr(message, field)
    return Packets(tuple(message.nodes), sent, heard)
