"""A real ArduPilot hovers while its sensors and rotors fail: nothing crashes, it notices, and the log says so."""

from __future__ import annotations

import numpy as np
import pytest
from pymavlink import mavutil
from tests.programs import free_instance, needs_ardupilot

from airloom.simulation import Simulation

pytestmark = [needs_ardupilot]

INSTANCE = free_instance()
HEIGHT = 10.0
TROUBLE = 80.0  # s; by then it hovers
mav = mavutil.mavlink
GUIDED, LAND = 4, 9


class Flight:
    """A run of the bundled scenario without wind, told from here over ArduPilot's first port to take off and hover."""

    def __init__(self, folder, **fault):
        kind = "rotor_fault" if "rotor" in fault else "sensor_fault"
        overrides = {
            "members": {},
            "world.wind": [0, 0, 0],
            "vehicles.drone.autopilot.instance": INSTANCE,
            "systems": {"trouble": {"kind": kind, "at": TROUBLE, **fault}},
        }
        self.sim = Simulation.load("ardupilot", overrides=overrides)
        self.sim.member_logs = folder
        self.drone = self.sim.vehicles["drone"]
        self.events = []
        self.sim.bus.subscribe("/events", lambda topic, m, time_ns: self.events.append((time_ns / 1e9, m.text)))
        self.seen = {}

    def __enter__(self):
        self.sim.run(until=0.1)
        self.line = mavutil.mavlink_connection(f"tcp:127.0.0.1:{5760 + 10 * INSTANCE}", source_system=255)
        self.line.mav.request_data_stream_send(INSTANCE + 1, 1, mav.MAV_DATA_STREAM_ALL, 10, 1)
        self.wait(lambda: self.is_ready, 70)
        self.command(mav.MAV_CMD_DO_SET_MODE, mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED, GUIDED)
        self.wait(lambda: self.mode == GUIDED, 5)
        self.command(mav.MAV_CMD_COMPONENT_ARM_DISARM, 1)
        self.wait(lambda: self.seen["HEARTBEAT"].base_mode & mav.MAV_MODE_FLAG_SAFETY_ARMED, 5)
        self.command(mav.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, 0, 0, HEIGHT)
        self.run(TROUBLE)
        assert self.drone.position == pytest.approx([0, 0, HEIGHT], abs=0.5)
        return self

    def __exit__(self, *_):
        self.line.close()
        self.sim.close()

    def command(self, number, *parameters):
        self.line.mav.command_long_send(INSTANCE + 1, 1, number, 0, *parameters, *[0.0] * (7 - len(parameters)))

    def run(self, until):
        while self.sim.time < until - 0.01:
            self.sim.run(until=self.sim.time + 0.1)
            while message := self.line.recv_match(blocking=False):
                self.seen[message.get_type()] = message

    def wait(self, is_so, patience):
        latest = self.sim.time + patience
        while not is_so():
            assert self.sim.time < latest, self.seen
            self.run(self.sim.time + 0.1)

    @property
    def mode(self):
        return self.seen["HEARTBEAT"].custom_mode if "HEARTBEAT" in self.seen else None

    @property
    def is_ready(self):
        good = mav.EKF_POS_HORIZ_ABS | mav.EKF_VELOCITY_HORIZ
        report = self.seen.get("EKF_STATUS_REPORT")
        return report is not None and report.flags & good == good and not report.flags & mav.EKF_CONST_POS_MODE

    def said(self, *words):
        """When ArduPilot said this after the trouble began, as the log has it."""
        times = [
            time for time, text in self.events if text.startswith("ArduPilot says") and any(w in text for w in words)
        ]
        assert times, self.events
        return times[0]


def test_without_gnss_it_lands(tmp_path):
    with Flight(tmp_path, sensor="gnss", fault="outage") as flight:
        flight.run(TROUBLE + 2)
        assert flight.seen["GPS_RAW_INT"].fix_type <= 1
        flight.run(TROUBLE + 15)
        assert flight.said("EKF variance", "EKF Failsafe") < TROUBLE + 12
        assert flight.mode == LAND
        assert (TROUBLE, "trouble begins: gnss outage") in flight.events


