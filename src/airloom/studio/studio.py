"""The studio: a run in the browser. It draws what the source shows, thirty times a second, and holds the panels."""

from __future__ import annotations

import os
import ssl
import sys
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
import viser

from airloom.eyes.shown import eyes_of
from airloom.net.listening import PortTaken
from airloom.runs.link.client import LinkError
from airloom.studio.panels.events import EventsPanel
from airloom.studio.panels.eyes import EyesPanel
from airloom.studio.panels.legend import Legend
from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.panels.plots import PlotsPanel
from airloom.studio.panels.radio import RadioPanel
from airloom.studio.panels.spray import SprayPanel, has_spray
from airloom.studio.panels.transport import Transport
from airloom.studio.panels.vehicle import VehiclePanel
from airloom.studio.panels.view import ViewPanel
from airloom.studio.panels.world import WorldPanel
from airloom.studio.scene.cameras import Cameras
from airloom.studio.scene.fleet_view import ACCENTS, FleetView
from airloom.studio.scene.landscape import Landscape
from airloom.studio.sources.source import POSITION, Source
from airloom.studio.web.gateway import Gateway
from airloom.studio.web.ports import USUAL_PORT
from airloom.studio.web.viser_server import start_viser, stop_viser

PERIOD = 1 / 30  # s
AT_REST = 5  # of how many frames one is drawn while time stands still
COUNTING = 30  # of how many frames one counts the browsers
GROUND = 8  # of how many frames one looks whether ground has come near
BRAND = (28, 111, 196)
WIDTH = 360  # pixels of the panels
PATIENCE = 3.0  # s that a browser may be away, to load the page anew, before it counts as gone

TABS: tuple[tuple[str, viser.IconName, type[Panel]], ...] = (
    ("Fly", viser.Icon.DRONE, VehiclePanel),
    ("World", viser.Icon.MOUNTAIN, WorldPanel),
    ("View", viser.Icon.EYE, ViewPanel),
    ("Plots", viser.Icon.CHART_LINE, PlotsPanel),
    ("Events", viser.Icon.MESSAGE_2, EventsPanel),
)


