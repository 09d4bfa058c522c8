"""The radio in the scene: who hears whom, packets on their way, and where a node is heard."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from airloom.radio.band import seed_of
from airloom.radio.coverage import coverage
from airloom.radio.shown import MEMORY, Picture, Watched, told_in
from airloom.runs.link.client import LinkError, Refused
from airloom.scenario.models import Plane
from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.panels.styles import note
from airloom.studio.scene.radio_view import RadioView
from airloom.studio.sources.source import POSITION, Snapshot, Status

ASKING = 6  # of how many frames one asks the run
OFF = "nobody"
MOVED = 0.02  # of the width of the map, after which it is drawn anew
NO_PACKETS = "The log has no packets: name /radio/*packets in log.topics."


class RadioPanel(Panel):
    every = 1

    def __init__(self, studio: StudioState) -> None:
        super().__init__(studio)
        self._links = self.gui.add_checkbox(
            "Radio links",
            True,
            hint="Each half by how much the node at its end hears: teal all, amber half, red none.",
        )
        self._packets = self.gui.add_checkbox("Radio packets", False)
        self._missing = self.gui.add_html(note(NO_PACKETS), visible=False)
        self._of: Any = self.gui.add_dropdown(
            "Coverage of", (OFF,), hint="Where its signal is strong enough in the mean: teal 20 dB and more to spare."
        )
        self._at: Any = self.gui.add_number("Heard at, m", 1.5, min=0.1, max=1000.0, step=0.5)
        plane = isinstance(studio.source.scenario.world.terrain, Plane)
        self._view = RadioView(studio.server, studio.landscape.height, plane)
        self._watched, self._frame = Watched(), 0
        self._pool = ThreadPoolExecutor(1, "coverage")
        self._drawing: Future[Picture] | None = None
        self._mapped: tuple[tuple, np.ndarray] | None = None
        """What the map is of, and where that was; and how wide the map is, m."""
        self._width = 0.0
        self._packets.on_update(lambda _: self._watched.forget())
        self.rebuild()

    def rebuild(self) -> None:
        """Nodes by what the map is of: a name, and its band."""
        scenario = self.studio.source.scenario
        self._senders: dict[str, tuple[str, str]] = {}
        assert scenario.radio is not None, "else there is no such panel"
        for band, kind in scenario.radio.kinds.items():
            if kind.ns3 is None:
                members = list(scenario.radio.members(band, self.studio.source.names))
                members.sort(key=scenario.vehicles.__contains__)  # stations first
                self._senders |= {f"{name} ({band})" if band else name: (name, band) for name in members}
        self._of.options = (OFF, *self._senders)

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        places = self._places(snapshot)
        if self._frame % ASKING == 0 and not self.studio.lost and (self._links.value or self._packets.value):
            self._ask(snapshot.time)
        self._frame += 1
        self._view.show_links(self._watched.lines(places, self.studio.selected) if self._links.value else None)
        self._view.show_packets(self._watched.packets(places, snapshot.time) if self._packets.value else None)
        self._show_coverage(status.edition, places)

    def _places(self, snapshot: Snapshot) -> dict[str, np.ndarray]:
        source = self.studio.source
        places = dict(zip(source.names, snapshot.vehicles[:, POSITION].astype(float), strict=True))
        stations = source.scenario.radio.stations if source.scenario.radio else {}
        return places | {name: np.array(station.position) for name, station in stations.items()}

    def _ask(self, now: float) -> None:
        """What was told since; all of the last seconds if time has gone back or made a leap."""
        watched = self._watched
        if not watched.time - MEMORY <= now <= watched.time + 2.0 * MEMORY:
            watched.forget()
        try:
            reply = self.studio.source.ask(
                "radio", since=max(watched.time, now - 2.0 * MEMORY), packets=self._packets.value
            )
        except (Refused, LinkError):  # a recorded run may have nothing of it in its log
            return
        watched.take(told_in(reply))
        self._missing.visible = self._packets.value and not reply["has_packets"]

    def _show_coverage(self, edition: int, places: dict[str, np.ndarray]) -> None:
        """Worked out beside, for it may take a second where much is in the way."""
        chosen, radio = self._of.value, self.studio.source.scenario.radio
        if self._drawing is not None:
            if not self._drawing.done():
                return
            picture, self._drawing = self._drawing.result(), None
            self._view.show_picture(picture if chosen != OFF else None)
            self._width = picture.cell * len(picture.colours)
        name, band = self._senders.get(chosen, (OFF, ""))
        if radio is None or name not in places:
            if self._mapped is not None:
                self._view.show_picture(None)
                self._mapped = None
            return
        wanted, place = (chosen, self._at.value, edition), places[name]
        if self._mapped is None or self._mapped[0] != wanted or _apart(self._mapped[1], place) > MOVED * self._width:
            self._mapped = wanted, place
            seed, land = seed_of(band, self.studio.source.scenario.seed), self.studio.landscape.land
            self._drawing = self._pool.submit(lambda: coverage(radio.kinds[band], seed, land, place, wanted[1])[0])


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other))
