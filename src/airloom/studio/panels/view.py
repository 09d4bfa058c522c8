"""How to look: the camera of each browser, what is drawn beside the vehicles, pictures and videos."""

from __future__ import annotations

import io
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import viser
from PIL import Image

from airloom.runs.link.client import LinkError, Refused
from airloom.studio.panels.panel import Panel, Stage
from airloom.studio.panels.styles import note, pressed
from airloom.studio.scene.cameras import MODES
from airloom.studio.scene.overlays import LABELS_AT_MOST, THRUST_AT_MOST, Options
from airloom.studio.sources.source import Snapshot, Status

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
    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
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
        stage.on_press(everything, lambda client: stage.cameras.see_all(client.client_id))
        self._shown: dict[str, Any] = {}
        self._limits: dict[str, Any] = {}
        for option in fields(Options):
            if not (option.name == "contacts" and stage.source.recorded):
                self._offer(option.name, bool(option.default))
        self.rebuild()
        self._picture = self.gui.add_button("Save a picture", icon=viser.Icon.CAMERA, color="gray")
        self._video = self.gui.add_button("Record a video", icon=viser.Icon.VIDEO, color="gray")
        self._recording: set[str] = set()
        stage.on_press(self._picture, self._take_picture)
        stage.on_press(self._video, self._toggle_video)

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
            told.visible = self._shown[name].value and len(self.stage.view.names) > AT_MOST[name]

    def _look(self, event: viser.GuiEvent) -> None:
        stage, mode = self.stage, MODES[[m.capitalize() for m in MODES].index(self._camera.value)]
        chosen = stage.selected if stage.selected in stage.view.names else None
        if event.client_id is None:
            return
        if mode == "top" and chosen is None:
            stage.cameras.see_all(event.client_id, from_above=True)
        else:
            stage.cameras.set_mode(event.client_id, mode, chosen or stage.view.names[0])

    def _show(self, name: str, _: viser.GuiEvent) -> None:
        for view in self.stage.views:
            setattr(view.options, name, self._shown[name].value)
        self._tell_limits()

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        self._mark_cameras()
        if "contacts" in self._shown and self._shown["contacts"].value:
            self._show_contacts()

    def _mark_cameras(self) -> None:
        stage, clients = self.stage, self.stage.server.get_clients()
        for number in [number for number in clients if stage.cameras.knows(number)]:
            tab, (mode, _) = stage.tab_of(clients[number]), stage.cameras.mode(number)
            if tab in stage.gateway.tabs() and self._marked.get(number) != mode:
                self._marked[number] = mode
                stage.gateway.mark_camera(tab, mode)

    def _show_contacts(self) -> None:
        stage = self.stage
        try:
            reply = stage.source.ask("contacts")
        except (Refused, LinkError):
            return
        scenario = stage.source.scenario
        lightest = min(vehicle.mass for vehicle in scenario.vehicles.values()) * max(scenario.world.gravity, 1.0)
        points, forces = (np.reshape(reply[key], (-1, 3)) for key in ("points", "forces"))
        stage.view.show_contacts(points, forces, ARROW * float(stage.view.fleet.size) * 4 / lightest)

    def _take_picture(self, client: viser.ClientHandle) -> None:
        height, width = PICTURE
        image = client.get_render(height, width, transport_format="png", timeout=30.0)
        data = io.BytesIO()
        Image.fromarray(np.asarray(image)).save(data, "PNG")
        name = f"{self.stage.source.title}-{self.stage.source.status().time:.2f}s.png"
        client.send_file_download(name, data.getvalue(), save_immediately=True)

    def _toggle_video(self, client: viser.ClientHandle) -> None:
        tab = self.stage.tab_of(client)
        if tab is None:
            return
        begins = tab not in self._recording
        (self._recording.add if begins else self._recording.discard)(tab)
        self.stage.gateway.record(tab, begins, f"{self.stage.source.title}.webm")
        if begins:
            self.stage.tell("Recording. Press the button again to end it and save the video.", client)
