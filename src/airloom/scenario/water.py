"""What a world may say of its water, and a vehicle of its hull."""

from __future__ import annotations

from itertools import pairwise
from math import pi
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from airloom.basics.rotations import matrix_from_euler

from .ellipsoids import added_mass
from .values import Bounded, Extent, Model, Name, NonNegative, Number, Positive, Vector3, Whole

MOST_LAYERS = 4
MOST_WAVES = 16
DENSITIES = {"water": 1000.0, "air": 1.225}  # kg/m³
LIGHTEST = 100.0  # kg/m³, of what somebody may float on: less is a density in g/cm³
FASTEST_CURRENT = 20.0  # m/s
CurrentSpeed = Annotated[Number, Field(ge=-FASTEST_CURRENT, le=FASTEST_CURRENT)]
Six = tuple[Bounded, Bounded, Bounded, Bounded, Bounded, Bounded]
SixPositive = tuple[NonNegative, NonNegative, NonNegative, NonNegative, NonNegative, NonNegative]


class Layer(Model):
    """Denser water below a height, down to the next layer."""

    below: Bounded = Field(description="height of its upper end, m")
    density: Number = Field(ge=LIGHTEST, le=25_000, description="kg/m³")


class Wave(Model):
    """A regular wave on deep water, as Airy has it."""

    amplitude: Positive = Field(le=100, description="half the height from trough to crest, m")
    length: Extent = Field(description="from crest to crest, m")
    direction: Bounded = Field(0.0, description="where it goes to, from east to north, rad")
    phase: Bounded = Field(0.0, description="rad")

    @model_validator(mode="after")
    def _does_not_break(self) -> Wave:
        if 2 * self.amplitude > self.length / 7:
            raise ValueError(
                f"a wave of {self.length:g} m breaks before it is {2 * self.amplitude:g} m high: "
                "at most a seventh of its length"
            )
        return self


class Sea(Model):
    """Irregular waves, as wind makes them: the spectrum of JONSWAP. Each seed has another sea."""

    significant_height: Positive = Field(le=30, description="mean of the highest third of waves, trough to crest, m")
    peak_period: Positive = Field(ge=0.5, le=30, description="of those with the most energy, s")
    direction: Bounded = Field(0.0, description="where they go to, from east to north, rad")
    sharpness: Number = Field(3.3, ge=1, le=7, description="of the peak, JONSWAP's γ; 1 is Pierson and Moskowitz' sea")
    components: Whole = Field(16, ge=4, le=64, description="regular waves that it is made of")

    @model_validator(mode="after")
    def _does_not_break(self) -> Sea:
        length = 9.81 * self.peak_period**2 / (2 * pi)
        if self.significant_height > length / 14:
            raise ValueError(
                f"waves of {self.peak_period:g} s are {length:.3g} m long and break before they are "
                f"{self.significant_height:g} m high: at most a fourteenth of their length"
            )
        return self


Knot = tuple[Bounded, CurrentSpeed, CurrentSpeed, CurrentSpeed]


class Current(Model):
    """Of the water: what is given here adds up. `/current/update` sets the velocity in flight."""

    velocity: tuple[CurrentSpeed, CurrentSpeed, CurrentSpeed] = Field((0.0, 0.0, 0.0), description="world, m/s")
    depth: NonNegative | None = Field(None, description="where it has died away, m; the same at all depths if left out")
    period: Positive | None = Field(None, description="of a current that comes and goes as a sine, s")
    by_depth: list[Knot] = Field(
        default_factory=list, max_length=32, description="rows of depth (m) and velocity (m/s), from the surface down"
    )
    by_time: list[Knot] = Field(
        default_factory=list, max_length=32, description="rows of time (s) and velocity (m/s), one after the other"
    )

    @model_validator(mode="after")
    def _is_in_order(self) -> Current:
        for key, knots in (("by_depth", self.by_depth), ("by_time", self.by_time)):
            first = [knot[0] for knot in knots]
            if any(b <= a for a, b in pairwise(first)):
                raise ValueError(f"{key}: each row must begin with a larger number than the one before: {first}")
        return self


class Water(Model):
    """A sea or a lake all over the world; what is below its level is wet."""

    level: Bounded = Field(0.0, description="height of its surface, m")
    density: Number = Field(1025.0, ge=LIGHTEST, le=25_000, description="kg/m³")
    layers: list[Layer] = Field(default_factory=list, max_length=MOST_LAYERS - 1, description="denser water below")
    current: Current = Current()
    waves: list[Wave] = Field(default_factory=list, max_length=MOST_WAVES)
    sea: Sea | None = Field(None, description="irregular waves, beside the regular ones")

    @model_validator(mode="after")
    def _is_in_order(self) -> Water:
        heights = [self.level, *(layer.below for layer in self.layers)]
        densities = [self.density, *(layer.density for layer in self.layers)]
        if any(b >= a for a, b in pairwise(heights)):
            raise ValueError(
                f"layers must lie one below the other, from the level down: {heights}; sort them by below, z up"
            )
        if any(b < a for a, b in pairwise(densities)):
            raise ValueError(f"layers must be denser the deeper they lie: {densities}")
        return self


class _Shape(Model):
    position: Vector3 = Field((0.0, 0.0, 0.0), description="its middle from the vehicle's origin, m")
    roll: Bounded = Field(0.0, description="rad")
    pitch: Bounded = Field(0.0, description="rad")
    yaw: Bounded = Field(0.0, description="rad")


class BoxShape(_Shape):
    kind: Literal["box"]
    size: tuple[Extent, Extent, Extent] = Field(description="m")


class BallShape(_Shape):
    kind: Literal["ball"]
    radius: Extent = Field(description="m")


