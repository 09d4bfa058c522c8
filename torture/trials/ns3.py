"""ns-3: settings that a scenario may hold, and what ns-3 makes of those that are accepted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic import ValidationError

from airloom.errors import AirloomError
from airloom.radio.medium import EVERYBODY, Frame
from airloom.radio.ns3 import Ns3Failed, Ns3Medium, Ns3Missing
from airloom.radio.ns3.installation import helper_program
from airloom.scenario.ns3_radio import Ns3Radio
from torture.mutations import Mutations
from torture.trial import CannotRun, Tally, feed, trial

NAMES = ["a", "b", "c"]
PLACES = np.array([[0.0, 0.0, 10.0], [20.0, 0.0, 10.0], [20.0, 0.0, 10.0]])
MS = 1_000_000  # ns
SETTINGS: list[dict[str, Any]] = [
    {}, {"standard": "n", "rate": 26, "power": 20}, {"rate": "minstrel", "standard": "n"}, {"rate": "ideal"},
    {"standard": "b", "rate": 11, "broadcast_rate": 1}, {"link": "infrastructure", "base": "a", "queue": 3},
    {"link": "lr-wpan", "queue": 2}, {"attempts": 2, "lifetime": 0.01},
    {"losses": [{"kind": "log-distance", "exponent": 2.5, "reference_loss": 40, "reference_distance": 2}]},
    {"losses": [{"kind": "three-log-distance", "distances": [1, 10, 50], "exponents": [2, 3, 4]}]},
    {"losses": [{"kind": "free-space", "frequency": 2.4e9, "system_loss": 1, "least": 0}, {"kind": "normal"}]},
    {"losses": [{"kind": "two-ray", "frequency": 2.4e9, "least_distance": 1, "antenna": 1}]},
    {"losses": [{"kind": "range", "distance": 30}, {"kind": "nakagami", "m": [1, 1, 1], "distances": [10, 20]}]},
    {"losses": [{"kind": "itu-r-1411-los", "frequency": 2e9}]},
    {"losses": [{"kind": "okumura-hata", "frequency": 9e8, "environment": "open", "city": "small"}]},
]  # fmt: skip


@trial(
    "ns-3, settings", "settings with values changed; with those that are accepted frames are carried for 0.2 s",
    full=10**4, reduced=100,
)  # fmt: skip
def settings(count: int, seed: int) -> Tally:
    """ns-3 checks some values itself and aborts: that must be one message, in its words, and no process may stay."""
    try:
        helper_program(lambda told: None)
    except Ns3Missing as missing:
        raise CannotRun(str(missing)) from None
    carried, reasons = 0, Counter[str]()

    def take(data: bytes) -> None:
        nonlocal carried
        medium = _accepted(data)
        try:
            _carry(medium)
            carried += 1
        except Ns3Failed as failed:
            reasons[str(failed)[:80]] += 1
        finally:
            process = medium._helper and medium._helper._process
            medium.close()
            assert process is None or process.poll() is not None, "the process of ns-3 stays"

    tally = feed(take, _sound(Mutations(seed).of_trees(SETTINGS, count)), (ValidationError, AirloomError))
    tally.note = f"{carried} of those accepted carried frames, {reasons.total()} were refused by ns-3 itself"
    if reasons:
        tally.note += f", most often so: {reasons.most_common(1)[0][0]}"
    return tally


def _sound(inputs: Iterator[bytes]) -> Iterator[bytes]:
    """What is no JSON at all is the business of the reader of scenarios."""
    for data in inputs:
        try:
            if isinstance(json.loads(data), dict):
                yield data
        except (ValueError, RecursionError):
            continue


def _accepted(data: bytes) -> Ns3Medium:
    wanted = Ns3Radio(**{str(key): value for key, value in json.loads(data).items() if key != "timeout"}, timeout=4.0)
    return Ns3Medium(NAMES, wanted.model_copy(update={"pcap": False, "flow_monitor": False}))


def _carry(medium: Ns3Medium) -> None:
    medium.reset(1)
    medium.send([Frame(k, k % 3, EVERYBODY if k % 2 else (k + 1) % 3, 60, k * MS) for k in range(50)])
    for now in range(0, 200, 20):
        for arrival in medium.advance((now + 20) * MS, PLACES):
            assert np.isfinite(arrival.strength), f"a strength of {arrival.strength}"
    medium.outcomes()
