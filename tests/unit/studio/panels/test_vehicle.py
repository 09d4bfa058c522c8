"""The panel of a vehicle."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from airloom.commands import Mode
from airloom.studio.panels.vehicle import MODE, VehiclePanel


def in_mode(mode: Mode) -> np.ndarray:
    state = np.zeros(64)
    state[MODE] = mode
    return state


def test_a_mode_that_somebody_chooses_stays_until_the_vehicle_is_in_another():
    """The states that come before the choice takes effect still have the mode before, and must not overwrite it."""
    panel = VehiclePanel.__new__(VehiclePanel)
    panel._mode, panel._mode_shown = SimpleNamespace(value=""), None
    panel._show_mode("cf", in_mode(Mode.POSITION_YAW))
    assert panel._mode.value == "position yaw"
    panel._mode.value = "velocity yawrate"
    panel._show_mode("cf", in_mode(Mode.POSITION_YAW))
    assert panel._mode.value == "velocity yawrate"
    panel._show_mode("cf", in_mode(Mode.THRUST_ATTITUDE))
    assert panel._mode.value == "thrust attitude"
    panel._show_mode("other", in_mode(Mode.POSITION_YAW))
    assert panel._mode.value == "position yaw", "another vehicle's mode is shown at once"
