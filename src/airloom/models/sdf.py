"""SDF 1.4 to 1.11: a <model>, with all that it includes, as a description."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from airloom.models.beyond import is_beyond, read_beyond
from airloom.models.densities import WATER, inertial_of
from airloom.models.description import Description, Joint, Link, ModelError, Pose, Shape
from airloom.models.files import Library
from airloom.models.frames import ROOT, Frames, Scope
from airloom.models.geometry import (
    mesh_finder,
    read_added_mass,
    read_inertial,
    read_plugin,
    read_pose,
    read_sensor,
    read_shape,
    relative_to,
)
from airloom.models.markup import Element, flag_of, local_name, number_of, numbers, read_xml, text_of, where

DEEPEST = 16
NEWEST = (1, 12)
ENDLESS = 1e16
QUIET = {"pose", "self_collide", "static", "allow_auto_disable", "enable_wind", "gravity"}


@dataclass(frozen=True)
class _Found:
    """A link or joint in its file, before all frames are known."""

    element: Element
    scope: Scope
    file: Path
    version: tuple[int, int]


@dataclass
class SdfReader:
    library: Library
    description: Description = field(default_factory=lambda: Description("", "SDF"))
    frames: Frames = field(default_factory=Frames)

    def __post_init__(self) -> None:
        self._links: dict[str, _Found] = {}
        self._joints: dict[str, _Found] = {}
        self._attached: dict[str, str] = {}
        self._first_link: dict[str, str] = {}

    def read(self, file: Path) -> Description:
        return self.read_element(*model_in(file, self.library))

    def read_element(self, file: Path, model: Element, version: tuple[int, int]) -> Description:
        """Its own pose is where the world has it, and no matter of the model's axes."""
        self.description.name = model.get("name", "") or file.stem
        self.description.is_static = flag_of(model, "static")
        self._collect(model, Scope(), file, version, (file,))
        for name, found in self._links.items():
            self.description.links[name] = self._link(name, found)
        for name, found in self._joints.items():
            self._add_joint(name, found)
        canonical = model.get("canonical_link", "")
        self.description.canonical = canonical if canonical in self._links else next(iter(self._links), "")
        return self.description

    def _collect(
        self, model: Element, scope: Scope, file: Path, version: tuple[int, int], way: tuple[Path, ...]
    ) -> None:
        """Frames of all that is in a model; links and joints wait until all frames are known."""
        notes = self.description.notes
        for element in model:
            tag, name = local_name(element), element.get("name", "")
            full, place = scope.prefix + name, where(element, file)
            pose, seen_from = read_pose(element, file), relative_to(element)
            if tag == "link":
                self.frames.add(full, scope.full(seen_from), pose, place)
                self._links[full] = _Found(element, scope, file, version)
                self._first_link.setdefault(scope.frame, full)
            elif tag == "joint":
                full += "_joint" if full in self.frames else ""  # as sdformat does with files of old
                self.frames.add(full, scope.full(seen_from or text_of(element, "child")), pose, place)
                self._joints[full] = _Found(element, scope, file, version)
            elif tag == "frame":
                self._attached[full] = scope.full(element.get("attached_to", ""))
                self.frames.add(full, scope.full(seen_from) if seen_from else self._attached[full], pose, place)
            elif tag == "model":
                placement = element.get("placement_frame")
                inner = Scope(full + "::", full)
                self.frames.add(full, scope.full(seen_from), pose, place, inner.full(placement) if placement else None)
                self._collect(element, inner, file, version, way)
                self._first_link.setdefault(scope.frame, self._first_link.get(full, ""))
            elif tag == "include":
                self._include(element, scope, file, way)
            elif is_beyond(element):
                self.description.beyond |= read_beyond(element.text or "", place)
            elif tag == "plugin":
                self.description.plugins.append(read_plugin(element, scope.prefix))
            elif tag not in QUIET:
                notes.ignore(f"<{tag}> of a model ({place})")

    def _include(self, element: Element, scope: Scope, file: Path, way: tuple[Path, ...]) -> None:
        place, uri = where(element, file), text_of(element, "uri")
        target, model, version = included(element, file, self.library, way)
        for extra in element:
            if local_name(extra) == "params":
                self.description.notes.ignore(f"<experimental:params> of the include of {uri} ({place})")
        given = element.find("pose") is not None
        source, source_file = (element, file) if given else (model, target)
        pose = read_pose(source, source_file)
        seen_from = relative_to(element) if given else ""
        placement = text_of(element, "placement_frame") or model.get("placement_frame", "")
        merges = element.get("merge", "false").lower() in ("true", "1")
        name = text_of(element, "name") or model.get("name", "")
        frame = scope.prefix + (f"__merged__{len(way)}__{name}__{element.sourceline}" if merges else name)
        inner = Scope(scope.prefix, frame) if merges else Scope(frame + "::", frame)
        self.frames.add(frame, scope.full(seen_from), pose, place, inner.full(placement) if placement else None)
        self._collect(model, inner, target, version, (*way, target))
        self._first_link.setdefault(scope.frame, self._first_link.get(frame, ""))
        self.description.plugins += [read_plugin(plugin, inner.prefix) for plugin in element.iterfind("plugin")]

    def _link(self, name: str, found: _Found) -> Link:
        element, notes, file = found.element, self.description.notes, found.file
        link = Link(name, self.frames.pose(name))
        inertial = element.find("inertial")
        find = mesh_finder(self.library, file, notes)
        usual = number_of(inertial, "density", WATER, file)
        weights: list[tuple[Shape, float]] = []
        for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
            for part in element.iterfind(tag):
                shape = read_shape(part, self._inside(link, part, found), find, file, notes)
                if shape is not None:
                    shapes.append(shape)
                    if tag == "collision":
                        weights.append((shape, number_of(part, "density", usual, file)))
        if inertial is not None and inertial.get("auto") in ("true", "1"):
            link.inertial = inertial_of(weights, where(inertial, file))
        else:
            link.inertial = read_inertial(element, self._inside(link, inertial, found), file, notes)
        link.added_mass = read_added_mass(inertial, file)
        link.sensors = [read_sensor(part, self._inside(link, part, found), file) for part in element.iterfind("sensor")]
        return link

    def _inside(self, link: Link, part: Element | None, found: _Found) -> Pose:
        """The pose of a part in its link's axes."""
        pose, seen_from = read_pose(part, found.file), relative_to(part)
        if not seen_from:
            return pose
        return link.pose.inverse() @ self.frames.pose(found.scope.full(seen_from)) @ pose

    def _add_joint(self, name: str, found: _Found) -> None:
        element, scope, place = found.element, found.scope, where(found.element, found.file)
        ends = [
            self._link_of(scope.full(text_of(element, key)), f"{place}: {key} of '{name}'")
            for key in ("parent", "child")
        ]
        if ROOT in ends:
            self.description.notes.ignore(f"the joint {name}, which fastens the model to the world ({place})")
            return
        axis = element.find("axis")
        limit = axis.find("limit") if axis is not None else None
        limits = None
        if limit is not None:
            limits = (_limit(limit, "lower", -ENDLESS), _limit(limit, "upper", ENDLESS))
        fastest = number_of(limit, "velocity", 0.0, found.file)
        kind = element.get("type", "fixed")
        turn = self._axis(element, name, found) if kind != "fixed" else np.array([0.0, 0.0, 1.0])
        dynamics = axis.find("dynamics") if axis is not None else None
        damping = number_of(dynamics, "damping", 0.0, found.file)
        self.description.joints[name] = Joint(
            name, kind, ends[0], ends[1], turn, limits, damping, fastest if 0.0 < fastest < ENDLESS else None
        )

    def _axis(self, element: Element, name: str, found: _Found) -> np.ndarray:
        """Of the joint, or of the model until SDF 1.4, or of whatever frame `expressed_in` says."""
        axis = element.find("axis")
        xyz = axis.find("xyz") if axis is not None else None
        text = (xyz.text or "") if xyz is not None else "0 0 1"
        direction = np.array(numbers(text, 3, f"{where(element, found.file)}: axis/xyz"))
        expressed_in = xyz.get("expressed_in", "") if xyz is not None else ""
        of_model = found.version < (1, 5) or (axis is not None and flag_of(axis, "use_parent_model_frame"))
        frame = found.scope.full(expressed_in) if expressed_in else found.scope.frame if of_model else name
        length = float(np.linalg.norm(direction))
        if length < 1e-9:
            raise ModelError(f"{where(element, found.file)}: the joint '{name}' has an axis of length zero")
        return self.frames.pose(frame).rotation @ direction / length

    def _link_of(self, name: str, place: str) -> str:
        """The link that a frame or a model is attached to."""
        seen: list[str] = []
        while name not in self._links:
            if name == ROOT or name in seen or name not in self.frames:
                if name == ROOT and not seen:
                    return ROOT
                raise ModelError(f"{place}: there is no link '{name}'")
            seen.append(name)
            name = self._attached.get(name) or self._first_link.get(name, "")
        return name


