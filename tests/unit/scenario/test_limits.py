"""Limits of numbers in scenario files hold."""

from __future__ import annotations

from collections.abc import Iterator

import annotated_types
import pytest

from airloom.scenario.models import Scenario
from airloom.scenario.surfaces import Aerodynamics
from airloom.scenario.values import Model

BOUNDS = (annotated_types.Le, annotated_types.Lt, annotated_types.Ge, annotated_types.Gt)


def _all(model: type[Model]) -> Iterator[type[Model]]:
    for one in model.__subclasses__():
        yield one
        yield from _all(one)


def test_no_number_has_two_limits_on_one_side():
    """Of two, pydantic keeps that of the type and forgets the field's own."""
    assert issubclass(Scenario, Model)
    for model in _all(Model):
        for name, field in model.model_fields.items():
            for bound in BOUNDS:
                found = [each for each in field.metadata if isinstance(each, bound)]
                assert len(found) < 2, f"{model.__name__}.{name}: {found}"


def test_an_efficiency_beyond_belief_is_refused():
    with pytest.raises(ValueError, match=r"less than or equal to 1\.5"):
        Aerodynamics(area=1.0, span=3.0, efficiency=9.0)
