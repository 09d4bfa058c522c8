"""Which instance of its program flies each vehicle."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.programs import free_instance

from airloom.autopilots.instances import instance_of
from airloom.scenario import ScenarioError, load

IMU = "sensors: {imu: {rate: 1000}}"


def scenario(folder, **vehicles):
    """Vehicles by name, each with what stands beside its airframe and sensors."""
    lines = [f"  {name}: {{extends: iris, {IMU}, {more}}}" for name, more in vehicles.items()]
    (folder / "many.yaml").write_text("\n".join(["name: many", "vehicles:", *lines]))
    return load(folder / "many.yaml")


def test_copies_count_up(tmp_path):
    found = scenario(
        tmp_path,
        lead="autopilot: {kind: ardupilot, instance: 9}",
        wing="copies: {count: 3}, autopilot: {kind: ardupilot, instance: 20}",
    )
    assert instance_of("lead", 9, found) == 9
    assert [instance_of(f"wing_{k}", 20, found) for k in range(3)] == [20, 21, 22]


def test_two_with_the_same_ports_are_refused(tmp_path):
    wing = "copies: {count: 3}, autopilot: {kind: ardupilot, instance: 20}"
    with pytest.raises(ScenarioError, match=r"'wing' has instance 22 too, and thereby the same ports") as error:
        scenario(tmp_path, wing=wing, late="autopilot: {kind: ardupilot, instance: 22}")
    assert "line 4: vehicles.late.autopilot.instance" in str(error.value)


def test_copies_beyond_the_last_instance_are_refused(tmp_path):
    with pytest.raises(ScenarioError, match="its 3 copies count up to 100; the last there can be is 99"):
        scenario(tmp_path, wing="copies: {count: 3}, autopilot: {kind: ardupilot, instance: 98}")


def test_tests_that_run_at_once_have_instances_of_their_own():
    """Each process of them looks for some at the same time, as this one has done."""
    ours = free_instance()
    command = [sys.executable, "-c", "from tests.programs import free_instance; print(free_instance()); input()"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": Path(__file__).parents[3]}
    processes = [subprocess.Popen(command, **pipes) for _ in range(3)]
    found = {process.stdout.readline() for process in processes}
    for process in processes:
        process.communicate("\n")
    assert len(found) == 3
    assert f"{ours}\n" not in found
