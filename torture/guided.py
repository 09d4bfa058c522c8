"""Mutants that learn: an input by which code is reached that none before has reached is changed further."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import airloom
from torture.mutations import Mutations

PACKAGE = str(Path(airloom.__file__).parent)
WATCHED_ONE_IN = 4
"""Inputs whose lines are followed: that takes several times as long as reading them."""
MOST_LEARNT, LONGEST_LEARNT = 2000, 100_000


class Guided:
    """Inputs of one kind, and the corpus that they are made of."""

    def __init__(
        self,
        corpus: Sequence[Any],
        change: Callable[[Sequence[Any], int], Iterator[bytes]],
        understand: Callable[[bytes], Any],
    ) -> None:
        self._right, self._corpus = list(corpus), list(corpus)
        self._change, self._understand = change, understand
        self._reached: set[tuple[int, int]] = set()
        self._turn = 0
        self.learnt = 0

    @classmethod
    def of_bytes(cls, seed: int, corpus: Sequence[bytes]) -> Guided:
        return cls(corpus, Mutations(seed).of_bytes, lambda data: data)

    @classmethod
    def of_texts(cls, seed: int, corpus: Sequence[str]) -> Guided:
        return cls(corpus, Mutations(seed).of_texts, bytes.decode)

    @classmethod
    def of_trees(cls, seed: int, corpus: Sequence[Any]) -> Guided:
        return cls(corpus, Mutations(seed).of_trees, json.loads)

    def inputs(self, count: int) -> Iterator[bytes]:
        return self._change(self._corpus, count)

    def watched(self, take: Callable[[bytes], Any]) -> Callable[[bytes], None]:
        """The same function, of whose inputs some are followed."""

        def follow(data: bytes) -> None:
            self._turn += 1
            if self._turn % WATCHED_ONE_IN or self.learnt == MOST_LEARNT or len(data) > LONGEST_LEARNT:
                take(data)
                return
            reached: set[tuple[int, int]] = set()
            try:
                _followed(take, data, reached)
            finally:
                if not reached <= self._reached:
                    self._reached |= reached
                    self._learn(data)

        return follow

    def _learn(self, data: bytes) -> None:
        """With one that is right beside it, since most of what reaches new code is refused soon."""
        try:
            self._corpus += [self._understand(data), self._right[self.learnt % len(self._right)]]
        except (ValueError, RecursionError):
            return  # one that cannot be changed as the others are
        self.learnt += 1


def _followed(take: Callable[[bytes], Any], data: bytes, reached: set[tuple[int, int]]) -> None:
    """Adds the lines of our own code that are run."""

    def by_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            reached.add((id(frame.f_code), frame.f_lineno))
        return by_line

    def by_call(frame: FrameType, *_: Any) -> Any:
        return by_line if frame.f_code.co_filename.startswith(PACKAGE) else None

    before = sys.gettrace()
    sys.settrace(by_call)
    try:
        take(data)
    finally:
        sys.settrace(before)
