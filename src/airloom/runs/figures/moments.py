"""When something befell a vehicle: faults, and what it or its systems warned of, marked in every panel over time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from airloom.basics.text import sound
from airloom.runs.mcap import LogReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from airloom.scenario.models import Scenario

MOST = 8
LONGEST = 90  # letters
COLOUR = "#a32638"
ACTING = ("rotor_fault", "sensor_fault", "radio_fault", "push")
"""Kinds of systems whose every word tells of something done to a vehicle."""
_LONG_NUMBER = re.compile(r"-?\d+\.\d{4,}(?:e-?\d+)?")


class Moment(NamedTuple):
    time: float
    text: str


def moments_of(log: LogReader, scenario: Scenario | None, vehicle: str) -> list[Moment]:
    """The first of them, each told once."""
    acting = [name for name, one in scenario.systems.items() if one.kind in ACTING] if scenario else []
    found: dict[str, Moment] = {}
    for event in log.messages(["/events"]) if "/events" in log.topics else ():
        told = event.message
        is_done_to_it = told.level in ("warning", "error") or any(told.text.startswith(f"{name} ") for name in acting)
        if told.source == vehicle and is_done_to_it:
            found.setdefault(_short(told.text), Moment(event.time_ns * 1e-9, _short(told.text)))
    return list(found.values())[:MOST]


def _short(text: str) -> str:
    text = _LONG_NUMBER.sub(lambda match: f"{float(match[0]):.3g}", sound(text)).replace("$", "")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def mark(axes: Sequence[Axes], moments: Sequence[Moment]) -> None:
    """A dotted line for each, with its number above the first panel of a row."""
    for number, moment in enumerate(moments, 1):
        for axis in axes:
            axis.axvline(moment.time, color=COLOUR, linestyle=":", linewidth=1.2, zorder=1.5)
            axis.annotate(
                str(number), (moment.time, 1.0), xycoords=("data", "axes fraction"), xytext=(2, -2),
                textcoords="offset points", color=COLOUR, fontsize=10, va="top",
            )  # fmt: skip


def listed(moments: Sequence[Moment]) -> str:
    return "\n".join(f"{number}  at {moment.time:.2f} s: {moment.text}" for number, moment in enumerate(moments, 1))
