"""What has happened, the newest first."""

from __future__ import annotations

import html
import math
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from airloom.runs.link.client import Refused
from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.sources.source import Snapshot, Status

KEPT = 1000
MOST = 60  # lines
NAMES = 40  # of vehicles that did the same, told when the mouse is over a line
_LONG_NUMBER = re.compile(r"-?\d+\.\d{4,}(?:e-?\d+)?")
_COLOURS = {"warning": "#b25f00", "error": "#c92a2a"}
_NOTHING = (
    "Nothing has happened yet. Here you will read when a vehicle changes its mode, gets into trouble, "
    "or is told something from outside."
)
_ANOTHER_FLIGHT = (
    '<div style="padding:0.3em 0;text-align:center;font-weight:600" data-airloom="another flight">'
    "↑ begun anew · the flight before ↓</div>"
)

Event = dict[str, Any]


class EventsPanel(Panel):
    def __init__(self, studio: StudioState) -> None:
        super().__init__(studio)
        self._known = 0
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._list = self.gui.add_html(_listed([], ()))

    def rebuild(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._known = 0
        self._events.clear()

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        if status.events == self._known:
            return
        if status.events < self._known:
            self._forget()
        try:
            reply = self.studio.source.ask("events", since=max(status.events - KEPT, self._known))
        except Refused:
            return
        self._known = reply["count"]
        self._events.extend(reply["events"])
        self._list.content = _listed(self._events, self.studio.source.names)


def _listed(events: Iterable[Event], vehicles: Collection[str]) -> str:
    lines = "".join(_lines(list(folded(events, vehicles))[-MOST:]))
    return f'<div style="padding:0.25em 0.75em;font-size:0.875em" data-airloom="events">{lines or _NOTHING}</div>'


def _lines(groups: Sequence[list[Event]]) -> Iterator[str]:
    """The newest first, with a line between two flights: in a later one time begins anew."""
    newer_time = math.inf
    for told in reversed(groups):
        if told[0]["time"] > newer_time:
            yield _ANOTHER_FLIGHT
        newer_time = told[0]["time"]
        yield _line(told)


def folded(events: Iterable[Event], vehicles: Collection[str]) -> Iterable[list[Event]]:
    """What several vehicles tell alike at the same time belongs together."""

    def alike(event: Event) -> tuple:
        about = None if event["source"] in vehicles else event["source"]
        return f"{event['time']:.2f}", event["level"], event["text"], about

    return (list(group) for _, group in groupby(events, alike))


def _line(told: list[Event]) -> str:
    event, sources = told[0], list(dict.fromkeys(event["source"] for event in told))
    who = sources[0] if len(sources) == 1 else f"{len(sources)} vehicles"
    names = ", ".join(sources[:NAMES]) + (" …" if len(sources) > NAMES else "")
    colour = _COLOURS.get(event["level"], "inherit")
    return (
        '<div style="display:flex;gap:0.75em;padding:0.3em 0;border-bottom:1px solid rgba(128,128,128,0.18)">'
        '<span style="flex:0 0 4.5em;text-align:right;opacity:0.65;font-variant-numeric:tabular-nums">'
        f"{event['time']:.2f} s</span>"
        f'<span style="color:{colour};min-width:0;overflow-wrap:anywhere" title="{html.escape(names)}">'
        f"<b>{html.escape(who)}</b> {html.escape(readable(event['text']))}</span></div>"
    )


def readable(text: str) -> str:
    """With numbers of a few digits; the log has them all."""
    return _LONG_NUMBER.sub(lambda match: f"{round(float(match[0]), 3) + 0.0:g}", text)
