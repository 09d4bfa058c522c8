"""Which ns-3 is on this machine, and our helper compiled against it: once, and kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from airloom.errors import UserError
from airloom.keeper import Kept

SOURCES = Path(__file__).with_name("helper")
MODULES = ("core", "network", "mobility", "propagation", "spectrum", "wifi", "lr-wpan", "flow-monitor")
TRIED = ("3.37", "3.44")
FIRST_WITH_CXX20 = (3, 42)
"""The first version whose headers need C++20; those of 3.37 are refused by it."""
WHEEL = "ns3"
VARIABLE = "AIRLOOM_NS3"
USUAL = Path("/usr")
PACKAGES = ("libns3-dev", "libgsl-dev", "g++")
ADVICE = (
    f"install it with `pip install --no-deps {WHEEL}`, and a C++ compiler; with `apt-get install {' '.join(PACKAGES)}` "
    f"(Debian 12); or set {VARIABLE} to where it is installed"
)
USUAL_TIME = 10  # s that the compiler takes


class Ns3Missing(UserError):
    """There is no ns-3, no compiler for our helper, or they do not fit; the message says what to do."""


@dataclass(frozen=True)
class Installation:
    version: str
    include: Path
    libraries: Path
    links: tuple[str, ...]
    """Names of its libraries, as the linker wants them."""

    @property
    def doubt(self) -> str:
        """What there is to say about its version, if anything."""
        if self.version in TRIED:
            return ""
        return f"ns-3 {self.version} is there; {' and '.join(TRIED)} are what Airloom has been tried with"

    @property
    def standard(self) -> str:
        """Of C++, that its headers are written in."""
        number = tuple(int(digits) for digits in re.findall(r"\d+", self.version)[:2])
        return "c++20" if number >= FIRST_WITH_CXX20 else "c++17"


def find_ns3() -> Installation:
    """In the folder that the variable AIRLOOM_NS3 names; else from pip, beside Airloom; else where Debian puts it."""
    named = os.environ.get(VARIABLE)
    prefixes = [Path(named).expanduser()] if named else [*_wheels(), USUAL]
    for prefix in prefixes:
        described = [path for folder in ("lib*", "lib/*") for path in prefix.glob(f"{folder}/pkgconfig/ns3-core.pc")]
        if described and (prefix / "include/ns3/core-module.h").is_file():
            return _installation(prefix, described[0])
    raise Ns3Missing(f"there is no ns-3 for developers in {' or '.join(map(str, prefixes))}: {ADVICE}")


def _wheels() -> list[Path]:
    """Where Python would import it from; it is not imported."""
    found = find_spec(WHEEL)
    return [Path(place) for place in (found and found.submodule_search_locations) or ()]


def _installation(prefix: Path, description: Path) -> Installation:
    version = re.search(r"^Version: *(\S+)", description.read_text(), re.MULTILINE)
    libraries = description.parent.parent
    links = tuple(_library(libraries, module) for module in MODULES)
    return Installation(version[1] if version else "unknown", prefix / "include", libraries, links)


def _library(folder: Path, module: str) -> str:
    """ns-3's own builds put version and profile into the name, Debian's does not."""
    pattern = re.compile(rf"lib(ns3[\d.]*-{module}(-(default|debug|release|optimized))?)\.so")
    found = [match[1] for path in folder.glob(f"libns3*-{module}*.so") if (match := pattern.fullmatch(path.name))]
    if not found:
        raise Ns3Missing(f"ns-3 in {folder} has no module '{module}': {ADVICE}")
    return min(found, key=len)


def helper_program(tell: Callable[[str], None]) -> Path:
    """The compiled helper for the ns-3 that is there; what takes time is told."""
    ns3 = find_ns3()
    if ns3.doubt:
        tell(ns3.doubt)
    command, program = compilation(ns3)
    if not program.is_file():
        tell(f"compiling the helper for ns-3 {ns3.version}, once: about {USUAL_TIME} s")
        _compile(command, program, ns3)
    return program


def compilation(ns3: Installation) -> tuple[list[str], Path]:
    """How the helper is compiled, and where it is then kept."""
    command = [
        _compiler(), f"-std={ns3.standard}", "-O1", "-Wfatal-errors", f"-I{ns3.include}", str(SOURCES / "medium.cc"),
        f"-L{ns3.libraries}", f"-Wl,-rpath,{ns3.libraries}", *(f"-l{name}" for name in ns3.links),
    ]  # fmt: skip
    folder = Path(platformdirs.user_cache_dir("airloom")) / "programs"
    return command, folder / f"ns3-{ns3.version}-{_digest(ns3.version, *command)}"


def _compiler() -> str:
    wanted = os.environ.get("CXX") or "g++"
    found = shutil.which(wanted)
    if not found:
        raise Ns3Missing(f"there is no C++ compiler '{wanted}' for Airloom's ns-3 helper: {ADVICE}")
    return found


def _digest(*texts: str) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(SOURCES.iterdir()):
        digest.update(path.read_bytes())
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()


def _compile(command: list[str], program: Path, ns3: Installation) -> None:
    unfinished = program.with_name(f"{program.name}.{os.getpid()}")
    with tempfile.TemporaryFile() as complaints:
        try:
            program.parent.mkdir(parents=True, exist_ok=True)
            compiler = Kept([*command, "-o", str(unfinished)], stdout=subprocess.DEVNULL, stderr=complaints)
            try:
                code = compiler.wait()
            finally:
                compiler.end()
            if code == 0:
                unfinished.replace(program)
                return
        except OSError as error:
            raise Ns3Missing(f"the helper for ns-3 cannot be kept as {program}: {error.strerror}") from None
        finally:
            with suppress(OSError):
                unfinished.unlink()
        complaints.seek(0)
        said = complaints.read().decode(errors="replace").splitlines()
    why = next((line for line in said if "error" in line), "the compiler does not say why")
    reasons = "\n  ".join(filter(None, [ns3.doubt, why]))
    raise Ns3Missing(f"Airloom's helper cannot be compiled against ns-3 {ns3.version} in {ns3.include}:\n  {reasons}")
