"""Members that die, hang, answer late, twice or nonsense, flood, leave: named, dealt with as asked, none left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import airloom as al
from airloom.loom.loom import LoomError
from airloom.scenario import load

SCENARIO = """
name: loomed
duration: 4
engine: batch
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
  other: {extends: multirotor, pose: {position: [0, 3, 0.05]}}
members:
  good: {command: [python, good.py], vehicles: other}
  bad: {command: [python, bad.py], vehicles: drone, timeout: 1, start_timeout: 20, on_failure: POLICY}
"""
GOOD = """
from airloom import PositionYaw
from airloom.member import join
with join() as me:
    for turn in me:
        turn.command("other", PositionYaw((0, 3, 2)))
"""
JOINING = """
import os, signal, time
from airloom import PositionYaw
from airloom.loom import protocol
from airloom.loom.protocol import Letter
from airloom.member import join
me = join()
for turn in me:
    turn.command("drone", PositionYaw((0, 0, 2)))
    if turn.time >= 2:
        FAULT
"""
FAULTS = {
    "dies": ("os.kill(os.getpid(), signal.SIGKILL)", "is gone"),
    "raises": ("raise ZeroDivisionError('too far')", "ZeroDivisionError: too far"),
    "hangs": ("time.sleep(60)", "did not answer within 1 s"),
    "answers twice": ("me.end(); me._line.send(protocol.end(turn.time_ns) * 2)", "more than one|ended a turn"),
    "ends another turn": ("me._open = None; me._line.send(protocol.end(7))", "ended a turn of 0.000000 s at 2.0"),
    "sends garbage": ("me._open = None; me._line.send(b'\\x05\\0\\0\\0\\x05garb')", "talks nonsense"),
    "sends an unknown kind": ("me._open = None; me._line.send(b'\\x01\\0\\0\\0\\x63')", "no message of kind 99"),
    "sends half": ("me._open = None; me._line.send(b'\\x50\\0\\0\\0\\x05'); me._line.close()", "hung up"),
    "sends too much": ("me._open = None; me._line.send(b'\\xff\\xff\\xff\\xff\\x05')", "at most"),
    "commands another": ("turn._orders = [protocol.order(9, None)]", "commands vehicle 9 of 1"),
    "says hello again": (
        "me._open = None; me._line.send(protocol.hello(protocol.Hello('bad')))", "sent HELLO where END was due"
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    return tmp_path


def simulation(folder, fault, policy="stop"):
    (folder / "bad.py").write_text(JOINING.replace("FAULT", fault))
    (folder / "loomed.yaml").write_text(SCENARIO.replace("POLICY", policy))
    return al.Simulation(load(folder / "loomed.yaml"))


def children():
    """Processes of this one's that are members."""
    found = subprocess.run(
        ["ps", "-ww", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True
    ).stdout
    return [line for line in found.splitlines() if "bad.py" in line or "good.py" in line]


@pytest.mark.parametrize("fault", FAULTS)
def test_the_run_stops_and_says_who_and_why(folder, fault):
    code, complaint = FAULTS[fault]
    with simulation(folder, code) as sim, pytest.raises(LoomError, match=f"(?s)member 'bad'.*({complaint})"):
        sim.run()
    assert sim.time == pytest.approx(2.0, abs=0.05)
    assert children() == []


def test_death_is_seen_at_once(folder):
    with simulation(folder, FAULTS["dies"][0]) as sim:
        sim.run(until=1.9)
        began = time.monotonic()
        with pytest.raises(LoomError, match="is gone"):
            sim.run()
        assert time.monotonic() - began < 0.9, "long before the timeout"


@pytest.mark.parametrize("fault", ["dies", "hangs", "sends garbage"])
def test_hold_goes_on_without_it(folder, fault):
    with simulation(folder, FAULTS[fault][0], "hold") as sim:
        sim.run()
        assert sim.time == 4.0
        assert sim.vehicles["drone"].position == pytest.approx([0, 0, 2], abs=0.5)
        assert sim.vehicles["other"].position == pytest.approx([0, 3, 2], abs=0.3)
        assert any("member 'bad'" in warning for warning in sim.warnings)


def test_who_leaves_is_missed_by_nobody(folder):
    with simulation(folder, "me.leave(); break") as sim:
        sim.run()
        assert sim.time == 4.0
    assert children() == []


def test_a_flood_of_letters_is_cut(folder):
    flood = "[turn.send('good', b'x' * 100) for _ in range(20000 if turn.time < 2.1 else 0)]"
    with simulation(folder, flood, "continue") as sim:
        sim.run()
        assert sim.time == 4.0


def test_a_member_that_does_not_start(folder):
    with simulation(folder, "pass") as sim:
        (folder / "bad.py").write_text("raise SystemExit('no license')")
        with pytest.raises(LoomError, match=r"(?s)member 'bad' ended with code 1 before it joined.*no license"):
            sim.run()
    assert children() == []


def test_a_program_that_is_not_there(folder):
    with simulation(folder, "pass") as sim:
        member = sim.scenario.members["bad"].model_copy(update={"command": ["./nothing"]})
        sim.loom._described = {"bad": member}
        with pytest.raises(LoomError, match=r"cannot be started: \./nothing: No such file"):
            sim.run()


def test_a_member_nobody_starts(folder):
    text = (
        SCENARIO.replace("POLICY", "stop")
        .replace("command: [python, bad.py], ", "")
        .replace("timeout: 20", "timeout: 1")
    )
    (folder / "loomed.yaml").write_text(text)
    with al.Simulation(load(folder / "loomed.yaml")) as sim, pytest.raises(LoomError, match="'bad' has not joined"):
        sim.run()


STRANGER = """
from airloom.member import NotAdmitted, join
for name in ("nobody", "good"):
    try:
        join(name)
    except NotAdmitted as error:
        print(error)
"""


def test_strangers_are_refused_while_the_run_goes_on(folder):
    (folder / "stranger.py").write_text(STRANGER)
    once = "turn.time == 2 and subprocess.Popen([sys.executable, 'stranger.py']); time.sleep(0.02)"
    with simulation(folder, once) as sim:
        text = (folder / "bad.py").read_text()
        (folder / "bad.py").write_text(f"import subprocess, sys\n{text}")
        sim.member_logs = folder
        sim.run()
    said = (folder / "member-bad.txt").read_text()
    assert "no member is called 'nobody'" in said
    assert "'good' is here already" in said


def test_a_newcomer_that_says_nothing_holds_nobody_up(folder):
    silent = "connect(os.environ['AIRLOOM_LOOM']) if turn.time == 2 else None"
    with simulation(folder, silent) as sim:
        text = (folder / "bad.py").read_text()
        (folder / "bad.py").write_text(f"from airloom.loom.line import connect\n{text}")
        began = time.monotonic()
        sim.run()
        assert sim.time == 4.0
        assert time.monotonic() - began < 10


def test_who_was_lost_may_come_back(folder):
    with simulation(folder, FAULTS["dies"][0], "continue") as sim:
        (folder / "again.py").write_text(JOINING.replace("(0, 0, 2)", "(0, 0, 4)").replace("FAULT", "pass"))
        again = "[sys.executable, 'again.py'], env={**os.environ, 'AIRLOOM_MEMBER': 'bad'}"
        slow = f"turn.time == 2.1 and subprocess.Popen({again}); time.sleep(0.02)"
        good = GOOD.replace("(0, 3, 2)))", f"(0, 3, 2)))\n        {slow}")
        (folder / "good.py").write_text(f"import os, subprocess, sys, time\n{good}")
        sim.run()
        assert sim.vehicles["drone"].setpoint.position[2] == 4.0


def test_the_command_line_ends_cleanly(folder):
    simulation(folder, FAULTS["dies"][0])
    done = subprocess.run(
        [sys.executable, "-m", "airloom", "run", "loomed.yaml", "--headless", "--no-figures", "--out", "run"],
        cwd=folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode != 0
    assert "member 'bad' is gone" in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "run/member-bad.txt").exists()
    assert Path(folder / "run/summary.json").exists()


ORPHAN = """
import os, subprocess
orphan = subprocess.run(["sh", "-c", "setsid sleep 600 > /dev/null 2>&1 & echo $!"], capture_output=True, text=True)
print("processes", os.getpid(), orphan.stdout, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_outlives_a_run_that_is_ended(folder, number):
    """Neither members nor what they have started in a session of its own, nor the folder of the loom's socket."""
    simulation(folder, "pass")
    for name in ("good", "bad"):
        (folder / f"{name}.py").write_text(ORPHAN + (folder / f"{name}.py").read_text())
    temporary = folder / "temporary"
    temporary.mkdir()
    run = subprocess.Popen(
        [sys.executable, "-m", "airloom", "run", "loomed.yaml", "--headless", "--speed", "0.1", "--out", "run", "-q"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    logs = [folder / f"run/member-{name}.txt" for name in ("good", "bad")]
    wait_until(lambda: all(log.exists() and log.read_text().endswith("\n") for log in logs))
    wait_until(lambda: (folder / "run/log.mcap").stat().st_size > 0)
    processes = [int(number) for log in logs for number in log.read_text().split()[1:]]
    assert all(Path(f"/proc/{process}").exists() for process in processes)
    assert list(temporary.glob("airloom-*"))
    run.send_signal(number)
    run.communicate(timeout=120)
    assert run.returncode == (-number if number == signal.SIGKILL else 128 + number)
    wait_until(lambda: not any(Path(f"/proc/{process}").exists() for process in processes))
    wait_until(lambda: not list(temporary.glob("airloom-*")))


def test_nothing_outlives_a_python_program_that_raises(folder):
    simulation(folder, "pass")
    (folder / "bad.py").write_text(ORPHAN + (folder / "bad.py").read_text())
    program = (
        "import airloom as al, pathlib; sim = al.Simulation.load('loomed.yaml'); sim.member_logs = pathlib.Path('.');"
        "sim.run(until=0.1); raise ZeroDivisionError"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=120)
    assert "ZeroDivisionError" in done.stderr
    processes = [int(number) for number in (folder / "member-bad.txt").read_text().split()[1:]]
    assert len(processes) == 2
    wait_until(lambda: not any(Path(f"/proc/{process}").exists() for process in processes))


def wait_until(is_so, patience=120.0):
    deadline = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_more_members_than_files_allowed(folder):
    simulation(folder, "pass")
    many = "".join(f"  extra_{k}: {{command: [python, good.py], vehicles: other}}\n" for k in range(40))
    (folder / "loomed.yaml").write_text(SCENARIO.replace("POLICY", "stop") + many)
    command = f"ulimit -n 40; exec {sys.executable} -m airloom run loomed.yaml --headless --no-figures --until 0.1"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "Too many open files" in done.stderr
    assert "Traceback" not in done.stderr
