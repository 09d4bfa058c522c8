"""A ground station: waits until the autopilot is ready, lets it take off, fly a square and land, on simulation time.

`python ground_station.py ardupilot` or `… px4`, by which it speaks MAVLink.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from math import cos, nan, radians

from airloom.member import Member, Turn, join

try:
    from pymavlink import mavutil
except ImportError:
    sys.exit("the ground station needs pymavlink: pip install 'airloom[autopilots]'")

HEIGHT, SIDE = 10.0, 20.0  # m
NEAR = 1.0  # m
INSTANCE = int(os.environ.get("AIRLOOM_INSTANCE", "0"))
METRES = 111_320.0  # in a degree of latitude
mav = mavutil.mavlink


class Station:
    """What both autopilots have in common."""

    name = ""
    address = ""

    def __init__(self, me: Member) -> None:
        self._turns: Iterator[Turn] = iter(me)
        self.turn = next(self._turns)
        self.line = mavutil.mavlink_connection(self.address, source_system=255)
        self.seen: dict = {}

    def wait(self, is_so, what: str, patience: float = 90.0) -> None:
        """Let time pass until something is so, listening all the while."""
        began = self.turn.time
        print(f"{began:7.1f} s  {what}", flush=True)
        while not is_so():
            if self.turn.time - began > patience:
                sys.exit(f"gave up after {patience:g} s: {what}")
            self.turn = next(self._turns)
            self.line.mav.heartbeat_send(mav.MAV_TYPE_GCS, mav.MAV_AUTOPILOT_INVALID, 0, 0, 0)
            while message := self.line.recv_match(blocking=False):
                self.hear(message)

    def hear(self, message) -> None:
        self.seen[message.get_type()] = message
        if message.get_type() == "STATUSTEXT":
            print(f"{self.turn.time:7.1f} s  {self.name}: {message.text}", flush=True)

    def command(self, number: int, *parameters: float) -> None:
        padded = [*parameters, *[0.0] * (7 - len(parameters))]
        self.line.mav.command_long_send(INSTANCE + 1, 1, number, 0, *padded)

    @property
    def is_ready(self) -> bool:
        """Whether it knows where it is."""
        raise NotImplementedError

    @property
    def is_armed(self) -> bool:
        return bool(self.seen["HEARTBEAT"].base_mode & mav.MAV_MODE_FLAG_SAFETY_ARMED)

    def is_at(self, north: float, east: float, height: float) -> bool:
        x, y, z = next(iter(self.turn.vehicles.values())).position
        return abs(x - east) < NEAR and abs(y - north) < NEAR and abs(z - height) < NEAR

    def arm(self) -> None:
        self.command(mav.MAV_CMD_COMPONENT_ARM_DISARM, 1)
        self.wait(lambda: self.is_armed, "arming", 10)

    def take_off(self) -> None:
        raise NotImplementedError

    def go_to(self, north: float, east: float) -> None:
        raise NotImplementedError

    def land(self) -> None:
        raise NotImplementedError

    def fly(self) -> None:
        self.wait(lambda: self.is_ready, "waiting until it knows where it is", 120)
        self.take_off()
        self.wait(lambda: self.is_at(0, 0, HEIGHT), f"take-off to {HEIGHT:g} m")
        for north, east in ((SIDE, 0), (SIDE, SIDE), (0, SIDE), (0, 0)):
            self.go_to(north, east)
            self.wait(lambda n=north, e=east: self.is_at(n, e, HEIGHT), f"to {north:g} m north, {east:g} m east")
        self.land()
        self.wait(lambda: not self.is_armed, "landing")
        print(f"{self.turn.time:7.1f} s  landed", flush=True)


class ArduPilot(Station):
    name = "ArduPilot"
    address = f"tcp:127.0.0.1:{5760 + 10 * INSTANCE}"
    GUIDED, LAND = 4, 9

    def choose_mode(self, mode: int, name: str) -> None:
        self.command(mav.MAV_CMD_DO_SET_MODE, mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED, mode)
        self.wait(lambda: "HEARTBEAT" in self.seen and self.seen["HEARTBEAT"].custom_mode == mode, f"mode {name}", 10)

    @property
    def is_ready(self) -> bool:
        good = mav.EKF_POS_HORIZ_ABS | mav.EKF_VELOCITY_HORIZ
        report = self.seen.get("EKF_STATUS_REPORT")
        return report is not None and report.flags & good == good and not report.flags & mav.EKF_CONST_POS_MODE

    def fly(self) -> None:
        self.line.mav.request_data_stream_send(INSTANCE + 1, 1, mav.MAV_DATA_STREAM_ALL, 10, 1)
        super().fly()

    def take_off(self) -> None:
        self.choose_mode(self.GUIDED, "guided")
        self.arm()
        self.command(mav.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, 0, 0, HEIGHT)

    def go_to(self, north: float, east: float) -> None:
        only_position = 0b110111111000
        self.line.mav.set_position_target_local_ned_send(
            0, INSTANCE + 1, 1, mav.MAV_FRAME_LOCAL_NED, only_position, north, east, -HEIGHT, *[0.0] * 8
        )

    def land(self) -> None:
        self.choose_mode(self.LAND, "land")


class PX4(Station):
    """It takes goals on the globe, and finds the ground station by what it hears from it."""

    name = "PX4"
    address = f"udpout:127.0.0.1:{18570 + INSTANCE}"

    @property
    def is_ready(self) -> bool:
        status = self.seen.get("SYS_STATUS")
        healthy = status is not None and status.onboard_control_sensors_health & mav.MAV_SYS_STATUS_PREARM_CHECK
        return bool(healthy) and "HOME_POSITION" in self.seen

    @property
    def home(self) -> tuple[float, float, float]:
        """Latitude, longitude, altitude."""
        found = self.seen["HOME_POSITION"]
        return found.latitude / 1e7, found.longitude / 1e7, found.altitude / 1e3

    def take_off(self) -> None:
        self.command(mav.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, nan, nan, nan, self.home[2] + HEIGHT)
        self.arm()

    def go_to(self, north: float, east: float) -> None:
        latitude, longitude, altitude = self.home
        self.line.mav.command_int_send(
            INSTANCE + 1, 1, mav.MAV_FRAME_GLOBAL, mav.MAV_CMD_DO_REPOSITION, 0, 0,
            -1, mav.MAV_DO_REPOSITION_FLAGS_CHANGE_MODE, 0, nan, round(1e7 * (latitude + north / METRES)),
            round(1e7 * (longitude + east / METRES / cos(radians(latitude)))), altitude + HEIGHT,
        )  # fmt: skip

    def land(self) -> None:
        self.command(mav.MAV_CMD_NAV_LAND, 0, 0, 0, nan, nan, nan)


STATIONS = {"ardupilot": ArduPilot, "px4": PX4}
with join() as me:
    STATIONS[sys.argv[1]](me).fly()
