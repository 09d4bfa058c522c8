"""airloom terrain"""

from __future__ import annotations

import shutil
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airloom.cli.options import flag
from airloom.cli.progress import working
from airloom.cli.screen import new_table, out, say, warn
from airloom.cli.signals import abandoned_by_signals

if TYPE_CHECKING:
    from airloom.world.survey import Surveyed

DRAWN = 72, 44
"""Columns and half lines of the picture on the screen."""


class By(StrEnum):
    MEAN = "mean"
    MAX = "max"


class Holes(StrEnum):
    FILL = "fill"
    KEEP = "keep"


class Surface(StrEnum):
    TOP = "top"
    GROUND = "ground"


def register(app: typer.Typer) -> None:
    commands = typer.Typer(help="Ground to fly over, made of a survey.", no_args_is_help=True)
    commands.command()(build)
    commands.command()(show)
    commands.command()(example)
    app.add_typer(commands, name="terrain")


def build(
    survey: Annotated[
        Path, typer.Argument(metavar="SURVEY", help="A GeoTIFF, or points: .las, .laz, .ply, .pcd, .xyz, .csv.")
    ],
    folder: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="What to make; SURVEY.terrain beside it if left out."),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(metavar="LAT,LON[,ALT]", help="Where (0, 0, 0) is; the ground in the field's middle if left out."),
    ] = None,
    crs: Annotated[
        str | None, typer.Option(metavar="NAME", help="The file's coordinates: EPSG:32632, or local for metres.")
    ] = None,
    crop: Annotated[
        str | None,
        typer.Option(metavar="PART", help="pixels:COL,ROW,WIDTH,HEIGHT, or metres:W,S,E,N, or lonlat:W,S,E,N."),
    ] = None,
    cell: Annotated[
        float | None, typer.Option(metavar="M", help="Distance of heights; that of the pixels if left out.")
    ] = None,
    by: Annotated[
        By | None, typer.Option(help="How several heights become one: by max, rows of vines survive large cells.")
    ] = None,
    holes: Annotated[Holes, typer.Option(help="What to do where there is no height.")] = Holes.FILL,
    units: Annotated[str | None, typer.Option(metavar="metres|feet", help="Of the heights.")] = None,
    band: Annotated[int | None, typer.Option(metavar="N", help="Of a GeoTIFF with several.")] = None,
    surface: Annotated[
        Surface, typer.Option(help="Of points: the top of all, or those classified as ground.")
    ] = Surface.TOP,
    colour: Annotated[Path | None, typer.Option(metavar="PHOTO.tif", help="An orthophoto for the ground.")] = None,
    error: Annotated[float | None, typer.Option(metavar="M", help="Of the finest mesh, at most.")] = None,
    overhangs: Annotated[
        bool, flag("--overhangs", help="Also mesh the points that stand out of the ground: bridges, crowns of trees.")
    ] = False,
) -> None:
    """Make a terrain folder of a survey.

    A scenario uses it by world: {terrain: FOLDER}. A folder that is there already is replaced.

    Ctrl-C leaves nothing behind.

    [bold]Examples[/bold]

      airloom terrain build field.tif
      airloom terrain build field.tif --cell 0.5 --by max --colour photo.tif
      airloom terrain build dem.tif --crop lonlat:7.60,45.02,7.62,45.04
      airloom terrain build scan.laz --surface ground --out hill.terrain
    """
    from airloom.basics.folders import part_of
    from airloom.terrain.build import SUFFIX, build_terrain
    from airloom.world.survey import Surveyed

    target = folder or survey.with_suffix(SUFFIX)
    place = _parsed_origin(origin)
    with abandoned_by_signals(lambda: shutil.rmtree(part_of(target), ignore_errors=True)), working() as progress:
        build_terrain(
            survey, target, origin=place, crs=crs, crop=crop, cell=cell, by=by.value if by else None, holes=holes.value,
            units=units, band=band, surface=surface.value, colour=colour, error=error, overhangs=overhangs,
            progress=progress,
        )  # fmt: skip
    made = Surveyed(target)
    for text in made.about.warnings:
        warn(f"Careful: {text}")
    _print_table(made)
    say(f"Made {target}: its report.md tells how, preview.png shows it.\nTry: airloom terrain show {target}")


def show(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A terrain folder.")],
    open_: Annotated[bool, flag("--open", help="Open the picture in another window.")] = False,
) -> None:
    """Print what a terrain folder holds, and draw it."""
    from airloom.scenario.terrain import PREVIEW
    from airloom.world.survey import Surveyed

    terrain = Surveyed(folder)
    heights = terrain.grid.heights
    if out.is_terminal:
        _draw(terrain, heights)
    _print_table(terrain)
    picture = folder / PREVIEW
    if picture.exists():
        say(f"Picture: {picture}", "dim")
        if open_:
            typer.launch(str(picture))


def example(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to make: vineyard.")],
    file: Annotated[Path, typer.Argument(metavar="FIELD.tif", help="The GeoTIFF to write.")],
    seed: Annotated[int | None, typer.Option(metavar="N", min=0, help="Another one gives another field.")] = None,
) -> None:
    """Write a made-up survey as a GeoTIFF, to try `build` on."""
    from airloom.terrain.example import write_example

    write_example(name, file, seed)
    say(f"Written: {file}. Make ground of it: airloom terrain build {file}")


def _parsed_origin(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"'{text}' is not a latitude and a longitude in degrees, such as 45.05,7.67", param_hint="--origin"
        ) from None


def _print_table(terrain: Surveyed) -> None:
    from airloom.terrain.report import facts

    table = new_table("", "")
    for what, text in facts(terrain.about):
        table.add_row(what, text)
    out.print(table)
    levels = new_table("mesh", "asked for", "largest error", "mean error", "triangles", numbers=range(5))
    for number, level in enumerate(terrain.about.levels):
        levels.add_row(
            str(number), f"{level.error:.3g} m", f"{level.largest:.3g} m", f"{level.mean:.2g} m", f"{level.triangles:,}"
        )
    out.print(levels)


def _draw(terrain: Surveyed, heights) -> None:
    """In half lines, each as tall as a column is wide."""
    import numpy as np
    from rich.style import Style
    from rich.text import Text

    from airloom.terrain.preview import picture, thinned

    few, n = thinned(heights, 600)
    about = terrain.about
    image = picture(few, (about.cell[0] * n, about.cell[1] * n), about.low, about.high)[::-1]
    size = np.array(image.shape[:2])
    lines, columns = np.maximum(2, (size * min(DRAWN[1] / size[0], DRAWN[0] / size[1])).astype(int) // 2 * 2)
    rows = np.linspace(0, size[0] - 1, lines).astype(int)
    image = image[rows][:, np.linspace(0, size[1] - 1, columns).astype(int)]
    for upper, lower in zip(image[::2], image[1::2], strict=True):
        text = Text("  ")
        for above, below in zip(upper, lower, strict=True):
            style = Style(color="rgb({},{},{})".format(*above), bgcolor="rgb({},{},{})".format(*below))
            text.append("▀", style)
        out.print(text)
