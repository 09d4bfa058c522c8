"""Parts from CAD are weighed: mass, centre and inertia of each, and of all together, as a vehicle file has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, ValidationError, model_validator

from airloom.models.description import Inertial, ModelError, Pose
from airloom.models.lumping import combined
from airloom.models.meshes import load, unit_of
from airloom.models.solids import By, Diagnosis, Measured, diagnose, measure, welded
from airloom.reading.cad import KINDS as CAD
from airloom.scenario.document import read
from airloom.scenario.errors import ScenarioError
from airloom.scenario.tree import plain
from airloom.scenario.values import Bounded, Model, Positive, Vector3

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
USUAL_SIZE = (0.02, 5.0)  # m of the longest side of what flies
LONGEST = 50.0  # m that a file's own unit is believed


class Part(Model):
    """A part of a vehicle: a mesh, what a unit of it is, and its mass or density."""

    file: str = Field(description="STL, OBJ, DAE, GLB, glTF, PLY or OFF, as seen from the folder of this file")
    units: str | None = Field(None, description="of the mesh: m, cm, mm, in or ft; a GLB and a DAE say it themselves")
    mass: Positive | None = Field(None, description="kg")
    density: Positive | None = Field(None, description="kg/m³")
    thickness: Positive | None = Field(None, description="of a shell that has a density, m")
    by: By = Field("solid", description="what of it has mass: the solid, its hull, voxels that fill it, or a shell")
    position: Vector3 = Field((0.0, 0.0, 0.0), description="of the mesh's origin, m")
    roll: Bounded = Field(0.0, description="rad")
    pitch: Bounded = Field(0.0, description="rad")
    yaw: Bounded = Field(0.0, description="rad")

    @model_validator(mode="after")
    def _is_complete(self) -> Part:
        if self.units is not None and self.units not in UNITS:
            raise ValueError(f"units must be {', '.join(UNITS)}, got '{self.units}'")
        if (self.mass is None) == (self.density is None):
            raise ValueError(
                "give either its mass (kg) or its density (kg/m³; 1600 carbon fibre, 1240 PLA, 2700 aluminium)"
            )
        if self.by == "shell" and self.density is not None and self.thickness is None:
            raise ValueError("a shell with a density needs a thickness (m)")
        return self


@dataclass(frozen=True)
class Weighed:
    name: str
    part: Part
    diagnosis: Diagnosis
    measured: Measured
    inertial: Inertial
    """In the vehicle's axes."""
    size: np.ndarray
    """m"""
    spread: tuple[float, float] | None
    """Least and largest ratio of the inertia by other ways to this one, if the mesh is not a solid."""


def weigh_file(file: Path, part: dict[str, Any] | None = None) -> list[Weighed]:
    """A mesh, with what is known of it; or a YAML file of parts by name."""
    if file.suffix.lower() in (".yaml", ".yml"):
        return [weigh(name, each, file.parent) for name, each in _parts_in(file).items()]
    return [weigh(file.stem, _validated(file.stem, {"file": file.name, **(part or {})}, file), file.parent)]


def total(weighed: list[Weighed]) -> Inertial:
    return combined(each.inertial for each in weighed)


def weigh(name: str, part: Part, folder: Path) -> Weighed:
    file = folder / part.file
    mesh = load(file)
    unit = UNITS[part.units] if part.units else _unit_of(file, float(np.ptp(mesh.vertices, axis=0).max()))
    vertices, faces = welded(np.asarray(mesh.vertices, dtype=float) * unit, np.asarray(mesh.faces))
    diagnosis = diagnose(vertices, faces)
    if part.by == "solid" and not diagnosis.is_solid:
        raise ModelError(
            f"{file}: is {diagnosis}; what it encloses is not defined. Choose what has mass: hull (all that a foil "
            "around it would hold), voxel (fills it, closing small gaps) or shell (its skin): --by hull"
        )
    measured = measure(vertices, faces, part.by)
    if measured.amount <= 0:
        raise ModelError(f"{file}: encloses nothing by {part.by}; try --by hull or shell")
    mass = part.mass or _mass(part, measured.amount)
    pose = Pose.of(part.position, (part.roll, part.pitch, part.yaw))
    spread = None if part.by == "solid" else _spread(vertices, faces, part.by, measured)
    return Weighed(
        name, part, diagnosis, measured, measured.weighing(mass).seen_from(pose), np.ptp(vertices, axis=0), spread
    )


def _mass(part: Part, amount: float) -> float:
    assert part.density is not None
    return part.density * amount * (part.thickness or 1.0 if part.by == "shell" else 1.0)


def _spread(vertices: np.ndarray, faces: np.ndarray, by: By, own: Measured) -> tuple[float, float]:
    """Of the sum of the moments, for the same mass: what the choice of the way leaves open."""
    mine = float(np.trace(own.second)) / own.amount
    ratios = []
    ways: tuple[By, ...] = ("hull", "voxel", "shell")
    for way in ways:
        other = own if way == by else measure(vertices, faces, way)
        ratios.append(float(np.trace(other.second)) / other.amount / mine)
    return min(ratios), max(ratios)


def _unit_of(file: Path, longest: float) -> float:
    """What the format itself says, if that can be; STL, OBJ, PLY and OFF do not, so the user is asked, with a guess."""
    kind = file.suffix.lower()
    own = 1.0 if kind in (".glb", ".gltf", *CAD) else unit_of(file) if kind == ".dae" else None
    if own is not None and longest * own <= LONGEST:
        return own
    fitting = [name for name, size in UNITS.items() if USUAL_SIZE[0] <= longest * size <= USUAL_SIZE[1]]
    likely = next((name for name in ("mm", "m", "cm", "in") if name in fitting), None)
    guess = "; say which: --units mm"
    if likely:
        guess = f"; it looks like {likely}, which makes it {longest * UNITS[likely]:.3g} m long: --units {likely}"
    if own is not None:
        raise ModelError(f"{file}: is {longest * own:.4g} m long by the units of its format{guess}")
    raise ModelError(f"{file}: its longest side is {longest:.4g}, in units that the file does not name{guess}")


def _parts_in(file: Path) -> dict[str, Part]:
    try:
        parts = plain(read(file)).get("parts")
    except ScenarioError as error:
        raise ModelError(str(error)) from None
    if not isinstance(parts, dict) or not parts:
        raise ModelError(f"{file}: expected `parts:`, each with a name, a file, and a mass or density")
    return {str(name): _validated(str(name), values, file) for name, values in parts.items()}


def _validated(name: str, values: Any, file: Path) -> Part:
    try:
        return Part.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise ModelError(
            f"{file}: {name}{'.' + key if key else ''}: {first['msg'].removeprefix('Value error, ')}"
        ) from None
