"""Sticks in browsers that fly vehicles: their states go on to the simulation, the newest of each, from a thread."""

from __future__ import annotations

import threading
from contextlib import suppress

from airloom.bridges.control.client import LinkError, Refused
from airloom.studio.source import Source

State = tuple[list[float], list[bool]]


class Sticks:
    """Never waits in `move`, which the gateway calls; a state that comes before the last was sent takes its place."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._flown: dict[str, str] = {}
        self._newest: dict[str, State | None] = {}
        self._change = threading.Condition()
        self._open = True
        self.states: dict[str, State] = {}
        """By vehicle, what was sent last, for all to see."""
        self._thread = threading.Thread(target=self._send_all, name="sticks", daemon=True)
        self._thread.start()

    def take(self, tab: str, vehicle: str) -> None:
        """From now on this browser's stick flies this vehicle."""
        self.put_down(tab)
        with self._change:
            self._flown[tab] = vehicle

    def put_down(self, tab: str) -> None:
        self.release(tab)
        with self._change:
            self._flown.pop(tab, None)

    def flown_by(self, tab: str | None) -> str | None:
        return self._flown.get(tab) if tab else None

    def move(self, tab: str, axes: list[float], buttons: list[bool]) -> None:
        with self._change:
            if vehicle := self._flown.get(tab):
                self._newest[vehicle] = axes, buttons
                self._change.notify()

    def release(self, tab: str) -> None:
        """Nobody holds it just now."""
        with self._change:
            if vehicle := self._flown.get(tab):
                self._newest[vehicle] = None
                self._change.notify()

    def close(self) -> None:
        with self._change:
            self._open = False
            self._change.notify()
        self._thread.join()

    def _send_all(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._newest or not self._open)
                if not self._open:
                    return
                newest, self._newest = self._newest, {}
            for vehicle, state in newest.items():
                with suppress(Refused, LinkError):
                    self._send(vehicle, state)

    def _send(self, vehicle: str, state: State | None) -> None:
        if state is None:
            self.states.pop(vehicle, None)
            self._source.ask("stick_gone", vehicle=vehicle)
        else:
            self.states[vehicle] = state
            axes, buttons = state
            self._source.ask("stick", vehicle=vehicle, axes=axes, buttons=[int(button) for button in buttons])
