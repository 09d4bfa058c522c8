"""What lifts a model: the first of all ways to describe rotors that finds some."""

from __future__ import annotations

from airloom.models.actuators import from_actuators
from airloom.models.description import Description, ModelError
from airloom.models.motors import from_ardupilot, from_motor_models, from_properties
from airloom.models.rotor import FoundRotor
from airloom.models.thrusters import from_thrusters


def find_rotors(description: Description) -> list[FoundRotor]:
    """In the order of their numbers; empty if nothing in the model lifts it."""
    for finder in (from_motor_models, from_ardupilot, from_properties, from_actuators, from_thrusters):
        found = sorted(finder(description), key=lambda rotor: rotor.number)
        if found:
            numbers = [rotor.number for rotor in found]
            if len(set(numbers)) < len(numbers):
                raise ModelError(f"{description.name}: two rotors have the number {max(numbers, key=numbers.count)}")
            return found
    return []
