"""Is everything installed and working? What is missing, and how to get it."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `level` is good, optional (something extra is missing) or broken (something needed is)."""

    level: str
    what: str
    detail: str
    remedy: str = ""


def examine() -> Iterator[Finding]:
    """Everything worth looking at, the quick things first."""
    yield _python()
    yield _machine()
    needed, extras = _requirements()
    yield from (_needed(name) for name in needed)
    yield _cache()
    yield _current_folder()
    yield from (_extra(name, packages) for name, packages in sorted(extras.items()))
    yield _browser()
    yield _opengl()
    yield _ns3()
    yield from (_engine(kind) for kind in ("mujoco", "batch"))


def _python() -> Finding:
    version = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("good", "Python", version)
    return Finding("broken", "Python", version, f"Airloom needs Python {'.'.join(map(str, OLDEST_PYTHON))} or newer")


def _machine() -> Finding:
    return Finding("good", "machine", f"{platform.platform()}, {_usable_cores()} cores")


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _requirements() -> tuple[list[str], dict[str, list[str]]]:
    """Names of the packages that Airloom needs, and those of each extra, as its own metadata tells."""
    needed: list[str] = []
    extras: dict[str, list[str]] = {}
    for requirement in metadata.requires("airloom") or []:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"""extra == ['"]([\w.-]+)['"]""", requirement)
        if name:
            (extras.setdefault(extra[1], []) if extra else needed).append(name[0])
    return needed, extras


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _needed(package: str) -> Finding:
    version = _version(package)
    if version:
        return Finding("good", package, version)
    return Finding("broken", package, "missing", f"pip install {package}")


def _extra(name: str, packages: list[str]) -> Finding:
    missing = [package for package in packages if _version(package) is None]
    what = f"extra '{name}'"
    if not missing:
        return Finding("good", what, ", ".join(packages))
    return Finding("optional", what, f"missing: {', '.join(missing)}", f"pip install 'airloom[{name}]'")


def _cache() -> Finding:
    """The inner loop's machine code: kept so that only the first start is slow."""
    from airloom.compiled.compile import cache_folder

    folder = cache_folder()
    parent = next((place for place in (folder, *folder.parents) if place.exists()), Path("/"))
    if not os.access(parent, os.W_OK):
        remedy = "every start will take long; set NUMBA_CACHE_DIR to a folder you may write to"
        return Finding("optional", "machine code", f"{parent} cannot be written to", remedy)
    kept = list(folder.rglob("*.nbc"))
    size = sum(file.stat().st_size for file in kept) / 1e6
    state = f"{len(kept)} functions, {size:.1f} MB" if kept else "empty: the next start takes some 15 s"
    return Finding("good", "machine code", f"{folder} ({state})")


def _current_folder() -> Finding:
    try:
        with tempfile.TemporaryFile(dir=Path.cwd()):
            return Finding("good", "this folder", f"{Path.cwd()} can be written to")
    except OSError as error:
        remedy = "go elsewhere, or use airloom run --out DIR"
        return Finding("optional", "this folder", f"{Path.cwd()} cannot be written to: {error.strerror}", remedy)


def _browser() -> Finding:
    """For films only: the studio is looked at with whatever browser the user has."""
    from airloom.studio.film.film import BrowserMissing, find_browser

    try:
        return Finding("good", "browser for films", find_browser())
    except BrowserMissing as missing:
        return Finding("optional", "browser for films", "missing", str(missing))


def _opengl() -> Finding:
    """For the sensor `camera` only."""
    from airloom.eyes.eye import EyeError
    from airloom.eyes.stage import opengl_without_a_screen

    try:
        return Finding("good", "OpenGL for cameras", opengl_without_a_screen())
    except EyeError as missing:
        return Finding("optional", "OpenGL for cameras", "missing", str(missing))


def _ns3() -> Finding:
    """For scenarios whose radio is ns-3's."""
    from airloom.radio.ns3.installation import ADVICE, Ns3Missing, compilation, find_ns3

    try:
        ns3 = find_ns3()
        _, helper = compilation(ns3)
    except Ns3Missing as missing:
        return Finding("optional", "ns-3 for radio", "missing", str(missing))
    when = "is compiled" if helper.is_file() else "will be compiled at first use"
    state = f"{ns3.version} in {ns3.include.parent}; our helper {when}"
    return Finding(
        "optional" if ns3.doubt else "good", "ns-3 for radio", state, f"{ns3.doubt}: {ADVICE}" if ns3.doubt else ""
    )


def _engine(kind: str) -> Finding:
    """A second of flight, timed."""
    what = f"{kind} engine"
    try:
        from airloom.simulation import Simulation

        began = time.perf_counter()
        sim = Simulation.load("hover", overrides={"engine": kind})
        sim.step()
        started = time.perf_counter()
        sim.run(1.0)
        flown = time.perf_counter() - started
    except Exception as error:
        return Finding(
            "broken", what, f"{type(error).__name__}: {error}", "reinstall: pip install --force-reinstall airloom"
        )
    return Finding("good", what, f"started in {started - began:.2f} s, flew 1 s in {1e3 * flown:.1f} ms")
