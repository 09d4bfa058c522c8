"""How to look: the camera of each browser, what is drawn beside the vehicles, pictures and videos."""

from __future__ import annotations

import io
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import viser
from PIL import Image

from airloom.bridges.control.client import LinkError, Refused
from airloom.studio.cameras import MODES
from airloom.studio.overlays import Options
from airloom.studio.source import Snapshot, Status
from airloom.studio.stage import Panel, Stage

LABELS = {
    "trails": "Trails",
    "setpoints": "Setpoints",
    "thrust": "Thrust",
    "contacts": "Contact forces",
    "frames": "Frames",
    "labels": "Names",
    "dots": "Dots from afar",
}
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
        everything = self.gui.add_button("See all vehicles", icon=viser.Icon.ARROWS_MAXIMIZE, color="gray")
        stage.on_press(everything, lambda client: stage.cameras.see_all(client.client_id))
        self._shown = {
            option.name: self.gui.add_checkbox(LABELS[option.name], bool(option.default))
            for option in fields(Options)
            if not (option.name == "contacts" and stage.source.recorded)
        }
        for name, box in self._shown.items():
            box.on_update(partial(self._show, name))
        self._picture = self.gui.add_button("Save a picture", icon=viser.Icon.CAMERA, color="gray")
        self._video = self.gui.add_button("Record a video", icon=viser.Icon.VIDEO, color="gray")
        self._recording: set[str] = set()
        stage.on_press(self._picture, self._take_picture)
        stage.on_press(self._video, self._toggle_video)

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

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        if "contacts" in self._shown and self._shown["contacts"].value:
            self._show_contacts()

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
