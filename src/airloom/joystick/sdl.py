"""Game controllers and joysticks of this computer, through SDL (pygame). No window, no signal handlers, no sound."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from airloom.errors import UserError
from airloom.joystick.state import StickState

FULL = 32767
TRIGGER_PRESSED = FULL // 2
HINTS = {
    "SDL_VIDEODRIVER": "dummy",
    "SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": "1",
    "SDL_NO_SIGNAL_HANDLERS": "1",
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",
}


class NoSdl(UserError):
    """pygame is not installed; the message says how to get it."""


class _Sdl:
    """pygame with joysticks, and as much of a display as its events need."""

    def __init__(self) -> None:
        for name, value in HINTS.items():
            os.environ.setdefault(name, value)
        try:
            import pygame
            import pygame._sdl2.controller as controller
        except ImportError as error:
            raise NoSdl(f"game controllers need pygame: pip install 'airloom[joystick]' ({error})") from None
        if not pygame.display.get_init():
            pygame.display.init()
        pygame.joystick.init()
        controller.init()
        self.pygame, self.controller = pygame, controller
        kinds = ("AXISMOTION", "BUTTONDOWN", "BUTTONUP", "DEVICEADDED", "DEVICEREMOVED")
        self._events = [getattr(pygame, f"{device}{kind}") for device in ("JOY", "CONTROLLER") for kind in kinds]
        self._events += [pygame.JOYHATMOTION, pygame.JOYBALLMOTION]
        self.unplugged: set[int] = set()
        """Instances, which SDL numbers anew whenever something is plugged in."""
        self._open_all()

    def _open_all(self) -> None:
        joystick = self.pygame.joystick
        self.joysticks = [joystick.Joystick(index) for index in range(joystick.get_count())]

    def look(self) -> None:
        """Let SDL see what was moved, plugged in and unplugged; events of other kinds are left alone."""
        happened = self.pygame.event.get(self._events)
        self.unplugged |= {event.instance_id for event in happened if event.type == self.pygame.JOYDEVICEREMOVED}
        if any(event.type in (self.pygame.JOYDEVICEADDED, self.pygame.JOYDEVICEREMOVED) for event in happened):
            self._open_all()


@cache
def _sdl() -> _Sdl:
    return _Sdl()


def names() -> list[str]:
    """The devices plugged in now."""
    _sdl().look()
    return [joystick.get_name() for joystick in _sdl().joysticks]


def find(wanted: int | str | None) -> Device | None:
    """A device by number, by part of its name, or the first one; None if it is not there."""
    for index, name in enumerate(names()):
        if wanted is None or wanted == index or (isinstance(wanted, str) and wanted.lower() in name.lower()):
            return Device(index)
    return None


class Device:
    """One open game controller or joystick."""

    def __init__(self, index: int) -> None:
        controller = _sdl().controller
        self._joystick = _sdl().joysticks[index]
        self._controller = controller.Controller(index) if controller.is_controller(index) else None
        self.name = self._joystick.get_name()

    def state(self) -> StickState | None:
        """What it shows now; None once it is unplugged."""
        _sdl().look()
        if self._joystick.get_instance_id() in _sdl().unplugged:
            return None
        return self._raw_state() if self._controller is None else _standard_state(self._controller)

    def _raw_state(self) -> StickState:
        stick = self._joystick
        axes = [min(max(stick.get_axis(number), -1.0), 1.0) for number in range(stick.get_numaxes())]
        return StickState(axes, [bool(stick.get_button(number)) for number in range(stick.get_numbuttons())])


def _standard_state(pad: Any) -> StickState:
    sdl = _sdl().pygame
    buttons = [
        *_down(pad, "A", "B", "X", "Y", "LEFTSHOULDER", "RIGHTSHOULDER"),
        pad.get_axis(sdl.CONTROLLER_AXIS_TRIGGERLEFT) > TRIGGER_PRESSED,
        pad.get_axis(sdl.CONTROLLER_AXIS_TRIGGERRIGHT) > TRIGGER_PRESSED,
        *_down(pad, "BACK", "START", "LEFTSTICK", "RIGHTSTICK"),
        *_down(pad, "DPAD_UP", "DPAD_DOWN", "DPAD_LEFT", "DPAD_RIGHT", "GUIDE"),
    ]
    sticks = (getattr(sdl, f"CONTROLLER_AXIS_{name}") for name in ("LEFTX", "LEFTY", "RIGHTX", "RIGHTY"))
    return StickState([max(pad.get_axis(axis) / FULL, -1.0) for axis in sticks], buttons)


def _down(pad: Any, *names: str) -> list[bool]:
    return [bool(pad.get_button(getattr(_sdl().pygame, f"CONTROLLER_BUTTON_{name}"))) for name in names]
