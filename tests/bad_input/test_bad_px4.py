"""PX4s that are missing, die, freeze, hang up, repeat themselves, run ahead or talk nonsense: a stand-in."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink
from tests.programs import children, free_instance

import airloom as al
from airloom.autopilots import px4
from airloom.autopilots.autopilot import AutopilotError
from airloom.autopilots.transcript import Transcript
from airloom.scenario import ScenarioError, load

pytestmark = pytest.mark.slow

INSTANCE = free_instance()
SCENARIO = """
name: piloted
duration: 2
vehicles:
  drone:
    extends: x500
    pose: {position: [0, 0, 0.05]}
    autopilot: {kind: px4, binary: BINARY, timeout: TIMEOUT, start_timeout: START, instance: INSTANCE, OPTIONS}
    SENSORS
"""
STAND_IN = f"""#!{sys.executable}
import json, os, signal, socket, sys, time
from pymavlink.dialects.v20 import common as mavlink
print("started with", *sys.argv[1:], flush=True)
print(*(f"{{name}}={{value}}" for name, value in os.environ.items() if name.startswith("PX4_")), flush=True)
voice = mavlink.MAVLink(None, 1, 1)
fixes = []

def answer(microseconds, control=0.9):
    controls = [control] * 4 + [0.0] * 12
    return voice_of(mavlink.MAVLink_hil_actuator_controls_message(int(microseconds), controls, 129, 1))

def voice_of(message):
    return bytes(message.pack(voice))

def connection():
    while True:
        try:
            return socket.create_connection(("127.0.0.1", {4560 + INSTANCE}))
        except ConnectionRefusedError:
            time.sleep(0.01)

line = connection()
line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
line.sendall(voice_of(mavlink.MAVLink_heartbeat_message(2, 12, 81, 0, 3, 3)))
frames = 0
while data := line.recv(4096):
    for message in voice.parse_buffer(data) or ():
        if message.get_type() == "HIL_GPS":
            fixes.append(message.time_usec)
        if message.get_type() != "HIL_SENSOR":
            continue
        frames += 1
        now = message.time_usec / 1e6
        reply = answer(message.time_usec)
        FAULT
        line.sendall(reply)
"""

LISTENING = f"""
import socket
line = socket.create_connection(("127.0.0.1", {4560 + INSTANCE}))
while line.recv(4096):
    pass
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    def make(fault="pass", options="", sensors="", systems="{}", timeout=60, start=60, pause=0.2):
        """Before its first answer a frame is waited for during `pause` only: a busy machine needs more of it."""
        monkeypatch.setattr(px4, "PAUSE", pause)
        (tmp_path / "etc/init.d-posix").mkdir(parents=True, exist_ok=True)
        (tmp_path / "etc/init.d-posix/rcS").touch()
        program = tmp_path / "bin/px4"
        program.parent.mkdir(exist_ok=True)
        program.write_text(STAND_IN.replace("FAULT", fault))
        program.chmod(0o755)
        text = SCENARIO.replace("BINARY", str(program)).replace("INSTANCE", str(INSTANCE))
        text = text.replace("TIMEOUT", str(timeout)).replace("START", str(start))
        text = text.replace("OPTIONS", options).replace("SENSORS", sensors) + f"systems: {systems}\n"
        (tmp_path / "piloted.yaml").write_text(text)
        sim = al.Simulation(load(tmp_path / "piloted.yaml"))
        sim.member_logs = tmp_path
        return sim

    return make


def test_a_good_one_flies(made, tmp_path):
    with made(options="params: {MPC_XY_VEL_MAX: 3.5, COM_ID: 1310988}, arguments: [-s, rcX]") as sim:
        sim.run()
        assert sim.vehicles["drone"].position[2] > 4.0
        assert sim.vehicles["drone"].rotor_speeds == pytest.approx([900] * 4, rel=0.01)
    console = (tmp_path / "autopilot-drone/console.txt").read_text()
    assert f"-d -i {INSTANCE} -w {tmp_path}/autopilot-drone -s rcX {tmp_path}/etc" in console
    for told in (
        "PX4_PARAM_COM_ID=1310988",
        "PX4_SIM_MODEL=none_iris",
        "PX4_PARAM_MPC_XY_VEL_MAX=3.5",
        "PX4_PARAM_CA_ROTOR1_PY=-0.174",
    ):
        assert told in console
    assert children("bin/px4") == []


