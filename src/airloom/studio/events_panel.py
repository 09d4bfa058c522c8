"""What has happened, the newest first."""

from __future__ import annotations

import html
from typing import Any

from airloom.bridges.control.client import Refused
from airloom.studio.source import Snapshot, Status
from airloom.studio.stage import Panel, Stage

MOST = 60
_COLOURS = {"warning": "#b25f00", "error": "#c92a2a"}
_NOTHING = (
    "Nothing has happened yet. Here you will read when a vehicle changes its mode, gets into trouble, "
    "or is told something from outside."
)


class EventsPanel(Panel):
    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._shown = 0
        self._list = self.gui.add_html(_listed([]))

    def rebuild(self) -> None:
        self._shown = -1

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        if status.events == self._shown:
            return
        try:
            reply = self.stage.source.ask("events", since=max(status.events - MOST, 0))
        except Refused:
            return
        self._shown = status.events
        self._list.content = _listed(reply["events"][-MOST:])


def _listed(events: list[dict[str, Any]]) -> str:
    lines = "".join(map(_line, reversed(events)))
    return f'<div style="padding:0.25em 0.75em;font-size:0.875em" data-airloom="events">{lines or _NOTHING}</div>'


def _line(event: dict[str, Any]) -> str:
    source, text = html.escape(event["source"]), html.escape(event["text"])
    colour = _COLOURS.get(event["level"], "inherit")
    return (
        '<div style="display:flex;gap:0.75em;padding:0.3em 0;border-bottom:1px solid rgba(128,128,128,0.18)">'
        '<span style="flex:0 0 4.5em;text-align:right;opacity:0.65;font-variant-numeric:tabular-nums">'
        f"{event['time']:.2f} s</span>"
        f'<span style="color:{colour};min-width:0;overflow-wrap:anywhere"><b>{source}</b> {text}</span></div>'
    )
