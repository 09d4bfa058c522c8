"""Spray in the scene: drops in the air, and the map of what has landed, growing."""

from __future__ import annotations

from airloom.runs.link.client import LinkError, Refused
from airloom.scenario.models import Scenario
from airloom.spray.shown import map_in_reply, points_in
from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.scene.spray_view import SprayView
from airloom.studio.sources.source import Snapshot, Status

MAP_EVERY = 5  # looks


def has_spray(scenario: Scenario) -> bool:
    return any(choice.kind == "spray" and choice.enabled for choice in scenario.systems.values())


class SprayPanel(Panel):
    every = 6

    def __init__(self, studio: StudioState) -> None:
        super().__init__(studio)
        self._drops = self.gui.add_checkbox("Drops of spray", True)
        self._map = self.gui.add_checkbox("Map of spray", True)
        self._view = SprayView(studio.server, studio.landscape.height)
        self._looks, self._seen = 0, -1.0
        for box in (self._drops, self._map):
            box.on_update(lambda _: self._again())

    def rebuild(self) -> None:
        self._again()

    def _again(self) -> None:
        self._looks, self._seen = 0, -1.0
        self._view.show_drops(None)
        self._view.show_map(None)

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        wanted = self._drops.value or self._map.value
        if not wanted or status.time == self._seen or self.studio.lost:
            return
        self._seen = status.time
        try:
            reply = self.studio.source.ask("spray")
        except (Refused, LinkError):  # a recorded run without spray in its log has nothing to show
            return
        if self._drops.value:
            self._view.show_drops(points_in(reply))
        if self._map.value and self._looks % MAP_EVERY == 0:
            self._view.show_map(map_in_reply(reply))
        self._looks += 1
