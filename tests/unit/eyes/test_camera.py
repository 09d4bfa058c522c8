"""Cameras: things in their colours at the pixels where they are, and the same errors and faults as others have."""

from __future__ import annotations

import ctypes.util
import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest
from validation.case import body

from airloom.eyes.stage import PIXELS, _made_up_colours
from airloom.scenario.models import Scenario, World
from airloom.simulation import Simulation
from airloom.world.land import Land
from airloom.world.meshes import joined, painted, prism, rectangle
from airloom.world.things import Thing

pytest.importorskip("embreex")
if not (ctypes.util.find_library("EGL") or ctypes.util.find_library("OSMesa")):
    pytest.skip("no OpenGL that draws without a screen", allow_module_level=True)

CAMERA = {"kind": "camera", "rate": 10, "width": 160, "height": 120, "field_of_view": 1.2}
BALL = {"shape": "sphere", "size": (1.0, 1.0, 1.0), "position": (6.0, 1.5, 3.0)}


def pictures(camera: dict[str, Any], until: float = 0.0, **more: Any) -> list[Any]:
    """The messages of a camera 2 m up that looks east at a ball."""
    odometry = {"kind": "odometry", "rate": 125}
    own = body(pose={"position": (0, 0, 2)}, sensors={"eye": camera, "odometry": odometry})
    world = {"gravity": 0.0, "obstacles": {"ball": BALL}}
    fields = {"name": "camera", "engine": {"kind": "batch"}, "world": world, "vehicles": {"body": own}, **more}
    sim, found = Simulation(Scenario.model_validate(fields)), []
    sim.bus.subscribe("/body/eye/image", lambda topic, message, time_ns: found.append(message))
    sim.run(until=until)
    return found


def pixels(message: Any) -> np.ndarray:
    return message.data.reshape(message.height, message.width, 3).astype(int)


def test_a_ball_is_seen_in_its_colour_where_it_is():
    (message,) = pictures(CAMERA)
    assert (message.encoding, message.step, message.header.frame_id) == ("rgb8", 480, "body/eye_optical")
    red, green, blue = np.moveaxis(pixels(message), -1, 0)
    rows, columns = np.nonzero((red > 1.3 * blue) & (red > 1.1 * green))
    focal = 80 / np.tan(0.6)
    assert rows.mean() == pytest.approx(59.5 - focal / 6.0, abs=2.0)
    assert columns.mean() == pytest.approx(79.5 - 1.5 * focal / 6.0, abs=2.0)
    assert len(rows) == pytest.approx(np.pi * (0.5 * focal / 6.0) ** 2, rel=0.25)
    assert blue[:30].mean() > red[:30].mean() + 20  # sky above
    assert np.abs(blue[-20:].mean() - red[-20:].mean()) < 20  # ground below


def test_a_thing_is_seen_in_each_of_its_colours():
    odometry = {"kind": "odometry", "rate": 125}
    own = body(pose={"position": (0, 0, 2)}, sensors={"eye": CAMERA, "odometry": odometry})
    fields = {"name": "camera", "engine": {"kind": "batch"}, "world": {"gravity": 0.0}, "vehicles": {"body": own}}
    sim = Simulation(Scenario.model_validate(fields))
    walls, roof = (
        prism(rectangle(2.0, 2.0), 0.0, 2.0, (220, 30, 30)),
        prism(rectangle(2.0, 2.0), 2.0, 3.0, (30, 30, 220)),
    )
    flag = painted([[0, 0, 3], [0, 0, 4], [0, 0.5, 3.5]], [[0, 1, 2]], (30, 220, 30))
    sim.fleet.land.things = [Thing("house", "house", joined([walls, roof, flag]).moved((8.0, 0.0, 0.0)))]
    eye = sim.vehicles["body"].eye("eye")
    sim.first_look()
    red, _, blue = eye.frame.pixels.astype(int)[66, 80]
    assert red > 2 * blue
    red, _, blue = eye.frame.pixels.astype(int)[52, 80]
    assert blue > 2 * red


@pytest.mark.slow
def test_noise_and_faults_are_those_of_any_sensor():
    camera = {**CAMERA, "brightness_errors": {"noise": 5.0}}
    offset = {"kind": "sensor_fault", "sensor": "eye", "fault": "offset", "offset": 40.0, "at": 0.05}
    clean, noisy, again = (pixels(pictures(kind)[0]) for kind in (CAMERA, camera, camera))
    assert np.array_equal(noisy, again)
    assert (noisy - clean).std() == pytest.approx(5.0, rel=0.05)
    dark, bright = pictures(CAMERA, 0.1, systems={"fault": offset})
    assert np.median(pixels(bright) - pixels(dark)) == 40


def test_a_camera_that_is_gone_takes_nothing_from_another():
    """OpenGL frees the things of whichever context is current."""
    odometry = {"kind": "odometry", "rate": 125}
    own = body(pose={"position": (0, 0, 2)}, sensors={"eye": CAMERA, "odometry": odometry})
    fields = {"name": "camera", "engine": {"kind": "batch"}, "world": {"gravity": 0.0}, "vehicles": {"body": own}}
    sim = Simulation(Scenario.model_validate(fields))
    eye = sim.vehicles["body"].eye("eye")
    sim.first_look()
    before = eye.frame.pixels
    pictures(CAMERA)
    gc.collect()
    sim.run(until=0.1)
    assert np.array_equal(eye.frame.pixels, before)


def test_sun_and_fog_are_those_of_the_world():
    """Of a ball, the side to the sun is brighter; nothing is bright at night; fog hides what is behind it."""

    def seen(**light: Any) -> np.ndarray:
        world = {"gravity": 0.0, "obstacles": {"ball": {**BALL, "position": (6.0, 0.0, 2.0)}}, "light": light}
        (message,) = pictures(CAMERA, world=world)
        return pixels(message).mean(axis=2)

    left, right = (seen(sun={"azimuth": azimuth, "elevation": 20.0}) for azimuth in (0.0, 180.0))
    ball = (slice(50, 70), slice(66, 78)), (slice(50, 70), slice(82, 94))
    assert left[ball[0]].mean() > left[ball[1]].mean() + 10
    assert right[ball[1]].mean() > right[ball[0]].mean() + 10
    night = seen(sun={"azimuth": 0.0, "elevation": -30.0})
    assert night.mean() < 0.3 * left.mean()
    fog = seen(fog={"distance": 5.0, "colour": (250, 250, 250)})
    assert np.ptp(fog[50:70, 66:94]) < 10


@pytest.mark.slow
def test_made_up_ground_is_painted_in_little_memory():
    land = Land(World.model_validate({"terrain": {"kind": "meadow", "size": (100, 100)}}))
    tracemalloc.start()
    colours = _made_up_colours(land.world.terrain, land.grid)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 150e6
    assert colours.reshape(-1, 3).std(axis=0).min() > 1.0, "every strip is painted"
    assert np.abs(np.diff(colours[:: PIXELS // 64].astype(int).mean(axis=1), axis=0)).max() < 40
