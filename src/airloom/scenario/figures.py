"""Figures that a scenario asks for: panels with fields of topics over time."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from .values import Model, NonNegative, Positive


def _names_a_field(line: str) -> str:
    topic, dot, field = line.removeprefix("-").partition(".")
    if not (topic.startswith("/") and len(topic) > 1 and dot and field):
        raise ValueError(f"write the topic, a dot and the field, as in /drone/state.pose.pose.position.z, not '{line}'")
    return line


Line = Annotated[str, AfterValidator(_names_a_field)]


class Panel(Model):
    """One quantity over time, with a line or several."""

    title: str
    unit: str = Field("", description="for the axis; in one of degrees (°, °/s) radians of the log are shown as such")
    lines: dict[str, Line] = Field(
        min_length=1, description="what the legend says, and TOPIC.FIELD; -TOPIC.FIELD shows it with its sign turned"
    )


class Figure(Model):
    """Drawn with the others when the run is over; its topics are logged without being asked for."""

    title: str
    panels: list[Panel] = Field(min_length=1, max_length=12)
    start: NonNegative = Field(0.0, description="s")
    end: Positive | None = Field(None, description="s; that of the run if left out")

    @model_validator(mode="after")
    def _has_time(self) -> Figure:
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"end ({self.end:g} s) must come after start ({self.start:g} s)")
        return self

    @property
    def topics(self) -> set[str]:
        return {line.removeprefix("-").partition(".")[0] for panel in self.panels for line in panel.lines.values()}
