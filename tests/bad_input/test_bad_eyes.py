# ruff: noqa: E501 — the tables of cases read best with a case a line
"""Eyes that cannot be: the user reads where, what is wrong, and what to do."""

from __future__ import annotations

import subprocess
import sys

import pytest

from airloom.errors import UserError
from airloom.scenario import ScenarioError, load
from airloom.simulation import Simulation

HEAD = """name: t
vehicles:
  drone:
    extends: multirotor
    sensors:
"""
EYES = {
    "kind: depth_camera, width: 0": "width: must be at least 1, got 0",
    "kind: depth_camera, width: 100000": "width: must be at most 4096, got 100000",
    "kind: depth_camera, height: 3.5": "height: must be a whole number, got 3.5",
    "kind: depth_camera, field_of_view: 3.15": "field_of_view: must be at most 3, got 3.15",
    "kind: depth_camera, field_of_view: 0": "field_of_view: must be greater than 0, got 0",
    "kind: depth_camera, min_distance: 5, max_distance: 2": ": min_distance must be below max_distance",
    "kind: depth_camera, rate: 30": "rate: ",
    "kind: depth_camera, delay: 0.0005": "delay: ",
    "kind: depth_camera, distance_errors: {noise: -1}": "distance_errors.noise: must be at least 0, got -1",
    "kind: depth_camera, distance_errors: {dropout: 2}": "distance_errors.dropout: must be at most 1, got 2",
    "kind: depth_camera, distance_errors: {grazing: 2}": "distance_errors.grazing: must be less than 1.5, got 2",
    "kind: depth_camera, resolution: 640": "resolution: ",
    "kind: camera, width: 0": "width: must be at least 1, got 0",
    "kind: lidar, min_distance: 5, max_distance: 2": ": min_distance must be below max_distance",
    "kind: lidar, pattern: {kind: spiral}": "pattern",
    "kind: lidar, pattern: {beams: 3}": "pattern",
    "kind: lidar, pattern: {kind: spinning, beams: 0}": "pattern.beams: must be at least 1, got 0",
    "kind: lidar, pattern: {kind: spinning, lowest: 0.2, highest: 0.1}": "pattern: lowest must not be above highest",
    "kind: lidar, pattern: {kind: spinning, beams: 256, columns: 50000}": "pattern: beams × columns must be at most 2000000, got 12800000",
    "kind: lidar, pattern: {kind: rosette, field_of_view: 4}": "pattern.field_of_view: must be less than 3.14159, got 4",
}
MAPPING = {
    "vehicle: dron": "systems.map.vehicle: no vehicle is called 'dron'; did you mean 'drone'?",
    "vehicle: drone, sensor: lidr": "systems.map.sensor: no lidar or depth camera is called 'lidr'; did you mean 'lidar'?",
    "vehicle: drone, sensor: gnss": "systems.map.sensor: no lidar or depth camera is called 'gnss'",
    "vehicle: drone, cloud: points.txt": "systems.map.cloud: must be a name that ends in .laz or .las, without a folder",
    "vehicle: drone, cloud: ../points.laz": "systems.map.cloud: must be a name that ends in .laz or .las, without a folder",
    "vehicle: drone, every: 0": "systems.map.every: must be at least 1, got 0",
}


@pytest.mark.parametrize(("text", "expected"), EYES.items(), ids=list(EYES))
def test_an_eye_that_cannot_be(tmp_path, text, expected):
    file = tmp_path / "bad.yaml"
    file.write_text(f"{HEAD}      eye: {{{text}}}\n")
    with pytest.raises(ScenarioError) as caught:
        load(file)
    place = f"{file}, line 6: vehicles.drone.sensors.eye"
    assert str(caught.value).startswith(place)
    assert str(caught.value)[len(place) :].lstrip(".").startswith(expected)


@pytest.mark.parametrize(("text", "expected"), MAPPING.items(), ids=list(MAPPING))
def test_a_survey_that_cannot_be(tmp_path, text, expected):
    file = tmp_path / "bad.yaml"
    file.write_text(f"{HEAD}      lidar: {{kind: lidar, rate: 10}}\nsystems:\n  map: {{kind: mapping, {text}}}\n")
    with pytest.raises(ScenarioError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}, line 8: {expected}")


def test_without_embreex_a_lidar_says_what_to_install_and_only_when_it_is_wanted():
    """In a process of its own: the library stays where it was once loaded."""
    code = """
import sys
sys.modules["embreex"] = None
import airloom as al
sim = al.Simulation.load("hover", overrides={"engine": "batch", "vehicles.cf.sensors.eye": {"kind": "lidar", "rate": 10}})
sim.run(until=0.2)
try:
    sim.vehicles["cf"].eye("eye")
except al.AirloomError as error:
    print(type(error).__name__, error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "EyeError depth cameras, lidars and cameras need embreex: pip install 'airloom[eyes]'\n"


def test_without_opengl_a_camera_says_what_to_install(monkeypatch):
    pytest.importorskip("embreex")
    sim = Simulation.load(
        "hover", overrides={"engine": "batch", "vehicles.cf.sensors.eye": {"kind": "camera", "rate": 10}}
    )
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    sim.vehicles["cf"].eye("eye")
    with pytest.raises(UserError, match="apt install libegl1 libgl1-mesa-dri, or libosmesa6"):
        sim.first_look()


def test_without_laspy_a_survey_says_what_to_install_before_it_flies(monkeypatch):
    monkeypatch.setitem(sys.modules, "laspy", None)
    with pytest.raises(UserError, match=r"pip install 'airloom\[mapping\]'"):
        Simulation.load("lidar")
