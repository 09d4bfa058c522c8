"""How the run goes: play, pause, step, begin anew, how fast; for a recorded one, any moment of it."""

from __future__ import annotations

import html
from typing import Any

import viser

from airloom.studio.panels.hold_button import hold_button
from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.panels.styles import without_number
from airloom.studio.sources.source import Snapshot, Status

SPEEDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, None)
"""Positions of the slider; None for as fast as possible."""

ROOM_FOR_MARKS = '<div style="height:0.9em"></div>'

_GREEN, _GREY, _BLUE, _RED = "#12946f", "#697586", "#1c6fc4", "#c92a2a"


class Transport(Panel):
    def __init__(self, studio: StudioState) -> None:
        super().__init__(studio)
        self._shown: tuple | None = None
        self._head = self.gui.add_html("")
        self._play = self.gui.add_button("Pause", icon=viser.Icon.PLAYER_PAUSE_FILLED)
        self._steps = self.gui.add_button_group("Step", ("1 tick", "0.1 s", "1 s"), visible=False)
        self._reset = hold_button(
            studio, "Begin anew", "end this flight and begin another", self._begin_anew, self._flight_would_be_lost,
            icon=viser.Icon.REFRESH, color="gray",
        )  # fmt: skip
        names = tuple((k, _name(SPEEDS[k])) for k in (0, 3, 6, len(SPEEDS) - 1))
        self._speed: Any = self.gui.add_slider("Speed", 0, len(SPEEDS) - 1, 1, 3, marks=names)
        self.gui.add_html(without_number(self._speed) + ROOM_FOR_MARKS)
        self._moment: Any = None
        self._time = -1.0
        if studio.source.recorded:
            self._moment = self.gui.add_slider("Time, s", 0.0, max(studio.source.status().end, 0.01), 0.01, 0.0)
            self._moment.on_update(self._seek)
        studio.on_press(self._play, self._toggle)
        self._steps.on_click(self._step)
        self._speed.on_update(self._change_speed)

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        shown = status.paused, status.finished, status.speed
        if shown != self._shown:
            self._shown = shown
            self._show_buttons(status)
        recorded = self.studio.source.recorded
        self._head.content = _headline(
            self.studio.title, status, self.studio.lost, "playing" if recorded else "running"
        )
        if self._moment is not None and status.time != self._time:
            self._time = status.time
            self._moment.value = round(min(status.time, status.end), 2)

    def _show_buttons(self, status: Status) -> None:
        going = not (status.paused or status.finished)
        self._play.label = "Pause" if going else "Play"
        self._play.icon = viser.Icon.PLAYER_PAUSE_FILLED if going else viser.Icon.PLAYER_PLAY_FILLED
        self._play.disabled = status.finished and not self.studio.source.recorded
        self._steps.visible = status.paused and not status.finished
        self._speed.value = _position(status.speed)
        self._speed.label = f"Speed {_name(status.speed)}"

    def _toggle(self, client: viser.ClientHandle) -> None:
        status = self.studio.source.status()
        self.studio.ask("resume" if status.paused else "pause", client)

    def _begin_anew(self, client: viser.ClientHandle) -> None:
        self.studio.ask("reset", client)

    def _flight_would_be_lost(self) -> bool:
        return not (self.studio.source.recorded or self.studio.source.status().finished)

    def _step(self, event: viser.GuiEvent) -> None:
        step = self.studio.source.scenario.step
        ticks = {"1 tick": 1, "0.1 s": round(0.1 / step), "1 s": round(1.0 / step)}[self._steps.value]
        self.studio.ask("step", event.client, ticks=max(ticks, 1))

    def _change_speed(self, event: viser.GuiEvent) -> None:
        if event.client is not None:
            speed = SPEEDS[int(self._speed.value)]
            self.studio.ask("speed", event.client, speed="max" if speed is None else speed)

    def _seek(self, event: viser.GuiEvent) -> None:
        if event.client is not None and self._moment is not None:
            self.studio.ask("seek", event.client, time=float(self._moment.value))


def _name(speed: float | None) -> str:
    return "max" if speed is None else f"{speed:g}×"


def _position(speed: float | None) -> int:
    """The slider's position nearest to a speed."""
    if speed is None:
        return len(SPEEDS) - 1
    return min(range(len(SPEEDS) - 1), key=lambda k: abs((SPEEDS[k] or 0.0) / speed - 1.0))


def _headline(title: str, status: Status, lost: str | None, going: str) -> str:
    """`going` is the word for a run whose time goes on."""
    word, colour = _state(status, lost, going)
    factor = f"{status.real_time_factor:.2g}× real time" if word == going else _name(status.speed)
    return (
        '<div style="padding:0.6em 0.75em 0.2em;font-variant-numeric:tabular-nums">'
        '<div style="display:flex;justify-content:space-between;align-items:baseline">'
        f'<b style="font-size:1.1em">{html.escape(title)}</b>'
        f'<span style="color:{colour};font-weight:600" data-airloom="state">{html.escape(word)}</span></div>'
        '<div style="display:flex;justify-content:space-between;opacity:0.8">'
        f'<span data-airloom="time">{status.time:.2f} s of {status.end:g} s</span>'
        f'<span data-airloom="factor">{factor}</span></div></div>'
    )


def _state(status: Status, lost: str | None, going: str) -> tuple[str, str]:
    if lost:
        return lost, _RED
    if status.finished:
        return "finished", _BLUE
    return ("paused", _GREY) if status.paused else (going, _GREEN)
