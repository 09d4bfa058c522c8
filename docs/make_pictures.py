"""Take the pictures of the page of scenarios: `python docs/make_pictures.py`, or with names, only of those.

Needs Chromium, and for real autopilots their programs (docs/howto/autopilots.md). Pictures are kept in docs/figures:
take one again when its scenario, or what the studio draws, has changed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

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
    "ardupilot": Shot(72, "follow"),
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
    "relay": Shot(22, zoom=1.7, middle=(0.45, 0.42)),
    "swarm-ardupilot": Shot(60, zoom=2.2, middle=(0.43, 0.38)),
    "village": Shot(47, "follow"),
    "waypoints": Shot(13, "chase"),
}


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
        for name in sys.argv[1:] or SHOTS:
            take(name, SHOTS[name], Path(folder))


if __name__ == "__main__":
    main()
