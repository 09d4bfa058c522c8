"""How each browser looks at the scene: freely, along with a vehicle, from behind it, from above.

A camera that the server moved would fight the hand that turns it. So the world is moved instead, for one browser alone,
by a frame of its own in place of the root: a vehicle that is followed stays where it is on the screen, and the user
turns and zooms about it as ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from math import cos, pi, sin
from typing import Literal, get_args

import numpy as np
import viser

from airloom.basics.rotations import yaw_from_quaternion
from airloom.studio.scene.fleet_view import FleetView
from airloom.studio.sources.source import ATTITUDE, POSITION, Snapshot

Mode = Literal["orbit", "follow", "chase", "top"]
MODES: tuple[Mode, ...] = get_args(Mode)

FIELD_OF_VIEW = 0.8  # rad
SIGHT = (0.05, 6000.0)  # m; depths get coarse with a nearer beginning, and the ground ends before the end
NEAREST = 2.0  # m from the fleet at the beginning, to see a small vehicle rise
CLOSE = 7.0  # times the reach of a vehicle that is followed
LEAST_SLOPE = 0.35  # of the look at a vehicle that is followed
YAW_SHARE = 0.12  # of the way to a vehicle's heading that a chasing camera turns in a frame
VIEW = np.array([-0.6, -0.75, 0.38])
"""Where the first look comes from."""
FROM_ABOVE = np.array([0.0, -1e-3, 1.0])
USUAL_ASPECT = 1.6  # of a browser that has not told yet
MARGIN = 2.0  # times the reach of a vehicle, between the middle of an outermost one and the edge
ROOM = 1.08  # times as far away as the edges allow
AHEAD = 1.3  # times as far from their middle as those who left the picture, so that it does not change all the time
LEAST = 14.0  # times the reach of a vehicle, from which one alone is seen


@dataclass(frozen=True)
class Placement:
    """Where the world stands in a browser's scene: turned by `yaw`, then moved."""

    offset: np.ndarray = field(default_factory=lambda: np.zeros(3))
    yaw: float = 0.0

    @staticmethod
    def around(point: np.ndarray, yaw: float = 0.0) -> Placement:
        """With a point in the origin and a heading along x."""
        return Placement(-_turned(point, -yaw), -yaw)

    def to_scene(self, point: np.ndarray) -> np.ndarray:
        return _turned(point, self.yaw) + self.offset

    def to_world(self, point: np.ndarray) -> np.ndarray:
        return _turned(np.asarray(point) - self.offset, -self.yaw)

    def direction_to_world(self, direction: np.ndarray) -> np.ndarray:
        return _turned(np.asarray(direction), -self.yaw)


def _turned(v: np.ndarray, yaw: float) -> np.ndarray:
    c, s = cos(yaw), sin(yaw)
    return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]], dtype=float)


