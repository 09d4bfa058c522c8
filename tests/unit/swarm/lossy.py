"""Members that talk to each other in rounds, over links that lose words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from airloom.radio.packet import Packet

ROUND_NS = 200_000_000


def talk(
    members: dict[str, Any], rounds: int, step: Callable[[str, Any, int], None], *, loss: float = 0.0, seed: int = 0,
    reach: int = 2, dies: str | None = None, at: int = 0,
) -> None:  # fmt: skip
    """Each takes a step and says a word a round; those who are no farther apart than `reach` in their order hear it, or
    it gets lost. One may die at a round.
    """
    random, names = np.random.default_rng(seed), list(members)
    for count in range(rounds):
        now = count * ROUND_NS
        living = [name for name in names if name != dies or count < at]
        for name in living:
            step(name, members[name], now)
        words = {name: members[name].word(now) for name in living}
        for speaker in living:
            for hearer in living:
                apart = abs(names.index(speaker) - names.index(hearer))
                if 0 < apart <= reach and random.random() >= loss:
                    members[hearer].hear([Packet(speaker, "*", words[speaker], now, now, -60.0)])
