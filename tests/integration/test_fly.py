"""Commanding a running simulation from other processes: `airloom run --link` and `airloom fly`."""

import json
import os
import pty
import select
import signal
import socket
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from airloom.net.json_lines import LONGEST_LINE
from airloom.runs.folder import RunFolder
from airloom.runs.link.client import LinkClient, LinkError, Refused
from airloom.runs.link.place import find_socket
from airloom.runs.mcap import LogReader
from airloom.scenario import load

AIRLOOM = [sys.executable, "-m", "airloom"]
ENV = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
SCENARIO = """
name: pair
duration: 100000
engine: batch
world: lab
vehicles:
  drone0: {extends: iris, controller: modes, pose: {position: [0, 0, 0.055]}}
  drone1: {extends: iris, controller: modes, pose: {position: [0, 3, 0.055]}}
  plain: {extends: crazyflie2, pose: {position: [5, 0, 0.015]}}
"""


class LinkedRun:
    """A real process, and its folder."""

    def __init__(self, folder, *options):
        self.folder = RunFolder(folder)
        scenario = folder.parent / "pair.yaml"
        scenario.write_text(SCENARIO)
        self.process = subprocess.Popen(
            [*AIRLOOM, "run", scenario, "--headless", "--link", "--no-figures", "--out", folder, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV, cwd=folder.parent,
        )  # fmt: skip
        deadline = time.monotonic() + 120
        while not self.answers():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def answers(self):
        try:
            self.client().close()
        except LinkError:
            return False
        return True

    def client(self):
        return LinkClient(self.folder)

    def raw(self):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(str(find_socket(self.folder)))
        connection.settimeout(60)
        return connection

    def fly(self, *lines):
        """`airloom fly` with these lines piped in."""
        return subprocess.run(
            [*AIRLOOM, "fly", self.folder.path], input="\n".join(lines),
            capture_output=True, text=True, env=ENV, timeout=180,
        )  # fmt: skip

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=60)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = LinkedRun(tmp_path_factory.mktemp("linked") / "run", "--speed", "20")
    yield run
    run.end()


@pytest.fixture
def fresh(run):
    """Everything on the ground, twenty times as fast as real time."""
    with run.client() as client:
        client.ask("resume")
        client.ask("speed", speed=20)
        client.ask("reset_pose", vehicle="*")
    return run


def exchange(connection, line):
    connection.sendall(line)
    return json.loads(connection.makefile("rb").readline())


def where(client, vehicle):
    return seen(client, vehicle)[1]


def seen(client, vehicle):
    """When, and where it was then."""
    told = client.ask("observe", vehicle=vehicle)
    return told["time"], np.array(told["vehicles"][vehicle]["position"])


def settle(client, vehicle, goal, seconds=20.0):
    end = client.ask("info")["time"] + seconds
    while np.linalg.norm((now := seen(client, vehicle))[1] - goal) > 0.25:
        assert now[0] < end, now
        time.sleep(0.02)


