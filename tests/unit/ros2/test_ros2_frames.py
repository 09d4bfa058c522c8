"""Frames and descriptions: the tree has one root, and both trees put a sensor at the same place."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname
from xml.etree import ElementTree as xml

import numpy as np
import pytest
import yaml

import airloom as al
from airloom.basics.rotations import matrix_from_quaternion
from airloom.bus import messages
from airloom.ros2.description import urdf
from airloom.ros2.files import interface_files, launch, rviz
from airloom.ros2.frames import Tree, turn_to

EYE = {"kind": "depth_camera", "position": [0.1, 0.0, 0.05], "pitch": 0.3}


@pytest.fixture(scope="module")
def sim():
    overrides = {"engine": "batch", "vehicles.cf.sensors.depth": EYE}
    made = al.Simulation.load("hover", overrides=overrides)
    made.vehicles["cf"].place((1, 2, 3), yaw=0.7)
    return made


def transforms(tree: Tree) -> dict[str, tuple[str, np.ndarray]]:
    """Of each frame: its parent, and the matrix that takes its coordinates to the parent's."""
    found = {}
    for cdr in (tree.fixed(), tree.moving()()):
        for one in messages.deserialize(cdr, messages.TF_MESSAGE).transforms:
            place, turn = one.transform.translation, one.transform.rotation
            matrix = np.eye(4)
            matrix[:3, :3] = matrix_from_quaternion(np.array([turn.w, turn.x, turn.y, turn.z]))
            matrix[:3, 3] = place.x, place.y, place.z
            found[one.child_frame_id] = one.header.frame_id, matrix
    return found


def in_world(frames, name: str) -> np.ndarray:
    matrix = np.eye(4)
    while name != "world":
        name, step = frames[name]
        matrix = step @ matrix
    return matrix


@pytest.mark.parametrize("kind", ["ros", "ned"])
def test_every_frame_leads_to_the_world(sim, kind):
    frames = transforms(Tree(sim, kind))
    assert {"cf/base_link", "cf/imu", "cf/depth", "cf/depth_optical"} <= frames.keys()
    for name in frames:
        in_world(frames, name)


def test_both_trees_put_a_camera_at_the_same_place(sim):
    ros, ned = (in_world(transforms(Tree(sim, kind)), "cf/depth_optical") for kind in ("ros", "ned"))
    assert ros == pytest.approx(ned, abs=1e-12)
    forward = ros[:3, :3] @ [0, 0, 1]
    assert forward == pytest.approx([np.cos(0.3) * np.cos(0.7), np.cos(0.3) * np.sin(0.7), -np.sin(0.3)])


def test_the_frames_of_aerospace_are_north_east_down_and_forward_right_down(sim):
    frames = transforms(Tree(sim, "ned"))
    assert frames["ned"][1][:3, :3] == pytest.approx(np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]]), abs=1e-12)
    assert frames["cf/base_link"][1][:3, :3] == pytest.approx(np.diag([1, -1, -1]), abs=1e-12)
    assert frames["cf/frd"][0] == "ned"
    assert frames["cf/frd"][1][:3, 3] == pytest.approx([2, 1, -3])


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (0.3, 0.4, 0.5), (1, 0, 0)])
def test_a_rotors_frame_has_its_axis_up(axis):
    z = matrix_from_quaternion(np.array(turn_to(axis))) @ [0, 0, 1]
    assert z == pytest.approx(np.array(axis) / np.linalg.norm(axis))


def test_a_description_is_a_tree_with_the_vehicles_mass(sim):
    robot = xml.fromstring(urdf(sim.vehicles["cf"]))
    links = {link.get("name") for link in robot.iter("link") if link.get("name")}
    children = [joint.find("child").get("link") for joint in robot.iter("joint")]
    assert links - set(children) == {"cf/base_link"}
    assert len(children) == len(set(children))
    assert float(robot.find("link/inertial/mass").get("value")) == pytest.approx(0.027)
    turning = [joint for joint in robot.iter("joint") if joint.get("type") == "continuous"]
    assert len(turning) == 4


def test_a_description_shows_the_meshes_of_a_vehicle_in_place_of_its_box(tmp_path):
    (tmp_path / "my body.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    mesh = {"file": str(tmp_path / "my body.obj"), "position": [0, 0, 0.1], "yaw": 0.5, "scale": [2, 2, 2]}
    visuals = {"body": mesh, "hull": {**mesh, "colour": [255, 0, 51]}}
    sim = al.Simulation.load("hover", overrides={"engine": "batch", "vehicles.cf.visuals": visuals})
    base = xml.fromstring(urdf(sim.vehicles["cf"])).find("link[@name='cf/base_link']")
    own, painted = base.findall("visual")
    shape = own.find("geometry/mesh")
    assert Path(url2pathname(urlsplit(shape.get("filename")).path)).samefile(tmp_path / "my body.obj")
    assert shape.get("filename").startswith("file:///")
    assert shape.get("scale") == "2 2 2"
    assert own.find("origin").attrib == {"xyz": "0 0 0.1", "rpy": "0 0 0.5"}
    assert own.find("material") is None
    assert painted.find("material/color").get("rgba") == "1 0 0.2 1"
    assert base.find("collision/geometry/box") is not None


def test_rviz_shows_what_the_eyes_see(sim):
    displays = yaml.safe_load(rviz(sim))["Visualization Manager"]["Displays"]
    topics = [display["Topic"]["Value"] for display in displays if "Topic" in display]
    assert topics == ["/cf/depth/image", "/cf/depth/points"]
    compile(launch("hover", "/tmp/it's.rviz", "/tmp/fastdds.xml"), "airloom.launch.py", "exec")


def test_the_package_has_every_definition_of_ours():
    files = {path.removeprefix("airloom_interfaces/"): text for path, text in interface_files().items()}
    cmake, package = files.pop("CMakeLists.txt"), files.pop("package.xml")
    assert {"msg/Setpoint.msg", "srv/Step.srv", "action/FollowPath.action"} <= files.keys()
    assert all(f'"{file}"' in cmake for file in files)
    assert files["srv/Step.srv"] == "uint32 ticks\n---\nbool success\nstring message\n"
    xml.fromstring(package)
