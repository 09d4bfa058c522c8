"""airloom ros2"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airloom.cli.options import ScenarioName, flag
from airloom.cli.screen import say

if TYPE_CHECKING:
    from airloom.scenario import Scenario

RVIZ, FAST_DDS, LAUNCH = "airloom.rviz", "fastdds.xml", "airloom.launch.py"


def register(app: typer.Typer) -> None:
    app.command()(ros2)


def ros2(
    scenario: ScenarioName,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files; it is made if need be.")] = Path("."),
    interfaces: Annotated[bool, flag("--interfaces", help="Only the package with our messages.")] = False,
    replace: Annotated[bool, flag("--replace", help="Overwrite files of these names that read otherwise.")] = False,
) -> None:
    """Write what a ROS 2 user needs beside a scenario: messages, RViz, launch file.

    The package airloom_interfaces has our own messages, services and actions: put it into a workspace and build it.

    The configuration of RViz shows every vehicle, its frames and what its eyes see; the launch file starts both.

    fastdds.xml lets nodes on Fast DDS take large clouds; the launch file sets it.

    URDFs are those that the run itself tells on /VEHICLE/robot_description.

    [bold]Examples[/bold]

      airloom ros2 hover --out hover_ros
      airloom ros2 hover --out workspace/src --interfaces
      ros2 launch hover_ros/airloom.launch.py
    """
    from airloom.ros2.files import PACKAGE, interface_files
    from airloom.scenario import load

    chosen = load(scenario)
    files = interface_files() | ({} if interfaces else _files_beside(scenario, chosen, out))
    _write({out / path: text for path, text in files.items()}, replace)
    say(f"{out / PACKAGE}: build it in your workspace with colcon build")
    if not interfaces:
        say(f"{out / LAUNCH}: ros2 launch it; RViz shows {out / RVIZ}")


def _files_beside(name: str, scenario: Scenario, out: Path) -> dict[str, str]:
    """Texts by their paths; the launch file has to name the others."""
    from airloom.ros2.description import urdf
    from airloom.ros2.files import fast_dds, launch, rviz
    from airloom.simulation import Simulation

    named = str(Path(name).absolute()) if Path(name).is_file() else name
    places = (str((out / file).absolute()) for file in (RVIZ, FAST_DDS))
    with Simulation(scenario.model_copy(update={"ros2": None})) as sim:
        descriptions = {f"{vehicle.name}.urdf": urdf(vehicle) for vehicle in sim.vehicles.values()}
        return {RVIZ: rviz(sim), FAST_DDS: fast_dds(), LAUNCH: launch(named, *places), **descriptions}


def _write(files: Mapping[Path, str], replace: bool) -> None:
    """All of them or none: what is there and reads otherwise is somebody's."""
    try:
        if not replace and (others := [file for file, text in files.items() if file.exists() and _reads(file) != text]):
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            problem = f"{others[0]}{more} would be overwritten: choose another folder, or give --replace"
            raise typer.BadParameter(problem, param_hint="--out")
        for file, text in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"cannot write to '{error.filename}': {error.strerror}", param_hint="--out") from None


def _reads(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
