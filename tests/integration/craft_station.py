"""Ground stations for ArduPilot's other programs: `python craft_station.py plane`, or `sub`, `rover`, `quadplane`."""

from __future__ import annotations

import sys
from math import cos, hypot, radians
from pathlib import Path

import airloom
from airloom.member import join

sys.path.insert(0, str(Path(airloom.__file__).parent / "scenario/scenarios/autopilot"))

from ground_station import ArduPilot, Station, mav

METRES = 111_320.0  # in a degree of latitude


class Craft(ArduPilot):
    """Knows the modes of one program by their numbers."""

    modes: dict[str, int]

    def listen(self, now: float) -> None:
        self.line.mav.heartbeat_send(mav.MAV_TYPE_GCS, mav.MAV_AUTOPILOT_INVALID, 0, 0, 0)
        super().listen(now)
        self.now = now

    now, asked, since = 0.0, 0.0, None

    def arms(self) -> bool:
        """Asked every second: it is refused as long as its sensors have not been well for ten."""
        if not self.is_armed and self.now > self.asked + 1.0:
            self.command(mav.MAV_CMD_COMPONENT_ARM_DISARM, 1)
            self.asked = self.now
        return self.is_armed

    def has_waited(self, seconds: float) -> bool:
        """Since this was first asked."""
        self.since = self.now if self.since is None else self.since
        return self.now > self.since + seconds

    def choose(self, mode: str) -> None:
        self._choose_mode(self.modes[mode])

    def is_in(self, mode: str) -> bool:
        return "HEARTBEAT" in self.seen and self.seen["HEARTBEAT"].custom_mode == self.modes[mode]

    def distance(self, east: float, north: float) -> float:
        return hypot(self.position[0] - east, self.position[1] - north)

    def on_the_globe(self, east: float, north: float) -> tuple[int, int]:
        """A place of the world; where it is itself it has told."""
        here = self.seen["GLOBAL_POSITION_INT"]
        latitude = here.lat + round(1e7 * (north - self.position[1]) / METRES)
        return latitude, here.lon + round(1e7 * (east - self.position[0]) / METRES / cos(radians(here.lat / 1e7)))

    def takes(self, items: list[tuple[int, float, float, float]]) -> bool:
        """Whether it has taken a mission: commands with east, north and height, the first being its home."""
        if "MISSION_ACK" in self.seen:
            assert self.seen["MISSION_ACK"].type == mav.MAV_MISSION_ACCEPTED
            return True
        if not self.told:
            self.line.mav.mission_count_send(self.system, 1, len(items))
            self.told = True
        wanted = self.seen.pop("MISSION_REQUEST", None) or self.seen.pop("MISSION_REQUEST_INT", None)
        if wanted is not None:
            command, east, north, height = items[wanted.seq]
            self.line.mav.mission_item_int_send(
                self.system, 1, wanted.seq, mav.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, command, 0, 1, 0, 0, 0, 0,
                *self.on_the_globe(east, north), height,
            )  # fmt: skip
        return False

    told = False

    def has_reached(self, item: int) -> bool:
        return "MISSION_ITEM_REACHED" in self.seen and self.seen["MISSION_ITEM_REACHED"].seq >= item


class Plane(Craft):
    modes = {"takeoff": 13, "guided": 15, "return": 11, "auto": 10}

    def circle(self, east: float, north: float, height: float) -> None:
        latitude, longitude = self.on_the_globe(east, north)
        self.line.mav.command_int_send(
            self.system, 1, mav.MAV_FRAME_GLOBAL_RELATIVE_ALT, mav.MAV_CMD_DO_REPOSITION, 0, 0,
            -1, mav.MAV_DO_REPOSITION_FLAGS_CHANGE_MODE, 0, 0, latitude, longitude, height,
        )  # fmt: skip


class Sub(Craft):
    modes = {"guided": 4, "depth hold": 2}

    def steers(self, ahead: int, left: int, seconds: float) -> bool:
        """Whether sticks have been held so for so long: thousandths of their way."""
        self.line.mav.manual_control_send(self.system, ahead, -left, 500, 0, 0)
        return self.has_waited(seconds)


