"""Autopilots that are missing, die, freeze, repeat themselves or talk nonsense: a stand-in for ArduPilot."""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
import time

import pytest
from tests.programs import children, free_instance

import airloom as al
from airloom.autopilots.autopilot import AutopilotError
from airloom.autopilots.transcript import Transcript
from airloom.runs.folder import RunFolder
from airloom.runs.recorded import RecordedRun
from airloom.scenario import ScenarioError, load

pytestmark = pytest.mark.slow

INSTANCE = free_instance()

SCENARIO = """
name: piloted
duration: 2
vehicles:
  drone:
    extends: iris
    pose: {position: [0, 0, 0.06]}
    sensors: {imu: {rate: 1000}}
    autopilot: {kind: ardupilot, binary: BINARY, timeout: TIMEOUT, start_timeout: START, OPTIONS}
"""
STAND_IN = f"""#!{sys.executable}
import json, os, signal, socket, struct, sys, time
print("started with", *sys.argv[1:], flush=True)
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.settimeout(1.1)
stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
stranger.bind(("", 0))
there = ("127.0.0.1", 9002 + 10 * {INSTANCE})

def frame(count, output=1900, magic=18458):
    return struct.pack("<HHI16H", magic, 400, count % 2**32, *[output] * 4, *[0] * 12)

count, now, lost = 0, 0.0, []
while True:
    count += 1
    data = frame(count)
    FAULT
    line.sendto(data, there)
    try:
        now = json.loads(line.recv(2048))["timestamp"]
    except TimeoutError:
        count -= 1
"""


@pytest.fixture
def made(tmp_path):
    def make(
        fault="pass", options="speedup: 10", vehicle="sensors: {imu: {rate: 1000}}", instance=f"instance: {INSTANCE}",
        timeout=60, start=60,
    ):  # fmt: skip
        program = tmp_path / "arducopter"
        program.write_text(STAND_IN.replace("FAULT", fault))
        program.chmod(0o755)
        text = SCENARIO.replace("BINARY", str(program)).replace("OPTIONS", f"{instance}, {options}")
        text = text.replace("TIMEOUT", str(timeout)).replace("START", str(start))
        text = text.replace("sensors: {imu: {rate: 1000}}", vehicle.replace(", sensors", "\n    sensors"))
        (tmp_path / "piloted.yaml").write_text(text)
        sim = al.Simulation(load(tmp_path / "piloted.yaml"))
        sim.member_logs = tmp_path
        return sim

    return make


def test_a_good_one_flies(made, tmp_path):
    with made() as sim:
        sim.run()
        assert sim.vehicles["drone"].position[2] > 4.0
        assert sim.vehicles["drone"].rotor_speeds == pytest.approx([0.9 * 838] * 4, rel=0.01)
    console = (tmp_path / "autopilot-drone/console.txt").read_text()
    assert "--model JSON:127.0.0.1 -I" + str(INSTANCE) in console
    assert "FRAME_CLASS 1" in (tmp_path / "autopilot-drone/airloom.parm").read_text()
    assert children("arducopter") == []


@pytest.mark.parametrize(
    ("fault", "good", "warning"),
    [
        ("if now > 0.8: data = frame(count, 1000)", ["its autopilot has landed and stopped the rotors"], []),
        ("pass", [], ["drone: its autopilot had not landed when the run ended"]),
        ("data = frame(count, 1000)", [], []),
    ],
    ids=["landed", "in the air", "never flown"],
)
def test_how_the_flight_ended_is_in_the_verdict(made, tmp_path, fault, good, warning):
    with made(fault) as sim:
        RecordedRun(sim, RunFolder.create("piloted", tmp_path / "run"), log=False).fly()
    assert [finding.text for finding in sim.verdict.findings] == good
    assert [text.partition(": ")[2] for text in sim.warnings] == warning


def test_the_same_bits_again(made):
    hashes = set()
    for _ in range(2):
        with made("time.sleep(0.001 * (count % 7 == 0))") as sim:
            sim.run(until=0.5)
            hashes.add(sim.state_hash())
    assert len(hashes) == 1


