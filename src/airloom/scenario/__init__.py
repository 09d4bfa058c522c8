"""Scenario files: found by name or path, put together, validated."""

from .errors import ScenarioError
from .library import describe, known
from .loader import load
from .models import Scenario
from .overrides import parse_override
from .schema import json_schema, vehicle_schema

__all__ = ["Scenario", "ScenarioError", "describe", "json_schema", "known", "load", "parse_override", "vehicle_schema"]
