"""A vehicle, or a model that can be read, is written as SDF, URDF or MJCF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from airloom.basics.folders import made_beside
from airloom.models.beyond import beyond, words
from airloom.models.description import Description, ModelError, Notes, Pose
from airloom.models.files import Library
from airloom.models.from_vehicle import describe_vehicle
from airloom.models.importing import STACK, read_description
from airloom.models.meshes import copy_mesh
from airloom.models.vehicle_file import vehicle_from
from airloom.models.writing import save
from airloom.scenario.library import looks_like_path
from airloom.scenario.loader import load_vehicle
from airloom.scenario.models import Vehicle

Format = Literal["sdf", "urdf", "mjcf"]
REFERENCES = ("linkName", "jointName", "link_name", "joint_name", "control_joint_name")
"""What plugins name links and joints by."""
MODELS = (".sdf", ".urdf", ".xacro", ".gazebo", ".xml")


@dataclass(frozen=True)
class Exported:
    file: Path
    notes: Notes
    beyond: list[str]
    """Keys of the vehicle file that the format has no words for: only Airloom reads them back."""


def export_model(
    source: str, form: Format, out: Path | None = None, pose: Pose | None = None,
    arguments: Mapping[str, str] | None = None, allowed: Iterable[Path] = (),
) -> Exported:  # fmt: skip
    """`source` is a vehicle by its name or file, or a model file; `pose` is where the model stands."""
    if pose is not None and form == "urdf":
        raise ModelError("a URDF has no pose: give it to whoever spawns it, or write SDF")
    with TemporaryDirectory() as scratch:
        description, vehicle = _described(source, arguments or {}, allowed, Path(scratch))
        folder = out or Path(f"{description.name}_{form}")
        name = "model.sdf" if form == "sdf" else f"{description.name}.{'urdf' if form == 'urdf' else 'xml'}"
        with made_beside(folder, name, form.upper(), ModelError) as part:
            _write(description, form, pose or Pose(), part, name)
            if vehicle is not None:
                description.notes = Notes()
                description.beyond = beyond(vehicle, _read_back(part / name, Path(scratch)), description.notes)
                if vehicle.hull is not None and form != "mjcf":
                    description.notes.ignore("water or air: it floats in a world with Gazebo's Buoyancy plugin")
                _write(description, form, pose or Pose(), part, name)
    return Exported(folder / name, description.notes, sorted(set(words(description.beyond))))


def _read_back(file: Path, scratch: Path) -> Vehicle:
    return Vehicle.model_validate(vehicle_from(read_description(file), scratch / "back") | STACK)


def _described(
    source: str, arguments: Mapping[str, str], allowed: Iterable[Path], scratch: Path
) -> tuple[Description, Vehicle | None]:
    path = Path(source)
    if path.is_dir():
        path = Library(path / "model.sdf", allowed).sdf_in(path.resolve(), source)
    if path.suffix.lower() in MODELS:
        return _flat(read_description(path, arguments, Library(path, allowed))), None
    vehicle = load_vehicle(source)
    return describe_vehicle(path.stem if looks_like_path(source) else source, vehicle, scratch), vehicle


def _flat(description: Description) -> Description:
    """Names of models in models have two colons in them, which no format takes in a name."""

    def flat(name: str) -> str:
        return name.replace("::", "_")

    links = {flat(name): replace(link, name=flat(name)) for name, link in description.links.items()}
    joints = {
        flat(name): replace(joint, name=flat(name), parent=flat(joint.parent), child=flat(joint.child))
        for name, joint in description.joints.items()
    }
    plugins = []
    for plugin in description.plugins:
        named = {key: flat(plugin.prefix + str(plugin.values[key])) for key in REFERENCES if key in plugin.values}
        plugins.append(replace(plugin, values=plugin.values | named, prefix=""))
    return replace(description, links=links, joints=joints, plugins=plugins, canonical=flat(description.canonical))


def _write(description: Description, form: Format, pose: Pose, folder: Path, name: str) -> None:
    taken: dict[Path, str] = {}

    def mesh_name(file: Path) -> str:
        return f"meshes/{copy_mesh(file, folder / 'meshes', taken)}"

    if form != "mjcf" and any(plugin.file == "mujoco" for plugin in description.plugins):
        raise ModelError(
            f"{description.name}: motors of MuJoCo are no rotors that {form.upper()} knows; import the model, then "
            "export the vehicle"
        )
    if form == "sdf":
        from airloom.models.to_sdf import write_sdf

        write_sdf(description, pose, mesh_name, folder)
    elif form == "urdf":
        from airloom.models.to_urdf import urdf_of

        save(urdf_of(description, mesh_name), folder / name)
    else:
        from airloom.models.to_mjcf import mjcf_of

        save(mjcf_of(description, pose, mesh_name), folder / name)
