"""Foxglove in a scenario file: where its app finds the run."""

from __future__ import annotations

from pydantic import Field

from airloom.basics.patterns import Pattern

from .values import Model, Positive, Whole


class Foxglove(Model):
    """A server for the app of Foxglove, which looks on and commands nothing."""

    host: str = Field(
        "127.0.0.1",
        min_length=1,
        max_length=200,
        description="address to listen at; beyond this machine, as 0.0.0.0 is, a token is asked for, which is printed",
    )
    port: Whole = Field(8765, ge=0, le=65535, description="0 for any that is free")
    origins: list[str] = Field(
        ["https://app.foxglove.dev", "file://"],
        max_length=100,
        description="sites whose pages may look on from a browser: Foxglove's app in the browser, and on the desktop",
    )
    topics: list[Pattern] = Field(["*"], description="patterns of the topics that are told, such as /*/imu")
    rate: Positive = Field(50.0, description="how often messages leave, Hz of simulation time")
