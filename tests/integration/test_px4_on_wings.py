"""A stand-in for a PX4 that flies an aeroplane: how it is started and turns servos, which airspeed it hears."""

from __future__ import annotations

import json
import sys

import pytest
from tests.programs import free_instance

import airloom as al
from airloom.scenario import load

INSTANCE = free_instance()
SPEED = 18.0  # m/s
SCENARIO = f"""
name: winged
duration: 2
engine: batch
vehicles:
  craft:
    extends: KIND
    pose: {{position: [0, 0, 100]}}
    motion: {{velocity: [{SPEED}, 0, 0]}}
    sensors:
      imu: hil_imu
      gnss: hil_gnss
      barometer: {{kind: barometer, rate: 50}}
      magnetometer: {{kind: magnetometer, rate: 100}}
    autopilot: {{kind: px4, binary: bin/px4, instance: {INSTANCE}, params: {{NAV_LOITER_RAD: 60}}}}
"""
TOLD = (0.5, -0.25, 1.5, -1.0)
"""The outputs of the servos; one is beyond its end."""
STAND_IN = f"""#!{sys.executable}
import json, os, socket
from pymavlink.dialects.v20 import common as mavlink

line = socket.create_connection(("127.0.0.1", {4560 + INSTANCE}))
given = {{name: value for name, value in os.environ.items() if name.startswith("PX4_")}}
mav, pressures = mavlink.MAVLink(None, 1, 1), []
controls = [0.5] * ROTORS + {list(TOLD)}
while data := line.recv(65536):
    for message in mav.parse_buffer(data) or []:
        if message.get_type() != "HIL_SENSOR":
            continue
        if message.fields_updated & 0x400 and len(pressures) < 3:
            pressures.append(message.diff_pressure)
            with open("heard.json", "w") as file:
                json.dump({{"given": given, "pressures": pressures}}, file)
        full = controls + [0.0] * (16 - len(controls))
        line.send(mavlink.MAVLink_hil_actuator_controls_message(message.time_usec, full, 128, 1).pack(mav))
"""


@pytest.mark.parametrize(
    ("kind", "airframe", "rotors"),
    [("plane", "gazebo-classic_plane", 1), ("vtol", "gazebo-classic_standard_vtol", 5)],
)
def test_outputs_after_the_rotors_turn_servos_and_airspeed_is_a_pressure(tmp_path, monkeypatch, kind, airframe, rotors):
    monkeypatch.chdir(tmp_path)
    for folder in ("bin", "etc/init.d-posix"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "etc/init.d-posix/rcS").touch()
    program = tmp_path / "bin/px4"
    program.write_text(STAND_IN.replace("ROTORS", str(rotors)))
    program.chmod(0o755)
    (tmp_path / "winged.yaml").write_text(SCENARIO.replace("KIND", kind))
    with al.Simulation(load(tmp_path / "winged.yaml")) as sim:
        sim.member_logs = tmp_path
        sim.run(until=1.0)
        craft = sim.vehicles["craft"]
        ends = [servo.highest for servo in craft.airframe.vehicle.servos.values()]
        wanted = [min(max(told, -1.0), 1.0) * end for told, end in zip(TOLD, ends, strict=True)]
        assert list(craft.servos.values()) == pytest.approx(wanted, abs=0.02)
        assert min(craft.rotor_speeds) > 100.0
    heard = json.loads((tmp_path / "autopilot-craft/heard.json").read_text())
    assert heard["given"]["PX4_SIM_MODEL"] == airframe
    assert heard["given"]["PX4_PARAM_NAV_LOITER_RAD"] == "60"
    assert f"PX4_PARAM_PWM_MAIN_FUNC{rotors + 1}" in heard["given"]
    assert ("PX4_PARAM_MPC_THR_HOVER" in heard["given"]) == (kind == "vtol")
    assert heard["pressures"][0] == pytest.approx(0.5 * 1.225 * SPEED**2 / 100, rel=0.1), "hPa"
