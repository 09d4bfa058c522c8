"""What a medium is: it carries frames between nodes. The built-in model is one, ns-3 another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, overload

import numpy as np

EVERYBODY = -1
"""As the node that a frame is for: a broadcast, which nobody acknowledges."""


class Frame(NamedTuple):
    """What a node gives to its radio."""

    number: int
    """Counts up over the run; who asks for results knows the frame by this."""
    sender: int
    to: int
    """A node, or EVERYBODY."""
    size: int
    """Of the payload, bytes."""
    time_ns: int
    """When it was given to the radio."""


class Arrival(NamedTuple):
    """What a node hears."""

    number: int
    """Of the frame."""
    receiver: int
    heard_ns: int
    """The end of its reception."""
    strength: float
    """dBm."""


ARRIVAL = np.dtype([("number", "i8"), ("receiver", "i8"), ("heard_ns", "i8"), ("strength", "f8")])


class Arrivals(Sequence[Arrival]):
    """What was heard, in the order of time: a table, whose rows become objects when somebody looks at them.

    A thousand nodes that hear each other have half a million arrivals a second, which as objects would take the
    processor longer than the air does.
    """

    def __init__(self, table: np.ndarray) -> None:
        self.table = table
        """Of ARRIVAL."""

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[Arrival]:
        return map(Arrival._make, self.table.tolist())

    @overload
    def __getitem__(self, place: int) -> Arrival: ...
    @overload
    def __getitem__(self, place: slice) -> Arrivals: ...
    def __getitem__(self, place: int | slice) -> Arrival | Arrivals:
        if isinstance(place, slice):
            return Arrivals(self.table[place])
        return Arrival._make(self.table[place].tolist())


class Outcomes(NamedTuple):
    """How it went so far, an array each with a number for each node."""

    given: np.ndarray
    """Frames that logic gave to this node's radio."""
    sent: np.ndarray
    """Frames that went on the air, each counted once however often it was tried."""
    refused: np.ndarray
    """Longer than a frame can be, to nobody, to itself, or given to a radio that was off."""
    queue_drops: np.ndarray
    """The queue was full, or was emptied when the radio went off."""
    expired: np.ndarray
    """Waited longer in the queue than frames live."""
    retries: np.ndarray
    """Times that a frame for one node was sent once more."""
    acknowledged: np.ndarray
    given_up: np.ndarray
    """Frames for one node that were never acknowledged."""
    heard: np.ndarray
    """Frames that arrived at this node."""
    collisions: np.ndarray
    """Receptions that this node lost while another signal was on the air."""
    noise_losses: np.ndarray
    """Receptions that this node lost without another signal: too weak for the bit rate."""


class Jammer(NamedTuple):
    """What makes noise over the whole band, from a place of its own; path loss is all that weakens it."""

    position: tuple[float, float, float]
    """World, m."""
    power: float
    """dBm."""


class Medium(Protocol):
    """What carries the frames of a run. Positions are those at the beginning of the interval, [node, xyz], m; a node
    that is nowhere (NaN) is off: what it had on the air is cut, what it had queued is lost.
    """

    jammers: Sequence[Jammer]
    links: np.ndarray | None
    """[sender, receiver], False where nothing gets through; None if all do. Both apply from the next `advance` on."""

    def reset(self, seed: int) -> None:
        """Begin anew at time 0, with nothing on the air and nothing in the way."""

    def send(self, frames: Sequence[Frame], payloads: Sequence[bytes] | None = None) -> None:
        """Queue frames; nothing moves before `advance`. Payloads are for media that write down what they carry."""

    def advance(self, until_ns: int, positions: np.ndarray) -> Arrivals:
        """Let time go on, and return what was heard meanwhile."""

    def add_node(self, name: str) -> None:
        """One node more, from now on."""

    def outcomes(self) -> Outcomes:
        """Counts since the reset."""

    def report(self) -> dict[str, Any]:
        """What there is to say about a run beside the outcomes."""

    def hash_into(self, digest: Any) -> None:
        """All that may still matter: equal for media in which the same will happen."""

    def close(self) -> None:
        """Let go of processes and files."""
