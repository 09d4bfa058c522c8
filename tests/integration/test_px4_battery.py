"""PX4 is told of its vehicle's battery by MAVLink: a stand-in for it prints what it hears, as PX4's receiver takes it.

`MavlinkReceiver::handle_message_battery_status` passes over what comes from another system or from its own component,
and sums up the cells.
"""

from __future__ import annotations

import json
import sys

import pytest
from tests.programs import free_instance

import airloom as al
from airloom.autopilots.px4_battery import without_its_own
from airloom.scenario import load

INSTANCE = free_instance()
STAND_IN = f"""#!{sys.executable}
import json, os, socket, sys
from pymavlink.dialects.v20 import common as mavlink

instance = int(sys.argv[sys.argv.index("-i") + 1])
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.bind(("0.0.0.0", 14280 + instance))
simulator = socket.create_connection(("127.0.0.1", 4560 + instance))
print(json.dumps({{name: value for name, value in os.environ.items() if "SIM_BAT" in name}}), flush=True)
parser = mavlink.MAVLink(None)
while True:
    for message in parser.parse_buffer(line.recv(1000)) or []:
        if message.get_type() == "BATTERY_STATUS" and message.get_srcSystem() == instance + 1:
            assert message.get_srcComponent() != 1
            print(message.to_json(), flush=True)
"""
SCENARIO = f"""
name: fed
duration: 5
vehicles:
  drone:
    extends: x500
    battery: {{charge: 0.6}}
    autopilot: {{kind: px4, instance: {INSTANCE}, binary: BINARY}}
"""


@pytest.mark.parametrize("sensors", ["", "sensors: {battery: null}"], ids=["as it is measured", "as it is"])
def test_its_battery_is_that_of_the_vehicle(tmp_path, sensors):
    program = tmp_path / "build/bin/px4"
    (tmp_path / "build/etc/init.d-posix").mkdir(parents=True)
    (tmp_path / "build/etc/init.d-posix/rcS").write_text("battery_simulator start")
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o755)
    (tmp_path / "fed.yaml").write_text(SCENARIO.replace("BINARY", f"{program}") + f"    {sensors}\n")
    with al.Simulation(load(tmp_path / "fed.yaml")) as sim:
        sim.member_logs = tmp_path
        sim.run(until=1.05)
        battery = sim.vehicles["drone"].battery
    first, *said = (tmp_path / "autopilot-drone/console.txt").read_text().splitlines()
    assert json.loads(first) == {"PX4_PARAM_SIM_BAT_ENABLE": "0"}
    told = json.loads(said[-1])
    cells = [cell for cell in told["voltages"] if cell != 65535]
    assert len(cells) == 4
    assert sum(cells) / 1000 == pytest.approx(battery.voltage, abs=0.01)
    assert told["current_battery"] / 100 == pytest.approx(battery.current, abs=0.01)
    assert told["battery_remaining"] == 60
    assert told["current_consumed"] == pytest.approx(2000, abs=2)


def test_its_own_battery_is_switched_off_by_the_parameter_that_it_has():
    assert without_its_own("if param greater SIM_BAT_DRAIN 0\nthen\n battery_simulator start") == {"SIM_BAT_DRAIN": 0}
    assert without_its_own("battery_simulator start") == {"SIM_BAT_ENABLE": 0}