class Camera:
    """That of one browser."""

    def __init__(self, client: viser.ClientHandle, root: str) -> None:
        self.client, self.mode, self.vehicle = client, "orbit", ""
        self.placement = Placement()
        self._framed: tuple[np.ndarray, float, np.ndarray] | None = None
        self._aspect, self._eye = USUAL_ASPECT, np.zeros(3)
        """Of the view in which that was framed."""
        self._switching = threading.RLock()
        """Browsers tell of their windows in other threads than of their buttons."""
        self._root = client.scene.add_frame(root, show_axes=False)

    def switch(self, mode: Mode, vehicle: str, position: np.ndarray, yaw: float, distance: float) -> None:
        """Look in another way; free again, the view stays as it is."""
        eye = self.placement.to_world(self.client.camera.position)
        target = self.placement.to_world(self.client.camera.look_at)
        aside = VIEW if self.mode == "top" else eye - position
        with self._switching, self.client.atomic():
            self.mode, self.vehicle, self._framed = mode, vehicle, None
            if mode == "orbit":
                self.see(eye, target)
            elif mode == "follow":
                self._place(Placement.around(position))
                self._look(distance * _from_above(aside), np.zeros(3))
            elif mode == "chase":
                self._place(Placement.around(position, yaw))
                self._look(distance * _unit(np.array([-1.0, 0.0, 0.35])), np.zeros(3))
            else:
                self._place(Placement.around(position))
                self._look(distance * FROM_ABOVE, np.zeros(3))

    def frame(self, positions: np.ndarray, reach: float, view: np.ndarray) -> None:
        """Look at all of some vehicles, see `first_look`."""
        with self._switching:
            self._framed, self._aspect = (positions, reach, view), self.client.camera.aspect
            self._eye, target = first_look(positions, reach, self._aspect, view)
            self.see(self._eye, target)

    def fit(self, first_eye: np.ndarray) -> None:
        """After the window became wider or narrower, as it does when the panels come, or the browser went to its first
        view late: unless a hand turned the view.
        """
        with self._switching:
            seen, framed = self.client.camera, self._framed
            if framed is None:
                return
            if np.allclose(seen.position, self._eye, rtol=1e-3):
                moved = seen.aspect != self._aspect
            else:
                moved = np.allclose(seen.position, first_eye, rtol=1e-3)
            if moved:
                self.frame(*framed)

    def keep_in_view(self, positions: np.ndarray) -> None:
        """Look from farther away when something leaves the picture, unless a hand turned the view."""
        with self._switching:
            seen = self.client.camera
            if self._framed is None or not np.allclose(seen.position, self._eye, rtol=1e-3):
                return
            if not sees(self._eye, seen.look_at, self._aspect, positions):
                framed, reach, view = self._framed
                middle = positions.mean(axis=0)
                ahead = middle + AHEAD * (positions - middle)
                self.frame(np.concatenate([framed, positions, ahead]), reach, view)

    def see(self, eye: np.ndarray, target: np.ndarray) -> None:
        with self.client.atomic():
            self._place(Placement())
            self._look(eye, target)

    def keep_up(self, position: np.ndarray, yaw: float) -> None:
        """Go along with the vehicle."""
        if self.mode == "chase":
            heading = -self.placement.yaw
            behind = (yaw - heading + pi) % (2 * pi) - pi
            self._place(Placement.around(position, heading + YAW_SHARE * behind))
        elif self.mode != "orbit":
            self._place(Placement.around(position))

    def _place(self, placement: Placement) -> None:
        self.placement = placement
        self._root.position = placement.offset
        self._root.wxyz = (cos(placement.yaw / 2), 0.0, 0.0, sin(placement.yaw / 2))

    def _look(self, eye: np.ndarray, target: np.ndarray) -> None:
        self.client.camera.position = eye
        self.client.camera.look_at = target


class Cameras:
    """Those of all browsers."""

    def __init__(
        self,
        server: viser.ViserServer,
        view: FleetView,
        greet: Callable[[viser.ClientHandle], None] = lambda client: None,
        root: str = "/world",
    ) -> None:
        """`greet` is called with every browser that has come, to choose what it sees first."""
        self._server, self._view, self._greet, self._root = server, view, greet, root
        self._cameras: dict[int, Camera] = {}
        self.frame_fleet()
        server.on_client_connect(self._welcome)
        server.on_client_disconnect(self._forget)

    def frame_fleet(self) -> None:
        """Browsers that come, or reset their view, see all vehicles."""
        eye, target = first_look(self._view.positions.astype(float), float(self._view.fleet.reaches.max()))
        initial = self._server.initial_camera
        initial.position, initial.look_at, initial.fov = eye, target, FIELD_OF_VIEW
        initial.near, initial.far = SIGHT

    def knows(self, client_id: int) -> bool:
        return client_id in self._cameras

    def mode(self, client_id: int) -> tuple[Mode, str]:
        """How a browser looks, and at which vehicle."""
        camera = self._cameras[client_id]
        return camera.mode, camera.vehicle  # type: ignore[return-value]

    def set_mode(self, client_id: int, mode: Mode, vehicle: str) -> None:
        if client_id not in self._cameras:
            return
        view, k = self._view, self._view.names.index(vehicle)
        distance = max(CLOSE * float(view.fleet.reaches[k]), 0.4) * (2.0 if mode == "top" else 1.0)
        view.anchor = None if mode == "orbit" else vehicle
        self._cameras[client_id].switch(mode, vehicle, view.positions[k], view.yaw(vehicle), distance)

    def see_all(self, client_id: int, positions: np.ndarray | None = None, from_above: bool = False) -> None:
        """Look freely, or from above, at the whole fleet as it was drawn last, or where it is told to be."""
        if camera := self._cameras.get(client_id):
            camera.mode, camera.vehicle = "top" if from_above else "orbit", ""
            shown = self._view.positions if positions is None else positions
            look = FROM_ABOVE if from_above else VIEW
            reach = float(self._view.fleet.reaches.max())
            camera.frame(shown.astype(float), reach, look)

    def look(self, client_id: int, eye: np.ndarray, target: np.ndarray) -> None:
        """Look freely, from one point at another."""
        if camera := self._cameras.get(client_id):
            camera.mode, camera.vehicle = "orbit", ""
            camera.see(eye, target)

    def show(self, snapshot: Snapshot) -> None:
        """Go along with the vehicles; to be called after the view has drawn the same moment."""
        for camera in list(self._cameras.values()):
            if camera.mode == "orbit":
                camera.keep_in_view(snapshot.vehicles[:, POSITION].astype(float))
            if camera.mode == "orbit" or camera.vehicle not in self._view.names:
                continue
            state = snapshot.vehicles[self._view.names.index(camera.vehicle)]
            camera.keep_up(state[POSITION], yaw_from_quaternion(state[ATTITUDE]))
            camera.client.flush()

    @property
    def eyes(self) -> list[np.ndarray]:
        """Where browsers look from, in the world."""
        return [camera.placement.to_world(camera.client.camera.position) for camera in list(self._cameras.values())]

    def ray_to_world(self, client_id: int, origin, direction) -> tuple[np.ndarray, np.ndarray]:
        """A ray as a browser tells it, in the world."""
        camera = self._cameras.get(client_id)
        placement = camera.placement if camera else Placement()
        return placement.to_world(origin), placement.direction_to_world(direction)

    def _welcome(self, client: viser.ClientHandle) -> None:
        camera = self._cameras[client.client_id] = Camera(client, self._root)
        client.camera.on_update(lambda _: camera.fit(self._server.initial_camera.position))
        self._greet(client)

    def _forget(self, client: viser.ClientHandle) -> None:
        self._cameras.pop(client.client_id, None)


