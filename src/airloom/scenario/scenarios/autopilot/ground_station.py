"""A ground station: waits until autopilots are ready, lets them take off, fly a square and land, on simulation time.

Started as `python ground_station.py ardupilot` or `… px4`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from math import cos, inf, nan, radians

from airloom.member import Turn, join

try:
    from pymavlink import mavutil
except ImportError:
    sys.exit("the ground station needs pymavlink: pip install 'airloom[autopilots]'")

HEIGHT, SIDE = 10.0, 20.0  # m
NEAR = 1.0  # m
FIRST_INSTANCE = int(os.environ.get("AIRLOOM_INSTANCE", "0"))
mav = mavutil.mavlink

Place = tuple[float, float, float]
"""East, north, up, m."""


class Drone:
    """One vehicle, and the line to the autopilot that flies it."""

    beats_every = inf
    """s between two heartbeats that it hears of its ground station."""

    def __init__(self, name: str, instance: int, start: Place) -> None:
        self.name, self.start, self.system = name, start, instance + 1
        self.position = start
        self.line = mavutil.mavlink_connection(self.address(instance), source_system=255)
        self.seen: dict = {}
        self._told = -inf

    def address(self, instance: int) -> str:
        raise NotImplementedError

    def listen(self, now: float) -> None:
        if now >= self._told + self.beats_every:
            self.line.mav.heartbeat_send(mav.MAV_TYPE_GCS, mav.MAV_AUTOPILOT_INVALID, 0, 0, 0)
            self._told = now
        while message := self.line.recv_match(blocking=False):
            self.seen[message.get_type()] = message
            if message.get_type() == "STATUSTEXT":
                print(f"{now:7.1f} s  {self.name}: {message.text}", flush=True)

    def command(self, number: int, *parameters: float) -> None:
        padded = [*parameters, *[0.0] * (7 - len(parameters))]
        self.line.mav.command_long_send(self.system, 1, number, 0, *padded)

    def from_start(self, place: Place) -> Place:
        """Autopilots count from where they started."""
        return place[0] - self.start[0], place[1] - self.start[1], place[2] - self.start[2]

    def is_at(self, place: Place) -> bool:
        return all(abs(there - here) < NEAR for there, here in zip(place, self.position, strict=True))

    @property
    def is_armed(self) -> bool:
        return "HEARTBEAT" in self.seen and bool(self.seen["HEARTBEAT"].base_mode & mav.MAV_MODE_FLAG_SAFETY_ARMED)

    @property
    def is_ready(self) -> bool:
        """Whether it knows where it is."""
        raise NotImplementedError

    @property
    def is_guided(self) -> bool:
        """Whether it does as it is told."""
        return True

    def guide(self) -> None:
        """Let it do as it is told."""

    def remember_home(self) -> None:
        """Once it is armed; what it says of its home later is of no concern."""

    def take_off(self, height: float) -> None:
        raise NotImplementedError

    def fly_to(self, place: Place) -> None:
        raise NotImplementedError

    def land(self) -> None:
        raise NotImplementedError


class ArduPilot(Drone):
    GUIDED, LAND = 4, 9
    ONLY_POSITION = 0b110111111000

    def __init__(self, name: str, instance: int, start: Place) -> None:
        super().__init__(name, instance, start)
        self.line.mav.request_data_stream_send(self.system, 1, mav.MAV_DATA_STREAM_EXTRA3, 4, 1)

    def address(self, instance: int) -> str:
        return f"tcp:127.0.0.1:{5760 + 10 * instance}"

    @property
    def is_ready(self) -> bool:
        good = mav.EKF_POS_HORIZ_ABS | mav.EKF_VELOCITY_HORIZ
        report = self.seen.get("EKF_STATUS_REPORT")
        return report is not None and report.flags & good == good and not report.flags & mav.EKF_CONST_POS_MODE

    @property
    def is_guided(self) -> bool:
        return "HEARTBEAT" in self.seen and self.seen["HEARTBEAT"].custom_mode == self.GUIDED

    def guide(self) -> None:
        self._choose_mode(self.GUIDED)

    def take_off(self, height: float) -> None:
        self.command(mav.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, 0, 0, height)

    def fly_to(self, place: Place) -> None:
        east, north, up = self.from_start(place)
        self.line.mav.set_position_target_local_ned_send(
            0, self.system, 1, mav.MAV_FRAME_LOCAL_NED, self.ONLY_POSITION, north, east, -up, *[0.0] * 8
        )

    def land(self) -> None:
        self._choose_mode(self.LAND)

    def _choose_mode(self, mode: int) -> None:
        self.command(mav.MAV_CMD_DO_SET_MODE, mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED, mode)


class PX4(Drone):
    """It flies to places on the globe, and needs to hear from its ground station all the time.

    In the first minutes of a flight PX4 1.17 moves its home, up or down, when a single height of its GNSS is more than
    1 m off its barometer, which white noise of 0.3 m is sooner or later.
    """

    METRES = 111_320.0  # in a degree of latitude
    beats_every = 0.5

    def address(self, instance: int) -> str:
        return f"udpout:127.0.0.1:{18570 + instance}"

    @property
    def is_ready(self) -> bool:
        status = self.seen.get("SYS_STATUS")
        healthy = status is not None and status.onboard_control_sensors_health & mav.MAV_SYS_STATUS_PREARM_CHECK
        return bool(healthy) and "HOME_POSITION" in self.seen

    def remember_home(self) -> None:
        self.home = self.seen["HOME_POSITION"]

    def take_off(self, height: float) -> None:
        self.command(mav.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, nan, nan, nan, self.home.altitude / 1e3 + height)

    def fly_to(self, place: Place) -> None:
        (east, north, up), home = self.from_start(place), self.home
        latitude = home.latitude + round(1e7 * north / self.METRES)
        longitude = home.longitude + round(1e7 * east / self.METRES / cos(radians(home.latitude / 1e7)))
        self.line.mav.command_int_send(
            self.system, 1, mav.MAV_FRAME_GLOBAL, mav.MAV_CMD_DO_REPOSITION, 0, 0,
            -1, mav.MAV_DO_REPOSITION_FLAGS_CHANGE_MODE, 0, nan, latitude, longitude, home.altitude / 1e3 + up,
        )  # fmt: skip

    def land(self) -> None:
        self.command(mav.MAV_CMD_NAV_LAND, 0, 0, 0, nan, nan, nan)


class Station:
    """Leads vehicles: what is said to one is said to each, and all are waited for."""

    def __init__(
        self,
        turns: Iterable[Turn],
        kind: type[Drone],
        first: int = FIRST_INSTANCE,
        names: Collection[str] | None = None,
    ) -> None:
        """All that it sees unless `names` says which; `first` is the instance of the first."""
        self._turns: Iterator[Turn] = iter(turns)
        self._turn = self._next_turn()
        places = {name: self._turn.vehicles[name].position for name in names or self._turn.vehicles}
        self.drones = [kind(name, first + k, _place(position)) for k, (name, position) in enumerate(places.items())]

    def wait(self, is_so: Callable[[Drone], bool], what: str, patience: float = 90.0) -> None:
        """Let time pass until something is so of every drone, listening all the while."""
        began = self._turn.time
        print(f"{began:7.1f} s  {what}", flush=True)
        while not all(is_so(drone) for drone in self.drones):
            if self._turn.time - began > patience:
                late = ", ".join(drone.name for drone in self.drones if not is_so(drone))
                sys.exit(f"gave up after {patience:g} s: {what}: {late}")
            self._turn = self._next_turn()
            self._listen()

    def stay(self) -> None:
        """Listen until the run is over."""
        for turn in self._turns:
            self._turn = turn
            self._listen()

    def _listen(self) -> None:
        for drone in self.drones:
            drone.position = _place(self._turn.vehicles[drone.name].position)
            drone.listen(self._turn.time)

    def _next_turn(self) -> Turn:
        for turn in self._turns:
            return turn
        sys.exit("the run is over")

    def tell(self, what: Callable[[Drone], None]) -> None:
        for drone in self.drones:
            what(drone)

    def take_off(self, height: float) -> None:
        self.wait(lambda drone: drone.is_ready, "waiting until it is known where they are", 120)
        self.tell(lambda drone: drone.guide())
        self.wait(lambda drone: drone.is_guided, "guided", 10)
        self.tell(lambda drone: drone.command(mav.MAV_CMD_COMPONENT_ARM_DISARM, 1))
        self.wait(lambda drone: drone.is_armed, "arming", 10)
        self.tell(lambda drone: drone.remember_home())
        self.tell(lambda drone: drone.take_off(height))
        self.wait(lambda drone: abs(drone.position[2] - height) < NEAR, f"take-off to {height:g} m")

    def fly_to(self, places: dict[str, Place], what: str) -> None:
        self.tell(lambda drone: drone.fly_to(places[drone.name]))
        self.wait(lambda drone: drone.is_at(places[drone.name]), what)

    def land(self) -> None:
        self.tell(lambda drone: drone.land())
        self.wait(lambda drone: not drone.is_armed, "landing")
        print(f"{self._turn.time:7.1f} s  landed", flush=True)


def _place(position: Iterable[float]) -> Place:
    east, north, up = map(float, position)
    return east, north, up


def fly_a_square(station: Station) -> None:
    station.take_off(HEIGHT)
    for east, north in ((0, SIDE), (SIDE, SIDE), (SIDE, 0), (0, 0)):
        places = {drone.name: (drone.start[0] + east, drone.start[1] + north, HEIGHT) for drone in station.drones}
        station.fly_to(places, f"to {east:g} m east, {north:g} m north")
    station.land()


if __name__ == "__main__":
    with join() as me:
        fly_a_square(Station(me, {"ardupilot": ArduPilot, "px4": PX4}[sys.argv[1]]))
