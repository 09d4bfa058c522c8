"""A ground station: waits until ArduPilot is ready, lets it take off, fly a square and land, on simulation time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

from airloom.member import Member, Turn, join

try:
    from pymavlink import mavutil
except ImportError:
    sys.exit("the ground station needs pymavlink: pip install 'airloom[autopilots]'")

HEIGHT, SIDE = 10.0, 20.0  # m
NEAR = 1.0  # m
FIRST_INSTANCE = int(os.environ.get("AIRLOOM_INSTANCE", "0"))
mav = mavutil.mavlink
GUIDED, LAND = 4, 9
ONLY_POSITION = 0b110111111000

Place = tuple[float, float, float]
"""East, north, up, m."""


class Drone:
    """One vehicle, and the line to the ArduPilot that flies it."""

    def __init__(self, name: str, number: int, start: Place) -> None:
        instance = FIRST_INSTANCE + number
        self.name, self.start, self._system = name, start, instance + 1
        self.position = start
        self._line = mavutil.mavlink_connection(f"tcp:127.0.0.1:{5760 + 10 * instance}", source_system=255)
        self._line.mav.request_data_stream_send(self._system, 1, mav.MAV_DATA_STREAM_EXTRA3, 4, 1)
        self._seen: dict = {}

    def listen(self, now: float) -> None:
        while message := self._line.recv_match(blocking=False):
            self._seen[message.get_type()] = message
            if message.get_type() == "STATUSTEXT":
                print(f"{now:7.1f} s  {self.name}: {message.text}", flush=True)

    def command(self, number: int, *parameters: float) -> None:
        padded = [*parameters, *[0.0] * (7 - len(parameters))]
        self._line.mav.command_long_send(self._system, 1, number, 0, *padded)

    def fly_to(self, place: Place) -> None:
        """ArduPilot counts from where it started."""
        east, north, up = (there - here for there, here in zip(place, self.start, strict=True))
        self._line.mav.set_position_target_local_ned_send(
            0, self._system, 1, mav.MAV_FRAME_LOCAL_NED, ONLY_POSITION, north, east, -up, *[0.0] * 8
        )

    def is_at(self, place: Place) -> bool:
        return all(abs(there - here) < NEAR for there, here in zip(place, self.position, strict=True))

    def is_in(self, mode: int) -> bool:
        return "HEARTBEAT" in self._seen and self._seen["HEARTBEAT"].custom_mode == mode

    @property
    def is_armed(self) -> bool:
        return bool(self._seen["HEARTBEAT"].base_mode & mav.MAV_MODE_FLAG_SAFETY_ARMED)

    @property
    def is_ready(self) -> bool:
        """Whether the filter knows where it is."""
        good = mav.EKF_POS_HORIZ_ABS | mav.EKF_VELOCITY_HORIZ
        report = self._seen.get("EKF_STATUS_REPORT")
        return report is not None and report.flags & good == good and not report.flags & mav.EKF_CONST_POS_MODE


class Station:
    """Leads all vehicles at once: what is said to one is said to each, and all are waited for."""

    def __init__(self, me: Member) -> None:
        self._turns: Iterator[Turn] = iter(me)
        self._turn = next(self._turns)
        found = self._turn.vehicles.items()
        self.drones = [Drone(name, k, tuple(seen.position)) for k, (name, seen) in enumerate(found)]

    def wait(self, is_so: Callable[[Drone], bool], what: str, patience: float = 90.0) -> None:
        """Let time pass until something is so of every drone, listening all the while."""
        began = self._turn.time
        print(f"{began:7.1f} s  {what}", flush=True)
        while not all(is_so(drone) for drone in self.drones):
            if self._turn.time - began > patience:
                late = ", ".join(drone.name for drone in self.drones if not is_so(drone))
                sys.exit(f"gave up after {patience:g} s: {what}: {late}")
            self._turn = next(self._turns)
            for drone in self.drones:
                drone.position = tuple(self._turn.vehicles[drone.name].position)
                drone.listen(self._turn.time)

    def command(self, number: int, *parameters: float) -> None:
        for drone in self.drones:
            drone.command(number, *parameters)

    def choose_mode(self, mode: int, name: str) -> None:
        self.command(mav.MAV_CMD_DO_SET_MODE, mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED, mode)
        self.wait(lambda drone: drone.is_in(mode), f"mode {name}", 10)

    def take_off(self, height: float) -> None:
        self.wait(lambda drone: drone.is_ready, "waiting until it is known where they are", 120)
        self.choose_mode(GUIDED, "guided")
        self.command(mav.MAV_CMD_COMPONENT_ARM_DISARM, 1)
        self.wait(lambda drone: drone.is_armed, "arming", 10)
        self.command(mav.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, 0, 0, height)
        self.wait(lambda drone: abs(drone.position[2] - height) < NEAR, f"take-off to {height:g} m")

    def fly_to(self, places: dict[str, Place], what: str) -> None:
        for drone in self.drones:
            drone.fly_to(places[drone.name])
        self.wait(lambda drone: drone.is_at(places[drone.name]), what)

    def land(self) -> None:
        self.choose_mode(LAND, "land")
        self.wait(lambda drone: not drone.is_armed, "landing")
        print(f"{self._turn.time:7.1f} s  landed", flush=True)


def fly_a_square(station: Station) -> None:
    station.take_off(HEIGHT)
    for east, north in ((0, SIDE), (SIDE, SIDE), (SIDE, 0), (0, 0)):
        places = {drone.name: (drone.start[0] + east, drone.start[1] + north, HEIGHT) for drone in station.drones}
        station.fly_to(places, f"to {east:g} m east, {north:g} m north")
    station.land()


if __name__ == "__main__":
    with join() as me:
        fly_a_square(Station(me))
