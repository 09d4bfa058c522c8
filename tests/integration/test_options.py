"""Every option of every command is run, and does what it says: here, or in the test that is named here."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from tests import fields, models, surveys
from tests.unit.farm.test_comparison import write_map

from airloom.basics.version import VERSION
from airloom.bench import bench as benchmark
from airloom.cli.app import app
from airloom.cli.schema import FileKind
from airloom.net import tls
from airloom.runs.folder import RunFolder
from airloom.runs.mcap import LogReader

AIRLOOM = [sys.executable, "-m", "airloom"]
TESTS = Path(__file__).parent.parent
ELSEWHERE = {
    ("list", "--json"): "integration/test_command_line_results.py",
    ("run", "--json"): "integration/test_command_line_results.py",
    ("doctor", "--json"): "integration/test_command_line_results.py",
    ("cache", "--clear"): "integration/test_command_line_results.py",
    ("run", "--cluster"): "integration/test_cluster.py",
    ("run", "--loom"): "integration/test_hosts.py",
    ("run", "--link"): "integration/test_fly.py",
    ("run", "--ros2"): "integration/test_ros2_clients.py",
    ("run", "--domain"): "integration/test_ros2_clients.py",
    ("run", "--foxglove"): "integration/test_foxglove.py",
    ("serve", "--socket"): "integration/test_serve.py",
    ("branch", "--token"): "integration/test_hosts.py",
    ("branch", "--listen"): "integration/test_branches.py",
    ("branch", "--out"): "integration/test_hosts.py",
    ("exec", "--epoch"): "integration/test_exec.py",
    ("film", "--camera"): "browser/test_film.py",
    ("film", "--vehicle"): "browser/test_film.py",
    ("film", "--fps"): "browser/test_film.py",
    ("film", "--size"): "browser/test_film.py",
    ("film", "--from"): "browser/test_film.py",
    ("film", "--until"): "browser/test_film.py",
    ("film", "--speed"): "browser/test_film.py",
    ("film", "--eye"): "browser/test_film.py",
}

SCENARIO = """
extends: hover
name: short
duration: 0.2
engine: batch
"""
GUST = """
import airloom as al

class Parameters(al.Parameters):
    strength: float = 0.0

class Gust(al.System):
    '''Pushes now and then.'''

    Parameters = Parameters

    def pre_update(self, sim):
        sim.vehicles["cf"].push((self.parameters.strength, 0, 0))
