"""A scenario as text with nothing left to look up, and back."""

from __future__ import annotations

import yaml
from pydantic import ValidationError

from .document import read_text
from .errors import all_in_one
from .models import Scenario
from .tree import plain
from .validation import complaints


def resolved_text(scenario: Scenario) -> str:
    """The scenario as a file with nothing left to look up, which repeats the run."""
    shared_by_rotors = {"vehicles": {"__all__": {"rotor"}}}
    values = scenario.model_dump(mode="json", exclude=shared_by_rotors)
    return yaml.safe_dump(values, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)


def scenario_of_run(text: str, name: str) -> Scenario:
    """The scenario that a run wrote down by `resolved_text`, even if its plugins are gone by now.

    Raises ScenarioError, which calls the text by `name`.
    """
    root = read_text(text, name)
    try:
        return Scenario.model_validate(plain(root))
    except ValidationError as error:
        raise all_in_one(complaints(error, root, Scenario).values()) from error