class Studio:
    """Serves browsers from `__enter__` to `__exit__`; `run` draws until `stop` or until the run is over."""

    def __init__(
        self,
        sources: Sequence[Source],
        host: str = "127.0.0.1",
        port: int | None = None,
        token: str | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Without a port, the first free one from the usual one on."""
        self._server = start_viser(label="Airloom")
        self._any_port = port is None
        self.gateway = Gateway(self._server, host, USUAL_PORT if port is None else port, token, tls)
        self.state = StudioState(self._server, self.gateway, list(sources))
        self._stopping = threading.Event()
        self._audience, self._left_at = 0, 0.0
        self._drawn: float | None = None
        self._stumbles: set[str] = set()

    def __enter__(self) -> Studio:
        try:
            self._build()
            self._open_gateway()
        except BaseException:
            stop_viser(self._server)
            raise
        return self

    def _open_gateway(self) -> None:
        try:
            self.gateway.start()
        except PortTaken as taken:
            if not (self._any_port and taken.next_free):
                raise
            self.gateway.port = taken.next_free
            self.gateway.start()

    def __exit__(self, *_: object) -> None:
        self.gateway.stop()
        self.state.sticks.close()
        stop_viser(self._server)
        for source in self.state.sources:
            source.close()

    def stop(self) -> None:
        self._stopping.set()

    def run(self, look: Callable[[], None] = lambda: None) -> None:
        """Draw until told to stop, or the simulation has ended; `look` is called with every frame."""
        frame, due = 0, time.perf_counter()
        while not self._stopping.is_set() and self.state.lost is None:
            try:
                self._draw(frame)
            except LinkError as error:
                self.state.lost = str(error)
            except Exception as error:
                self._stumble(error)
            look()
            frame += 1
            due = max(due + PERIOD, time.perf_counter())
            self._stopping.wait(due - time.perf_counter())

    def _stumble(self, error: Exception) -> None:
        """A mistake of ours in one frame is told once, and costs nobody the studio."""
        text = f"The studio stumbled: {type(error).__name__}: {error}"
        if text not in self._stumbles:
            self._stumbles.add(text)
            print(text, file=sys.stderr)
            self.state.tell(text)

    # -- building ----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        studio, server = self.state, self._server
        server.gui.configure_theme(brand_color=BRAND, show_logo=False, show_share_button=False)
        studio.landscape = Landscape(server, studio.source.scenario)
        studio.views = [
            FleetView(server, source.scenario, source.names, prefix=f"fleet_{k}", accent=ACCENTS[k % len(ACCENTS)])
            for k, source in enumerate(studio.sources)
        ]
        studio.cameras = Cameras(server, studio.view, self._greet)
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(WIDTH)
        studio.panels = [Transport(studio), *([Legend(studio)] if len(studio.sources) > 1 else []), *self._tabs()]
        server.scene.on_click()(self._click)
        if len(studio.source.names) == 1:
            studio.select(studio.source.names[0])

    def _greet(self, client: viser.ClientHandle) -> None:
        """Who comes sees the fleet where it is now: it was not drawn while nobody looked. One alone is followed."""
        studio = self.state
        everybody = [source.snapshot().vehicles[:, POSITION] for source in studio.sources]
        studio.cameras.see_all(client.client_id, np.concatenate(everybody))
        if len(studio.source.names) == 1:
            studio.cameras.set_mode(client.client_id, "follow", studio.source.names[0])

    def _tabs(self) -> list[Panel]:
        tabs = self._server.gui.add_tab_group()
        panels: list[Panel] = []
        for label, icon, kind in TABS:
            if kind is WorldPanel and self.state.source.recorded:
                continue
            with tabs.add_tab(label, icon):
                panels.append(kind(self.state))
                if kind is ViewPanel and any(map(eyes_of, self.state.source.scenario.vehicles.values())):
                    panels.append(EyesPanel(self.state))
                if kind is ViewPanel and has_spray(self.state.source.scenario):
                    panels.append(SprayPanel(self.state))
                if kind is ViewPanel and self.state.source.scenario.radio is not None:
                    panels.append(RadioPanel(self.state))
        return panels

    # -- a frame -----------------------------------------------------------------------------------------------------

    def _draw(self, frame: int) -> None:
        studio = self.state
        if frame % COUNTING == 0:
            self._count_audience()
        if not self._server.get_clients():
            return
        for source, view in zip(studio.sources, studio.views, strict=True):
            if source.refresh():
                self._rebuild(source, view)
        status, snapshots = studio.source.status(), [source.snapshot() for source in studio.sources]
        if snapshots[0].time != self._drawn or frame % AT_REST == 0:
            self._drawn = snapshots[0].time
            for snapshot, view in zip(snapshots, studio.views, strict=True):
                view.show(snapshot)
            studio.cameras.show(snapshots[0])
        if frame % GROUND == 0:
            studio.landscape.look_from(studio.cameras.eyes)
        for panel in studio.panels:
            if frame % panel.every == 0:
                panel.refresh(status, snapshots[0])

    def _rebuild(self, source: Source, view: FleetView) -> None:
        studio = self.state
        studio.landscape.rebuild(studio.source.scenario)
        view.rebuild(source.scenario, source.names)
        studio.cameras.frame_fleet()
        here = (*source.names, *source.scenario.world.obstacles)
        wanted, studio.awaited = studio.awaited or studio.selected, None
        studio.selected = wanted if wanted in here else None
        for panel in studio.panels:
            panel.rebuild()
        studio.select(studio.selected)

    def _count_audience(self) -> None:
        """Tell the simulation how many look on; one that has just left may only be loading the page anew."""
        count, now = len(self._server.get_clients()), time.monotonic()
        if count >= self._audience:
            self._audience, self._left_at = count, now
        elif now - self._left_at > PATIENCE:
            self._audience = count
        self.state.ask("audience", studio=f"{os.getpid()} at {self.gateway.port}", count=self._audience)

    def _dives(self, name: str | None) -> bool:
        """Then a click goes through the water to what is below it."""
        names = self.state.source.names
        return name in names and self.state.landscape.is_under_water(self.state.view.positions[names.index(name)])

    def _click(self, event: viser.SceneClickEvent) -> None:
        """Select what was clicked on; on nothing but the ground, that is where the selected vehicle is to fly."""
        studio = self.state
        origin, direction = studio.cameras.ray_to_world(event.client_id, event.ray_origin, event.ray_direction)
        name = studio.view.pick(origin, direction) or studio.landscape.obstacle_at(origin, direction)
        if name is not None:
            studio.select(name)
            return
        point = studio.landscape.hit(origin, direction, on_water=not self._dives(studio.selected))
        if point is not None:
            for panel in studio.panels:
                panel.click(point, event.client)
