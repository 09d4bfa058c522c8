"""Editing the world while the run stands still: spawn, move, turn, copy, delete, and save it all as a scenario."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from airloom.basics.rotations import quaternion_from_euler, yaw_from_quaternion
from airloom.scenario import known, load_vehicle
from airloom.scenario.models import Vehicle
from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.panels.vehicle import is_vessel
from airloom.studio.sources.source import ATTITUDE, POSITION, Snapshot, Status

SHAPES = ("box", "cylinder", "sphere")
ABOVE = 0.02  # m above the ground, where something new stands
UPRIGHT = ((0.0, 0.0), (0.0, 0.0), (-1000.0, 1000.0))
"""How far the gizmo turns about x, y and z."""
ADVICE = "Pause the run to move, spawn, copy and delete. What you change stays when you play on, and can be saved."


class WorldPanel(Panel):
    def __init__(self, studio: StudioState) -> None:
        super().__init__(studio)
        gui = self.gui
        self._advice = gui.add_markdown(ADVICE)
        self._kind: Any = gui.add_dropdown("New", (*known("vehicle"), *SHAPES), initial_value="multirotor")
        spawn = gui.add_button("Spawn where I look", icon=viser.Icon.PLUS)
        self._selected = gui.add_markdown("")
        self._handles = gui.add_checkbox("Handles", False, hint="Arrows and a ring to move and turn what is selected.")
        self._handles.on_update(lambda _: self._place_gizmo())
        edit: Any = gui.add_button_group("Selected", ("Copy", "Delete"))
        self._file = gui.add_text("Save as", f"{studio.source.scenario.name}_edited")
        self._overwrite = gui.add_checkbox("Overwrite", False)
        save = gui.add_button("Save the scenario", icon=viser.Icon.DEVICE_FLOPPY, color="gray")
        self._tools = [self._kind, spawn, self._selected, self._handles, edit]
        self._gizmo: viser.TransformControlsHandle | None = None
        self._still: bool | None = None
        studio.on_press(spawn, self._spawn)
        studio.on_press(save, self._save)
        edit.on_click(lambda event: self._copy(event.client) if edit.value == "Copy" else self._delete(event.client))

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        still = status.paused or status.finished
        if still != self._still:
            self._still = still
            self._advice.visible = not still
            for tool in self._tools:
                tool.visible = still
            self._place_gizmo()

    def select(self, name: str | None) -> None:
        self._selected.content = f"Selected: **{name}**" if name else "Click on something to move, copy or delete it."
        self._place_gizmo()

    def rebuild(self) -> None:
        self._place_gizmo()

    # -- the gizmo ---------------------------------------------------------------------------------------------------

    def _place_gizmo(self) -> None:
        if self._gizmo is not None:
            self._gizmo.remove()
            self._gizmo = None
        name = self.studio.selected
        if not self._still or not self._handles.value or name is None:
            return
        position, yaw, size = self._pose(name)
        self._gizmo = self.studio.server.scene.add_transform_controls(
            "/world/gizmo", scale=size, position=position, wxyz=quaternion_from_euler(0.0, 0.0, yaw),
            rotation_limits=UPRIGHT, depth_test=False,
        )  # fmt: skip
        self._gizmo.on_drag_end(lambda event: self._move(name, event))

    def _pose(self, name: str) -> tuple[np.ndarray, float, float]:
        """Where something is, how it is turned, and how large its gizmo should be."""
        studio = self.studio
        if name in studio.source.names:
            k = studio.source.names.index(name)
            state = studio.source.snapshot().vehicles[k]
            return state[POSITION], yaw_from_quaternion(state[ATTITUDE]), 1.6 * float(studio.view.fleet.reaches[k])
        obstacle = studio.source.scenario.world.obstacles[name]
        return np.array(obstacle.position), obstacle.yaw, 0.8 * max(obstacle.size)

    # -- what is asked for -------------------------------------------------------------------------------------------

    def _edit(self, method: str, client: viser.ClientHandle | None, **fields: Any) -> None:
        reply = self.studio.ask(method, client, edition=self.studio.source.edition, **fields)
        if reply and method != "delete":
            self.studio.awaited = reply["name"]

    def _move(self, name: str, event: viser.TransformControlsEvent) -> None:
        assert self._gizmo is not None
        position, yaw = self._gizmo.position.tolist(), yaw_from_quaternion(self._gizmo.wxyz)
        self._edit("move", event.client, name=name, position=position, yaw=float(yaw))

    def _spawn(self, client: viser.ClientHandle) -> None:
        eye, target = client.camera.position, client.camera.look_at
        origin, direction = self.studio.cameras.ray_to_world(client.client_id, eye, target - eye)
        landscape, kind = self.studio.landscape, self._kind.value
        ground = landscape.hit(origin, direction, on_water=kind not in SHAPES)
        if ground is None:
            self.studio.tell("Look at the ground: what is new stands there.", client)
            return
        floats = landscape.is_on_water(ground) and is_vessel(load_vehicle(kind))
        position = ground + np.array([0.0, 0.0, 0.0 if floats else ABOVE + 0.5 * self._height()])
        self._edit("spawn", client, kind=kind, position=position.tolist())

    def _height(self) -> float:
        """Of what is spawned, from its lowest point to the middle and as much again."""
        if self._kind.value in SHAPES:
            return 1.0
        return _height_over_ground(load_vehicle(self._kind.value))

    def _copy(self, client: viser.ClientHandle | None) -> None:
        if name := self.studio.selected:
            position, yaw, size = self._pose(name)
            beside = [float(position[0]), float(position[1] + size), float(position[2])]
            self._edit("copy", client, name=name, position=beside, yaw=float(yaw))

    def _delete(self, client: viser.ClientHandle | None) -> None:
        if name := self.studio.selected:
            self._edit("delete", client, name=name)

    def _save(self, client: viser.ClientHandle) -> None:
        reply = self.studio.ask("save", client, file=self._file.value, overwrite=bool(self._overwrite.value))
        if reply:
            self.studio.tell(f"Saved. Run it with: airloom run {reply['file']}", client)


def _height_over_ground(vehicle: Vehicle) -> float:
    return 2.0 * vehicle.stands