@pytest.mark.parametrize(("tag", "warnings"), [("v1.17.0", 0), ("v1.18.2-rc1-15-g123", 1), ("nonsense", 0)])
def test_its_version_is_checked(made, tmp_path, tag, warnings):
    header = tmp_path / "src/lib/version/build_git_version.h"
    header.parent.mkdir(parents=True)
    header.write_text(f'#define PX4_GIT_TAG_STR "{tag}"\n')
    with made() as sim:
        sim.run(until=0.01)
    assert len([text for text in sim.warnings if "PX4 1.18.2 was not tried with Airloom, but 1.17" in text]) == warnings
    assert sim.autopilots.reports().get("drone", {}).get("version") == (tag[1:7] if tag[0] == "v" else None)


def test_an_unknown_parameter_is_told(made):
    fault = "print('ERROR [param] Parameter NONSENSE not found.', flush=True) if frames == 10 else None"
    with made(fault, options="params: {NONSENSE: 1310988}") as sim:
        sim.run(until=1.0)
    assert [text.partition(": ")[2] for text in sim.warnings] == [
        "drone: PX4 knows no parameter NONSENSE: it is ignored"
    ]


def test_the_same_bits_again(made):
    """Frames are not waited for until it is awake, which takes time of the wall clock: it flies long after that."""
    hashes = set()
    for _ in range(2):
        with made("reply = answer(message.time_usec, 0.9 * (now > 1.5)); time.sleep(0.003 * (frames % 7 == 0))") as sim:
            sim.run(until=1.9)
            hashes.add(sim.state_hash())
    assert len(hashes) == 1


def test_it_hears_of_each_sensor_what_is_new(made, tmp_path):
    fault = "print(json.dumps({'fixes': fixes, **message.to_dict()}), flush=True) if now < 1.0005 else None"
    with made(fault, sensors="sensors: {gnss: {delay: 0.1}}") as sim:
        sim.run(until=1.1)
    lines = (tmp_path / "autopilot-drone/console.txt").read_text().splitlines()
    told = [json.loads(line) for line in lines if line.startswith("{")]
    assert [frame["time_usec"] for frame in told] == list(range(4000, 1_004_000, 4000))
    new = np.array([frame["fields_updated"] for frame in told])
    assert np.sum(new & 0x3F == 0x3F) == 250, "an IMU of 250 Hz"
    assert np.sum(new & 0x1C0 == 0x1C0) == 101, "a magnetometer of 100 Hz, and its first reading"
    assert np.sum(new & 0x1A00 == 0x1A00) == 51, "a barometer of 50 Hz, and its first reading"
    assert told[-1]["fixes"] == [100_000, 300_000, 500_000, 700_000, 900_000], "5 Hz, a tenth of a second late"
    assert all(frame["zacc"] < -5 for frame in told)


def hil_messages(path, kind):
    """What was told, after the fault begins."""
    parser = mavlink.MAVLink(None)
    told = [one for message in Transcript(path) if not message.heard for one in parser.parse_buffer(message.data) or ()]
    return [message for message in told if message.get_type() == kind and message.time_usec > 500_000]


SPOOFED = 47.397742 + 500 / 111_190  # degrees: metres in one of latitude there
IMU_BITS, MAGNETOMETER_BITS, BAROMETER_BITS = 0x3F, 0x1C0, 0x1A00


def readings(messages, bits, field):
    return np.array([getattr(message, field) for message in messages if message.fields_updated & bits == bits])


SENSOR_FAULTS = {
    "gnss out": ("gnss, fault: outage", lambda sensors, fixes: fixes == []),
    "gnss spoofed": (
        "gnss, fault: offset, offset: [0, 500, 0]",
        lambda _, fixes: len(fixes) == 3 and all(abs(fix.lat / 1e7 - SPOOFED) < 2e-5 for fix in fixes),
    ),
    "barometer out": ("barometer, fault: outage", lambda sensors, _: readings(sensors, BAROMETER_BITS, "id").size == 0),
    "barometer blocked": (
        "barometer, fault: frozen",
        lambda sensors, _: len(found := readings(sensors, BAROMETER_BITS, "abs_pressure")) > 20 and np.ptp(found) == 0,
    ),
    "magnet": (
        "magnetometer, fault: offset, offset: [1.0e-4, 0, 0]",
        lambda sensors, _: readings(sensors, MAGNETOMETER_BITS, "xmag").min() > 1.0,
    ),
    "imu stuck": (
        "imu, fault: frozen",
        lambda sensors, _: len(found := readings(sensors, IMU_BITS, "xgyro")) > 100 and np.ptp(found) == 0,
    ),
    "imu out": ("imu, fault: outage", lambda sensors, _: readings(sensors, IMU_BITS, "id").size == 0),
}