def until(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# -- flying ----------------------------------------------------------------------------------------------------------


def test_a_script_flies_to_a_place_and_lands(fresh):
    done = fresh.fly("drone0 takeoff 1 speed=4", "drone0 wait", "drone0 goto 2 1 2 speed=4", "drone0 wait")
    assert (done.returncode, done.stderr) == (0, "")
    assert "position_yaw" in done.stdout
    with fresh.client() as client:
        assert where(client, "drone0") == pytest.approx([2, 1, 2], abs=0.3)
        assert where(client, "drone1") == pytest.approx([0, 3, 0.055], abs=0.01)
        client.ask("land", vehicle="drone0")
        settle(client, "drone0", (2, 1, 0.055))
    assert fresh.fly("drone0 wait").returncode == 0
    with fresh.client() as client:
        assert client.ask("info")["vehicles"]["drone0"] == {"mode": "idle", "armed": False}


def test_modes_commands_and_gains(fresh):
    done = fresh.fly(
        "drone* takeoff 2 speed=4",
        "drone* wait",
        "drone* tune attitude_frequency=6",
        "drone0 mode velocity_yawrate",
        "drone1 velocity 1 0 0 for=3   # simulated seconds",
        "drone0 gains",
        "status",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "told drone0, drone1" in done.stdout
    assert "attitude_frequency=6" in done.stdout
    with fresh.client() as client:
        assert 0.3 < where(client, "drone1")[0] < 10.0
        client.ask("pause")  # it would not wait long for the next command
        client.ask("command", vehicle="drone0", kind="thrust_attitude", thrust=14.0)
        assert client.ask("info")["vehicles"]["drone0"]["mode"] == "thrust_attitude"
        client.ask("recover", vehicle="drone0")
        client.ask("kill", vehicle="drone0")
        assert not client.ask("info")["vehicles"]["drone0"]["armed"]


def test_a_new_goal_replaces_the_old_one(fresh):
    with fresh.client() as client:
        client.ask("takeoff", vehicle="drone0", height=2, speed=4)
        client.ask("goto", vehicle="drone0", position=[0, 0, 5])
        client.ask("goto", vehicle="drone0", position=[1, 0, 1.5])
        settle(client, "drone0", (1, 0, 1.5))


def test_tuning_changes_all_or_none(fresh):
    with fresh.client() as client:
        before = client.ask("gains", vehicle="*")
        with pytest.raises(Refused, match="plain: cannot set attitude_frequency"):
            client.ask("tune", vehicle="*", gains={"attitude_frequency": 7})
        assert client.ask("gains", vehicle="*") == before


def test_a_command_is_taken_by_all_or_none(fresh):
    with fresh.client() as client:
        with pytest.raises(Refused, match="plain's controller flies position_yaw only"):
            client.ask("switch_mode", vehicle="*", mode="velocity_yawrate")
        assert {v["mode"] for v in client.ask("info")["vehicles"].values()} == {"idle"}


# -- time ------------------------------------------------------------------------------------------------------------


def test_time_pauses_and_goes_on(fresh):
    with fresh.client() as client:
        paused_at = client.ask("pause")["time"]
        time.sleep(0.1)
        assert client.ask("info")["time"] == paused_at
        assert client.ask("info")["paused"]
        client.ask("takeoff", vehicle="drone0")
        assert client.ask("observe", vehicle="drone0")["vehicles"]["drone0"]["mission"] == "takeoff"
        client.ask("resume")
        deadline = time.monotonic() + 60
        while client.ask("info")["time"] < paused_at + 0.5:
            assert time.monotonic() < deadline


def test_a_paused_run_goes_step_by_step_is_edited_saved_and_begun_anew(fresh):
    done = fresh.fly(
        "pause",
        "step",
        "step 25",
        "spawn iris 0 8 0.3 yaw=0.5",
        "spawn box 9 9 0.5 size=1,2,1",
        "save edited",
        "iris_1 show",
        "resume",
        "wait 0.5",
        "speed 1",
        "reset",
        "pause",
        "status",
    )
    assert (done.returncode, done.stderr) == (0, "")
    paused, first, second = (float(line.split("=")[1].split()[0]) for line in done.stdout.splitlines()[:3])
    assert first - paused == pytest.approx(0.001, abs=0.0006)
    assert second - first == pytest.approx(0.025)
    for part in ("iris_1 is there", "box_1 is there", "back at t = 0 s"):
        assert part in done.stdout
    saved = load(fresh.folder.path.parent / "edited.yaml")
    assert saved.vehicles["iris_1"].pose.position == (0, 8, 0.3)
    assert saved.world.obstacles["box_1"].size == (1, 2, 1)
    with fresh.client() as client:
        assert client.ask("info")["time"] < second
        assert "iris_1" in client.ask("info")["vehicles"]
    refused = fresh.fly("resume", "step", "spawn irs 0 0 1", "spawn iris 0 0", "step 0.5", "save edited")
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        "Error: only a paused run goes step by step; pause it first",
        "Error: only a paused run can be edited; pause it first",
        "Error: use it as: spawn KIND X Y Z [yaw=…] [size=A,B,C]",
        "Error: '0.5' is no whole number",
        "Error: edited.yaml exists already; choose another name, or overwrite it",
    ]


def test_answers_come_within_50_ms_at_real_time(fresh):
    with fresh.client() as client:
        client.ask("speed", speed=1)
        waits = []
        for _ in range(30):
            start = time.perf_counter()
            client.ask("observe", vehicle="drone0")
            waits.append(time.perf_counter() - start)
        assert np.median(waits) < 0.05


# -- faults ----------------------------------------------------------------------------------------------------------

FAULTS = {
    b"{nonsense\n": "this is no line of JSON",
    b"\xff\xfe\n": "this is no line of JSON",
    b"[" * 5000 + b"\n": "this is no line of JSON",
    b"[1, 2]\n": "a request is an object",
    b"{}\n": "there is no method null",
    b'{"method": ["info"]}\n': "there is no method",
    b'{"method": "infos"}\n': "did you mean 'info'?",
    b'{"method": "info", "x": 1}\n': "it takes no 'x'",
    b'{"method": "observe"}\n': "'vehicle' is missing",
    b'{"method": "observe", "vehicle": 3}\n': "'vehicle': should be a valid string, got 3",
    b'{"method": "observe", "vehicle": "dron0"}\n': "did you mean 'drone0'?",
    b'{"method": "goto", "vehicle": "drone0", "position": [1, 2]}\n': "at least 3 items",
    b'{"method": "goto", "vehicle": "drone0", "position": [1, 2, "3"]}\n': "'position': should be a valid number",
    b'{"method": "goto", "vehicle": "drone0", "position": [1, 2, NaN]}\n': "numbers must be finite",
    b'{"method": "goto", "vehicle": "drone0", "position": [1, 2, 1e999]}\n': "numbers must be finite",
    b'{"method": "goto", "vehicle": "drone0", "position": [1, 2, 3]}\n': "cannot goto while idle",
    b'{"method": "takeoff", "vehicle": "drone0", "height": -1}\n': "should be greater than 0",
    b'{"method": "command", "vehicle": "drone0", "kind": "warp"}\n': "no control mode is called 'warp'",
    b'{"method": "command", "vehicle": "drone0", "kind": "thrust_torque"}\n': "'thrust' is missing",
    b'{"method": "command", "vehicle": "drone0", "kind": "position_yaw", "position": 3}\n': "three finite numbers",
    b'{"method": "command", "vehicle": "drone0", "kind": "position_yaw", "place": 3}\n': "takes no 'place'",
    b'{"method": "command", "vehicle": "drone0", "kind": "thrust_torque", "thrust": 1e6}\n': "can give a thrust of",
    b'{"method": "tune", "vehicle": "drone0", "gains": {"attitude_frequency": -1}}\n': "greater than 0",
    b'{"method": "tune", "vehicle": "drone0", "gains": {"self": 1}}\n': "tune",
    b'{"method": "spray", "vehicle": "drone0", "flow": 1}\n': "drone0 has no tank",
    b'{"method": "goto", "vehicle": "drone0", "position": [0, 0, 1e8]}\n': "less than or equal to 1000000",
    b'{"method": "goto", "vehicle": "drone0", "position": [0, 0, 2], "speed": 100}\n': "flies at 0 to 12 m/s, got 100",
    b'{"method": "takeoff", "vehicle": "drone0", "height": 1e8}\n': "the world ends 1e+06 m from its origin",
    b'{"method": "spawn", "kind": "x500", "position": [0, 0, 1e8]}\n': "less than or equal to 1000000",
    b'{"method": "speed", "speed": 0}\n': "greater than or equal to 0.01",
    b"x" * (LONGEST_LINE + 1) + b"\n": "a line may have 65536 bytes at most",
    b"x" * 1_000_000 + b"\n": "a line may have 65536 bytes at most",
    b'{"method": "goto", "vehicle": "\\ud800", "position": [0, 0, 1]}\n': "half a character",
    b'{"method": "observe", "vehicle": "\\ud800"}\n': "half a character",
    b'{"method": "spawn", "kind": "\\udfff", "position": [0, 0, 1]}\n': "half a character",
    b'{"method": "command", "vehicle": "drone0", "kind": "idle", "\\ud800": 1}\n': "half a character",
    b'{"method": "tune", "vehicle": "drone0", "gains": {"\\ud800": 1}}\n': "half a character",
    b'{"\\ud800": 1}\n': "half a character",
    b'{"method": "observe", "vehicle": "' + b"[" * 60_000 + b'"}\n': "16 of * ? [, got 60000 and 60000",
    b'{"method": "land", "vehicle": "' + b"*a" * 20 + b'"}\n': "16 of * ? [, got 40 and 20",
    b'{"method": "observe", "vehicle": "' + b"x" * 60_000 + b'"}\n': "no vehicle is called 'xxx",
}


def test_a_thread_that_stumbles_gives_its_place_back(fresh):
    """32 may be connected; each of these once took a place for good."""
    for _ in range(40):
        with fresh.raw() as connection:
            assert not exchange(connection, b'{"method": "observe", "vehicle": "\\ud800"}\n')["ok"]
    until(lambda: lets_in(fresh))


def lets_in(run):
    try:
        with run.client() as client:
            return client.ask("info")["time"] >= 0
    except Refused:
        return False


@pytest.mark.parametrize("line", FAULTS, ids=lambda line: line[:70].decode(errors="replace").strip())
def test_a_faulty_line_is_answered_and_the_next_one_works(fresh, line):
    with fresh.raw() as connection:
        reply = exchange(connection, line)
        assert reply["ok"] is False
        assert FAULTS[line] in reply["error"]
        assert exchange(connection, b'{"method": "info"}\n')["ok"]


def test_who_leaves_in_the_middle_of_a_line_has_said_nothing(fresh):
    with fresh.raw() as connection:
        connection.sendall(b'{"method": "kill", "vehicle": "*"}')
    with fresh.client() as client:
        client.ask("takeoff", vehicle="drone0", height=1)
        assert client.ask("info")["vehicles"]["drone0"]["armed"]


def test_who_does_not_read_keeps_nobody_waiting(fresh):
    with fresh.raw() as deaf, fresh.client() as client:
        deaf.settimeout(0.2)
        with pytest.raises(TimeoutError):
            deaf.sendall(b'{"method": "gains", "vehicle": "*"}\n' * 100_000)
        before = client.ask("info")["time"]
        until(lambda: client.ask("info")["time"] > before + 0.2)
        hung_up = select.poll()
        hung_up.register(deaf, 0)
        assert not hung_up.poll(0), "time goes on although it still does not read"


def test_two_clients_at_once(fresh):
    with fresh.client() as one, fresh.client() as other:
        one.ask("takeoff", vehicle="drone0", height=1, speed=4)
        other.ask("takeoff", vehicle="drone1", height=2, speed=4)
        settle(other, "drone0", (0, 0, 1.055))
        settle(one, "drone1", (0, 3, 2.055))


def test_only_the_owner_may_connect(run):
    assert stat.S_IMODE(os.stat(find_socket(run.folder)).st_mode) == 0o600


def test_a_script_is_told_its_mistakes_one_line_each(fresh):
    done = fresh.fly("dron0 takeoff 1", "drone0 takeof 1", "takeoff 1", "drone0 goto 1 2", "drone0 goto 1 2 x", "bla")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Error: no vehicle is called 'dron0'; did you mean 'drone0'?",
        "Error: nothing is called 'takeof'; did you mean 'takeoff'?",
        "Error: name the vehicle first: VEHICLE takeoff [HEIGHT] [speed=…]",
        "Error: use it as: goto X Y Z [yaw=…] [speed=…]",
        "Error: 'x' is no number",
        "Error: nothing is called 'bla'; type help",
    ]


