"""The command line as a user has it: real processes."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from airloom.basics.version import VERSION
from airloom.runs.mcap import LogReader

AIRLOOM = [sys.executable, "-m", "airloom"]
WIDE = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}

RAISING = """
import airloom as al

class Faulty(al.System):
    '''Goes wrong at one second.'''

    def pre_update(self, sim):
        if sim.time >= 1.0:
            self._go_wrong()

    def _go_wrong(self):
        raise RuntimeError("no such luck")
"""

BLOWING = """
import airloom as al

class Hurricane(al.System):
    '''A wind that no number can hold.'''

    def pre_update(self, sim):
        if sim.time >= 0.5:
            sim.vehicles["cf"].push((0, 0, 1e300))
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def airloom(*args):
    return subprocess.run([*AIRLOOM, *args], capture_output=True, text=True, env=WIDE, timeout=180)


def fly(*args, out="run", figures=False):
    done = airloom("run", *args, "--headless", "--out", out, *([] if figures else ["--no-figures"]))
    return done, summary_of(out)


def summary_of(out):
    with open(f"{out}/summary.json") as file:
        return json.load(file)


def start(*args, out="run"):
    """A run in real time, when its log has begun to grow."""
    process = subprocess.Popen(
        [*AIRLOOM, "run", "hover", "--headless", "--speed", "1", "--no-figures", "--out", out, *args],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=WIDE,
    )  # fmt: skip

    def has_begun():
        assert process.poll() is None, process.communicate()
        return os.path.exists(f"{out}/log.mcap") and os.path.getsize(f"{out}/log.mcap") > 20_000

    wait_until(has_begun)
    return process


def wait_until(is_so):
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# -- what there is ---------------------------------------------------------------------------------------------------


def test_help_teaches():
    for args in (
        [],
        ["run"],
        ["fly"],
        ["view"],
        ["film"],
        ["list"],
        ["plot"],
        ["replay"],
        ["schema"],
        ["doctor"],
        ["bench"],
        ["check"],
    ):
        done = airloom(*args, "--help")
        assert done.returncode == 0
        assert "Usage: airloom" in done.stdout
    text = airloom("run", "--help").stdout
    for part in ("airloom run hover", "--set", "KEY=VALUE", "headless max", "--headless", "studio"):
        assert part in text


def test_help_and_version_come_without_the_heavy_modules():
    code = "import sys, airloom.cli; print([m for m in ('numba', 'mujoco', 'numpy', 'pydantic') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
    assert airloom("--version").stdout == f"airloom {VERSION}\n"


def test_list_names_everything_with_a_line_each():
    text = airloom("list").stdout
    for word in ("scenarios", "hover", "crazyflie2", "lab", "imu", "mpu9250", "cascade", "ideal", "waypoints"):
        assert word in text
    assert "A Crazyflie takes off and hovers at one metre" in text
    vehicles = airloom("list", "vehicles").stdout
    assert "crazyflie2" in vehicles
    assert "waypoints" not in vehicles


def test_schema_goes_to_a_file_and_says_how_to_use_it():
    done = airloom("schema", "--out", "scenario.json")
    assert "yaml-language-server: $schema=" in done.stdout
    with open("scenario.json") as file:
        assert json.load(file) == json.loads(airloom("schema").stdout)


def test_doctor_finds_nothing_broken():
    done = airloom("doctor")
    assert done.returncode == 0
    assert "mujoco engine" in done.stdout
    assert "batch engine" in done.stdout
    assert "✗" not in done.stdout


# -- runs ------------------------------------------------------------------------------------------------------------


def test_a_run_leaves_its_folder():
    done, summary = fly("hover", "--until", "1", "--headless")
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir("run")) == ["log.mcap", "scenario.yaml", "summary.json"]
    assert "hover finished: 1.000 s" in done.stdout
    assert summary["state_hash"] in done.stdout
    assert summary["status"] == "finished"
    assert summary["simulated_time"] == 1.0
    assert summary["seed"] == 0
    assert len(summary["vehicles"]["cf"]["position"]) == 3
    with LogReader("run/log.mcap") as log:
        assert log.complete
        assert log.duration == pytest.approx(1.0)
        assert log.metadata["scenario"] == "hover"
        with open("run/scenario.yaml") as file:
            assert log.scenario_text == file.read()


