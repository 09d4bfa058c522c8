"""Plugins: found by name (entry point) or by path, with validated parameters.

Systems, sensors, controllers and estimators are all plugins. The built-in ones are registered by entry points
in Airloom's own `pyproject.toml`, exactly as a user's package would register its own.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from airloom.basics.hints import did_you_mean
from airloom.errors import UserError

if TYPE_CHECKING:
    from airloom.scenario.errors import KeyPath
    from airloom.scenario.models import Scenario

__all__ = ["Parameters", "Plugin", "PluginError", "find"]

GROUPS = {
    "system": "airloom.systems",
    "sensor": "airloom.sensors",
    "controller": "airloom.controllers",
    "estimator": "airloom.estimators",
    "autopilot": "airloom.autopilots",
}


class PluginError(UserError):
    """A plugin cannot be found or is not what it should be; the message is meant for the user."""


class Parameters(BaseModel):
    """Base of every plugin's parameters: unknown keys are refused, values are checked."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Those of users are built at once: so a mistake in them is found while their file is loaded, at its line."""
        if not cls.__module__.startswith("airloom."):
            cls.model_rebuild(raise_errors=False)


class Plugin:
    """What all plugins share: a one-line description (its docstring) and validated parameters."""

    category: ClassVar[str]
    Parameters: ClassVar[type[Parameters]] = Parameters

    @classmethod
    def summary(cls) -> str:
        return (cls.__doc__ or "").strip().split("\n")[0]

    @classmethod
    def mistakes(cls, parameters: Any, scenario: Scenario) -> Iterator[tuple[str | KeyPath, str]]:
        """Parameters of a system that do not fit the rest of the scenario: which key, and what is wrong with it.

        A key below others is given as its path, such as ("points", 2, "position").
        """
        yield from ()


@cache
def names(category: str) -> dict[str, Any]:
    """Known plugins of a category: name → entry point, the built-in ones first."""
    found = sorted(entry_points(group=GROUPS[category]), key=lambda e: not e.value.startswith("airloom."))
    return {entry.name: entry for entry in reversed(found)}


def find(category: str, kind: str, folder: Path | None = None) -> type[Plugin]:
    """The plugin class called `kind`: a registered name, or `path/to/file.py:ClassName` relative to `folder`."""
    plugin = _from_path(kind, folder) if _is_path(kind) else _from_entry_point(category, kind)
    if not (isinstance(plugin, type) and issubclass(plugin, Plugin) and plugin.category == category):
        article = "an" if category[0] in "aeiou" else "a"
        raise PluginError(
            f"'{kind}' is not {article} {category}: expected a class derived from airloom's {category} class"
        )
    return plugin


def _is_path(kind: str) -> bool:
    return kind.partition(":")[0].endswith(".py")


def classes_in(file: Path) -> dict[str, type[Plugin]]:
    """The plugins that a file defines, by class name."""
    module = _load_module(file.resolve())
    return {name: value for name, value in vars(module).items() if _is_own_plugin(value, module)}


def _is_own_plugin(value: Any, module: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Plugin) and value.__module__ == module.__name__


def forget_files() -> None:
    """Load every plugin file afresh when it is next asked for."""
    _load_module.cache_clear()


def _from_entry_point(category: str, kind: str) -> Any:
    known = names(category)
    if kind not in known:
        hint = did_you_mean(kind, known) or "."
        raise PluginError(
            f"no {category} is called '{kind}'{hint} Known: {', '.join(sorted(known))}, "
            f"or give your own as path/to/file.py:ClassName"
        )
    try:
        return known[kind].load()
    except (ImportError, AttributeError) as error:
        raise PluginError(f"the {category} '{kind}' cannot be loaded from {known[kind].value}: {error}") from error


def function_in(script: str) -> Callable:
    """The function that `path/to/file.py:function` names."""
    return _named_in_file(script, None, "function", FunctionType)


def _from_path(kind: str, folder: Path | None) -> Any:
    return _named_in_file(kind, folder, "class", type)


def _named_in_file(place: str, folder: Path | None, what: str, expected: type) -> Any:
    file_name, _, name = place.partition(":")
    path = (folder or Path.cwd()) / file_name
    if not path.is_file():
        raise PluginError(f"plugin file '{path}' does not exist")
    if not name:
        example = "ClassName" if expected is type else what
        raise PluginError(f"'{place}' names a file but no {what}: write {file_name}:{example}")
    module = _load_module(path.resolve())
    if not hasattr(module, name):
        own = [key for key, value in vars(module).items() if isinstance(value, expected)]
        raise PluginError(f"'{path}' has no {what} '{name}'{did_you_mean(name, own)}")
    return getattr(module, name)


@cache
def _load_module(path: Path) -> Any:
    # The same in every process: Numba's cache imports a kernel's module by the name it had when it was compiled.
    name = f"airloom_plugin_{path.stem}_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"'{path}' is no Python file: the name of one ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
        _build_parameters(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = line_in(path, error)
        where = f"{path}, line {line}" if line else str(path)
        raise PluginError(f"plugin {where} cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def _build_parameters(module: Any) -> None:
    """Now that all names are known which they may use."""
    for value in vars(module).values():
        if _is_own_plugin(value, module):
            value.Parameters.model_rebuild()


def line_in(path: Path, error: BaseException) -> int | None:
    """The innermost line of a file that an exception came through."""
    if isinstance(error, SyntaxError):
        return error.lineno
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
