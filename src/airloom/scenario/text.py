"""A scenario back as a file."""

from __future__ import annotations

import yaml

from .models import Scenario


def resolved_text(scenario: Scenario) -> str:
    """The scenario as a file with nothing left to look up, which repeats the run."""
    shared_by_rotors = {"vehicles": {"__all__": {"rotor"}}}
    plain = scenario.model_dump(mode="json", exclude=shared_by_rotors)
    return yaml.safe_dump(plain, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)