def test_the_resolved_scenario_repeats_the_run():
    settings = "vehicles.cf.mass=0.028", "vehicles.cf.estimator=complementary", "engine=batch", "world.wind=[0.1,0,0]"
    options = [word for setting in settings for word in ("--set", setting)]
    _, first = fly("hover", "--until", "7", "--seed", "5", *options, out="first")
    _, second = fly("first/scenario.yaml", out="second")
    _, other = fly("first/scenario.yaml", "--seed", "6", out="third")
    assert second["state_hash"] == first["state_hash"]
    assert second["seed"] == 5
    assert other["state_hash"] != first["state_hash"]


def test_pace_log_and_figures_change_no_bit():
    _, plain = fly("hover", "--until", "1.5", "--no-log", out="plain")
    done, paced = fly("hover", "--until", "1.5", "--speed", "1", out="paced", figures=True)
    assert paced["state_hash"] == plain["state_hash"]
    assert paced["real_time_factor"] < 1.1
    assert paced["lateness"]["chunks"] == pytest.approx(150, abs=10)
    assert "chunks late" in done.stdout
    assert os.path.exists("paced/flight-cf.png")
    assert not os.path.exists("plain/log.mcap")


def test_an_earlier_run_is_replaced_and_quiet_is_quiet():
    fly("hover", "--until", "0.1")
    done, summary = fly("hover", "--until", "0.2", "--quiet", "--replace")
    assert (done.stdout, done.stderr) == ("", "")
    assert summary["simulated_time"] == 0.2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_run_cleanly(number, code):
    process = start()
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == code
    summary = summary_of("run")
    assert summary["status"] == "stopped"
    assert f"Stopped at t = {summary['simulated_time']:.3f} s" in errors
    with LogReader("run/log.mcap") as log:
        assert log.complete
        assert log.duration == pytest.approx(summary["simulated_time"], abs=0.03)


def test_a_terminal_that_is_closed_ends_the_run_cleanly():
    """What it draws on the terminal then fails, and must not look like a failure of the run."""
    holder = (
        "import os, pty, sys; process, screen = pty.fork()\n"
        "if process == 0: os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
        "while os.read(screen, 4096): pass"
    )
    command = [*AIRLOOM[1:], "run", "hover", "--headless", "--speed", "0.2", "--no-figures", "--out", "run"]
    terminal = subprocess.Popen([sys.executable, "-c", holder, *command], env=WIDE)
    wait_until(lambda: os.path.exists("run/log.mcap") and os.path.getsize("run/log.mcap") > 2_000)
    terminal.kill()
    terminal.wait()
    wait_until(lambda: os.path.exists("run/summary.json"))
    assert summary_of("run")["status"] == "stopped"
    with LogReader("run/log.mcap") as log:
        assert log.complete


def test_a_killed_run_leaves_a_log_that_opens():
    process = start()
    size = os.path.getsize("run/log.mcap")
    wait_until(lambda: os.path.getsize("run/log.mcap") > size + 10_000)
    process.kill()
    process.communicate(timeout=30)
    with LogReader("run/log.mcap") as log:
        assert not log.complete
        assert log.duration > 0.2
        assert log.series("/cf/state", "pose.pose.position")[1].shape[1] == 3
    assert airloom("replay", "run", "--speed", "max").returncode == 0


