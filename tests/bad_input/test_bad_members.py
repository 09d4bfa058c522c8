"""Members that die, hang, answer late, twice or nonsense, flood, leave: named, dealt with as asked, none left over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import airloom as al
from airloom.loom.loom import LoomError
from airloom.member import NotAdmitted, join
from airloom.scenario import load

pytestmark = pytest.mark.slow

SCENARIO = """
name: loomed
duration: 4
engine: batch
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
  other: {extends: multirotor, pose: {position: [0, 3, 0.05]}}
members:
  good: {command: [python, good.py], vehicles: other, timeout: 60, start_timeout: 120}
  bad: {command: [python, bad.py], vehicles: drone, timeout: TIMEOUT, start_timeout: 120, on_failure: POLICY}
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
HANGS = "time.sleep(600)"
FAULTS = {
    "dies": ("os.kill(os.getpid(), signal.SIGKILL)", "is gone"),
    "raises": ("raise ZeroDivisionError('too far')", "ZeroDivisionError: too far"),
    "hangs": (HANGS, "did not answer within 1 s"),
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
    text = SCENARIO.replace("POLICY", policy).replace("TIMEOUT", "1" if fault == HANGS else "60")
    (folder / "loomed.yaml").write_text(text)
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
    """The timeout would be long."""
    simulation(folder, FAULTS["dies"][0])
    scenario = load(folder / "loomed.yaml")
    scenario.members["bad"] = scenario.members["bad"].model_copy(update={"timeout": 600.0})
    with al.Simulation(scenario) as sim, pytest.raises(LoomError, match=r"is gone: .*; it was ended by SIGKILL"):
        sim.run()


@pytest.mark.parametrize("fault", ["dies", "hangs", "sends garbage"])
def test_hold_goes_on_without_it(folder, fault):
    with simulation(folder, FAULTS[fault][0], "hold") as sim:
        sim.run()
        assert sim.time == 4.0
        assert sim.vehicles["drone"].position == pytest.approx([0, 0, 2], abs=0.5)
        assert sim.vehicles["other"].position == pytest.approx([0, 3, 2], abs=0.3)
        (finding,) = sim.verdict.failures
        assert finding.source == "bad"


def test_who_leaves_is_missed_by_nobody(folder):
    with simulation(folder, "me.leave(); break") as sim:
        sim.run()
        assert sim.time == 4.0
    assert children() == []


LEAVING = "me.leave(); print('cannot go on'); os._exit(3)"


@pytest.mark.parametrize("leave", [LEAVING, "raise SystemExit(3)"])
def test_who_leaves_with_a_code_has_failed(folder, leave):
    with simulation(folder, leave) as sim, pytest.raises(LoomError, match=r"(?s)'bad' .*; it ended with code 3"):
        sim.run()
    assert sim.time == pytest.approx(2.0, abs=0.05)


def test_who_leaves_with_a_code_is_dealt_with_as_asked(folder):
    with simulation(folder, LEAVING, "hold") as sim:
        sim.run()
        assert sim.time == 4.0
        (finding,) = sim.verdict.failures
        assert finding.text == "member 'bad' has left the loom; it ended with code 3; it said last:\ncannot go on"


@pytest.mark.parametrize("policy", ["stop", "continue"])
def test_who_fails_after_the_run_is_told(folder, policy):
    """Such as a member that finds at the end that it did not land."""
    simulation(folder, "pass", policy)
    (folder / "bad.py").write_text((folder / "bad.py").read_text() + "\nraise SystemExit('it never landed')\n")
    done = subprocess.run(
        [sys.executable, "-m", "airloom", "run", "loomed.yaml", "--headless", "--no-figures", "--out", "run"],
        cwd=folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "has failed after the run; it ended with code 1; it said last:\nit never landed" in done.stderr
    summary = json.loads((folder / "run/summary.json").read_text())
    assert not summary["verdict"]["good"]
    assert summary["status"] == "failed"
    assert summary["members"] == {"bad": "ended with code 1", "good": "ended with code 0"}


@pytest.mark.parametrize(
    ("flood", "complaint"),
    [
        ("[turn.send('good', b'x') for _ in range(60_000)]", "letter 10001 of this turn, 1 bytes to 'good', is not"),
        ("[turn.send('good', bytes(9 << 20)) for _ in range(2)]", "letter 1 of this turn, 9437184 bytes to 'good'"),
        ("[turn.kill('drone') for _ in range(70_000)]", "more than 65535 commands"),
        ("turn.send('x' * 70_000, b'')", "a name or a pattern of 70000 bytes"),
        ("turn._outbox = [Letter('good', bytes(6 << 20))] * 2", "talks nonsense: 2 letters in a turn: at most 10000"),
    ],
)
def test_who_says_too_much_is_told(folder, flood, complaint):
    with simulation(folder, flood) as sim, pytest.raises(LoomError, match=rf"(?s)'bad' .*{complaint}"):
        sim.run()


def test_letters_that_find_no_room_are_counted(folder):
    """Two who each send as much as they may to a third."""
    many = "[turn.send('good', b'x' * 100) for _ in range(9_000 if turn.time < 2.1 else 0)]"
    simulation(folder, many, "continue")
    more = "  worse: {command: [python, bad.py], vehicles: drone, timeout: 60, start_timeout: 120}\n"
    (folder / "loomed.yaml").write_text((folder / "loomed.yaml").read_text() + more)
    told = "letters = turn.letters; letters and print(len(letters), letters[-1].other, flush=True)"
    (folder / "good.py").write_text(GOOD + f"        {told}\n")
    with al.Simulation(load(folder / "loomed.yaml")) as sim:
        sim.member_logs = folder
        sim.run(until=2.5)
    assert (folder / "member-good.txt").read_text().split() == 5 * ["10000", "worse"]
    (warning,) = sim.warnings
    assert "worse: wrote more to 'good' than can wait there, which is lost: at most 10000 letters" in warning
    assert "(8000 letters) (5 times, the last at 2.080 s)" in warning


def test_many_letters_to_nobody_are_one_warning(folder):
    with simulation(folder, "[turn.send('nobody', b'x') for _ in range(300)]") as sim:
        sim.run()
    (warning,) = sim.warnings
    assert warning.startswith("2.000 s: bad: wrote to 'nobody', which is no member (300 letters) (101 times")


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


def test_a_member_nobody_starts(folder, monkeypatch):
    """And meanwhile it is told whom the loom waits for."""
    monkeypatch.setattr("airloom.loom.loom.SAYING_WHO", 0.1)
    text = SCENARIO[: SCENARIO.index("  good:")] + "  bad: {start_timeout: 1}\n"
    (folder / "loomed.yaml").write_text(text)
    told = []
    with al.Simulation(load(folder / "loomed.yaml")) as sim:
        sim.loom.tell = told.append
        with pytest.raises(LoomError, match="'bad' has not joined"):
            sim.run()
    assert "Waiting for member 'bad' to join at unix:" in told[-1]
    assert "s left (start_timeout)" in told[-1]


@pytest.mark.parametrize(
    "address", ["garbage", "", "tcp", "tcp:host", "tcp::1", "tcp:host:99999", "unix:/no/where", "tls:x"]
)
def test_an_address_that_is_none(address, monkeypatch):
    monkeypatch.setenv("AIRLOOM_LOOM", address)
    with pytest.raises(NotAdmitted, match=r"no loom is named|cannot reach the loom at"):
        join("me")


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
        sim.member_logs, said = folder, folder / "member-bad.txt"
        fly_until(sim, lambda: said.exists() and "'good' is here already" in said.read_text())
    assert "no member is called 'nobody'" in said.read_text()


def fly_until(sim, is_so, patience=120.0):
    deadline = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < deadline
        sim.run(until=sim.time + 0.1)


def test_a_newcomer_that_says_nothing_holds_nobody_up(folder, monkeypatch):
    monkeypatch.setattr("airloom.loom.newcomers.PATIENCE", 600.0)
    silent = "me.silent = connect(os.environ['AIRLOOM_LOOM']) if turn.time == 2 else me.silent"
    with simulation(folder, silent) as sim:
        text = (folder / "bad.py").read_text()
        (folder / "bad.py").write_text(f"from airloom.loom.line import connect\n{text}")
        began = time.monotonic()
        sim.run()
        assert sim.time == 4.0
        assert time.monotonic() - began < 300


def test_who_was_lost_may_come_back(folder):
    with simulation(folder, FAULTS["dies"][0], "continue") as sim:
        (folder / "again.py").write_text(JOINING.replace("(0, 0, 2)", "(0, 0, 4)").replace("FAULT", "pass"))
        again = "[sys.executable, 'again.py'], env={**os.environ, 'AIRLOOM_MEMBER': 'bad'}"
        slow = f"turn.time == 2.1 and subprocess.Popen({again}); time.sleep(0.02)"
        good = GOOD.replace("(0, 3, 2)))", f"(0, 3, 2)))\n        {slow}")
        (folder / "good.py").write_text(f"import os, subprocess, sys, time\n{good}")
        fly_until(sim, lambda: sim.vehicles["drone"].setpoint.position[2] == 4.0)


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


@pytest.fixture
def temporary():
    """A folder whose path is short enough for a socket, whatever the worker of the tests is called."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


ORPHAN = """
import os, subprocess
orphan = subprocess.run(["sh", "-c", "setsid sleep 600 > /dev/null 2>&1 & echo $!"], capture_output=True, text=True)
print("processes", os.getpid(), orphan.stdout, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_outlives_a_run_that_is_ended(folder, temporary, number):
    """Neither members nor what they have started in a session of its own, nor the folder of the loom's socket."""
    simulation(folder, "pass")
    for name in ("good", "bad"):
        (folder / f"{name}.py").write_text(ORPHAN + (folder / f"{name}.py").read_text())
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
    (folder / "loomed.yaml").write_text((folder / "loomed.yaml").read_text() + many)
    command = f"ulimit -n 40; exec {sys.executable} -m airloom run loomed.yaml --headless --no-figures --until 0.1"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "Too many open files" in done.stderr
    assert "Traceback" not in done.stderr