def test_a_prompt_completes_breaks_off_and_leaves(fresh, tmp_path):
    terminal = Terminal([*AIRLOOM, "fly", fresh.folder.path], {**ENV, "TERM": "dumb", "XDG_STATE_HOME": str(tmp_path)})
    terminal.read_until("> ")
    terminal.write(b"plain sh\t\n")
    terminal.read_until("5.00")
    terminal.read_until("> ")
    with fresh.client() as client:
        client.ask("speed", speed=1)
        client.ask("takeoff", vehicle="drone0")
        terminal.write(b"drone0 velocity 0 0 0 for=2000\n")
        until(lambda: client.ask("info")["vehicles"]["drone0"]["mode"] == "velocity_yawrate")
    terminal.process.send_signal(signal.SIGINT)
    terminal.read_until("broken off")
    terminal.read_until("> ")
    terminal.write(b"\x04")
    assert terminal.process.wait(timeout=60) == 0
    assert "plain show" in (tmp_path / "airloom" / "fly_history").read_text()


class Terminal:
    """A process that believes somebody is typing."""

    def __init__(self, command, env):
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
        )
        os.close(theirs)
        self._unread = ""

    def write(self, keys):
        os.write(self._ours, keys)

    def read_until(self, wanted):
        deadline = time.monotonic() + 120
        while wanted not in self._unread:
            assert time.monotonic() < deadline, self._unread
            if select.select([self._ours], [], [], 0.1)[0]:
                self._unread += os.read(self._ours, 4096).decode(errors="replace")
        self._unread = self._unread.partition(wanted)[2]


