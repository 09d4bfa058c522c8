"""airloom film"""

from __future__ import annotations

import re
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import track

from airloom.cli.options import parsed_speed
from airloom.cli.screen import out as screen
from airloom.cli.screen import say, warn
from airloom.cli.signals import interrupted_by_ctrl_c, interrupted_by_signals

if TYPE_CHECKING:
    import numpy as np

    from airloom.studio.film.film import Size
    from airloom.studio.film.film_set import FilmSet
    from airloom.studio.sources.recorded import RecordedSource

PICTURE = ".png"
MOST_PICTURES = 1_000_000
"""More than nine hours at 30 a second."""


class CameraMode(StrEnum):
    ORBIT = "orbit"
    FOLLOW = "follow"
    CHASE = "chase"
    TOP = "top"


def register(app: typer.Typer) -> None:
    app.command()(film)


def film(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, its log file, or the word last.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="What to make: a .mp4, a .webm, or a .png of one moment.")],
    camera: Annotated[
        CameraMode,
        typer.Option(help="orbit sees the whole flight; the others go along with a vehicle.", show_choices=True),
    ] = CameraMode.ORBIT,
    vehicle: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which vehicle to go along with; the first if left out.")
    ] = None,
    fps: Annotated[int, typer.Option(metavar="N", min=1, max=240, help="Pictures a second.")] = 30,
    size: Annotated[str, typer.Option(metavar="WxH", help="Width and height in pixels.")] = "1280x720",
    from_: Annotated[float, typer.Option("--from", metavar="S", min=0.0, help="The time to begin at.")] = 0.0,
    until: Annotated[
        float | None, typer.Option(metavar="S", help="The time to end at; the end of the run if left out.")
    ] = None,
    speed: Annotated[str, typer.Option(metavar="N", help="Seconds of the flight in a second of the film.")] = "1",
    eye: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A camera of the vehicle, or VEHICLE/CAMERA: what it saw is shown in a corner.",
        ),
    ] = None,
) -> None:
    """Make a video, or a picture, of a run.

    A browser that nobody sees draws it, picture by picture, so that the film runs evenly however slow this machine is.

    It needs Chromium or Chrome. Ctrl-C or SIGTERM ends it; what has been filmed can be watched.

    [bold]Examples[/bold]

      airloom film last flight.mp4
      airloom film last flight.mp4 --camera chase --vehicle cf
      airloom film runs/fleet-1 fleet.webm --speed 4 --size 1920x1080
      airloom film last moment.png --from 3.5
      airloom film last seen.mp4 --camera chase --eye depth
    """
    from airloom.runs.folder import RunFolder
    from airloom.studio.film.film_set import FilmSet
    from airloom.studio.sources.playback import Playback
    from airloom.studio.sources.recorded import RecordedSource

    shape, pace = _parsed_size(size), _parsed_pace(speed)
    if not out.parent.is_dir():
        raise typer.BadParameter(f"there is no folder '{out.parent}'", param_hint="OUT")
    clock = Playback()
    source = RecordedSource(RunFolder.open(run), clock)
    whom = _checked_vehicle(vehicle, source.names)
    times = _times(from_, _checked_end(from_, until, clock.end), pace / fps)
    with FilmSet(source, clock, camera.value, whom, _checked_eye(eye, whom, source)) as scene, interrupted_by_ctrl_c():
        if out.suffix == PICTURE:
            _take_picture(scene, out, times[:1], shape)
        else:
            _shoot(scene, out, times, shape, fps)


def _parsed_size(text: str) -> Size:
    match = re.fullmatch(r"(\d{2,4})x(\d{2,4})", text)
    if not match:
        raise typer.BadParameter(f"'{text}' is not a width and a height such as 1280x720", param_hint="--size")
    return int(match[1]), int(match[2])


def _parsed_pace(text: str) -> float:
    pace = parsed_speed(text)
    if pace is None:
        raise typer.BadParameter("a film cannot be unlimited: give a number above 0", param_hint="--speed")
    return pace


def _checked_vehicle(name: str | None, known: list[str]) -> str:
    if name is not None and name not in known:
        raise typer.BadParameter(f"the run has no vehicle '{name}', but {', '.join(known[:8])}", param_hint="--vehicle")
    return name or known[0]


def _checked_eye(name: str | None, vehicle: str, source: RecordedSource) -> tuple[str, str] | None:
    if name is None:
        return None
    whose, _, eye = name.rpartition("/")
    whose = whose or vehicle
    topics = source.ask("topics")["topics"]
    if f"/{whose}/{eye}/image" not in topics:
        known = [topic[1:].removesuffix("/image") for topic in topics if topic.endswith("/image")]
        there = f"but of {', '.join(known)}" if known else "nor of any other: name /*/*/image in log.topics"
        raise typer.BadParameter(f"the log has no pictures of {whose}/{eye}, {there}", param_hint="--eye")
    return whose, eye


def _checked_end(start: float, until: float | None, end: float) -> float:
    if not start <= end:
        raise typer.BadParameter(f"the run is over at {end:g} s", param_hint="--from")
    if until is not None and not until >= start:
        raise typer.BadParameter(f"that is before the film begins, at {start:g} s", param_hint="--until")
    return end if until is None else min(until, end)


def _times(start: float, end: float, step: float) -> np.ndarray:
    """Of the pictures: the same for the same film, however long each takes."""
    import numpy as np

    intervals = (end - start) / step + 1e-9
    if intervals > MOST_PICTURES:
        problem = f"that makes {intervals:.2g} pictures, and a film has at most {MOST_PICTURES:,}: choose a higher one"
        raise typer.BadParameter(problem, param_hint="--speed")
    return start + step * np.arange(int(intervals) + 1)


def _take_picture(scene: FilmSet, out: Path, times: np.ndarray, size: Size) -> None:
    from PIL import Image

    with screen.status("Drawing …"), scene.filmed(times, size) as pictures:
        Image.fromarray(next(pictures)).save(out)
    say(f"Made {out}")


def _shoot(scene: FilmSet, out: Path, times: np.ndarray, size: Size, fps: int) -> None:
    from airloom.studio.film.film import Filmer

    with (
        interrupted_by_signals() as signals,
        Filmer(out, size, fps) as filmer,
        suppress(KeyboardInterrupt),
        scene.filmed(times, size) as pictures,
    ):
        for picture in track(pictures, "Filming", total=len(times), console=screen, transient=True):
            filmer.frame(picture)
    if filmer.frames:
        say(f"Made {out}: {filmer.frames} pictures, {filmer.frames / fps:.1f} s")
    if filmer.frames < len(times):
        warn(f"Stopped after {filmer.frames} of {len(times)} pictures.")
        raise typer.Exit(128 + signals[0])
