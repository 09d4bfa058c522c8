"""Messages leave in a thread of their own: what DDS and the kernel take for them, the simulation does not wait for.

Those of a turn are written by one compiled call. Message by message, the two threads would take Python's lock from each
other thousands of times a second, which costs more than the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite.binding import load_library_permanently
from numba import types

from airloom.compiled import compiled
from airloom.ros2.dds import in_whole_words

if TYPE_CHECKING:
    from airloom.bus.bus import Encode, Topic
    from airloom.ros2.dds import Writer

    Part = tuple[Sequence[Writer], Encode]

MOST_BEHIND = 4
"""Turns of the bridge whose messages may wait to leave; then the simulation waits, too."""
dds_write: Any = types.ExternalFunction("dds_write", types.int32(types.int32, types.intp))
"""Number of a writer, address of a sample: address and size of its bytes, as Cyclone's Python package has it."""


@compiled
def write_all(writers, places, sizes, sample):
    for k in range(writers.size):
        sample[0], sample[1] = places[k], sizes[k]
        dds_write(writers[k], sample.ctypes.data)


class Sender:
    def __init__(self) -> None:
        from cyclonedds.internal import DDS

        load_library_permanently(DDS._dll_handle._name)
        self._turn: list[Part] = []
        self._turns: Queue[list[Part] | None] = Queue(MOST_BEHIND)
        self._failure: Exception | None = None
        self._thread = Thread(target=self._send, name="ros2", daemon=True)
        self._thread.start()

    def put(self, writer: Writer, make: Callable[[], bytes]) -> None:
        """A message by what makes its bytes when it leaves."""
        self._turn.append(((writer,), lambda: (make(),)))

    def pass_on(self, writer: Writer, _: Topic, cdr: list[bytes], __: list[int]) -> None:
        """What a raw subscriber of the bus is called with."""
        self._turn.append(([writer] * len(cdr), lambda: cdr))

    def gather(self, writers: Sequence[Writer], numbers: Sequence[int], encode: Encode) -> None:
        """The same for messages of many topics at once; see `bus.Gathered`."""
        self._turn.append((writers, lambda: [cdr[number] for cdr in (encode(),) for number in numbers]))

    def hand_over(self) -> None:
        """What was put since the last time may leave. What went wrong on the way is raised here, once."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if self._turn:
            self._turns.put(self._turn)
            self._turn = []

    def close(self) -> None:
        """When all have left."""
        try:
            self.hand_over()
        finally:
            self._turns.put(None)
            self._thread.join()

    def _send(self) -> None:
        sample = np.empty(2, np.int64)
        while (turn := self._turns.get()) is not None:
            try:
                _write(turn, sample)
            except Exception as error:
                self._failure = error


def _write(turn: list[Part], sample: np.ndarray) -> None:
    made = [in_whole_words(one) for _, encode in turn for one in encode()]
    sizes, block = np.array([len(one) for one in made]), np.frombuffer(b"".join(made), np.uint8)
    places = block.ctypes.data + np.cumsum(sizes) - sizes
    writers = np.array([writer.number for some, _ in turn for writer in some], np.int32)
    write_all(writers, places, sizes, sample)
