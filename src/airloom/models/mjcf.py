"""MJCF as a description. MuJoCo itself compiles it, once all files that it names are known to be near."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from airloom.basics.rotations import matrix_from_quaternion
from airloom.models.beyond import NAME, read_beyond
from airloom.models.description import Description, Inertial, Joint, Link, ModelError, Plugin, Pose, SensorPart, Shape
from airloom.models.files import Library
from airloom.models.markup import Element, local_name, read_xml, where
from airloom.models.meshes import check_file
from airloom.reading.box import read_boxed
from airloom.reading.mjcf import compiled

SHAPES = {
    mujoco.mjtGeom.mjGEOM_BOX: ("box", lambda s: tuple(2 * s)),
    mujoco.mjtGeom.mjGEOM_SPHERE: ("sphere", lambda s: (s[0],)),
    mujoco.mjtGeom.mjGEOM_CYLINDER: ("cylinder", lambda s: (s[0], 2 * s[1])),
    mujoco.mjtGeom.mjGEOM_CAPSULE: ("capsule", lambda s: (s[0], 2 * s[1])),
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: ("ellipsoid", lambda s: tuple(s)),
}
KINDS = {0: "free", 1: "ball", 2: "prismatic", 3: "revolute"}


def read_mjcf(file: Path, library: Library) -> Description:
    _check_files(read_xml(file), file, library, (file,))
    found = read_boxed(compiled, file, refusal=ModelError)
    model = mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": found["model"].tobytes()})
    return _Reader(model, found["positions"], found["rotations"], file).read()


def _check_files(root: Element, file: Path, library: Library, way: tuple[Path, ...]) -> None:
    """MuJoCo would read whatever is named; so all names are looked at before."""
    folders = {"mesh": "", "texture": "", "hfield": "", "skin": ""}
    for compiler in root.iter("compiler"):
        common = compiler.get("assetdir", "")
        folders |= {"mesh": compiler.get("meshdir", common), "texture": compiler.get("texturedir", common)}
    for element in root.iter():
        name, place = element.get("file"), where(element, file)
        for key, value in element.attrib.items():
            if re.search(r"\bnan\b", value, re.IGNORECASE) and key not in ("name", "class"):
                raise ModelError(f"{place}: {key} must be finite numbers, got '{value[:60]}'")
        if name is None or not isinstance(element.tag, str):
            continue
        kind = local_name(element)
        found = library.find(name, way[0].parent / folders.get(kind, ""), place)
        if found is None:
            raise ModelError(f"{place}: the file '{name}' is not there")
        if kind == "include":
            if found in way:
                raise ModelError(f"{place}: includes go in a circle: {' → '.join(p.name for p in (*way, found))}")
            _check_files(read_xml(found), found, library, (*way, found))
        else:
            check_file(found)


class _Reader:
    def __init__(self, model: mujoco.MjModel, positions: np.ndarray, rotations: np.ndarray, file: Path) -> None:
        self.model, self.positions, self.rotations, self.file = model, positions, rotations, file
        name = model.names[: model.names.find(b"\0")].decode(errors="replace")
        self.description = Description(name or file.stem, "MJCF")
        self._meshes: dict[int, Path] = {}

    def read(self) -> Description:
        model, description = self.model, self.description
        free = [j for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE]
        if not free:
            raise ModelError(f"{self.file}: no body of it is free to move (<freejoint/>)")
        root = int(model.jnt_bodyid[free[0]])
        if len(free) > 1:
            others = [model.body(int(model.jnt_bodyid[j])).name for j in free[1:]]
            description.notes.ignore(f"other bodies that are free: {', '.join(others)}")
        description.canonical = self._name(root)
        for body in range(1, model.nbody):
            if model.body_rootid[body] == root:
                self._add_body(body, root)
        self._add_sensors(root)
        self._add_actuators(root)
        for k in range(model.ntext):
            if mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TEXT, k) == NAME:
                start = int(model.text_adr[k])
                text = model.text_data[start : start + int(model.text_size[k])].rstrip(b"\0")
                description.beyond |= read_beyond(text.decode(errors="replace"), f"{self.file}: <text name='{NAME}'>")
        return description

    def _name(self, body: int) -> str:
        return self.model.body(body).name or f"body_{body}"

    def _add_body(self, body: int, root: int) -> None:
        model = self.model
        turn = matrix_from_quaternion(model.body_iquat[body])
        inertial = Inertial(
            float(model.body_mass[body]),
            model.body_ipos[body].copy(),
            turn @ np.diag(model.body_inertia[body]) @ turn.T,
        )
        link = Link(self._name(body), Pose(self.rotations[body].copy(), self.positions[body].copy()), inertial)
        self.description.links[link.name] = link
        for geom in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
            shape = self._shape(geom)
            if shape is not None:
                touches = model.geom_contype[geom] or model.geom_conaffinity[geom]
                (link.collisions if touches else link.visuals).append(shape)
        if body != root:
            joints = range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
            kind = KINDS[int(model.jnt_type[joints[0]])] if len(joints) else "fixed"
            axis = link.pose.rotation @ model.jnt_axis[joints[0]] if len(joints) else np.array([0.0, 0.0, 1.0])
            name = f"{link.name}_joint"
            parent = self._name(int(model.body_parentid[body]))
            self.description.joints[name] = Joint(name, kind, parent, link.name, axis)

    def _shape(self, geom: int) -> Shape | None:
        model = self.model
        pose = Pose(matrix_from_quaternion(model.geom_quat[geom]), model.geom_pos[geom].copy())
        colour = self._colour(geom)
        kind = mujoco.mjtGeom(model.geom_type[geom])
        if kind in SHAPES:
            name, size = SHAPES[kind]
            return Shape(name, pose, tuple(map(float, size(model.geom_size[geom]))), colour=colour)
        if kind != mujoco.mjtGeom.mjGEOM_MESH:
            return None
        mesh = int(model.geom_dataid[geom])
        # MuJoCo centres a mesh and turns it to its principal axes; the file's own axes are found by going back.
        own = Pose(matrix_from_quaternion(model.mesh_quat[mesh]), model.mesh_pos[mesh].copy())
        x, y, z = map(float, model.mesh_scale[mesh])
        return Shape("mesh", pose @ own.inverse(), file=self._mesh_file(mesh), scale=(x, y, z), colour=colour)

    def _colour(self, geom: int) -> tuple[int, int, int] | None:
        """None if it has a picture on it: the mesh's file may know that."""
        model, material = self.model, int(self.model.geom_matid[geom])
        if material >= 0 and (model.mat_texid[material] >= 0).any():
            return None
        rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
        red, green, blue, _ = (round(255 * float(share)) for share in rgba)
        return red, green, blue

    def _mesh_file(self, mesh: int) -> Path | None:
        start = int(self.model.mesh_pathadr[mesh])
        if start < 0:
            return None
        path = self.model.paths[start : self.model.paths.find(b"\0", start)].decode(errors="replace")
        for folder in (self.file.parent, self.file.parent / "assets"):
            if (folder / path).is_file():
                return folder / path
        return next(iter(self.file.parent.rglob(Path(path).name)), None)

    def _site_pose(self, site: int) -> tuple[Link, Pose]:
        model = self.model
        link = self.description.links[self._name(int(model.site_bodyid[site]))]
        return link, Pose(matrix_from_quaternion(model.site_quat[site]), model.site_pos[site].copy())

    def _add_sensors(self, root: int) -> None:
        """A gyroscope or an accelerometer makes an IMU where its site is; cameras that are fixed are cameras."""
        model = self.model
        imus: dict[int, dict[str, float]] = {}
        for k in range(model.nsensor):
            kind, site = model.sensor_type[k], int(model.sensor_objid[k])
            words = {
                mujoco.mjtSensor.mjSENS_GYRO: "angular_velocity",
                mujoco.mjtSensor.mjSENS_ACCELEROMETER: "linear_acceleration",
            }
            word = words.get(mujoco.mjtSensor(kind))
            if word is None:
                self.description.notes.ignore(f"the sensor {model.sensor(k).name}")
            elif model.body_rootid[model.site_bodyid[site]] == root:
                imus.setdefault(site, {})[word] = float(model.sensor_noise[k])
        for site, noise in imus.items():
            link, pose = self._site_pose(site)
            values = {
                word: {axis: {"noise": {"@type": "gaussian", "stddev": sigma}} for axis in "xyz"}
                for word, sigma in noise.items()
            }
            link.sensors.append(SensorPart(model.site(site).name or "imu", "imu", pose, None, {"imu": values}))
        for k in range(model.ncam):
            name = model.cam(k).name or "camera"
            if (
                model.cam_mode[k] != mujoco.mjtCamLight.mjCAMLIGHT_FIXED
                or model.body_rootid[model.cam_bodyid[k]] != root
            ):
                self.description.notes.ignore(f"the camera {name}, which looks on from outside")
                continue
            link = self.description.links[self._name(int(model.cam_bodyid[k]))]
            # MuJoCo's cameras look along −z with y up; ours look along x with z up.
            turn = matrix_from_quaternion(model.cam_quat[k]) @ np.array(
                [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]
            )
            width, height = map(int, model.cam_resolution[k])
            width, height = (width, height) if width > 1 else (640, 480)
            view = 2 * np.arctan(np.tan(np.radians(model.cam_fovy[k]) / 2) * width / height)
            picture = {"camera": {"horizontal_fov": view, "image": {"width": width, "height": height}}}
            link.sensors.append(SensorPart(name, "camera", Pose(turn, model.cam_pos[k].copy()), None, picture))

    def _add_actuators(self, root: int) -> None:
        model = self.model
        for k in range(model.nu):
            name, kind = model.actuator(k).name or f"actuator_{k}", model.actuator_trntype[k]
            if mujoco.mjtTrn(kind) != mujoco.mjtTrn.mjTRN_SITE:
                self.description.notes.ignore(f"the actuator {name}, which pushes at no site")
                continue
            link, own = self._site_pose(int(model.actuator_trnid[k, 0]))
            pose, gain = link.pose @ own, float(model.actuator_gainprm[k, 0])
            limit = float(model.actuator_ctrlrange[k, 1]) * gain if model.actuator_ctrllimited[k] else 0.0
            if limit <= 0.0:
                self.description.notes.assume(f"the actuator {name} has no limit: twice the weight, shared by all")
                limit = 2 * 9.81 * float(model.body_subtreemass[root]) / model.nu
            values: dict[str, Any] = {
                "name": name, "position": pose.position, "rotation": pose.rotation, "limit": limit,
                "force": [float(x) for x in model.actuator_gear[k, :3]],
                "torque": [float(x) for x in model.actuator_gear[k, 3:]],
                "user": [float(x) for x in model.actuator_user[k]],
                "extent": self._extent(root), "radius": self._radius_at(link, own.position),
            }  # fmt: skip
            self.description.plugins.append(Plugin(name, "mujoco", values))

    def _radius_at(self, link: Link, place: np.ndarray) -> float | None:
        """Of a flat, round shape that is there."""
        for shape in [*link.collisions, *link.visuals]:
            if shape.kind in ("ellipsoid", "cylinder") and np.linalg.norm(shape.pose.position - place) < 0.05:
                return shape.size[0]
        return None

    def _points(self, geom: int) -> np.ndarray:
        """Of a shape, in its own axes: the vertices of a mesh, else the corners of a box around it."""
        model = self.model
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
            mesh = int(model.geom_dataid[geom])
            start = int(model.mesh_vertadr[mesh])
            return model.mesh_vert[start : start + int(model.mesh_vertnum[mesh])]
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return model.geom_aabb[geom, :3] + signs * model.geom_aabb[geom, 3:]

    def _extent(self, root: int) -> tuple[np.ndarray, np.ndarray]:
        """Of all shapes, along the axes of the root body."""
        model, corners = self.model, []
        for geom in range(model.ngeom):
            body = int(model.geom_bodyid[geom])
            if model.body_rootid[body] != root:
                continue
            pose = Pose(matrix_from_quaternion(model.geom_quat[geom]), model.geom_pos[geom])
            own = Pose(self.rotations[body], self.positions[body])
            to_root = Pose(self.rotations[root], self.positions[root]).inverse() @ own @ pose
            corners.append(self._points(geom) @ to_root.rotation.T + to_root.position)
        together = np.concatenate(corners) if corners else np.zeros((1, 3))
        return together.min(axis=0), together.max(axis=0)
