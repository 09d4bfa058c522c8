"""The gains of the selected vehicle as sliders: from a quarter of what they were to four times that."""

from __future__ import annotations

from functools import partial
from math import floor, log10
from typing import Any

import viser

from airloom.studio.panels.panel import StudioState

REACH = 4.0


class GainSliders:
    def __init__(self, studio: StudioState, folder: viser.GuiFolderHandle) -> None:
        self._studio, self._folder = studio, folder
        self._vehicle: str | None = None
        self._sliders: list[Any] = []
        self._hint: Any = None
        self._enabled = True

    def show(self, vehicle: str | None) -> None:
        if vehicle == self._vehicle:
            return
        self._vehicle = vehicle
        for shown in (*self._sliders, *([self._hint] if self._hint else [])):
            shown.remove()
        self._sliders, self._hint = [], None
        reply = self._studio.ask("gains", vehicle=vehicle) if vehicle else None
        if reply:
            with self._folder:
                self._make(reply["in_force"][vehicle])

    def enable(self, on: bool) -> None:
        self._enabled = on
        for slider in self._sliders:
            slider.disabled = not on

    def _make(self, gains: dict[str, Any]) -> None:
        for name, value in gains.items():
            if name == "rate" or name.endswith("_rate") or not isinstance(value, int | float) or value <= 0:
                continue
            low, high, step = _range(float(value))
            label = name.replace("_", " ")
            slider: Any = self._studio.server.gui.add_slider(
                label, low, high, step, float(value), disabled=not self._enabled
            )
            slider.on_update(partial(self._tune, name))
            self._sliders.append(slider)
        if not self._sliders:
            self._hint = self._studio.server.gui.add_markdown("Its controller has no gains.")

    def _tune(self, name: str, event: viser.GuiEvent) -> None:
        if event.client is not None and self._vehicle:
            self._studio.ask("tune", event.client, vehicle=self._vehicle, gains={name: float(event.target.value)})


def _range(value: float) -> tuple[float, float, float]:
    """Least, greatest and step of a slider around a value."""
    step = 10.0 ** floor(log10(value / 50))
    return step * max(round(value / REACH / step), 1), step * round(value * REACH / step), step