# -- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run", "hovr"], "did you mean 'hover'?"),
        (["run", "missing.yaml"], "missing.yaml"),
        (["run", "hover", "--set", "vehicles.cf.mass=-1"], "greater than 0"),
        (["run", "hover", "--set", "vehicles.cf.mas=1"], "did you mean 'mass'?"),
        (["run", "hover", "--set", "nonsense"], "there is no '='"),
        (["run", "hover", "--set", "systems.waypoints.kind=nothing.py:Nothing"], "does not exist"),
        (["run", "hover", "--until", "0"], "greater than 0"),
        (["run", "hover", "--until", "nan"], "greater than 0"),
        (["run", "hover", "--until", "soon"], "--until"),
        (["run", "hover", "--speed", "0"], "neither a number above 0 nor max"),
        (["run", "hover", "--speed", ""], "neither a number above 0 nor max"),
        (["run", "hover", "--speed", "fast"], "neither a number above 0 nor max"),
        (["run", "hover", "--seed", "-1"], "--seed"),
        (["run", "hover", "--out", "/proc/run"], "/proc/run"),
        (["run"], "SCENARIO"),
        (["soar"], "No such command"),
        (["list", "dragons"], "dragons"),
        (["plot", "nowhere"], "there is no run 'nowhere'"),
        (["replay"], "there is no last run"),
        (["check", "nowhere.py"], "there is no file 'nowhere.py'"),
        (["schema", "--out", "/proc/schema"], "cannot write"),
    ],
)
def test_mistakes_are_told_in_a_sentence(args, message):
    done = airloom(*args)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not os.path.exists("runs")


def test_a_plugin_that_raises_is_named_with_its_line():
    with open("faulty.py", "w") as file:
        file.write(RAISING)
    setting = "systems.mine={kind: 'faulty.py:Faulty'}"
    done, summary = fly("hover", "--until", "2", "--set", setting)
    assert done.returncode == 1
    for part in ("'mine'", "pre_update", "t = 1.000 s", "faulty.py:12", "RuntimeError: no such luck"):
        assert part in done.stderr
    assert "Traceback" not in done.stderr
    assert summary["status"] == "failed"
    assert "no such luck" in summary["reason"]
    with LogReader("run/log.mcap") as log:
        assert log.complete
        assert log.duration == pytest.approx(1.0, abs=0.03)
    assert "Traceback" in fly("hover", "--until", "2", "--set", setting, "--debug")[0].stderr


MISSION = "systems={m: {kind: mission, items: [{takeoff: 1}, {goto: [0, 0, %s]}]}}"


def test_a_mission_that_fails_is_a_failed_run():
    done, summary = fly("hover", "--until", "8", "--set", "engine=batch", "--set", MISSION % -1)
    assert done.returncode == 3
    assert "The run failed: " in done.stderr
    assert "cf: m failed: MissionError: cf: (0, 0, -1) lies in the ground" in done.stderr
    assert summary["status"] == "failed"
    assert "lies in the ground" in summary["reason"]
    assert summary["simulated_time"] == 8.0
    assert not summary["verdict"]["good"]
    assert summary["verdict"]["findings"][0]["source"] == "cf"


def test_a_mission_that_is_done_or_not_over_is_told():
    done, summary = fly("hover", "--until", "15", "--set", "engine=batch", "--set", MISSION % 1.5)
    assert done.returncode == 0
    assert "cf: m is done" in done.stdout
    assert summary["verdict"]["good"]
    done, summary = fly("hover", "--until", "2", "--set", "engine=batch", "--set", MISSION % 1.5, out="short")
    assert done.returncode == 0
    assert summary["warnings"] == ["2.000 s: cf: its mission was not over when the run ended"]


def test_a_mission_for_which_its_scenario_has_too_little_time_is_a_failed_run():
    short = ("hover", "--set", "engine=batch", "--set", "duration=2")
    done, summary = fly(*short, "--set", MISSION % 1.5)
    assert done.returncode == 3
    assert "m was not over when the run ended, at (0, 0, " in done.stderr
    assert "give the scenario a longer duration than 2 s" in summary["reason"]
    endless = "systems={m: {kind: mission, items: [{takeoff: 1}, {loiter: [0, 0, 1], seconds: null}]}}"
    done, summary = fly(*short, "--set", endless, out="endless")
    assert done.returncode == 0
    assert summary["verdict"]["good"]


@pytest.mark.parametrize("engine", ["mujoco", "batch"])
def test_a_state_that_is_no_number_ends_the_run(engine):
    with open("blow.py", "w") as file:
        file.write(BLOWING)
    done, summary = fly("hover", "--set", "systems.mine={kind: 'blow.py:Hurricane'}", "--set", f"engine={engine}")
    assert done.returncode == 1
    assert "the state of vehicle 'cf' became infinite, no number or absurd" in done.stderr
    assert summary["status"] == "failed"
    assert 0.5 <= summary["simulated_time"] < 2.0