# -- beginning and end -----------------------------------------------------------------------------------------------


def test_without_a_linked_run_one_learns_how_to_start_one(tmp_path):
    done = subprocess.run([*AIRLOOM, "fly"], cwd=tmp_path, capture_output=True, text=True, env=ENV, timeout=60)
    assert done.returncode == 2
    assert "airloom run hover" in done.stderr


def test_a_long_path_unpaced_then_stopped_with_everything_in_the_log(tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    run = LinkedRun(folder / "run", "--speed", "max")
    try:
        assert len(str(run.folder.socket)) > 107
        path = find_socket(run.folder)
        assert path.is_socket()
        with run.client() as client:
            assert client.ask("info")["speed"] == "max"
            client.ask("speed", speed=1)
            client.ask("takeoff", vehicle="drone0", height=1.5)
        assert run.fly("stop").returncode == 0
        out, err = run.process.communicate(timeout=60)
    finally:
        run.end()
    assert run.process.returncode == 0, err
    assert f"airloom fly {run.folder.path}" in out
    assert not path.parent.exists()
    assert not run.folder.socket_note.exists()
    with LogReader(run.folder.log) as log:
        notes = [message.text for _, _, message in log.messages("/events") if message.source == "control link"]
    assert notes[-2:] == ["takeoff vehicle=drone0 height=1.5", "stop"]