@pytest.mark.parametrize("fault", SENSOR_FAULTS)
def test_faults_of_sensors_reach_it(made, tmp_path, fault):
    sensor, arrives = SENSOR_FAULTS[fault]
    systems = f"{{fault: {{kind: sensor_fault, sensor: {sensor}, at: 0.5}}}}"
    with made(options="transcript: true", systems=systems, pause=px4.PAUSE) as sim:
        sim.run(until=1.0)
    transcript = tmp_path / "autopilot-drone/transcript.gz"
    sensors, fixes = (hil_messages(transcript, kind) for kind in ("HIL_SENSOR", "HIL_GPS"))
    assert len(sensors) == 125
    assert arrives(sensors, fixes)


FAULTS = {
    "dies": ("if now > 1: os.kill(os.getpid(), signal.SIGKILL)", "was ended by SIGKILL"),
    "ends": ("if now > 1: sys.exit('out of memory')", "ended with code 1; it said last:(.|\\n)*out of memory"),
    "freezes": ("if now > 1: time.sleep(600)", "did not answer within 1 s"),
    "stops": ("if now > 1: os.kill(os.getpid(), signal.SIGSTOP)", "did not answer within 1 s"),
    "hangs up": ("if now > 1: line.close(); time.sleep(600)", "has closed the connection"),
    "talks nonsense": ("if now > 1: reply = os.urandom(90)", "did not answer within 1 s"),
    "lives in the past": ("if now > 1: reply = answer(1e6)", "did not answer within 1 s"),
    "runs ahead": (
        "if now > 1: reply = answer(message.time_usec + 4000)",
        r"answers for the time 1.008000 s, but has only been told of 1.004000 s",
    ),
    "jumps": ("if now > 1: reply = answer(2**62)", r"answers for the time 4611686018427\S+ s, but has only been told"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_run_stops_and_says_why(made, fault):
    code, complaint = FAULTS[fault]
    timeout = 1 if "did not" in complaint else 60
    drone = f"the autopilot of drone {complaint}"
    with made(code, timeout=timeout) as sim, pytest.raises(AutopilotError, match=drone):
        sim.run()
    assert 1.0 < sim.time < 1.1
    assert children("bin/px4") == []


def test_or_the_run_goes_on_without_it(made):
    with made(FAULTS["hangs up"][0], "on_failure: continue") as sim:
        sim.run(until=1.6)
        assert sim.vehicles["drone"].velocity[2] < -1.0, "it falls"
        assert sim.vehicles["drone"].rotor_speeds == pytest.approx([0.0] * 4, abs=1.0)
        assert children("bin/px4") == []
    (finding,) = sim.verdict.failures
    assert finding.source == "drone"
    assert "has closed the connection: its rotors stop" in finding.text


@pytest.mark.parametrize(
    "fault",
    [
        "line.sendall(answer(message.time_usec - 4000, 0.0) + answer(0, 0.0)) if frames > 1 else None",
        "line.sendall(bytes(byte ^ 8 if k == 40 else byte for k, byte in enumerate(answer(message.time_usec, 0.0))))",
        "line.sendall(reply[:frames % len(reply)])",
        "line.sendall(b'\\xfd' + os.urandom(frames % 50))",
        "line.sendall(reply[:30]); time.sleep(0.0005); reply = reply[30:]",
        "reply += reply + voice_of(mavlink.MAVLink_heartbeat_message(2, 12, 81, 0, 3, 3))",
        "reply = answer(message.time_usec, float('nan')) if frames % 50 == 0 else reply",
    ],
    ids=["replayed", "corrupted", "truncated", "garbage", "in pieces", "twice", "not a number"],
)
def test_what_is_no_answer_is_passed_over(made, fault):
    with made(fault) as sim:
        sim.run(until=1.0)
        assert sim.time == 1.0
        assert sim.vehicles["drone"].position[2] > 1.0


def test_one_that_boots_slowly_misses_nothing_that_matters(made):
    with made("if frames < 100: continue", pause=px4.PAUSE) as sim:
        sim.run(until=1.4)
        assert sim.vehicles["drone"].position[2] > 1.0


def test_frames_without_a_reading_of_the_imu_need_no_answer(made):
    silent = "if not message.fields_updated & 0x3F: continue"
    with made(silent, sensors="sensors: {imu: {delay: 0.1}}", pause=px4.PAUSE) as sim:
        sim.run(until=1.0)
        assert sim.vehicles["drone"].position[2] > 1.0


def test_a_port_in_use(made):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 4560 + INSTANCE))
        taken.listen()
        with (
            made() as sim,
            pytest.raises(AutopilotError, match=f"TCP port {4560 + INSTANCE}: Address already in use; `instance`"),
        ):
            sim.run()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda p: p.unlink(), "there is no program"),
        (lambda p: p.chmod(0o644), "is not executable"),
        (lambda p: (p.parent.parent / "etc/init.d-posix/rcS").unlink(), "etc/init.d-posix/rcS, which PX4 needs"),
        (lambda p: p.write_text(f"#!{sys.executable}\nimport time; time.sleep(600)"), "has not connected within 3 s"),
        (lambda p: p.write_text(f"#!{sys.executable}\nraise SystemExit('wrong version')"), "(?s)ended.*wrong version"),
        (
            lambda p: p.write_text(f"#!{sys.executable}\n{LISTENING}"),
            "has not answered within 3 s of its start",
        ),
    ],
)
def test_programs_that_are_none(made, tmp_path, change, complaint):
    with made(start=3) as sim:
        change(tmp_path / "bin/px4")
        began = time.monotonic()
        with pytest.raises(AutopilotError, match=complaint):
            sim.run(until=1000)
        assert time.monotonic() - began < 300
    assert children("bin/px4") == []


