"""Coordinators in a tree: the same flight wherever the members run."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

import airloom as al
from airloom.loom import bundles
from airloom.loom.loom import LoomError
from airloom.net.tls import Certificate
from airloom.scenario import load

SCENARIO = """
name: spread
duration: 3
engine: batch
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 0.05]}, copies: {count: 4, spacing: 3}}
members:
  chief: {command: [python, chief.py], vehicles: drone_0, rate: 50, start_timeout: 120, AT_chief}
  left: {command: [python, wing.py], vehicles: "drone_[12]", rate: 20, start_timeout: 120, AT_left}
  right: {command: [python, wing.py], vehicles: "drone_[23]", rate: 20, start_timeout: 120, AT_right}
  radio: {command: [python, radio.py], phase: simulator, rate: 100, start_timeout: 120, AT_radio}
"""
CHIEF = """
from airloom import PositionYaw
from airloom.member import join
with join() as me:
    for turn in me:
        turn.command("drone_0", PositionYaw((turn.time, 0, 2)))
        x, y, z = turn.vehicles["drone_0"].position
        turn.send("radio", f"{x:.17g} {z:.17g}".encode())
"""
RADIO = """
from airloom.member import join
with join() as me:
    for turn in me:
        for letter in turn.letters:
            turn.send("*t", letter.content)
"""
WING = """
import os
from airloom import PositionYaw
from airloom.member import join
up = {"left": 1, "right": 2}[os.environ["AIRLOOM_MEMBER"]]
with join() as me:
    for turn in me:
        print(len(turn.letters))
        for letter in turn.letters[-1:]:
            x, z = map(float, letter.content.split())
            for k, name in enumerate(me.vehicles):
                turn.command(name, PositionYaw((x, 3 * (k + 1), z + up)))
