"""What a vehicle file may say of wings, tails and fins, and of the servos that move them."""

from __future__ import annotations

from math import pi

import numpy as np
from pydantic import Field, model_validator

from .values import Bounded, Extent, Model, Name, NonNegative, Number, Vector3

Angle = Number


class Servo(Model):
    """Turns a control surface. A command of −1 … 1 asks for an angle from `lowest` over 0 to `highest`."""

    lowest: Angle = Field(-0.5, ge=-pi, le=0, description="rad")
    highest: Angle = Field(0.5, ge=0, le=pi, description="rad")
    lag: NonNegative = Field(0.05, le=10, description="time constant, s")
    rate: Extent = Field(6.0, description="its fastest, rad/s")


class Surface(Model):
    """A piece of a wing, a tail or a fin: lift, drag and moment by the air that it meets.

    Coefficients are linear in the angle of attack up to the stall, and linear after it, as Gazebo's LiftDrag has them.
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
    servo: Name | None = Field(None, description="what moves its flap")
    lift_by_servo: Bounded = Field(0.0, description="C_L per rad of the servo")
    moment_by_servo: Bounded = Field(0.0, description="moment over dynamic pressure and area per rad of the servo, m")

    @model_validator(mode="after")
    def _faces_somewhere(self) -> Surface:
        if np.linalg.norm(np.cross(self.forward, self.up)) < 1e-6:
            raise ValueError(f"forward {self.forward} and up {self.up} must differ: a surface faces somewhere")
        if abs(self.alpha_0) >= self.stall:
            raise ValueError(
                f"it stalls at {self.stall:g} rad before its lift is zero, since alpha_0 is {self.alpha_0:g}; "
                "make stall larger"
            )
        return self