def first_look(
    positions: np.ndarray, reach: float, aspect: float = USUAL_ASPECT, view: np.ndarray = VIEW
) -> tuple[np.ndarray, np.ndarray]:
    """Eye and target that show all positions, with some room for vehicles close together to rise."""
    eye, target = framed(positions, reach, aspect, view)
    distance = max(NEAREST, float(np.linalg.norm(eye - target)))
    if float(np.linalg.norm(np.ptp(positions, axis=0))) < distance / 3:
        target = target + np.array([0.0, 0.0, 0.2 * distance])
    return target + distance * _unit(view), target


def framed(
    positions: np.ndarray, reach: float, aspect: float, view: np.ndarray = VIEW
) -> tuple[np.ndarray, np.ndarray]:
    """Eye and target that show all positions as large as possible in a window `aspect` times as wide as it is high;
    `view` is where the look comes from.
    """
    target, back = (positions.min(axis=0) + positions.max(axis=0)) / 2, _unit(view)
    aside = _unit(np.cross([0.0, 0.0, 1.0], back))
    to, slope = positions - target, np.tan(FIELD_OF_VIEW / 2)
    wide, high = (np.abs(to @ axis) + MARGIN * reach for axis in (aside, np.cross(back, aside)))
    distance = np.max(np.maximum(wide / (slope * aspect), high / slope) + to @ back)
    return target + max(ROOM * float(distance), LEAST * reach) * back, target


def sees(eye: np.ndarray, target: np.ndarray, aspect: float, positions: np.ndarray) -> bool:
    """Whether all positions are in the picture."""
    ahead = _unit(target - eye)
    aside = _unit(np.cross(ahead, [0.0, 0.0, 1.0]))
    to, slope = positions - eye, np.tan(FIELD_OF_VIEW / 2)
    depth = to @ ahead
    wide, high = np.abs(to @ aside), np.abs(to @ np.cross(aside, ahead))
    return bool(np.all((wide < slope * aspect * depth) & (high < slope * depth)))


def _from_above(v: np.ndarray) -> np.ndarray:
    """The direction, raised if need be so that the ground is seen behind a vehicle and not the horizon alone."""
    flat = float(np.hypot(v[0], v[1]))
    return _unit(np.array([v[0], v[1], max(float(v[2]), LEAST_SLOPE * flat)]))


def _unit(v: np.ndarray) -> np.ndarray:
    return v / max(float(np.linalg.norm(v)), 1e-9)
