"""Whose code raised an exception: which plugin, in which hook, at which line."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from types import FrameType

from airloom.plugin import Plugin

PACKAGE = str(Path(__file__).parent.parent)
LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
NO_FILE = "<"
_PARAGRAPH = "\n\n"


@dataclass(frozen=True)
class Origin:
    """What is known about the origin of an exception."""

    error: BaseException
    plugin: str = ""
    hook: str = ""
    place: str = ""
    """file:line of the innermost frame of the user's own code, else of the plugin's."""

    @property
    def is_users(self) -> bool:
        """Whether it came from a plugin or a script, not from Airloom itself."""
        return bool(self.plugin or self.place)

    def __str__(self) -> str:
        where = f" ({self.place})" if self.place else ""
        if _is_numbas(self.error):
            return f"a function cannot be turned into machine code{where}: {str(self.error).partition(_PARAGRAPH)[0]}"
        who = f"{self.plugin} raised an exception in {self.hook}" if self.plugin else "an exception was raised"
        who += "" if self.is_users else " inside Airloom"
        notes = "".join(f"\n{note}" for note in getattr(self.error, "__notes__", ()))
        return f"{who}{where}: {type(self.error).__name__}: {self.error}{notes}"


def find_origin(error: BaseException) -> Origin:
    if _is_numbas(error):
        return Origin(error, place=_numbas_place(error))
    frames = list(walk_tb(error.__traceback__))
    owned = [(frame, plugin) for frame, _ in frames if (plugin := _plugin_of(frame))]
    users = _places_of_user(error)
    if not owned:
        return Origin(error, place=users[-1] if users else "")
    frame, plugin = owned[0]
    inside = [f"{f.f_code.co_filename}:{line}" for f, line in frames if f is frame]
    return Origin(error, _described(plugin), frame.f_code.co_name, (users or inside)[-1])


def told(error: BaseException) -> str:
    """An exception of a coroutine in one line, with the place in the user's own code if it came through there."""
    users = _places_of_user(error)
    return f"{type(error).__name__}: {error}" + (f" ({users[-1]})" if users else "")


def _places_of_user(error: BaseException) -> list[str]:
    """The lines of the user's own code that it came through, the innermost last."""
    files = ((frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__))
    return [f"{file}:{line}" for file, line in files if _is_users(file)]


def _plugin_of(frame: FrameType) -> Plugin | None:
    owner = frame.f_locals.get("self")
    return owner if isinstance(owner, Plugin) else None


def _described(plugin: Plugin) -> str:
    name = getattr(plugin, "name", "")
    return (
        f"{plugin.category} '{name}' ({type(plugin).__name__})"
        if name
        else f"{plugin.category} {type(plugin).__name__}"
    )


def _is_users(file: str) -> bool:
    return not file.startswith((PACKAGE, *LIBRARIES, NO_FILE))


def _is_numbas(error: BaseException) -> bool:
    return type(error).__module__ == "numba.core.errors"


def _numbas_place(error: BaseException) -> str:
    location = getattr(error, "loc", None)
    return f"{location.filename}:{location.line}" if location else ""