class Rover(Craft):
    modes = {"guided": 15, "auto": 10}


def begin(station: Station, mode: str, mission: list[tuple[int, float, float, float]] | None = None) -> None:
    station.wait(lambda craft: craft.is_ready, "waiting until it is known where it is", 120)
    station.tell(lambda craft: craft.line.mav.request_data_stream_send(craft.system, 1, mav.MAV_DATA_STREAM_ALL, 5, 1))
    if mission is not None:
        station.wait(lambda craft: "GLOBAL_POSITION_INT" in craft.seen, "waiting for its place on the globe", 10)
        station.wait(lambda craft: craft.takes(mission), "sending the mission", 20)
    station.tell(lambda craft: craft.choose(mode))
    station.wait(lambda craft: craft.is_in(mode), mode, 10)
    station.wait(lambda craft: craft.arms(), "arming", 30)


def fly_plane(station: Station) -> None:
    begin(station, "takeoff")
    station.wait(lambda plane: plane.position[2] > 45.0, "taking off", 60)
    station.tell(lambda plane: plane.circle(0.0, 200.0, 60.0))
    station.wait(lambda plane: plane.is_in("guided"), "guided", 10)
    station.wait(lambda plane: plane.distance(0.0, 200.0) < 60.0, "on its way north", 60)
    station.wait(lambda plane: plane.has_waited(40.0), "circling")
    station.tell(lambda plane: plane.choose("return"))
    station.wait(lambda plane: plane.distance(0.0, 0.0) < 60.0, "on its way home", 60)


def dive(station: Station) -> None:
    begin(station, "guided")
    for place in ((0.0, 0.0, -4.0), (6.0, 8.0, -4.0)):
        station.fly_to({sub.name: place for sub in station.drones}, f"to {place}")
    station.wait(lambda sub: sub.has_waited(20.0), "holding")
    station.tell(lambda sub: sub.choose("depth hold"))
    station.wait(lambda sub: sub.is_in("depth hold"), "depth hold", 10)
    station.tell(lambda sub: setattr(sub, "since", None))
    station.wait(lambda sub: sub.steers(500, 0, 10.0), "steering ahead")
    station.tell(lambda sub: setattr(sub, "since", None))
    station.wait(lambda sub: sub.steers(0, 500, 10.0), "steering to the left")


GOTO, TAKE_OFF, LAND = mav.MAV_CMD_NAV_WAYPOINT, mav.MAV_CMD_NAV_VTOL_TAKEOFF, mav.MAV_CMD_NAV_VTOL_LAND
ROUND = [(GOTO, 0.0, 0.0, 0.0), (GOTO, 30.0, 0.0, 0.0), (GOTO, 30.0, 20.0, 0.0), (GOTO, 0.0, 20.0, 0.0)]
FLIGHT = [
    (GOTO, 0.0, 0.0, 0.0), (TAKE_OFF, 0.0, 0.0, 30.0), (GOTO, 250.0, 0.0, 50.0), (GOTO, 250.0, 250.0, 50.0),
    (GOTO, 0.0, 250.0, 40.0), (LAND, 0.0, 0.0, 0.0),
]  # fmt: skip


def steer(station: Station) -> None:
    begin(station, "auto", ROUND)
    station.wait(lambda boat: boat.has_reached(3), "on its round", 120)
    station.wait(lambda boat: boat.has_waited(20.0), "staying")


def fly_quadplane(station: Station) -> None:
    begin(station, "auto", FLIGHT)
    station.wait(lambda plane: plane.has_reached(1), "rising", 60)
    station.wait(lambda plane: plane.has_reached(4), "on its wings", 150)
    station.wait(lambda plane: not plane.is_armed, "coming home and landing", 150)


FLIGHTS = {
    "plane": (Plane, fly_plane),
    "sub": (Sub, dive),
    "rover": (Rover, steer),
    "quadplane": (Plane, fly_quadplane),
}

if __name__ == "__main__":
    kind, go = FLIGHTS[sys.argv[1]]
    with join() as me:
        station = Station(me, kind)
        go(station)
        print("done", flush=True)
        station.stay()