"""


def written(folder, places=None, **changes):
    for name, text in {"chief": CHIEF, "radio": RADIO, "wing": WING}.items():
        (folder / f"{name}.py").write_text(changes.get(name, text))
    text = SCENARIO
    for name in ("chief", "left", "right", "radio"):
        at = (places or {}).get(name)
        text = text.replace(f", AT_{name}", f", at: {at}" if at else "")
    (folder / "spread.yaml").write_text(text)
    return load(folder / "spread.yaml")


@contextmanager
def branch(folder, name, address, *more):
    """`airloom branch`, which must end by itself when the run does."""
    command = [sys.executable, "-m", "airloom", "branch", name, address, *more]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
        process.wait(120)
    finally:
        process.kill()
        process.wait()


def opened(sim, port):
    sim.loom.listen = f"tcp:127.0.0.1:{port}"
    return f"tcp:127.0.0.1:{port}"


@pytest.fixture
def expected(tmp_path):
    with al.Simulation(written(tmp_path)) as sim:
        sim.run()
        assert sim.vehicles["drone_3"].position[2] > 1.0
        return sim.state_hash()


def test_one_branch_flies_the_same(tmp_path, expected, free_port):
    sim = al.Simulation(written(tmp_path, {"left": "field", "right": "field", "radio": "field"}))
    with branch(tmp_path, "field", opened(sim, free_port()), "spread.yaml"), sim:
        sim.run()
        assert sim.state_hash() == expected
    assert (tmp_path / "member-left.txt").read_text().count("\n") == 61


def test_a_branch_of_a_branch_flies_the_same_by_tls(tmp_path, expected, free_port, monkeypatch):
    sim = al.Simulation(written(tmp_path, {"chief": "near", "left": "far", "right": "far"}))
    first, second = free_port(), free_port()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    sim.loom.listen, fingerprint = f"tls:127.0.0.1:{first}", Certificate.own().fingerprint
    near = ("near", f"{sim.loom.listen}#{fingerprint}", "spread.yaml", "--listen", f"tls:127.0.0.1:{second}")
    far = ("far", f"tls:127.0.0.1:{second}#{fingerprint}", "spread.yaml")
    with branch(tmp_path, *near), branch(tmp_path, *far), sim:
        sim.run()
        assert sim.state_hash() == expected


def test_what_several_need_travels_once(tmp_path, free_port, monkeypatch):
    sent = []
    begins = bundles.begins

    def listened(round_, vehicles, members):
        message = begins(round_, vehicles, members)
        sent.append((len(vehicles), len(members), message))
        return message

    monkeypatch.setattr(bundles, "begins", listened)
    radio = RADIO.replace("letter.content)", 'letter.content + b" far and wide")')
    wing = WING.replace("letter.content.split()", "letter.content.split()[:2]")
    sim = al.Simulation(written(tmp_path, {"left": "field", "right": "field"}, radio=radio, wing=wing))
    with branch(tmp_path, "field", opened(sim, free_port()), "spread.yaml"), sim:
        sim.run(until=1.0)
    assert {(vehicles, members) for vehicles, members, _ in sent} == {(3, 2)}, "drone_2 is seen by both, and told once"
    heard = [sum(map(int, (tmp_path / f"member-{name}.txt").read_text().split())) for name in ("left", "right")]
    assert heard[0] == heard[1] > 40
    assert sum(message.count(b"far and wide") for _, _, message in sent) == heard[0], "not twice as often"


def test_a_program_that_the_branch_cannot_start(tmp_path, free_port):
    sim = al.Simulation(written(tmp_path, {"left": "field"}, wing="raise SystemExit('no license')"))
    del sim.scenario.members["right"]
    with (
        branch(tmp_path, "field", opened(sim, free_port()), "spread.yaml"),
        sim, pytest.raises(LoomError, match=r"(?s)member 'left' ended with code 1 before it joined.*no license"),
    ):  # fmt: skip
        sim.run()


FAULTS = {
    "dies": ("os.kill(os.getpid(), 9)", "is gone: it hung up"),
    "raises": ("raise ZeroDivisionError('too far')", "ZeroDivisionError: too far"),
    "hangs": ("__import__('time').sleep(60)", "did not answer within 1 s"),
    "talks nonsense": ("me._open = None; me._line.send(b'garbage and more')", "talks nonsense"),
    "commands another": ("turn._orders.append(b'\\x09\\0\\0\\0')", "commands vehicle 9 of 2"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_members_of_a_branch_fail_by_name(tmp_path, free_port, fault):
    code, complaint = FAULTS[fault]
    wing = WING.replace("print(len(turn.letters))", f"if turn.time == 1 and up == 2: {code}")
    scenario = written(tmp_path, {"left": "field", "right": "field"}, wing=wing)
    if fault == "hangs":
        scenario.members["right"] = scenario.members["right"].model_copy(update={"timeout": 1.0})
    sim = al.Simulation(scenario)
    with (
        branch(tmp_path, "field", opened(sim, free_port()), "spread.yaml"),
        sim, pytest.raises(LoomError, match=f"(?s)member 'right'.*{complaint}"),
    ):  # fmt: skip
        sim.run()
    assert sim.time == 1.0


def test_a_branch_that_is_killed_takes_its_members_only(tmp_path, free_port):
    scenario = written(tmp_path, {"left": "field", "right": "field"})
    for name in ("left", "right"):
        scenario.members[name] = scenario.members[name].model_copy(update={"on_failure": "hold"})
    sim = al.Simulation(scenario)
    with branch(tmp_path, "field", opened(sim, free_port()), "spread.yaml") as process, sim:
        sim.run(until=1.5)
        process.kill()
        process.wait()
        sim.run()
        assert sim.time == 3.0
        assert sim.vehicles["drone_0"].position[0] > 1.0
    told = "member 'left' is out of reach: branch 'field' is gone: (it hung up|Connection reset by peer|Broken pipe)"
    assert any(re.search(told, finding.text) for finding in sim.verdict.failures)


def test_members_of_other_rates_are_missed_in_their_turn(tmp_path, free_port):
    scenario = written(tmp_path, {"left": "field", "right": "field"})
    for name, rate in (("left", 20.0), ("right", 4.0)):
        scenario.members[name] = scenario.members[name].model_copy(update={"on_failure": "hold", "rate": rate})
    sim = al.Simulation(scenario)
    with branch(tmp_path, "field", opened(sim, free_port()), "spread.yaml") as process, sim:
        sim.run(until=1.51)
        process.kill()
        process.wait()
        sim.run()
        assert sim.time == 3.0
    for name in ("left", "right"):
        assert any(f"member '{name}' is out of reach" in finding.text for finding in sim.verdict.failures)


def test_nobody_comes_from_a_branch(tmp_path, free_port):
    scenario = written(tmp_path, {"left": "field"})
    scenario.members["left"] = scenario.members["left"].model_copy(update={"start_timeout": 0.5})
    with al.Simulation(scenario) as sim, pytest.raises(LoomError, match="`airloom branch field` starts it"):
        sim.run()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["field", "tcp:127.0.0.1:1", "spread.yaml"], "its members are at nowhere"),
        (["field", "ftp:127.0.0.1:1"], "unix:/path, tcp:host:port or tls:"),
        (["field", "tcp:127.0.0.1:1", "--listen", "tcp:nowhere"], "no place to listen"),
    ],
)
def test_mistakes_at_the_command_line(tmp_path, arguments, complaint):
    written(tmp_path, {"left": "nowhere"})
    command = [sys.executable, "-m", "airloom", "branch", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2)
    assert complaint in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_a_branch_says_whom_it_looks_for_and_ends_when_asked(tmp_path, free_port):
    command = [sys.executable, "-m", "airloom", "branch", "field", f"tcp:127.0.0.1:{free_port()}"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert any("Looking for the loom at tcp:127.0.0.1:" in line for line in process.stdout)
        process.terminate()
        assert "stopped before a loom answered" in process.communicate(timeout=60)[1]
    assert process.returncode == 128 + signal.SIGTERM


def test_a_member_of_a_branch_that_fails_after_the_run(tmp_path, free_port):
    """The run is over: it is told where the branch was started."""
    sim = al.Simulation(written(tmp_path, {"left": "field"}, wing=WING + "\nraise SystemExit('no landing')\n"))
    with branch(tmp_path, "field", opened(sim, free_port()), "spread.yaml") as process, sim:
        sim.run()
        sim.close()
        said = process.communicate(timeout=60)[0]
    assert "member 'left' has failed after the run; it ended with code 1; it said last" in said
    assert process.returncode == 1