"""
TICKING = "import time; before = time.time(); time.sleep(1e-6); print(round(time.time() - before, 4))\n"


@pytest.fixture(scope="module", autouse=True)
def here(tmp_path_factory):
    folder, before = tmp_path_factory.mktemp("options"), Path.cwd()
    os.chdir(folder)
    Path("short.yaml").write_text(SCENARIO)
    Path("gust.py").write_text(GUST)
    Path("ticking.py").write_text(TICKING)
    yield folder
    os.chdir(before)


@pytest.fixture(scope="module")
def certificate(here):
    if not shutil.which("openssl"):
        pytest.skip("needs the program openssl")
    tls._make(here / "both.pem")
    return tls.Certificate(here / "both.pem")


def started(line, **more):
    return subprocess.Popen([*AIRLOOM, *shlex.split(line)], stdout=subprocess.PIPE, text=True, **more)


def test_run(airloom):
    assert airloom("--version") == f"airloom {VERSION}"
    said = airloom("run short.yaml --headless --until 0.1 --seed 7 --set vehicles.cf.mass=0.03 --out mine --speed max")
    assert "short finished: 0.100 s" in said
    assert "seed 7" in said
    assert "flight-cf.png" in said
    assert "mass: 0.03" in Path("mine/scenario.yaml").read_text()
    airloom("run short.yaml --headless --out mine --replace --no-figures")
    with LogReader("mine/log.mcap") as log:
        assert log.duration == pytest.approx(0.2)
    assert not Path("mine/flight-cf.png").exists()
    assert airloom("run short.yaml --headless --out mine --replace --no-log --quiet") == ""
    assert not Path("mine/log.mcap").exists()
    assert "goes to mine-2" in airloom("run short.yaml --headless --out mine --no-figures")
    Path("faulty.py").write_text(GUST.replace("sim.vehicles", "sim.nothing"))
    faulty = "run short.yaml --headless --no-figures --debug --set 'systems.w={kind: faulty.py:Gust}'"
    assert "Traceback" in airloom(faulty, 1)


def test_what_a_run_left(airloom):
    airloom("run short.yaml --headless --no-figures --out left")
    airloom("plot left --field /cf/rotors.velocity --out drawn.pdf")
    assert Path("drawn.pdf").read_bytes().startswith(b"%PDF")
    assert "short, 0.20 of 0.20 s" in airloom("replay left --speed 10")


@pytest.mark.parametrize("kind", FileKind)
def test_schema(airloom, kind):
    said = airloom("schema --out printed.json " + kind)
    assert f"your {kind} file" in said
    assert json.loads(Path("printed.json").read_text())["title"] == f"Airloom {kind}"


def test_check(airloom):
    said = airloom("check gust.py --set strength=0.001 --scenario short.yaml")
    assert "0.2 s of short.yaml" in said
    assert "All good." in said


def test_bench(airloom, monkeypatch):
    """Of the real measurements those that are soon over, and each for an instant."""
    chosen = ("hover, mujoco", "hover, batch", "batch, N = 1")
    everything = benchmark.benchmarks
    monkeypatch.setattr(benchmark, "QUICK", benchmark.Effort(0.001, 1, with_first_start=False))
    monkeypatch.setattr(benchmark, "benchmarks", lambda effort: {name: everything(effort)[name] for name in chosen})
    said = airloom("bench --quick --json speed.json")
    kept = json.loads(Path("speed.json").read_text())["measurements"]
    assert [one["name"] for one in kept] == list(chosen)
    assert all(f"{one['value']:.3g}" in said for one in kept)
    assert "≥ 200" in said
    said = airloom("bench --quick N")
    assert "batch, N = 1" in said
    assert "hover" not in said
    assert "no entry has 'wings' in its name; there are: hover, mujoco; hover" in airloom("bench N wings", 2)
    assert "cannot write" in airloom("bench --quick --json nowhere/speed.json", 2)


def test_import(airloom):
    models.drone(Path("library"))
    said = airloom("import library/drone/model.sdf --out mine_drone --path library")
    assert "4 rotors, 1.64 kg" in said
    assert "Try: airloom run mine_drone/try.yaml" in said
    assert "try_drone finished" in airloom("run mine_drone/try.yaml --headless --no-figures --until 0.1")
    Path("mine_drone/try.yaml").write_text("name: mine\n")
    assert "--replace" in airloom("import library/drone/model.sdf --out mine_drone --path library", 2)
    airloom("import library/drone/model.sdf --out mine_drone --path library --replace")
    models.description(Path("workspace"))
    file = "workspace/my_description/urdf/plus.urdf.xacro"
    airloom("import workspace/my_description/urdf/plus.urdf.xacro --arg name=plus --arg tall=true")
    assert Path("plus/plus.yaml").exists()
    assert "no NAME=VALUE" in airloom(f"import {file} --arg name", 2)
    assert "--arg name=…" in airloom(f"import {file}", 2)


def test_export(airloom):
    assert "written_sdf/model.sdf" in airloom("export x500 --sdf --out written_sdf --pose 1,2,3")
    assert "<pose>1.0 2.0 3.0 0.0 0.0 0.0</pose>" in Path("written_sdf/model.sdf").read_text()
    assert "x500_urdf/x500.urdf" in airloom("export x500 --urdf")
    assert "x500_mjcf/x500.xml" in airloom("export x500 --mjcf")
    models.description(Path("another"))
    airloom("export another/my_description/urdf/plus.urdf.xacro --mjcf --arg name=plus --path another --out plus_mjcf")
    assert 'mass="1.24"' in Path("plus_mjcf/plus.xml").read_text()
    assert "3 or 6 numbers" in airloom("export x500 --sdf --pose here", 2)
    assert "choose one of" in airloom("export x500", 2)
    assert "a URDF has no pose" in airloom("export x500 --urdf --pose 0,0,1", 2)


def test_weigh(airloom):
    models.brick(Path("brick.stl"))
    said = airloom("weigh brick.stl --units mm --density 1000")
    assert "mass: 7.2" in said
    assert "inertia: {xx: 0.05784, yy: 0.05784, zz: 0.108, xy: 0, xz: 0, yz: 0}" in said
    said = airloom("weigh brick.stl --units mm --by shell --density 1000 --thickness 0.001")
    assert "mass: 0.276" in said
    assert "--units mm" in airloom("weigh brick.stl --mass 1", 2)


def test_ros2(airloom):
    said = airloom("ros2 short.yaml --out for_ros")
    assert "colcon build" in said
    assert {"airloom.rviz", "airloom.launch.py", "fastdds.xml", "cf.urdf"} <= {
        path.name for path in Path("for_ros").iterdir()
    }
    Path("for_ros/airloom.rviz").write_text("mine")
    assert "for_ros/airloom.rviz would be overwritten" in " ".join(airloom("ros2 short.yaml --out for_ros", 2).split())
    assert Path("for_ros/airloom.rviz").read_text() == "mine"
    airloom("ros2 short.yaml --out for_ros --replace")
    assert "mine" not in Path("for_ros/airloom.rviz").read_text()
    airloom("ros2 short.yaml --out for_ros")  # nothing would change
    airloom("ros2 short.yaml --out ros_workspace --interfaces")
    assert [path.name for path in Path("ros_workspace").iterdir()] == ["airloom_interfaces"]


def test_plan(airloom):
    """Rows across the field, of a part of it, by a servo: 15 lines of 40 m."""
    fields.write(Path("field.geojson"), fields.polygon(fields.RECTANGLE, name="meadow"))
    said = airloom(
        "plan field.geojson --out mine.job --world empty --rate 30 --swath 7 --speed 3 --height 2 --canopy 1 "
        "--surface ground --rows 0 --edge centre --headland 3 --hop 10 --lag 0.2 --tank 5 --flow 0.1,9 "
        "--refill 8.5449,47.3972 --command servo --servo 7"
    )
    assert "meadow" in said
    assert "15, 600 m sprayed of 690 m flown" in said
    assert "headland of 3.0 m" in said
    assert "2 m above plants of 1 m" in said
    assert "30 L/ha, 3.78 L/min at 3 m/s" in said
    assert "12.6 L, 2 refills of 5 L" in said
    assert {file.name for file in Path("mine.job").iterdir()} == {
        "job.json", "plan.png", "tank-1.plan", "tank-2.plan", "tank-3.plan",
    }  # fmt: skip
    assert '"command": 183' in Path("mine.job/tank-1.plan").read_text()
    job = json.loads(Path("mine.job/job.json").read_text())
    assert job["refill"]["place"] == pytest.approx([-52.4, -60.3], abs=1.0)
    assert (job["lag"], job["headland"], job["lines"][0]["heights"][0][1]) == (0.2, 3.0, 3.0)


def test_plan_by_a_map_and_over_terrain(airloom):
    fields.write(Path("field.geojson"), fields.polygon(fields.RECTANGLE))
    fields.write(Path("zones.geojson"), fields.polygon([(-60, -30), (0, -30), (0, 30), (-60, 30)], rate=80))
    said = airloom("plan field.geojson --prescription zones.geojson --elsewhere none --flow 0,5")
    assert "on 0.200 ha pump and nozzles cannot give what is asked for" in said
    assert "10, 500 m sprayed of" in said
    assert Path("field.job/plan.png").exists()
    surveys.raster(Path("flat.tif"), lambda e, n: 0 * e + 300.0, pixel=5.0)
    airloom("terrain build flat.tif --out flat.terrain")
    said = airloom("plan field.geojson --terrain flat.terrain", 2)
    assert "km from the world's origin" in said
    surveys.raster(Path("bare.tif"), lambda e, n: 0 * e + 50.0, crs=None)
    assert "give it by --crs" in airloom("plan field.geojson --prescription bare.tif", 2)
    said = airloom("plan field.geojson --prescription bare.tif --crs EPSG:32632", 2)
    assert "lies nowhere in the field" in said
    assert "is not a least and a greatest flow" in airloom("plan field.geojson --flow 3", 2)


def test_plan_compared_with_a_run(airloom):
    fields.write(Path("field.geojson"), fields.polygon(fields.RECTANGLE))
    write_map(Path("given.tif"), lambda x, y: 30.0 * ((abs(y) < 20) & (abs(x) < 50) & (x > -40)))
    said = airloom("plan field.geojson --rate 30 --compare given.tif --out compared")
    assert "asked, L 12" in said
    assert float(said.split("within ±20 %, share ")[1].split()[0]) == pytest.approx(0.9, abs=0.01)
    assert {file.name for file in Path("compared").iterdir()} == {"difference.png", "difference.tif"}


def test_exec_moves_as_often_as_it_is_told(airloom):
    lines = {"often": "exec --rate 100 ticking.py", "seldom": "exec --every 0.02 ticking.py"}
    members = {name: {"command": [*AIRLOOM, *line.split()]} for name, line in lines.items()}
    Path("ticking.yaml").write_text(f"{SCENARIO}\nmembers: {json.dumps(members)}\n")
    airloom("run ticking.yaml --headless --no-figures --out ticked")
    said = {name: Path(f"ticked/member-{name}.txt").read_text() for name in ("often", "seldom")}
    assert said == {"often": "0.01\n", "seldom": "0.02\n"}


def test_branch(airloom, certificate):
    said = airloom("branch nowhere tcp:127.0.0.1:7700 relay --set members.wing.at=field", 2)
    assert "its members are at field" in said
    said = airloom("branch field tcp:127.0.0.1:7700 --tls-cert both.pem --tls-key nothing.pem", 2)
    assert "the certificate nothing.pem: no such file" in said


def test_serve():
    done = started("serve short.yaml --stdio --seed 3 --set vehicles.cf.mass=0.03 --out served", stdin=subprocess.PIPE)
    replies, _ = done.communicate('{"method": "describe"}\n', timeout=120)
    assert json.loads(replies.splitlines()[0])["seed"] == 3
    assert RunFolder.open("served").read_summary()["vehicles"]["cf"]["mass"] == 0.03
    done = started("serve short.yaml --stdio --out served --replace", stdin=subprocess.PIPE)
    done.communicate("", timeout=120)
    assert RunFolder.open("served").read_summary()["seed"] == 0


def ended_by_ctrl_c(line, wanted, code=0):
    """The first line with what is wanted; then Ctrl-C must end it well."""
    process = started(line, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        found = next(said for said in process.stdout if wanted in said)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == code
        return found
    finally:
        process.kill()


def test_serve_for_other_computers(certificate):
    line = "serve short.yaml --tcp 0 --host 0.0.0.0 --token secret --tls --tls-cert both.pem --tls-key both.pem"
    assert certificate.fingerprint in ended_by_ctrl_c(line, "fingerprint")


def test_the_studio_for_other_computers(certificate):
    run = (
        "run short.yaml --until 600 --no-figures --out seen "
        "--port 0 --host 0.0.0.0 --token secret --tls --tls-cert both.pem --tls-key both.pem"
    )
    assert "secret" in ended_by_ctrl_c(run, "https://", 130)
    view = "view seen --port 0 --host 0.0.0.0 --token secret --tls --tls-cert both.pem --tls-key both.pem"
    assert "secret" in ended_by_ctrl_c(view, "https://")


def options_typed_here(commands):
    """In the command lines of this file."""
    texts = [node.value for node in ast.walk(ast.parse(Path(__file__).read_text())) if isinstance(node, ast.Constant)]
    lines = [text.split() for text in texts if isinstance(text, str) and text.split(" ")[0] in commands]
    return {(words[0], word) for words in lines for word in words if word.startswith("-")}


def test_every_option_is_run():
    commands = typer.main.get_command(app).commands
    options = {
        (name, parameter.opts[0])
        for name, command in commands.items()
        for parameter in command.params
        if parameter.opts[0].startswith("-")
    }
    assert options - options_typed_here(commands) - ELSEWHERE.keys() == set()
    assert ELSEWHERE.keys() <= options, "some are no options any more"
    for (command, option), place in ELSEWHERE.items():
        text = (TESTS / place).read_text()
        assert command in text, f"{place} runs no airloom {command}"
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", text), f"{place} does not use {option}"
