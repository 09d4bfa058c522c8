"""What a vehicle file may say of wings, tails and fins, and of the servos that move them."""

from __future__ import annotations

from math import pi

import numpy as np
from pydantic import Field, model_validator

from .coefficients import read_polar
from .values import Bounded, Extent, Model, Name, NonNegative, Number, Positive, Vector3

Angle = Number


class Servo(Model):
    """Turns a control surface. A command of −1 … 1 asks for an angle from `lowest` over 0 to `highest`."""

    lowest: Angle = Field(-0.5, ge=-pi, le=0, description="rad")
    highest: Angle = Field(0.5, ge=0, le=pi, description="rad")
    lag: NonNegative = Field(0.05, le=10, description="time constant, s")
    rate: Extent = Field(6.0, description="its fastest, rad/s")

    @model_validator(mode="after")
    def _moves(self) -> Servo:
        if self.highest == self.lowest:
            raise ValueError("it does not move: make highest larger than lowest")
        return self


class Slipstream(Model):
    """Air that a propeller blows over a surface, by the theory of momentum."""

    rotor: Name = Field(description="whose")
    share: Number = Field(1.0, gt=0, le=1, description="of the surface's area that it blows over")


class Surface(Model):
    """A piece of a wing, a tail or a fin: lift, drag and moment by the air that it meets.

    Coefficients are linear in the angle of attack up to the stall, and linear after it, as Gazebo's LiftDrag has them;
    or they come from a polar, and beyond its ends from a plate.
    """

    position: Vector3 = Field(description="centre of pressure from the vehicle's origin, m")
    forward: Vector3 = Field((1.0, 0.0, 0.0), description="where its chord points, body")
    up: Vector3 = Field((0.0, 0.0, 1.0), description="where it lifts to, body")
    area: Extent = Field(description="m²")
    alpha_0: Angle = Field(0.0, gt=-pi / 2, lt=pi / 2, description="added to the angle of attack, rad; camber")
    stall: Angle = Field(0.3, gt=0, lt=pi / 2, description="angle of attack where it stalls, rad")
    lift: Bounded = Field(2 * pi, description="C_L per rad")
    lift_stalled: Bounded = Field(-3.0, description="C_L per rad beyond the stall; it does not change its sign")
    drag_0: NonNegative = Field(0.0, le=10, description="C_D without lift")
    drag: Bounded = Field(0.1, description="C_D per rad")
    drag_stalled: Bounded = Field(1.0, description="C_D per rad beyond the stall")
    moment: Bounded = Field(0.0, description="moment over dynamic pressure and area per rad, nose up, m")
    moment_stalled: Bounded = Field(0.0, description="the same beyond the stall, m")
    polar: str | None = Field(
        None,
        description="file with alpha (°), CL, CD and CM (XFOIL's, or CSV) instead of stall, lift, drag and moment",
    )
    chord: Extent | None = Field(None, description="m; what a polar's moment is over")
    slipstream: Slipstream | None = Field(None, description="the propeller that blows over it")
    servo: Name | None = Field(None, description="what moves its flap")
    lift_by_servo: Bounded = Field(0.0, description="C_L per rad of the servo")
    moment_by_servo: Bounded = Field(0.0, description="moment over dynamic pressure and area per rad of the servo, m")

    @model_validator(mode="after")
    def _faces_somewhere(self) -> Surface:
        if np.linalg.norm(np.cross(self.forward, self.up)) < 1e-6:
            raise ValueError(
                f"it faces nowhere: forward {self.forward} and up {self.up} must be two directions, not zero and not "
                "along one line, such as [1, 0, 0] and [0, 0, 1]"
            )
        if self.polar is not None:
            self._check_polar()
        elif abs(self.alpha_0) >= self.stall:
            raise ValueError(
                f"it stalls at {self.stall:g} rad before its lift is zero, since alpha_0 is {self.alpha_0:g}; "
                "make stall larger"
            )
        return self

    def _check_polar(self) -> None:
        law = {"stall", "lift", "lift_stalled", "drag", "drag_stalled", "moment", "moment_stalled"}
        if both := sorted(law & self.model_fields_set):
            raise ValueError(f"a surface with a polar has its coefficients from there; leave out {', '.join(both)}")
        assert self.polar is not None
        if self.chord is None and read_polar(self.polar)[:, 3].any():
            raise ValueError("chord is missing (m): the polar has a moment, which is over it")


class Coefficient(Model):
    """Of force over dynamic pressure and area; of moment over chord (pitch) or span (roll, yaw) as well."""

    zero: Bounded = Field(0.0, description="at α = 0")
    alpha: Bounded = Field(0.0, description="per rad of the angle of attack")
    beta: Bounded = Field(0.0, description="per rad of sideslip, the air coming from the right")
    p: Bounded = Field(0.0, description="per p b/2V, roll to the right")
    q: Bounded = Field(0.0, description="per q c/2V, nose up")
    r: Bounded = Field(0.0, description="per r b/2V, nose to the right")
    servos: dict[Name, Bounded] = Field(default_factory=dict, description="per rad of each servo")


class Aerodynamics(Model):
    """A whole aircraft by its coefficients, as AVL or a wind tunnel gives them, a flat plate beyond its stall."""

    position: Vector3 = Field((0.0, 0.0, 0.0), description="what moments are about, from the vehicle's origin, m")
    area: Extent = Field(description="of the wing, m²")
    span: Extent = Field(description="m")
    chord: Extent | None = Field(None, description="mean aerodynamic chord, m; area over span if left out")
    efficiency: Positive = Field(0.9, le=1.5, description="Oswald's, of induced drag")
    lift_of_least_drag: Bounded = Field(0.0, description="C_L that has no induced drag")
    stall: Angle = Field(0.3, gt=0, lt=pi / 2, description="angle of attack where it stalls, rad")
    blend: Positive = Field(15.0, le=1e4, description="how sharply it stalls, 1/rad")
    drag: Coefficient = Field(Coefficient(), description="`zero` is without induced drag, which is added")
    side: Coefficient = Field(Coefficient(), description="to the right")
    lift: Coefficient = Coefficient()
    roll: Coefficient = Field(Coefficient(), description="to the right")
    pitch: Coefficient = Field(Coefficient(), description="nose up")
    pitch_stalled: Bounded = Field(0.0, description="pitch moment per rad beyond the stall")
    yaw: Coefficient = Field(Coefficient(), description="nose to the right")

    @property
    def coefficients(self) -> dict[str, Coefficient]:
        return {name: getattr(self, name) for name in ("drag", "side", "lift", "roll", "pitch", "yaw")}

    @property
    def servos(self) -> set[str]:
        return {servo for each in self.coefficients.values() for servo in each.servos}

    @model_validator(mode="after")
    def _has_drag_of_its_own_only(self) -> Aerodynamics:
        if self.drag.alpha or self.drag.beta:
            raise ValueError("drag: alpha and beta have no part in it; it grows with lift, by span and efficiency")
        return self


class Mixer(Model):
    """Which servos the controller uses for what, and how much of each; it learns by itself what they do.

    Of a V-tail or of elevons, the same servos stand in two lists. A servo in none is left to whoever commands it.
    """

    roll: dict[Name, Bounded] = Field(
        default_factory=dict, description="about x: servos and how far each goes, in any unit"
    )
    pitch: dict[Name, Bounded] = Field(default_factory=dict, description="likewise")
    yaw: dict[Name, Bounded] = Field(default_factory=dict, description="likewise")

    @property
    def axes(self) -> dict[str, dict[str, float]]:
        return {"roll": self.roll, "pitch": self.pitch, "yaw": self.yaw}
