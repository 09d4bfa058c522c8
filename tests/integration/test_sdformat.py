"""What we write is read by sdformat, Gazebo's own library, if the machine has it (Debian: libsdformat-dev)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests import models

from airloom.models.description import Pose
from airloom.models.exporting import export_model
from airloom.models.importing import read_description
from airloom.models.lumping import lumped
from airloom.scenario.loader import load_vehicle

SOURCE = Path(__file__).with_name("sdformat_reads.cpp")


@pytest.fixture(scope="module")
def reads(tmp_path_factory):
    """A program that tells what sdformat understood."""
    if not shutil.which("g++") or not shutil.which("pkg-config"):
        pytest.skip("needs g++ and pkg-config")
    found = subprocess.run(["pkg-config", "--cflags", "--libs", "sdformat12"], capture_output=True, text=True)
    if found.returncode:
        pytest.skip("needs sdformat12 with its headers (Debian: libsdformat-dev)")
    program = tmp_path_factory.mktemp("sdformat") / "reads"
    line = ["g++", "-std=c++17", str(SOURCE), "-o", str(program), *found.stdout.split(), "-Wl,--allow-shlib-undefined"]
    subprocess.run(line, check=True)

    def read(file):
        said = subprocess.run([program, file], capture_output=True, text=True, check=True).stdout.splitlines()
        links = {words[0]: np.array(words[1:], dtype=float) for words in map(str.split, said[1:])}
        return np.array(said[0].split()[1:], dtype=float), links

    return read


@pytest.mark.parametrize(
    "name", ["x500", "hexarotor", "sprayer", "crazyflie2", "plane", "vtol", "airship", "rov", "boat"]
)
def test_vehicles(reads, tmp_path, name):
    pose, links = reads(export_model(name, "sdf", tmp_path / "out", Pose.of((1, 2, 3), (0.1, 0.2, 0.3))).file)
    vehicle = load_vehicle(name)
    np.testing.assert_allclose(pose, (1, 2, 3, 0.1, 0.2, 0.3), atol=1e-12)
    masses = np.array([link[0] for link in links.values()])
    centers = np.array([link[1:4] for link in links.values()])
    assert masses.sum() == pytest.approx(vehicle.mass, rel=1e-12)
    np.testing.assert_allclose(masses @ centers / masses.sum(), vehicle.center_of_mass, atol=1e-12)


def test_a_urdf_with_a_pose(reads, tmp_path):
    (tmp_path / "tiny.urdf").write_text(models.GYM)
    pose, links = reads(export_model(str(tmp_path / "tiny.urdf"), "sdf", tmp_path / "out", Pose.of((1, 0, 2))).file)
    assert pose[2] == 2
    assert links["base_link"][0] == 0.027


def test_frames_are_resolved_as_sdformat_does(reads, tmp_path):
    """Poses relative to each other, in degrees, of frames on links."""
    (tmp_path / "m.sdf").write_text("""<sdf version="1.9"><model name="m">
      <link name="a"><pose>1 0 0 0.1 0.2 0.3</pose></link>
      <frame name="shelf" attached_to="a"><pose degrees="true">1 0 0 0 20 90</pose></frame>
      <link name="b"><pose relative_to="shelf">0 0.3 0.5 0.4 0 0</pose><inertial>
        <pose>0.1 0 0 0 0.3 0</pose><mass>2</mass>
        <inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz><ixy>0.01</ixy></inertia></inertial></link>
      <link name="c"><pose relative_to="b">0 0 1 0 0 1</pose></link></model></sdf>""")
    _, links = reads(tmp_path / "m.sdf")
    ours = read_description(tmp_path / "m.sdf").links
    for name, theirs in links.items():
        own = ours[name].inertial.seen_from(ours[name].pose)
        np.testing.assert_allclose([own.mass, *own.center, *own.inertia.ravel()], theirs[:13], atol=1e-12)


def test_an_imported_drone(reads, tmp_path):
    description = read_description(models.drone(tmp_path))
    _, links = reads(export_model(str(tmp_path / "drone"), "sdf", tmp_path / "out").file)
    assert sum(link[0] for link in links.values()) == pytest.approx(lumped(description, ()).inertial.mass)
