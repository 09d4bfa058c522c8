"""airloom import, airloom export, airloom weigh"""

from __future__ import annotations

from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airloom.cli.options import flag
from airloom.cli.screen import new_table, out, say, warn

if TYPE_CHECKING:
    from airloom.models.description import Notes, Pose
    from airloom.models.weighing import Weighed

SHOWN = 12
"""Lines of each kind on the screen; the report has them all."""


class By(StrEnum):
    SOLID = "solid"
    HULL = "hull"
    VOXEL = "voxel"
    SHELL = "shell"


def register(app: typer.Typer) -> None:
    app.command("import")(import_)
    app.command()(export)
    app.command()(weigh)


XacroArguments = Annotated[
    list[str] | None,
    typer.Option("--arg", metavar="NAME=VALUE", help="An argument of a xacro file; may be repeated."),
]
Places = Annotated[
    list[Path] | None,
    typer.Option(metavar="FOLDER", help="Where else models and packages are, which may be read; may be repeated."),
]


def import_(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="SDF, URDF, xacro or MJCF: a file, or a model's folder.")
    ],
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="What to make; named after the model if left out.")
    ] = None,
    argument: XacroArguments = None,
    path: Places = None,
    replace: Annotated[bool, flag("--replace", help="Also a folder that was edited since it was imported.")] = False,
) -> None:
    """Make a vehicle or a world of somebody else's model.

    It writes a folder: the vehicle or world file, its meshes, and try.yaml, which flies it.

    What was understood, ignored and assumed is in import.md.

    Imported again, the folder is replaced unless somebody has edited it.

    A model is data: nothing in it is run, and it may only name files of its own package and those beside it.

    [bold]Examples[/bold]

      airloom import x500/model.sdf
      airloom import firefly_base.xacro --arg namespace=firefly
      airloom import scene.xml --out my_drone
      airloom import default.sdf --path ~/models
    """
    from airloom.models.importing import REPORT, import_model

    made = import_model(model, folder, _parsed(argument or []), path or [], replace)
    _tell(made.notes, f"in {made.file.parent / REPORT}")
    if made.kind == "vehicle" and not made.content["controller"]:
        warn("No built-in flight stack flies it: controller is null.")
    say(f"Made {made.file}\nTry: airloom run {made.scenario}")


def export(
    source: Annotated[
        str,
        typer.Argument(metavar="VEHICLE|MODEL", help="A vehicle by its name or file, or a model that import reads."),
    ],
    sdf: Annotated[bool, flag("--sdf", help="Write SDF 1.9, a folder that Gazebo takes.")] = False,
    urdf: Annotated[bool, flag("--urdf", help="Write URDF.")] = False,
    mjcf: Annotated[bool, flag("--mjcf", help="Write MuJoCo's MJCF.")] = False,
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="What to make; named after both if left out.")
    ] = None,
    pose: Annotated[
        str | None, typer.Option(metavar="X,Y,Z[,R,P,Y]", help="Where it stands: metres, and radians if turned.")
    ] = None,
    argument: XacroArguments = None,
    path: Places = None,
) -> None:
    """Write a vehicle, or a model, for another simulator.

    Rotors, surfaces, servos and hulls become links, joints and Gazebo's plugins; rotors motors of MuJoCo.

    What a format has no words for is kept in it for Airloom alone: `airloom import` makes the same vehicle of it.

    [bold]Examples[/bold]

      airloom export x500 --sdf
      airloom export my_vehicle.yaml --mjcf --out my_vehicle_mujoco
      airloom export robot.urdf --sdf --pose 1,2,0.5,0,0,1.57
    """
    from airloom.models.exporting import export_model

    chosen = [name for name, wanted in (("sdf", sdf), ("urdf", urdf), ("mjcf", mjcf)) if wanted]
    if len(chosen) != 1:
        raise typer.BadParameter("choose one of --sdf, --urdf and --mjcf", param_hint="format")
    made = export_model(source, chosen[0], folder, _parsed_pose(pose), _parsed(argument or []), path or [])  # type: ignore[arg-type]
    for text in made.notes.ignored:
        warn(f"Not written: {text}")
    if made.beyond:
        say(f"For Airloom alone, since {chosen[0].upper()} has no words for it: {', '.join(made.beyond)}")
    say(f"Written: {made.file}")


