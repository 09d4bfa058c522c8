"""Maps that members tell each other by radio, block by block.

A block is 8 × 8 cells; of each cell two bits are told, whether it has been seen and whether an obstacle is there:

    bytes  0     1, 19, …           3, 21, …       11, 29, …
           kind  number of a block  seen, 64 bits  opaque, 64 bits
           uint8 uint16             uint64         uint64

little-endian; bit 8 r + c is row r, column c of the block. Each tells the blocks in which something was new to it, from
its own eyes or from others, so that news goes on from hop to hop; and with them an old block or two in turn, so
that whoever missed something hears it later. Whoever hears a block adds it to its own: nothing depends on order,
repetition or loss but how soon all know.
"""

from __future__ import annotations

import numpy as np

from airloom.swarm.coverage.sight import FREE, OPAQUE, SIDE, UNKNOWN

KIND = 0x4D
BLOCK = np.dtype([("number", "<u2"), ("seen", "<u8"), ("opaque", "<u8")])
MOST_BLOCKS, OLD_BLOCKS = 20, 2
"""In a packet, and how many of them are old ones."""
_BITS = np.uint64(1) << np.arange(SIDE * SIDE, dtype=np.uint64)


class Map:
    """What one member knows of an area."""

    def __init__(self, shape: tuple[int, int]) -> None:
        down, across = (-(-side // SIDE) for side in shape)
        self.known = np.zeros(shape, np.uint8)
        """[row, column]: UNKNOWN, FREE or OPAQUE."""
        self.fresh = np.zeros(down * across, bool)
        """Blocks in which something is new that has not been told."""
        self._across, self._turn = across, 0

    def told(self) -> bytes | None:
        """A packet with what is new, and something old; None if there is nothing."""
        new = np.flatnonzero(self.fresh)[: MOST_BLOCKS - OLD_BLOCKS]
        self.fresh[new] = False
        numbers = np.unique(np.concatenate([new, self._old_ones()]))
        if not len(numbers):
            return None
        blocks = np.zeros(len(numbers), BLOCK)
        cells = np.stack([self._cells(number) for number in numbers.tolist()])
        blocks["number"] = numbers
        blocks["seen"] = ((cells != UNKNOWN) * _BITS).sum(axis=1, dtype=np.uint64)
        blocks["opaque"] = ((cells == OPAQUE) * _BITS).sum(axis=1, dtype=np.uint64)
        return bytes([KIND]) + blocks.tobytes()

    def _old_ones(self) -> np.ndarray:
        """The next in turn of which anything is known."""
        rows, columns = np.nonzero(self.known)
        there = np.unique(rows // SIDE * self._across + columns // SIDE)
        if not len(there):
            return there
        at = np.searchsorted(there, self._turn) + np.arange(min(OLD_BLOCKS, len(there)))
        found = there[at % len(there)]
        self._turn = int(found[-1]) + 1
        return found

    def hear(self, content: bytes) -> None:
        """Add what a packet tells; one that is no such packet is passed over."""
        if content[:1] != bytes([KIND]) or len(content) % BLOCK.itemsize != 1:
            return
        for number, seen, opaque in np.frombuffer(content, BLOCK, offset=1).tolist():
            if number < len(self.fresh):
                self._add(number, seen, opaque)

    def _add(self, number: int, seen: int, opaque: int) -> None:
        before = self._cells(number)
        told = np.where(_BITS & np.uint64(opaque), OPAQUE, FREE)
        after = np.where((before == UNKNOWN) & ((_BITS & np.uint64(seen)) != 0), told, before)
        if (after != before).any():
            self.fresh[number] = True
            row, column = self._corner(number)
            rows, columns = self.known.shape
            square = after.reshape(SIDE, SIDE)[: rows - row, : columns - column]
            self.known[row : row + SIDE, column : column + SIDE] = square

    def _corner(self, number: int) -> tuple[int, int]:
        return number // self._across * SIDE, number % self._across * SIDE

    def _cells(self, number: int) -> np.ndarray:
        """Of a block, [64]; those beyond the edge of the area are unknown."""
        row, column = self._corner(number)
        part = self.known[row : row + SIDE, column : column + SIDE]
        block = np.zeros((SIDE, SIDE), np.uint8)
        block[: part.shape[0], : part.shape[1]] = part
        return block.reshape(-1)
