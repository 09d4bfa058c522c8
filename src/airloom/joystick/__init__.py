"""Flying by hand: what a game controller's sticks and buttons mean, and the door through which they come."""

from airloom.joystick.mapping import Mapping
from airloom.joystick.state import AXES, BUTTONS, StickError, StickState
from airloom.joystick.stick import Stick

__all__ = ["AXES", "BUTTONS", "Mapping", "Stick", "StickError", "StickState"]
