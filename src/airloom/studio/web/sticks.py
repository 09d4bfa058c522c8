"""Sticks in browsers that fly vehicles: their states go on to the simulation, the newest of each, from a thread."""

from __future__ import annotations

import threading
from contextlib import suppress
from enum import Enum, auto

from airloom.runs.link.client import LinkError, Refused
from airloom.studio.sources.source import Source

PATIENCE = 1.0  # s for the simulation to hear that a stick was put down

State = tuple[list[float], list[bool]]


class Gone(Enum):
    """Why a stick has no state."""

    FOR_NOW = auto()
    FOR_GOOD = auto()


class BrowserSticks:
    """Never waits in `move`, which the gateway calls; a state that comes before the last was sent takes its place."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._flown: dict[str, str] = {}
        self._newest: dict[str, State | Gone] = {}
        self._change = threading.Condition()
        self._open = True
        self.states: dict[str, State] = {}
        """By vehicle, what was sent last, for all to see."""
        self.doing: dict[str, str] = {}
        """By vehicle, the mode or manoeuvre that its stick flies, as the simulation told last."""
        self._sending = False
        self._thread = threading.Thread(target=self._send_all, name="sticks", daemon=True)
        self._thread.start()

    def take(self, tab: str, vehicle: str) -> None:
        """From now on this browser's stick flies this vehicle."""
        self.put_down(tab)
        with self._change:
            self._flown[tab] = vehicle

    def put_down(self, tab: str) -> None:
        """Returns when the simulation knows, so that other orders may follow."""
        self.drop(tab)
        with self._change:
            self._change.wait_for(lambda: not (self._newest or self._sending), PATIENCE)

    def drop(self, tab: str) -> None:
        """Likewise, without waiting."""
        with self._change:
            if vehicle := self._flown.pop(tab, None):
                self._newest[vehicle] = Gone.FOR_GOOD
                self._change.notify_all()

    @property
    def tabs(self) -> dict[str, str]:
        """The vehicle that each browser's stick flies."""
        return dict(self._flown)

    def flown_by(self, tab: str | None) -> str | None:
        return self._flown.get(tab) if tab else None

    def move(self, tab: str, axes: list[float], buttons: list[bool]) -> None:
        with self._change:
            if vehicle := self._flown.get(tab):
                self._newest[vehicle] = axes, buttons
                self._change.notify_all()

    def release(self, tab: str) -> None:
        """Nobody holds it just now."""
        with self._change:
            if vehicle := self._flown.get(tab):
                self._newest[vehicle] = Gone.FOR_NOW
                self._change.notify_all()

    def close(self) -> None:
        with self._change:
            self._open = False
            self._change.notify_all()
        self._thread.join()

    def _send_all(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._newest or not self._open)
                if not self._open:
                    return
                newest, self._newest, self._sending = self._newest, {}, True
            for vehicle, state in newest.items():
                with suppress(Refused, LinkError):
                    self._send(vehicle, state)
            with self._change:
                self._sending = False
                self._change.notify_all()

    def _send(self, vehicle: str, state: State | Gone) -> None:
        if isinstance(state, Gone):
            self.states.pop(vehicle, None)
            self.doing.pop(vehicle, None)
            self._source.ask("stick_gone", vehicle=vehicle, for_good=state is Gone.FOR_GOOD)
        else:
            self.states[vehicle] = state
            axes, buttons = state
            reply = self._source.ask("stick", vehicle=vehicle, axes=axes, buttons=[int(button) for button in buttons])
            self.doing.update(reply["doing"])