class CylinderShape(_Shape):
    """About its z axis."""

    kind: Literal["cylinder"]
    radius: Extent = Field(description="m")
    length: Extent = Field(description="m")


class CapsuleShape(_Shape):
    """About its z axis; a cylinder with a half ball at each end."""

    kind: Literal["capsule"]
    radius: Extent = Field(description="m")
    length: Extent = Field(description="of the cylinder, m")


class EllipsoidShape(_Shape):
    """An envelope of an airship, for one."""

    kind: Literal["ellipsoid"]
    size: tuple[Extent, Extent, Extent] = Field(description="length, width and height, m")


Corner = Annotated[Whole, Field(ge=0)]


class MeshShape(_Shape):
    """A closed mesh of triangles that face outwards, given here or in a file; cut by the surface as it is."""

    kind: Literal["mesh"]
    vertices: list[Vector3] = Field(default_factory=list, max_length=2000, description="corners, m")
    faces: list[tuple[Corner, Corner, Corner]] = Field(
        default_factory=list, max_length=2000, description="numbers of the corners of each triangle, from 0 on"
    )
    file: str | None = Field(
        None, description="OBJ, STL, PLY, GLB, glTF, OFF or DAE, as seen from the folder of the vehicle file"
    )
    scale: Positive = Field(1.0, description="m for a unit of the file")

    @model_validator(mode="after")
    def _is_closed(self) -> MeshShape:
        if (self.file is None) == (not self.faces):
            raise ValueError("give either vertices and faces, or file")
        if self.file is None:
            if max(map(max, self.faces)) >= len(self.vertices):
                raise ValueError(f"faces name corners beyond the last of {len(self.vertices)} vertices")
            if (text := mesh_complaint(np.array(self.vertices), np.array(self.faces))) is not None:
                raise ValueError(text)
        return self


def mesh_complaint(vertices: np.ndarray, faces: np.ndarray) -> str | None:
    """What is wrong with a mesh that shall displace water."""
    directed = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    edges, which = np.unique(np.sort(directed, axis=1), axis=0, return_inverse=True)
    ways = np.sign(directed[:, 1] - directed[:, 0])
    open_edges = np.count_nonzero(np.bincount(which.ravel(), ways, len(edges)))
    if open_edges:
        return (
            f"the mesh is open: {open_edges} of {len(edges)} edges have no neighbour that runs the other way, so "
            "nobody can say what is inside. Close it, or give boxes, balls, cylinders or capsules instead"
        )
    if mesh_volume(vertices, faces) <= 0.0:
        return "the mesh has no volume, or its triangles face inwards: their corners must run ccw as seen from outside"
    return None


def mesh_volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    """m³"""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6.0)


HullShape = Annotated[
    BoxShape | BallShape | CylinderShape | CapsuleShape | EllipsoidShape | MeshShape, Field(discriminator="kind")
]


def volume(shape: BoxShape | BallShape | CylinderShape | CapsuleShape | EllipsoidShape) -> float:
    """m³"""
    if isinstance(shape, BoxShape):
        return float(np.prod(shape.size))
    if isinstance(shape, EllipsoidShape):
        return pi / 6 * float(np.prod(shape.size))
    ball = 4 / 3 * pi * shape.radius**3
    if isinstance(shape, BallShape):
        return ball
    return pi * shape.radius**2 * shape.length + (ball if isinstance(shape, CapsuleShape) else 0.0)


class Hull(Model):
    """What displaces water, or air, and what the water does against its motion, about the centre of mass, body axes.

    Added mass and damping are those of a hull that floats at rest, or dives; they fade as it leaves the water.
    """

    shapes: dict[Name, HullShape] = Field(min_length=1, max_length=64)
    fluid: Literal["water", "air"] = Field(
        "water", description="which one moves along and resists: that of the sea, or of an airship's sky"
    )
    added_mass: Six | list[Six] | Literal["ellipsoid"] = Field(
        (0.0,) * 6,
        description="of what moves along: the diagonal, or six rows; kg, kg m, kg m². `ellipsoid` is that of its shape",
    )
    damping: SixPositive = Field((0.0,) * 6, description="per m/s along x, y, z and per rad/s about them, N, N m")
    quadratic_damping: SixPositive = Field((0.0,) * 6, description="the same per square")

    def matrix(self, center_of_mass: Vector3 = (0.0, 0.0, 0.0)) -> np.ndarray:
        """6 × 6; of an ellipsoid in fresh water or standard air."""
        if self.added_mass == "ellipsoid":
            return self._of_ellipsoid(center_of_mass)
        given = np.array(self.added_mass, dtype=float)
        return np.diag(given) if given.ndim == 1 else given

    def _of_ellipsoid(self, center_of_mass: Vector3) -> np.ndarray:
        """About the centre of mass, from where its middle lies at r: v there is v + ω × r."""
        (shape,) = self.shapes.values()
        own = np.diag(added_mass(shape.size, DENSITIES[self.fluid] * volume(shape)))  # type: ignore[union-attr,arg-type]
        turn = np.kron(np.eye(2), matrix_from_euler(shape.roll, shape.pitch, shape.yaw))
        x, y, z = np.subtract(shape.position, center_of_mass)
        moved = np.eye(6)
        moved[:3, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
        return moved.T @ turn @ own @ turn.T @ moved

    @model_validator(mode="after")
    def _is_possible(self) -> Hull:
        if self.added_mass == "ellipsoid" and [shape.kind for shape in self.shapes.values()] != ["ellipsoid"]:
            raise ValueError("added_mass: ellipsoid is for a hull of one shape, an ellipsoid; give six numbers instead")
        matrix = self.matrix()
        if matrix.shape != (6, 6):
            raise ValueError("added_mass needs six numbers, or six rows of six")
        if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-9):
            raise ValueError("added_mass must be symmetric")
        return self