@pytest.mark.parametrize(
    ("options", "sensors", "complaint"),
    [
        ("motors: [1, 2, 3, 3]", "", "each of 1 to 4 once"),
        ("", "sensors: {imu: {rate: 200}}", "needs an IMU as fast as its `rate` of 250 Hz; 'imu' has 200 Hz"),
    ],
)
def test_descriptions_that_do_not_fit(made, options, sensors, complaint):
    with made(options=options, sensors=sensors) as sim, pytest.raises(AutopilotError, match=complaint):
        sim.run()


def test_a_vehicle_without_a_compass(made):
    with pytest.raises(ScenarioError, match="the autopilot 'px4' needs a sensor of kind magnetometer"):
        made(sensors="sensors: {magnetometer: null}")


def test_one_that_is_started_again_by_hand_may_come_again(made, tmp_path):
    sim = made("if now > 0.5 and frames > 50 and not sys.argv[1:]: sys.exit()", "attach: true")
    programs = [subprocess.Popen([tmp_path / "bin/px4"])]
    sim.call_at(0.4, lambda: programs.append(subprocess.Popen([tmp_path / "bin/px4", "again"])))
    try:
        with sim:
            sim.run(until=0.6)
            low = sim.vehicles["drone"].position[2]
            sim.run(until=1.5)
            assert sim.vehicles["drone"].position[2] > low + 0.5
            assert programs[0].wait(60) == 0
        assert programs[1].wait(60) == 0, "attached ones are left to end by themselves"
    finally:
        for program in programs:
            program.kill()
            program.wait()
    assert any("closed the connection: waiting" in warning for warning in sim.warnings)


def test_nobody_attaches(made):
    with (
        made(options="attach: true", start=3) as sim,
        pytest.raises(AutopilotError, match="has not connected within 3 s"),
    ):
        sim.run()


def test_a_vehicle_that_is_deleted_ends_its_autopilot(made):
    with made() as sim:
        sim.run(until=0.2)
        other = sim.scenario.vehicles["drone"].model_copy(update={"autopilot": None})
        sim.change(sim.scenario.model_copy(update={"vehicles": {"other": other}}))
        sim.run(until=0.5)
        assert sim.time == 0.5
        assert children("bin/px4") == []


def test_it_takes_over_a_vehicle_of_a_running_world_and_gives_it_back(made):
    with made() as sim:
        with_px4 = sim.scenario
        drone = with_px4.vehicles["drone"]
        ours = with_px4.model_copy(update={"vehicles": {"drone": drone.model_copy(update={"autopilot": None})}})
        sim.change(ours)
        sim.vehicles["drone"].command(al.PositionYaw((1, 0, 2)))
        sim.run(until=5)
        assert children("bin/px4") == []
        sim.change(with_px4)
        sim.run(until=6)
        assert len(children("bin/px4")) == 1
        x, _, z = sim.vehicles["drone"].position
        assert x == pytest.approx(1.0, abs=0.2)
        assert z > 3.0
        sim.change(ours)
        sim.vehicles["drone"].command(al.PositionYaw((0, 0, 5)))
        sim.run(until=14)
        assert children("bin/px4") == []
        assert sim.vehicles["drone"].position == pytest.approx([0, 0, 5], abs=0.1)


def test_an_edit_of_the_world_disturbs_no_autopilot(made, tmp_path):
    with made("print(message.fields_updated, message.zacc, flush=True)") as sim:
        sim.run(until=1.0)
        other = sim.scenario.vehicles["drone"].model_copy(update={"autopilot": None})
        sim.change(sim.scenario.model_copy(update={"vehicles": {"ahead": other, **sim.scenario.vehicles}}))
        before = sim.vehicles["drone"].position[2]
        sim.run(until=1.5)
        assert sim.vehicles["drone"].position[2] > before + 1.0
    fields, force = (tmp_path / "autopilot-drone/console.txt").read_text().splitlines()[-1].split()
    assert int(fields) & 0x3F == 0x3F
    assert float(force) < -12.0, "it feels its own climb, not the rest of the other"
