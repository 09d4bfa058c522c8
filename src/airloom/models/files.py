"""Where the files are that a model names, and which it may name: those of its own package and its neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from airloom.models.description import ModelError
from airloom.models.markup import read_xml, text_of

MARKS = ("package.xml", "model.config")
LEVELS = 4
"""How far above a file its package is looked for."""


class Library:
    """Finds `model://`, `package://`, `file://` and plain paths as seen from a model file.

    The model's *home* is the nearest folder around it with a package.xml or model.config, or its own folder. Plain
    paths must stay in it. Packages are looked for beside it and in the folders that the user has added.
    """

    def __init__(self, file: Path, added: Iterable[Path] = ()) -> None:
        self.home = _home_of(file.resolve())
        self.added = [Path(folder).resolve() for folder in added]
        for folder in self.added:
            if not folder.is_dir():
                raise ModelError(f"--path {folder}: there is no such folder")
        self._named: list[Path] = []

    def package(self, name: str) -> Path | None:
        """The folder of a package or model by its name; what is in it may be read from then on."""
        folder = self._folder(name)
        if folder is not None:
            self._named.append(folder)
        return folder

    def _folder(self, name: str) -> Path | None:
        if not name or name in (".", "..") or "/" in name:
            return None
        if _name_of(self.home) == name or self.home.name == name:
            return self.home
        beside = [self.home.parent, self.home, self.home.parent / "models", self.home / "models"]
        for folder in [*beside, *self.added]:
            if folder.name == name and folder in self.added:
                return folder
            if (folder / name).is_dir():
                return (folder / name).resolve()
        return None

    def find(self, uri: str, beside: Path, place: str) -> Path | None:
        """The file or folder that is meant, or None if there is none; refuses what is outside."""
        uri = uri.strip()
        scheme, _, rest = uri.partition("://")
        if not rest:
            scheme, rest = "", uri
        if scheme in ("http", "https"):
            return None
        path = Path(unquote(rest))
        if scheme in ("model", "package") or (scheme == "file" and not path.is_absolute()):
            name, _, inside = unquote(rest).lstrip("/").partition("/")
            folder = self.package(name)
            return self._within([folder], folder / inside, uri, place) if folder is not None else None
        found = self._within([self.home, *self.added], beside / path, uri, place)
        if found is None and scheme == "" and not path.is_absolute() and "/" not in uri:
            return self.package(uri)
        return found

    def _within(self, roots: list[Path], path: Path, uri: str, place: str) -> Path | None:
        real = path.resolve()
        if not any(real.is_relative_to(root) for root in [*roots, *self.added, *self._named]):
            raise ModelError(
                f"{place}: '{uri}' is outside of {roots[0]}, so it is not read; if it belongs to the model, allow its "
                f"folder: --path {real.parent}"
            )
        if not real.exists():
            return None
        return real

    def sdf_in(self, found: Path, place: str) -> Path:
        """The SDF file that a model's folder stands for; the newest version that its model.config lists."""
        if found.is_file():
            return found
        config = found / "model.config"
        listed = []
        if config.is_file():
            for entry in read_xml(config).iterfind(".//sdf"):
                listed.append((_version(entry.get("version", "0")), (entry.text or "").strip()))
        name = max(listed)[1] if listed else "model.sdf"
        file = self._within([found], found / name, str(found), place)
        if file is None:
            raise ModelError(f"{place}: the folder {found} has no {name}")
        return file


def _home_of(file: Path) -> Path:
    for folder in list(file.parents)[:LEVELS]:
        if any((folder / mark).is_file() for mark in MARKS):
            return folder
    return file.parent


def _name_of(folder: Path) -> str:
    mark = folder / "package.xml"
    return text_of(read_xml(mark), "name") if mark.is_file() else folder.name


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in text.split("."))
