"""Take pictures of scenarios and worlds: `python docs/make_pictures.py`, or some by name (world:village, eyes, radio).

Needs Chromium, and for real autopilots their programs (docs/howto/autopilots.md). Pictures are kept in docs/figures:
take one again when its scenario, or what the studio draws, has changed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from PIL import Image

from airloom.eyes.shown import depth_picture
from airloom.radio.coverage import coverage
from airloom.radio.shown import Watched, told_in
from airloom.runs.figures import plot
from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.scenario import load
from airloom.simulation import Simulation
from airloom.studio.film.film import headless_client, picture
from airloom.studio.scene.cameras import FIELD_OF_VIEW, SIGHT
from airloom.studio.scene.fleet_view import FleetView
from airloom.studio.scene.ground import LINGER
from airloom.studio.scene.landscape import Landscape
from airloom.studio.scene.radio_view import RadioView
from airloom.studio.sources.playback import Playback
from airloom.studio.sources.recorded import RecordedSource
from airloom.studio.web.viser_server import start_viser, stop_viser, wait_until_sent

PICTURES = Path(__file__).parent / "figures" / "scenarios"
SIZE = (960, 540)
DRAWN = "1920x1080"  # twice as large, so that edges are smooth when it is made smaller
QUALITY = 80
UNDONE = 3  # exit code of a flight that ends, for the picture, before its mission is over


@dataclass(frozen=True)
class Shot:
    """When to take it, and from where. The flight ends there, for an orbiting camera sees all of a flight."""

    at: float
    camera: str = "orbit"
    vehicle: str | None = None
    zoom: float = 1.0
    middle: tuple[float, float] = (0.5, 0.5)
    """Of the part that is kept, if the picture is enlarged: shares of width and height, from the upper left."""


SHOTS = {
    "airship": Shot(118, "follow"),
    "ardupilot": Shot(72, "follow"),
    "base-station": Shot(24, zoom=2.0, middle=(0.38, 0.38)),
    "choreography": Shot(22, zoom=1.7, middle=(0.49, 0.46)),
    "crazys": Shot(6, "chase"),
    "faults": Shot(13.2),
    "figure8": Shot(13),
    "fleet": Shot(12, "chase", "drone_40"),
    "hil": Shot(18, zoom=1.6, middle=(0.45, 0.36)),
    "hover": Shot(7, "chase"),
    "lidar": Shot(30),
    "modes": Shot(17, "follow"),
    "pursuit": Shot(40, "follow"),
    "boat": Shot(35, "chase", "boat", zoom=2.2, middle=(0.5, 0.48)),
    "rov": Shot(45, "chase"),
    "px4": Shot(45, "follow"),
    "relay": Shot(22, zoom=1.7, middle=(0.45, 0.42)),
    "swarm-ardupilot": Shot(60, zoom=2.2, middle=(0.43, 0.38)),
    "swarm-ardupilot-radio": Shot(62, zoom=1.35, middle=(0.62, 0.62)),
    "swarm-px4-radio": Shot(31, zoom=1.35, middle=(0.62, 0.62)),
    "terrain": Shot(150, "chase"),
    "village": Shot(60, zoom=1.25, middle=(0.5, 0.56)),
    "vtol": Shot(76, "follow"),
    "waypoints": Shot(13, "chase"),
    "tank-takeoff": Shot(5.5, "chase"),
    "climb-drag": Shot(8, "chase"),
    "spraying": Shot(18, "chase"),
    "motors-tank-wind": Shot(16, "follow"),
    "gust-tilt": Shot(20, "chase"),
    "overload": Shot(6, "chase"),
    "plane": Shot(38, "chase", zoom=2.2, middle=(0.48, 0.5)),
    "vineyard": Shot(64, "follow"),
    "flock": Shot(40, zoom=2.0, middle=(0.34, 0.44)),
    "flock-lossy": Shot(40, zoom=2.0, middle=(0.32, 0.44)),
    "flock-members": Shot(20, zoom=2.0, middle=(0.55, 0.38)),
    "coverage": Shot(45, zoom=1.4, middle=(0.45, 0.44)),
    "search": Shot(55, zoom=1.4, middle=(0.45, 0.44)),
}


WORLDS = {
    "village": ((-78.0, -92.0, 40.0), (2.0, -4.0, 0.0)),
    "vineyard": ((-92.0, -84.0, 14.0), (-8.0, -8.0, 0.0)),
    "mountains": ((-60.0, -120.0, 25.0), (30.0, 70.0, 55.0)),
}
"""Eye and what it looks at, m."""


def take_world(name: str) -> None:
    """A bundled world without vehicles."""
    server = start_viser(label=name)
    landscape = Landscape(server, load("hover", {"world": name}))
    for _ in range(LINGER + 2):
        landscape.look_from([np.array(WORLDS[name][0])], at_once=True)
    camera = server.initial_camera
    (camera.position, camera.look_at), camera.fov = WORLDS[name], FIELD_OF_VIEW
    camera.near, camera.far = SIGHT
    size = tuple(int(side) for side in DRAWN.split("x"))
    with headless_client(server) as client:
        wait_until_sent(client)
        before, now = None, picture(client, size)
        while before is None or not np.array_equal(before, now):
            before, now = now, picture(client, size)
    stop_viser(server)
    drawn = Image.fromarray(now).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    drawn.save(PICTURES.parent / "worlds" / f"{name}.webp", quality=QUALITY)


def take_eyes() -> None:
    """What a camera, a depth camera and a lidar see of the village from one place."""
    picture = {"rate": 10, "width": 640, "height": 480, "field_of_view": 1.2, "yaw": -1.1, "pitch": 0.12}
    eyes = {
        "camera": {"kind": "camera", **picture},
        "depth": {"kind": "depth_camera", **picture, "max_distance": 90.0, "distance_errors": {"growth": 1e-4}},
        "lidar": {
            "kind": "lidar",
            "rate": 10,
            "pattern": {"kind": "spinning", "beams": 128, "lowest": -0.5, "highest": 0.4},
        },
    }
    set_up = {f"vehicles.drone.sensors.{name}": eye for name, eye in eyes.items()}
    sim = Simulation.load("village", overrides={**set_up, "vehicles.drone.pose.position": [0, 0, 6]})
    drone = sim.vehicles["drone"]
    camera, depth, lidar = (drone.eye(name) for name in eyes)
    sim.first_look()
    views = [camera.frame.pixels, depth_picture(depth.frame.depth), from_above(lidar.frame.points)]
    joined = Image.fromarray(np.concatenate(views, axis=1))
    joined.resize((1440, 360), Image.Resampling.LANCZOS).save(PICTURES.parent / "eyes.webp", quality=QUALITY)


TALK = {
    "name": "five", "duration": 18, "engine": "batch", "vehicles": {
        "drone": {
            "extends": "multirotor", "pose": {"position": [4, 0, 0.05]},
            "copies": {"count": 4, "columns": 2, "spacing": 10},
        }
    },
    "radio": {"stations": {"base": {"position": [0, 0, 6]}}, "channel": {"fading": {"kind": "nakagami"}}},
    "world": {"obstacles": {"wall": {"shape": "box", "size": [3, 40, 12], "position": [-25, 5, 6]}}},
    "log": {"topics": ["/clock", "/events", "/*/state", "/radio/*"]},
}  # fmt: skip


def take_radio(folder: Path) -> None:
    """Four drones that fly apart and talk to each other and to a base: figures of their links, and the studio."""
    (folder / "five.yaml").write_text(yaml.safe_dump(TALK))
    sim = Simulation(load(folder / "five.yaml"))
    run = RecordedRun(sim, RunFolder.create("five", folder / "five"))

    def talk() -> None:
        for node in sim.radio.values():
            node.send(b"where I am, where I go")
        sim.call_at(sim.time + 0.1, talk)

    async def fly_apart(name: str, angle: float) -> None:
        pilot = sim.pilot(name)
        await pilot.takeoff(10.0, speed=4.0)
        await pilot.goto([80 * np.cos(angle), 80 * np.sin(angle), 12.0], speed=8.0)

    for number, name in enumerate(sim.vehicles):
        sim.start(fly_apart(name, 2.4 * number), name)
    sim.call_at(0.1, talk)
    run.fly()
    for path in plot(folder / "five", folder):
        if path.stem.startswith("links-"):
            with Image.open(path) as drawn:
                drawn.convert("RGB").reduce(2).save(PICTURES.parent / f"{path.stem}.webp", quality=QUALITY)
    take_studio_of_radio(RecordedSource(RunFolder.open(folder / "five"), clock := Playback()), clock, 14.5)


def take_studio_of_radio(source: RecordedSource, clock: Playback, moment: float) -> None:
    server = start_viser(label="radio")
    landscape = Landscape(server, source.scenario, has_names=False)
    fleet = FleetView(server, source.scenario, source.names)
    fleet.options.labels = False
    clock.seek(moment)
    clock.pause()
    fleet.show(source.snapshot())
    places = dict(zip(source.names, fleet.positions.astype(float), strict=True)) | {"base": np.array([0.0, 0.0, 6.0])}
    watched, view = Watched(), RadioView(server, landscape.height, is_flat=True)
    watched.take(told_in(source.ask("radio", since=moment - 4.0, packets=True)))
    view.show_links(watched.lines(places))
    view.show_packets(watched.packets(places, moment))
    view.show_picture(coverage(source.scenario.radio, 0, landscape.land, places["base"], 1.5)[0])
    camera = server.initial_camera
    (camera.position, camera.look_at), camera.fov = ((-25.0, -75.0, 48.0), (0.0, 0.0, 2.0)), FIELD_OF_VIEW
    camera.near, camera.far = SIGHT
    size = tuple(int(side) for side in DRAWN.split("x"))
    with headless_client(server) as client:
        wait_until_sent(client)
        before, now = None, picture(client, size)
        while before is None or not np.array_equal(before, now):
            before, now = now, picture(client, size)
    stop_viser(server)
    drawn = Image.fromarray(now).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    drawn.save(PICTURES.parent / "radio-studio.webp", quality=QUALITY)


def from_above(points: np.ndarray, meter: float = 6.0) -> np.ndarray:
    """Points of a lidar as a picture, so many pixels a metre, coloured by their height."""
    drawn = np.full((480, 640), np.nan)
    east, north, up = points[np.argsort(points[:, 2])].T
    row, column = (240 - meter * north).astype(int), (320 + meter * east).astype(int)
    inside = (row >= 0) & (row < 480) & (column >= 0) & (column < 640)
    drawn[row[inside], column[inside]] = -up[inside].clip(-8.0, 8.0)
    return depth_picture(drawn)


def take(name: str, shot: Shot, folder: Path) -> None:
    run, picture = folder / name, folder / f"{name}.png"
    airloom("run", name, "--headless", "--no-figures", "--quiet", "--until", str(shot.at), "--out", str(run))
    whom = ["--vehicle", shot.vehicle] if shot.vehicle else []
    view = ["--from", str(shot.at), "--camera", shot.camera, *whom, "--size", DRAWN]
    airloom("film", str(run), str(picture), *view)
    with Image.open(picture) as drawn:
        seen = enlarged(drawn.convert("RGB"), shot).resize(SIZE, Image.Resampling.LANCZOS)
        seen.save(PICTURES / f"{name}.webp", quality=QUALITY)


def enlarged(drawn: Image.Image, shot: Shot) -> Image.Image:
    left, top = ((share - 0.5 / shot.zoom) * side for share, side in zip(shot.middle, drawn.size, strict=True))
    wide, high = (side / shot.zoom for side in drawn.size)
    return drawn.crop((round(left), round(top), round(left + wide), round(top + high)))


def airloom(*words: str) -> None:
    ended = subprocess.run([sys.executable, "-m", "airloom", *words]).returncode
    if ended not in (0, UNDONE):
        sys.exit(f"airloom {' '.join(words)} ended with {ended}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or [*SHOTS, *(f"world:{name}" for name in WORLDS), "eyes", "radio"]:
            if name == "eyes":
                take_eyes()
            elif name == "radio":
                take_radio(Path(folder))
            elif name.startswith("world:"):
                take_world(name.removeprefix("world:"))
            else:
                take(name, SHOTS[name], Path(folder))


if __name__ == "__main__":
    main()
