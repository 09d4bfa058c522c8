"""How to look: the camera of each browser, what is drawn beside the vehicles, pictures and videos."""

from __future__ import annotations

import io
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import viser
from PIL import Image

from airloom.errors import UserError
from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.panels.styles import note, pressed
from airloom.studio.scene.cameras import MODES
from airloom.studio.scene.overlays import LABELS_AT_MOST, THRUST_AT_MOST, Options
from airloom.studio.sources.source import Snapshot, Status
from airloom.studio.web.viser_server import tab_of

LABELS = {
    "trails": "Trails",
    "setpoints": "Setpoints",
    "thrust": "Thrust",
    "contacts": "Contact forces",
    "frames": "Frames",
    "labels": "Names",
    "dots": "Dots from afar",
}
AT_MOST = {"labels": LABELS_AT_MOST, "thrust": THRUST_AT_MOST}
ARROW = 1.0  # m of a contact arrow for the weight of the lightest vehicle
PICTURE = (1080, 1920)


class ViewPanel(Panel):
    def __init__(self, studio: StudioState) -> None:
        super().__init__(studio)
        self._camera: Any = self.gui.add_button_group(
            "Camera",
            tuple(mode.capitalize() for mode in MODES),
            hint="Of this browser only, at the selected vehicle; Top without one sees all.",
        )
        self._camera.on_click(self._look)
        self._marked: dict[int, str] = {}
        marks = (pressed(self._camera, f'[data-camera="{mode}"]', k) for k, mode in enumerate(MODES))
        self.gui.add_html("".join(marks))
        everything = self.gui.add_button("See all vehicles", icon=viser.Icon.ARROWS_MAXIMIZE, color="gray")
        studio.on_press(everything, lambda client: studio.cameras.see_all(client.client_id))
        self._shown: dict[str, Any] = {}
        self._limits: dict[str, Any] = {}
        for option in fields(Options):
            if not (option.name == "contacts" and studio.source.recorded):
                self._offer(option.name, bool(option.default))
        self.rebuild()
        self._picture = self.gui.add_button("Save a picture", icon=viser.Icon.CAMERA, color="gray")
        self._video = self.gui.add_button("Record a video", icon=viser.Icon.VIDEO, color="gray")
        self._recording: set[str] = set()
        studio.on_press(self._picture, self._take_picture)
        studio.on_press(self._video, self._toggle_video)

    def _offer(self, name: str, at_first: bool) -> None:
        box = self._shown[name] = self.gui.add_checkbox(LABELS[name], at_first)
        box.on_update(partial(self._show, name))
        if name in AT_MOST:
            limit = f"Of the selected vehicle alone: there are more than {AT_MOST[name]}."
            self._limits[name] = self.gui.add_html(note(limit))

    def rebuild(self) -> None:
        self._tell_limits()

    def _tell_limits(self) -> None:
        for name, told in self._limits.items():
            told.visible = self._shown[name].value and len(self.studio.view.names) > AT_MOST[name]

    def _look(self, event: viser.GuiEvent) -> None:
        studio, mode = self.studio, MODES[[m.capitalize() for m in MODES].index(self._camera.value)]
        chosen = studio.selected if studio.selected in studio.view.names else None
        if event.client_id is None:
            return
        if mode == "top" and chosen is None:
            studio.cameras.see_all(event.client_id, from_above=True)
        else:
            studio.cameras.set_mode(event.client_id, mode, chosen or studio.view.names[0])

    def _show(self, name: str, _: viser.GuiEvent) -> None:
        for view in self.studio.views:
            setattr(view.options, name, self._shown[name].value)
        self._tell_limits()

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        self._mark_cameras()
        if "contacts" in self._shown and self._shown["contacts"].value:
            self._show_contacts()

    def _mark_cameras(self) -> None:
        studio, clients = self.studio, self.studio.server.get_clients()
        for number in [number for number in clients if studio.cameras.knows(number)]:
            tab, (mode, _) = tab_of(clients[number]), studio.cameras.mode(number)
            if tab in studio.gateway.tabs() and self._marked.get(number) != mode:
                self._marked[number] = mode
                studio.gateway.mark_camera(tab, mode)

    def _show_contacts(self) -> None:
        studio = self.studio
        try:
            reply = studio.source.ask("contacts")
        except UserError:
            return
        scenario = studio.source.scenario
        lightest = min(vehicle.mass for vehicle in scenario.vehicles.values()) * max(scenario.world.gravity, 1.0)
        points, forces = (np.reshape(reply[key], (-1, 3)) for key in ("points", "forces"))
        studio.view.show_contacts(points, forces, ARROW * float(studio.view.fleet.size) * 4 / lightest)

    def _take_picture(self, client: viser.ClientHandle) -> None:
        height, width = PICTURE
        image = client.get_render(height, width, transport_format="png", timeout=30.0)
        data = io.BytesIO()
        Image.fromarray(np.asarray(image)).save(data, "PNG")
        name = f"{self.studio.source.title}-{self.studio.source.status().time:.2f}s.png"
        client.send_file_download(name, data.getvalue(), save_immediately=True)

    def _toggle_video(self, client: viser.ClientHandle) -> None:
        tab = tab_of(client)
        if tab is None:
            return
        begins = tab not in self._recording
        (self._recording.add if begins else self._recording.discard)(tab)
        self.studio.gateway.record(tab, begins, f"{self.studio.source.title}.webm")
        if begins:
            self.studio.tell("Recording. Press the button again to end it and save the video.", client)