def _limit(element: Element, key: str, default: float) -> float:
    """Of a joint: ±1.8e308 and inf are ways to say that there is none."""
    try:
        return min(max(float(text_of(element, key) or default), -ENDLESS), ENDLESS)
    except ValueError:
        return default


def model_in(file: Path, library: Library, way: tuple[Path, ...] = ()) -> tuple[Path, Element, tuple[int, int]]:
    """The one model of an SDF file, or that of the file which it only includes, with that file and its version."""
    root = read_xml(file)
    if local_name(root) != "sdf" and local_name(root) != "gazebo":
        raise ModelError(f"{file}: begins with <{local_name(root)}>, expected <sdf>")
    models, includes = root.findall("model"), root.findall("include")
    if not models and len(includes) == 1:
        return included(includes[0], file, library, (*way, file))
    if len(models) != 1:
        raise ModelError(f"{file}: has {len(models)} models, expected one")
    return file, models[0], version_of(root, file)


def version_of(root: Element, file: Path) -> tuple[int, int]:
    text = root.get("version", "1.4")
    try:
        major, minor = (int(part) for part in text.split(".")[:2])
    except ValueError:
        raise ModelError(f"{file}: is SDF of the version '{text}', expected 1.4 … 1.11") from None
    if (major, minor) > NEWEST:
        raise ModelError(f"{file}: is SDF {text}; versions up to 1.11 are read")
    return major, minor


def included(
    element: Element, file: Path, library: Library, way: tuple[Path, ...]
) -> tuple[Path, Element, tuple[int, int]]:
    """The file and the model that an <include> means."""
    place, uri = where(element, file), text_of(element, "uri")
    if not uri:
        raise ModelError(f"{place}: an include needs a <uri>, such as model://x500_base")
    found = library.find(uri, file.parent, place)
    if found is None:
        missing = (
            f"is not found beside {library.home}; if it is elsewhere, name the folder that holds it: --path FOLDER"
        )
        if uri.startswith(("http:", "https:")):
            missing = "is on the network, from which nothing is read: download that model, and import it instead"
        raise ModelError(f"{place}: what it includes, '{uri}', {missing}")
    target = library.sdf_in(found, place)
    if target in way:
        raise ModelError(f"{place}: includes go in a circle: {' → '.join(p.parent.name for p in (*way, target))}")
    if len(way) > DEEPEST:
        raise ModelError(f"{place}: includes are more than {DEEPEST} deep")
    return model_in(target, library, way)
