"""airloom ros2"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airloom.cli.options import ScenarioName, flag
from airloom.cli.screen import say


def register(app: typer.Typer) -> None:
    app.command()(ros2)


def ros2(
    scenario: ScenarioName,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files; it is made if need be.")] = Path("."),
    interfaces: Annotated[bool, flag("--interfaces", help="Only the package with our messages.")] = False,
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
    from airloom.ros2.files import fast_dds, launch, rviz, write_interfaces
    from airloom.scenario import load
    from airloom.simulation import Simulation

    chosen = load(scenario).model_copy(update={"ros2": None})
    try:
        package = write_interfaces(out)
        say(f"{package}: build it in your workspace with colcon build")
        if interfaces:
            return
        with Simulation(chosen) as sim:
            (out / "airloom.rviz").write_text(rviz(sim), encoding="utf-8")
            _write_descriptions(sim, out)
        (out / "fastdds.xml").write_text(fast_dds(), encoding="utf-8")
        named = str(Path(scenario).absolute()) if Path(scenario).is_file() else scenario
        places = (str((out / name).absolute()) for name in ("airloom.rviz", "fastdds.xml"))
        (out / "airloom.launch.py").write_text(launch(named, *places), encoding="utf-8")
        say(f"{out / 'airloom.launch.py'}: ros2 launch it; RViz shows {out / 'airloom.rviz'}")
    except OSError as error:
        raise typer.BadParameter(f"cannot write to '{out}': {error.strerror}", param_hint="--out") from None


def _write_descriptions(sim, out: Path) -> None:
    from airloom.ros2.description import urdf

    for vehicle in sim.vehicles.values():
        (out / f"{vehicle.name}.urdf").write_text(urdf(vehicle), encoding="utf-8")