def weigh(
    file: Annotated[
        Path, typer.Argument(metavar="MESH|PARTS.yaml", help="STL, OBJ, DAE, GLB, PLY, OFF, STEP; or many parts.")
    ],
    units: Annotated[
        str | None, typer.Option(metavar="m|cm|mm|in|ft", help="Of the mesh, if its format has none.")
    ] = None,
    mass: Annotated[float | None, typer.Option(metavar="KG", help="Of all of it.")] = None,
    density: Annotated[
        float | None, typer.Option(metavar="KG/M3", help="Instead of a mass: 1600 for carbon fibre.")
    ] = None,
    by: Annotated[By, typer.Option(help="What of it has mass.")] = By.SOLID,
    thickness: Annotated[float | None, typer.Option(metavar="M", help="Of a shell that has a density.")] = None,
) -> None:
    """Work out mass, centre and inertia of parts from CAD.

    It prints lines for a vehicle file.

    A closed mesh is measured exactly. One with gaps is diagnosed, and you choose what of it has mass.

    PARTS.yaml has many, each with a name, file, units, mass or density, by, position, roll, pitch and yaw:

      parts:
        frame: {file: frame.stl, units: mm, density: 1600}
        battery: {file: battery.stl, units: mm, mass: 0.21}

    [bold]Examples[/bold]

      airloom weigh frame.stl --units mm --density 1600
      airloom weigh body.glb --mass 0.8 --by voxel
      airloom weigh parts.yaml
    """
    from airloom.models.weighing import total, weigh_file

    given = {"units": units, "mass": mass, "density": density, "by": by.value, "thickness": thickness}
    weighed = weigh_file(file, {key: value for key, value in given.items() if value is not None})
    table = new_table("part", "size, mm", "mesh", "by", "mass, kg", "uncertain", numbers=(4,))
    for each in weighed:
        size = " × ".join(f"{1000 * side:.4g}" for side in each.size)
        table.add_row(
            each.name, size, str(each.diagnosis), each.part.by, f"{each.inertial.mass:.5g}", _uncertainty(each)
        )
    out.print(table)
    whole = total(weighed)
    j = whole.inertia
    say(f"mass: {whole.mass:.6g}")
    say(f"center_of_mass: [{', '.join(f'{x if abs(x) > 1e-12 else 0:.6g}' for x in whole.center)}]")
    pairs = {"xx": j[0, 0], "yy": j[1, 1], "zz": j[2, 2], "xy": j[0, 1], "xz": j[0, 2], "yz": j[1, 2]}
    least = 1e-12 * abs(j).max()
    values = ", ".join(f"{key}: {value if abs(value) > least else 0:.6g}" for key, value in pairs.items())
    say(f"inertia: {{{values}}}")


def _uncertainty(each: Weighed) -> str:
    if each.spread is None:
        return "exact"
    low, high = each.spread
    if each.measured.uncertainty >= 1.0:
        return "all: they fill nothing"
    amount = (
        f"volume ±{each.measured.uncertainty:.0%}, " if each.measured.uncertainty and each.part.mass is None else ""
    )
    return f"{amount}inertia −{1 - low:.0%} … +{high - 1:.0%}"


def _tell(notes: Notes, rest: str) -> None:
    from rich.table import Table
    from rich.text import Text

    for title, lines, style in (
        ("Understood", notes.understood, ""), ("Assumed", notes.assumed, "yellow"), ("Ignored", notes.ignored, "dim"),
    ):  # fmt: skip
        if lines:
            say(f"{title}:", "bold")
            listed = Table.grid(padding=(0, 1))
            for line in lines[:SHOWN]:
                listed.add_row(Text("  •"), Text(line, style, overflow="fold"))
            out.print(listed)
            if len(lines) > SHOWN:
                say(f"  … {len(lines) - SHOWN} more {rest}", "dim")


def _parsed_pose(text: str | None) -> Pose | None:
    if text is None:
        return None
    from airloom.models.description import Pose

    try:
        values = [float(number) for number in text.split(",")]
        if len(values) not in (3, 6) or not all(isfinite(value) for value in values):
            raise ValueError
    except ValueError:
        raise typer.BadParameter(
            f"'{text}' is not 3 or 6 numbers, such as 1,2,0.5,0,0,1.57", param_hint="--pose"
        ) from None
    return Pose.of(values[:3], values[3:] or (0.0, 0.0, 0.0))


def _parsed(arguments: list[str]) -> dict[str, str]:
    for text in arguments:
        if "=" not in text:
            raise typer.BadParameter(f"'{text}' is no NAME=VALUE, such as namespace=firefly", param_hint="--arg")
    return dict(text.split("=", 1) for text in arguments)