def test_a_glitch_is_seen_through(tmp_path):
    with Flight(tmp_path, sensor="gnss", fault="offset", offset=[100, 0, 0], duration=3) as flight:
        flight.run(TROUBLE + 20)
        assert flight.said("GPS Glitch") < TROUBLE + 3
        assert flight.said("Glitch cleared") > TROUBLE + 3
        assert flight.drone.position == pytest.approx([0, 0, HEIGHT], abs=0.5)
        assert (TROUBLE + 3, "trouble ends") in flight.events


def test_under_jamming_it_stays_where_it_is(tmp_path):
    with Flight(tmp_path, sensor="gnss", fault="noise", noise=20, duration=15) as flight:
        flight.run(TROUBLE + 15)
        assert flight.said("GPS Glitch", "EKF variance") < TROUBLE + 10
        assert flight.drone.position == pytest.approx([0, 0, HEIGHT], abs=10)


def test_a_spoofer_takes_it_where_it_likes(tmp_path):
    """It believes to hover, and flies 30 m to the west."""
    with Flight(tmp_path, sensor="gnss", fault="offset", offset=[30, 0, 0], ramp=20) as flight:
        flight.run(TROUBLE + 26)
        assert flight.drone.position == pytest.approx([-30, 0, HEIGHT], abs=1.5)
        assert flight.seen["LOCAL_POSITION_NED"].y == pytest.approx(0.0, abs=1.0)
        names = ("SIM_GPS_GLITCH_Y", "SIM_GPS1_GLTCH_Y")  # of Copter 4.6, and since 4.7
        assert any(name in text for _, text in flight.events for name in names)


def test_a_blocked_barometer_lets_it_climb_too_high(tmp_path):
    with Flight(tmp_path, sensor="barometer", fault="frozen") as flight:
        flight.run(TROUBLE + 1)
        flight.line.mav.set_position_target_local_ned_send(
            0, INSTANCE + 1, 1, mav.MAV_FRAME_LOCAL_NED, 0b110111111000, 0, 0, -HEIGHT - 5, *[0.0] * 8
        )
        flight.run(TROUBLE + 20)
        assert flight.seen["LOCAL_POSITION_NED"].z == pytest.approx(-HEIGHT - 5, abs=1.0), "it believes"
        assert flight.drone.position[2] > HEIGHT + 10
        assert any("SIM_BARO_FREEZE 0 → 1" in text for _, text in flight.events)


def test_a_magnet_confuses_its_compasses(tmp_path):
    with Flight(tmp_path, sensor="magnetometer", fault="offset", offset=[4e-5, -4e-5, 0]) as flight:
        flight.run(TROUBLE + 15)
        assert flight.said("switching to compass", "Compass error", "EKF variance") > TROUBLE
        assert any("SIM_MAG1_OFS_X" in text for _, text in flight.events)


def test_with_a_stuck_imu_it_crashes_in_flight_but_not_in_code(tmp_path):
    with Flight(tmp_path, sensor="imu", fault="frozen") as flight:
        flight.run(TROUBLE + 10)
        assert flight.drone.position[2] < 1.0
        assert np.isfinite(flight.drone.state).all()
        assert flight.said("EKF variance", "EKF Failsafe", "Crash", "GPS Glitch") < TROUBLE + 10
        assert (TROUBLE, "trouble begins: imu frozen") in flight.events


def test_without_a_motor_it_falls(tmp_path):
    with Flight(tmp_path, rotor="back_left") as flight:
        flight.run(TROUBLE + 10)
        assert flight.drone.position[2] < 2.0
        assert flight.said("Thrust Loss", "Crash") < TROUBLE + 10
        assert (TROUBLE, "trouble begins: rotor back_left is lost") in flight.events