FAULTS = {
    "dies": ("if now > 1: os.kill(os.getpid(), signal.SIGKILL)", "was ended by SIGKILL"),
    "ends": ("if now > 1: sys.exit('out of memory')", "ended with code 1; it said last:(.|\\n)*out of memory"),
    "freezes": ("if now > 1: time.sleep(600)", "did not answer within 2 s"),
    "talks nonsense": ("if now > 1: data = b'garbage'", "did not answer within 2 s; what came .* begins with 24935"),
    "changes": (
        "if now > 1: data = frame(count, magic=12345)",
        "did not .* with 12345 instead of 18458 or 29569",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_run_stops_and_says_why(made, fault):
    code, complaint = FAULTS[fault]
    timeout = 2 if "did not" in complaint else 60
    drone = f"the autopilot of drone {complaint}"
    with made(code, timeout=timeout) as sim, pytest.raises(AutopilotError, match=drone):
        sim.run()
    assert 1.0 <= sim.time < 1.1
    assert children("arducopter") == []


def test_or_the_run_goes_on_without_it(made):
    with made(FAULTS["dies"][0], "on_failure: continue") as sim:
        sim.run(until=1.6)
        assert sim.vehicles["drone"].velocity[2] < -1.0, "it falls"
        assert sim.vehicles["drone"].rotor_speeds == pytest.approx([0.0] * 4, abs=1.0)
    (finding,) = sim.verdict.failures
    assert finding.source == "drone"
    assert finding.text.startswith("the autopilot of drone was ended by SIGKILL")


def test_a_run_that_goes_on_without_it_is_a_failed_one(made, tmp_path):
    made(FAULTS["dies"][0], "on_failure: continue").close()
    command = [sys.executable, "-m", "airloom", "run", "piloted.yaml", "--headless", "--no-figures", "--out", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3, done.stderr
    assert "The run failed: 1." in done.stderr
    verdict = json.loads((tmp_path / "run/summary.json").read_text())["verdict"]
    assert not verdict["good"]
    assert [finding["source"] for finding in verdict["findings"]] == ["drone"]


@pytest.mark.parametrize(
    "fault",
    [
        "if count % 5 == 0: line.sendto(frame(count - 1, 1100), there)",
        "if count % 5 == 0: line.sendto(frame(count - 3, 1100), there)",
        "if count % 5 == 0: stranger.sendto(frame(count + 1, 1100), there)",
        "if count % 5 == 0: line.sendto(b'\\x00' * 40, there)",
        "if count % 5 == 0: line.sendto(data[:20], there)",
        "if count == 700: count = 1; data = frame(count)",
        "if count == 1: count = 2**32 - 300; data = frame(count)",
    ],
    ids=["replayed", "overtaken", "a stranger's", "corrupted", "truncated", "started again", "counts used up"],
)
def test_what_is_not_a_new_frame_is_passed_over(made, fault):
    with made(fault) as sim:
        sim.run(until=1.0)
        assert sim.time == 1.0
        assert sim.vehicles["drone"].position[2] > 1.0
        assert sim.vehicles["drone"].rotor_speeds == pytest.approx([0.9 * 838] * 4, rel=0.01)


def test_a_frame_that_is_repeated_while_the_simulation_stands_still_gets_one_reply(made):
    with made() as sim:
        sim.call_at(0.5, lambda: time.sleep(2.5))
        sim.run(until=1.0)
        more, _, _ = select.select([sim.autopilots["drone"]._line], [], [], 0.3)
        assert not more, "it would run ahead"


def test_a_frame_whose_reply_is_lost_gets_it_again(made):
    with made("if now > 0.5 and not lost: lost.append(line.sendto(data, there)); line.recv(2048)") as sim:
        sim.run(until=1.0)
        assert sim.time == 1.0


def test_one_that_is_attached_may_be_started_again(made, tmp_path):
    running = []

    def start():
        running.append(subprocess.Popen([sys.executable, tmp_path / "arducopter"], stdout=subprocess.DEVNULL))

    def start_again():
        running[0].kill()
        running[0].wait()
        start()

    with made(options="attach: true") as sim:
        start()
        try:
            sim.call_at(0.5, start_again)
            sim.run(until=1.0)
            assert sim.time == 1.0
            assert sim.vehicles["drone"].position[2] > 1.0
            assert sim.warnings == ["0.501 s: drone: its autopilot was started again"]
        finally:
            for process in running:
                process.kill()
                process.wait()


def test_a_remote_control_is_moved_at_its_time(made, tmp_path):
    options = "transcript: true, rc: [1500, 1000], sticks: [{at: 0.2, rc: [1600, 1000]}]"
    with made(options=options) as sim:
        sim.run(until=0.3)
        assert sim.autopilots["drone"].rc == [1600, 1000]
        sim.autopilots["drone"].rc = [1600, 1900]
        with pytest.raises(al.CommandError, match=r"takes as many channels as .* 2, each of 800 to 2200 µs, got"):
            sim.autopilots["drone"].rc = [1500]
        with pytest.raises(al.CommandError, match="of 800 to 2200 µs"):
            sim.autopilots["drone"].rc = [1500, float("nan")]
        sim.run(until=0.4)
    said = list(Transcript(tmp_path / "autopilot-drone/transcript.gz"))
    told = [json.loads(message.data) for message in said if not message.heard]
    assert len(told) == 401
    assert len(said) == 2 * 401 + 1, "and the first word of the autopilot"
    channels = [tuple(reply["rc"].values()) for reply in told]
    assert channels == [(1500, 1000)] * 201 + [(1600, 1000)] * 100 + [(1600, 1900)] * 100


def test_a_first_instance_that_is_no_number(made, monkeypatch):
    monkeypatch.setenv("AIRLOOM_INSTANCE", "first")
    with (
        made(options="attach: true", instance="instance: null") as sim,
        pytest.raises(AutopilotError, match="got 'first'"),
    ):
        sim.run()


def test_a_port_in_use(made):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 9002 + 10 * INSTANCE))
        with (
            made() as sim,
            pytest.raises(AutopilotError, match=f"UDP port {9002 + 10 * INSTANCE}: Address already in use; `instance`"),
        ):
            sim.run()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda p: p.unlink(), "there is no program"),
        (lambda p: p.chmod(0o644), "is not executable"),
        (lambda p: p.write_text("no program"), "cannot be started: .*: Exec format error"),
        (lambda p: p.write_text(f"#!{sys.executable}\nimport time; time.sleep(600)"), "has not spoken within 5 s"),
        (lambda p: p.write_text(f"#!{sys.executable}\nraise SystemExit('wrong version')"), "(?s)ended.*wrong version"),
        (
            lambda p: p.write_text(p.read_text().replace("18458", "17")),
            "has not .* 5 s; what came .* begins with 17 ",
        ),
    ],
)
def test_programs_that_are_none(made, tmp_path, change, complaint):
    with made(start=5) as sim:
        change(tmp_path / "arducopter")
        began = time.monotonic()
        with pytest.raises(AutopilotError, match=complaint):
            sim.run()
        assert time.monotonic() - began < 300
    assert children("arducopter") == []


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("frame: octa", "knows no frame"),
        ("motors: [1, 2, 3, 3]", "each of 1 to 4 once"),
        ("frame: hexa_x", "flies hexa_x, but this vehicle has other rotors"),
    ],
)
def test_descriptions_that_do_not_fit(made, options, complaint):
    with made(options=options) as sim, pytest.raises(AutopilotError, match=complaint):
        sim.run()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("rate: 500", r"needs 1.8 × SCHED_LOOP_RATE = 720 frames a second or more, got 500; raise rate or lower"),
        ("rc: [1500], sticks: [{at: 1, rc: [1500, 1500]}]", "2 channels at 1 s, but rc has 1"),
        ("sticks: [{at: 1, rc: [1500, 1500]}]", "2 channels at 1 s, but rc has 0"),
        ("rc: [15]", "rc.*800"),
    ],
)
def test_numbers_that_cannot_be(made, options, complaint):
    with pytest.raises(ScenarioError, match=complaint):
        made(options=options)


