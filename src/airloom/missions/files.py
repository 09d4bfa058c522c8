"""Missions from files: Airloom's own YAML, and QGroundControl's `.plan`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from airloom.missions.items import Item
from airloom.missions.mission import Mission
from airloom.missions.plans import read_plan
from airloom.missions.plans.file import Heights
from airloom.scenario.document import read
from airloom.scenario.errors import all_in_one
from airloom.scenario.models import Origin
from airloom.scenario.tree import plain
from airloom.scenario.validation import complaints


class MissionFile(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    description: str = ""
    mission: list[Item] = Field(
        min_length=1, description="takeoff, goto, follow, circle, loiter, turn, sleep, spray, land, one after the other"
    )


def read_mission(file: Path | str, origin: Origin | None = None, ground: Heights = lambda x, y: 0.0) -> Mission:
    """The mission in a file; `origin` and `ground` of the world say where a plan's places lie. Raises ScenarioError."""
    file = Path(file)
    return read_plan(file, origin or Origin(), ground) if file.suffix == ".plan" else read_yaml(file)


def read_yaml(file: Path) -> Mission:
    root = read(file)
    try:
        return Mission(MissionFile.model_validate(plain(root)).mission)
    except ValidationError as error:
        raise all_in_one(complaints(error, root, MissionFile).values()) from error
