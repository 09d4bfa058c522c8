"""Which flight stack an imported vehicle gets."""

from __future__ import annotations

from airloom.models.description import Notes
from airloom.models.stack import choose_stack
from airloom.scenario import load_vehicle


def test_a_hull_without_thrusters_floats_and_has_no_stack() -> None:
    notes = Notes()
    assert choose_stack(load_vehicle("rov").model_dump() | {"rotors": {}, "controller": None}, notes) is None
    assert "controller is null" in str(notes)
