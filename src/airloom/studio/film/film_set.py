"""A recorded run as a scene to be filmed: what the studio shows, without its panels."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np
import viser
from PIL import Image, ImageOps

from airloom.eyes.shown import picture_in
from airloom.runs.link.client import Refused
from airloom.spray.shown import RATE as SPRAY_RATE
from airloom.spray.shown import map_in_reply, points_in
from airloom.studio.film.film import FilmError, Size, headless_client, picture
from airloom.studio.scene.cameras import Cameras, Mode, framed
from airloom.studio.scene.fleet_view import FleetView
from airloom.studio.scene.ground import LINGER
from airloom.studio.scene.landscape import Landscape
from airloom.studio.scene.spray_view import SprayView
from airloom.studio.sources.playback import Playback
from airloom.studio.sources.recorded import RecordedSource
from airloom.studio.web.viser_server import start_viser, stop_viser, wait_until_sent

TRAIL, TRAIL_STEP = 8.0, 0.05  # s before the first picture, and how finely trails are laid there
SETTLING_PICTURES = 20
FRAME = (245, 245, 245)  # of an inset
ON_THE_WAY = 0.02  # s that the scene takes to the browser, for a picture is asked for on another line


class FilmSet:
    """Stands from `__enter__` to `__exit__`."""

    def __init__(
        self, source: RecordedSource, clock: Playback, mode: Mode, vehicle: str, eye: tuple[str, str] | None = None
    ) -> None:
        """`eye`, a vehicle's name and its eye's, is shown in a corner."""
        self._source, self._clock, self._mode, self._vehicle, self._eye = source, clock, mode, vehicle, eye

    def __enter__(self) -> FilmSet:
        source = self._source
        self._server = start_viser(label="Airloom")
        self._landscape = Landscape(self._server, source.scenario, has_names=False)
        self._view = FleetView(self._server, source.scenario, source.names)
        self._view.options.labels = False  # as the landscape has none
        self._cameras = Cameras(self._server, self._view)
        self._spray, self._spray_seen = SprayView(self._server, self._landscape.height), -1
        return self

    def __exit__(self, *_: object) -> None:
        stop_viser(self._server)

    @contextmanager
    def filmed(self, times: np.ndarray, size: Size) -> Iterator[Iterator[np.ndarray]]:
        """A picture of each of some moments, as long as the block lasts."""
        self._frame_flight(size[0] / size[1])
        for moment in np.arange(max(times[0] - TRAIL, 0.0), times[0], TRAIL_STEP):
            self._show(moment)
        self._show(times[0])
        self._show_spray(times[0])
        with headless_client(self._server) as client:
            self._aim(client)
            for _ in range(LINGER + 2):  # the ground that is not seen any more goes last
                self._show(times[0])
            wait_until_sent(client)
            _wait_until_loaded(client, size)
            self._aim(client)  # again: a browser goes to its first view when it is ready, which may be late
            yield (self._picture(client, moment, size) for moment in times)

    def _picture(self, client: viser.ClientHandle, moment: float, size: Size) -> np.ndarray:
        self._show(moment)
        self._show_spray(moment)
        wait_until_sent(client)
        time.sleep(ON_THE_WAY)
        return self._with_inset(picture(client, size))

    def _with_inset(self, whole: np.ndarray) -> np.ndarray:
        """What the eye saw last, in the lower right corner."""
        if self._eye is None:
            return whole
        seen = picture_in(self._source.ask("look", vehicle=self._eye[0], eye=self._eye[1]))
        if seen is None:
            return whole
        inset, margin = Image.fromarray(seen), whole.shape[1] // 80
        inset.thumbnail((whole.shape[1] // 3, whole.shape[0] // 3))
        framed = ImageOps.expand(inset, border=2, fill=FRAME)
        drawn = Image.fromarray(whole)
        drawn.paste(framed, (drawn.width - framed.width - margin, drawn.height - framed.height - margin))
        return np.asarray(drawn)

    def _show(self, moment: float) -> None:
        self._clock.seek(float(moment))
        snapshot = self._source.snapshot()
        self._view.show(snapshot)
        self._cameras.show(snapshot)
        self._landscape.look_from(self._cameras.eyes, at_once=True)

    def _show_spray(self, moment: float) -> None:
        """As often as it is logged; a run without spray in its log has nothing to show."""
        if int(moment * SPRAY_RATE) == self._spray_seen:
            return
        self._spray_seen = int(moment * SPRAY_RATE)
        with suppress(Refused):
            reply = self._source.ask("spray")
            self._spray.show_drops(points_in(reply))
            self._spray.show_map(map_in_reply(reply))

    def _frame_flight(self, aspect: float) -> None:
        """Browsers that come see the whole flight, whatever of it is filmed."""
        reach = float(self._view.fleet.reaches.max())
        camera = self._server.initial_camera
        camera.position, camera.look_at = framed(self._source.places(), reach, aspect)

    def _aim(self, client: viser.ClientHandle) -> None:
        """As soon as the cameras have come to know the browser, which they do in a thread of viser's."""
        while not self._cameras.knows(client.client_id):
            time.sleep(0.01)
        if self._mode == "orbit":
            first = self._server.initial_camera
            self._cameras.look(client.client_id, first.position, first.look_at)
        else:
            self._cameras.set_mode(client.client_id, self._mode, self._vehicle)


def _wait_until_loaded(client: viser.ClientHandle, size: Size) -> None:
    """Until a picture is like the one before: browsers show vehicles and ground some time after they came."""
    before = picture(client, size)
    for _ in range(SETTLING_PICTURES):
        now = picture(client, size)
        if np.array_equal(before, now):
            return
        before = now
    raise FilmError("the browser does not get done with loading the scene")
