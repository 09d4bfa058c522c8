"""What a vehicle's eye sees: the picture in the panel, its points in the scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from airloom.eyes.shown import eyes_of, picture_in, points_in
from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.sources.source import Snapshot, Status

OFF = "off"
MOST = 50  # eyes to choose from
BLANK = np.full((90, 160, 3), 60, dtype=np.uint8)
LOW, HIGH = np.array([68, 1, 84]), np.array([253, 231, 37])


class EyesPanel(Panel):
    every = 10

    def __init__(self, studio: StudioState) -> None:
        super().__init__(studio)
        self._eye: Any = self.gui.add_dropdown("Eye", (OFF,), initial_value=OFF)
        self._points = self.gui.add_checkbox("Points in the scene", True)
        self._picture = self.gui.add_image(BLANK, format="jpeg", visible=False)
        self._cloud: viser.PointCloudHandle | None = None
        self._seen: tuple[str, float | None] = OFF, None
        self._eye.on_update(lambda _: self._clear())
        self._points.on_update(lambda _: self._clear())
        self.rebuild()

    def rebuild(self) -> None:
        vehicles = self.studio.source.scenario.vehicles
        eyes = [f"{name}/{eye}" for name, vehicle in vehicles.items() for eye in eyes_of(vehicle)][:MOST]
        self._eye.options = (OFF, *eyes)
        self._clear()

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        chosen = self._eye.value
        if chosen == OFF or self._seen == (chosen, status.time) or self.studio.lost:
            return
        self._seen = chosen, status.time
        vehicle, eye = chosen.split("/")
        if (reply := self.studio.ask("look", vehicle=vehicle, eye=eye)) is None:
            self._eye.value = OFF
            return
        picture = picture_in(reply)
        self._picture.visible = picture is not None
        if picture is not None:
            self._picture.image = picture
        self._show_points(points_in(reply) if self._points.value else np.empty((0, 3)))

    def _show_points(self, points: np.ndarray) -> None:
        if self._cloud is None:
            self._cloud = self.studio.server.scene.add_point_cloud(
                "/world/eye_points", np.zeros((1, 3)), np.zeros((1, 3)), point_size=0.03, visible=False
            )
        self._cloud.visible = len(points) > 0
        if len(points):
            self._cloud.points, self._cloud.colors = points, _colours(points[:, 2])

    def _clear(self) -> None:
        """Until the next look."""
        self._seen = OFF, None
        self._picture.visible = False
        if self._cloud is not None:
            self._cloud.visible = False


def _colours(heights: np.ndarray) -> np.ndarray:
    """From the lowest to the highest."""
    share = (heights - heights.min()) / max(float(np.ptp(heights)), 1e-6)
    return (LOW + share[:, None] * (HIGH - LOW)).astype(np.uint8)
