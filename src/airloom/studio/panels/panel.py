"""The studio: what the studio's panels share. The run, the scene, who is selected, and how to say what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import viser

from airloom.runs.link.client import LinkError, Refused
from airloom.studio.scene.cameras import Cameras
from airloom.studio.scene.fleet_view import FleetView
from airloom.studio.scene.landscape import Landscape
from airloom.studio.sources.source import Snapshot, Source, Status
from airloom.studio.web.gateway import Gateway
from airloom.studio.web.sticks import BrowserSticks


class Panel:
    """A part of the controls, made inside the container that is open."""

    every = 3
    """Of how many frames one refreshes it."""

    def __init__(self, studio: StudioState) -> None:
        self.studio, self.gui = studio, studio.server.gui

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        """Show how things are, some ten times a second."""

    def select(self, name: str | None) -> None:
        """Another vehicle or obstacle is selected, or none."""

    def rebuild(self) -> None:
        """The scenario has changed."""

    def click(self, point: np.ndarray, client: viser.ClientHandle) -> None:
        """A browser clicked on the ground."""


class StudioState:
    def __init__(self, server: viser.ViserServer, gateway: Gateway, sources: list[Source]) -> None:
        self.server, self.gateway, self.sources = server, gateway, sources
        self.source = sources[0]
        """The run that commands go to."""
        self.landscape: Landscape
        self.views: list[FleetView]
        self.cameras: Cameras
        self.sticks = BrowserSticks(self.source)
        gateway.on_stick, gateway.on_stick_gone = self.sticks.move, self.sticks.release
        gateway.on_put_down = self.sticks.drop
        gateway.on_select = self._select_in_tree
        self.selected: str | None = None
        self.awaited: str | None = None
        """Something that was just made or moved, to be selected when the changed scenario comes."""
        self.panels: list[Panel] = []
        self.lost: str | None = None
        """Why there is nobody to ask any more."""

    @property
    def title(self) -> str:
        """Of all runs that are shown."""
        first, *others = (source.title for source in self.sources)
        if len(others) > 1:
            return f"{first} and {len(others)} others"
        return f"{first} and {others[0]}" if others else first

    @property
    def view(self) -> FleetView:
        return self.views[0]

    def select(self, name: str | None) -> None:
        self.selected = name
        for view in self.views:
            view.selected = name
        for panel in self.panels:
            panel.select(name)

    def _select_in_tree(self, tab: str, name: str) -> None:
        """From the gateway's thread, which must not wait for the simulation's answers."""
        if name in self.source.names or name in self.source.scenario.world.obstacles:
            Thread(target=self.select, args=[name], name="selection", daemon=True).start()

    def ask(self, method: str, client: viser.ClientHandle | None = None, **fields: Any) -> dict[str, Any] | None:
        """Ask the run; if it refuses, tell the browser that wished it, and give None."""
        try:
            return self.source.ask(method, **fields)
        except Refused as refusal:
            self.tell(str(refusal), client, "That did not work")
        except LinkError as error:
            self.lost = str(error)
        return None

    def tell(self, text: str, client: viser.ClientHandle | None = None, title: str = "Airloom") -> None:
        """A short message in one browser, or in all."""
        clients = [client] if client else list(self.server.get_clients().values())
        for one in clients:
            one.add_notification(title, text, auto_close_seconds=8.0)

    def on_press(self, button: Any, act: Callable[[viser.ClientHandle], object]) -> None:
        """Call `act` with the browser in which the button was pressed."""

        @button.on_click
        def _(event: viser.GuiEvent) -> None:
            if event.client is not None:
                act(event.client)
