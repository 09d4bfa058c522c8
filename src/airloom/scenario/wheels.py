"""What a vehicle file may say of wheels."""

from __future__ import annotations

from pydantic import Field

from .values import Bounded, Model, Name, NonNegative, Positive, Vector3


class Wheel(Model):
    """Rolls along the vehicle's x axis, or where its servo turns it; holds against the side."""

    position: Vector3 = Field(description="where it touches the ground, without a load, from the vehicle's origin, m")
    sinks: Positive = Field(0.01, le=1, description="how far all wheels together give way under the weight, m")
    rolling: NonNegative = Field(0.05, le=1, description="what it takes to roll, as a share of the load; grass 0.08")
    grip: NonNegative = Field(0.7, le=2, description="what it holds against the side, as a share of the load")
    servo: Name | None = Field(None, description="what steers it")
    steering: Bounded = Field(1.0, description="rad that it turns to the left per rad of the servo")