def test_fewer_frames_for_a_slower_loop(made):
    with made(options="rate: 500, params: {SCHED_LOOP_RATE: 250}") as sim:
        sim.run(until=0.5)
        assert sim.warnings == []


def test_readings_that_are_told_again(made):
    with made(vehicle="sensors: {imu: {rate: 250}}") as sim:
        sim.run(until=0.1)
    assert sim.warnings == [
        "0.000 s: drone: its IMU reads 250 times a second, but its autopilot is told 1000 times: raise its rate"
    ]


def test_a_vehicle_without_an_imu(made):
    with pytest.raises(ScenarioError, match="the autopilot 'ardupilot' needs a sensor of kind imu"):
        made(vehicle="estimator: ideal, sensors: {imu: null}")


def test_a_vehicle_that_is_deleted_ends_its_autopilot(made):
    with made() as sim:
        sim.run(until=0.2)
        drone = sim.scenario.vehicles["drone"]
        other = drone.model_copy(update={"autopilot": None})
        sim.change(sim.scenario.model_copy(update={"vehicles": {"other": other}}))
        sim.run(until=0.5)
        assert sim.time == 0.5
        assert children("arducopter") == []


def test_an_edit_of_the_world_disturbs_no_autopilot(made):
    with made() as sim:
        sim.run(until=1.0)
        other = sim.scenario.vehicles["drone"].model_copy(update={"autopilot": None})
        sim.change(sim.scenario.model_copy(update={"vehicles": {"ahead": other, **sim.scenario.vehicles}}))
        before = sim.vehicles["drone"].position[2]
        sim.run(until=1.5)
        assert sim.vehicles["drone"].position[2] > before + 1.0
        assert sim.autopilots._flying[0]._numbers[9] == pytest.approx(-sim.vehicles["drone"].position[2], abs=0.02)


def test_an_unknown_autopilot(tmp_path):
    (tmp_path / "piloted.yaml").write_text(SCENARIO.replace("ardupilot", "ardupylot").replace("OPTIONS", ""))
    with pytest.raises(ScenarioError, match="ardupilot"):
        load(tmp_path / "piloted.yaml")


def test_its_vehicle_takes_no_commands(made):
    with made() as sim, pytest.raises(al.CommandError, match="flown by its autopilot"):
        sim.vehicles["drone"].command(al.PositionYaw((0, 0, 1)))
