"""A real ArduPilot knows its vehicle's battery as well as its power module does, and comes down when it is low."""

from __future__ import annotations

import pytest
from pymavlink import mavutil
from tests.programs import free_instance, needs_ardupilot

import airloom as al
from airloom.scenario import load

pytestmark = [needs_ardupilot]

INSTANCE = free_instance()
LAND = 9
LOW = 380.0  # mAh
SCENARIO = f"""
name: weary
duration: 60
vehicles:
  drone:
    extends: iris
    pose: {{position: [0, 0, 0.2]}}
    battery: {{capacity: 0.8, charge: 0.75, cells: 3, resistance: 0.02, efficiency: 0.75, load: 5}}
    sensors: {{imu: {{rate: 1000}} MODULE}}
    autopilot:
      kind: ardupilot
      instance: {INSTANCE}
      params:
        {{FLTMODE_CH: 0, INITIAL_MODE: 2, ARMING_CHECK: 0, BATT_LOW_MAH: {LOW}, BATT_FS_LOW_ACT: 1, BATT_LOW_TIMER: 2}}
      rc: [1500, 1500, 1000, 1500]
      sticks:
        - {{at: 7, rc: [1500, 1500, 1000, 2000]}}
        - {{at: 12, rc: [1500, 1500, 1900, 1500]}}
        - {{at: 15, rc: [1500, 1500, 1500, 1500]}}
"""


class Flight:
    def __init__(self, folder, module):
        (folder / "weary.yaml").write_text(SCENARIO.replace("MODULE", module))
        self.sim = al.Simulation(load(folder / "weary.yaml"))
        self.sim.member_logs = folder
        self.texts, self.seen = [], {}
        self.sim.bus.subscribe("/events", lambda topic, m, time_ns: self.texts.append(m.text))
        self.sim.run(until=0.1)
        self.line = mavutil.mavlink_connection(f"tcp:127.0.0.1:{5760 + 10 * INSTANCE}", source_system=255)
        self.line.mav.request_data_stream_send(INSTANCE + 1, 1, mavutil.mavlink.MAV_DATA_STREAM_ALL, 10, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.line.close()
        self.sim.close()

    def run(self, until):
        while self.sim.time < until - 0.01:
            self.sim.run(until=self.sim.time + 0.1)
            while message := self.line.recv_match(blocking=False):
                self.seen[message.get_type()] = message


@pytest.mark.parametrize("module", ["", ", power: {kind: battery, rate: 100}"], ids=["as it is", "as it is measured"])
def test_its_battery_is_that_of_the_vehicle(tmp_path, module):
    with Flight(tmp_path, module) as flight:
        battery = flight.sim.vehicles["drone"].battery
        flight.run(20)
        status = flight.seen["SYS_STATUS"]
        assert battery.current > 5.0, "it flies"
        assert status.voltage_battery / 1000 == pytest.approx(battery.voltage, abs=0.05)
        assert status.current_battery / 100 == pytest.approx(battery.current, rel=0.1)
        assert status.battery_remaining == pytest.approx(100 * battery.share, abs=2.0)


def test_a_low_one_brings_it_down(tmp_path):
    with Flight(tmp_path, "") as flight:
        drone = flight.sim.vehicles["drone"]
        flight.run(20)
        assert drone.position[2] > 2.0
        assert flight.seen["HEARTBEAT"].custom_mode != LAND
        while flight.seen["HEARTBEAT"].custom_mode != LAND:
            flight.run(flight.sim.time + 0.5)
            assert 1000 * drone.battery.charge > LOW - 100.0, flight.texts
        assert 1000 * drone.battery.charge == pytest.approx(LOW, abs=25.0)
        assert any("Battery 1 is low" in text for text in flight.texts)
        flight.run(flight.sim.time + 25)
        assert drone.position[2] < 0.3
        assert max(drone.rotor_speeds) < 1.0
