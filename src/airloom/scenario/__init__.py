"""Scenario files: found by name or path, put together, validated."""

from .errors import ScenarioError
from .library import describe, known
from .loader import load, load_vehicle, load_world
from .models import Scenario
from .overrides import parse_override
from .schema import json_schema, vehicle_schema
from .text import resolved_text

__all__ = [
    "Scenario",
    "ScenarioError",
    "describe",
    "json_schema",
    "known",
    "load",
    "load_vehicle",
    "load_world",
    "parse_override",
    "resolved_text",
    "vehicle_schema",
]
