"""Ground stations for PX4's aeroplanes: `python px4_craft_station.py plane`, or `vtol`."""

from __future__ import annotations

import sys
from math import hypot, nan
from pathlib import Path

import airloom
from airloom.member import join

sys.path.insert(0, str(Path(airloom.__file__).parent / "scenario/scenarios/autopilot"))

from ground_station import PX4, Station, mav

MANUAL, HOLD, RETURN = 1 << 16, 3 << 24 | 4 << 16, 5 << 24 | 4 << 16  # of its modes
PLACE = (0.0, 200.0, 50.0)
CIRCLING = 60.0  # s
LET_GO = 3.0  # s: after 1 s of rest PX4's control of height begins anew


class Craft(PX4):
    now = 0.0

    def listen(self, now: float) -> None:
        super().listen(now)
        self.now = now

    def distance(self, east: float, north: float) -> float:
        return hypot(self.position[0] - east, self.position[1] - north)

    @property
    def flies_as(self) -> int:
        state = self.seen.get("EXTENDED_SYS_STATE")
        return mav.MAV_VTOL_STATE_UNDEFINED if state is None else state.vtol_state

    def is_in(self, mode: int) -> bool:
        return self.seen["HEARTBEAT"].custom_mode == mode

    def let_go(self) -> None:
        """On the ground, so that its control of height begins anew at the height that it knows by now: from when PX4
        boots on, it believes to have to climb there from sea level.
        """
        self.command(mav.MAV_CMD_DO_SET_MODE, mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED, MANUAL >> 16)

    def go_over_to(self, state: int) -> None:
        self.command(mav.MAV_CMD_DO_VTOL_TRANSITION, state)


def pass_time(station: Station, seconds: float, what: str) -> None:
    until = {craft.name: craft.now + seconds for craft in station.drones}
    station.wait(lambda craft: craft.now > until[craft.name], what, seconds + 10)


def rise(station: Station, height: float, reached: float) -> None:
    station.wait(lambda craft: craft.is_ready, "waiting until it is known where it is", 120)
    station.tell(lambda craft: craft.let_go())
    station.wait(lambda craft: craft.is_in(MANUAL), "let go", 10)
    pass_time(station, LET_GO, "standing")
    station.tell(lambda craft: craft.remember_home())
    station.tell(lambda craft: craft.take_off(height))
    station.wait(lambda craft: not craft.is_in(MANUAL), "told to take off", 10)
    station.tell(lambda craft: craft.command(mav.MAV_CMD_COMPONENT_ARM_DISARM, 1))
    station.wait(lambda craft: craft.is_armed, "arming", 30)
    station.wait(lambda craft: craft.position[2] > reached, "taking off", 60)


def circle(station: Station) -> None:
    station.tell(lambda craft: craft.fly_to(PLACE))
    station.wait(lambda craft: craft.distance(*PLACE[:2]) < 75.0, "to a place 200 m north", 90)
    pass_time(station, CIRCLING, "circling")


def fly_plane(station: Station) -> None:
    rise(station, 40.0, 35.0)
    circle(station)
    station.tell(lambda craft: craft.command(mav.MAV_CMD_NAV_RETURN_TO_LAUNCH))
    station.wait(lambda craft: craft.is_in(RETURN), "on its way home", 10)
    station.wait(lambda craft: craft.distance(0, 0) < 75.0, "home", 60)
    print("done", flush=True)
    station.stay()


def fly_vtol(station: Station) -> None:
    rise(station, 30.0, 29.0)
    station.wait(lambda craft: craft.is_in(HOLD), "has taken off", 30)
    station.tell(lambda craft: craft.go_over_to(mav.MAV_VTOL_STATE_FW))
    station.wait(lambda craft: craft.flies_as == mav.MAV_VTOL_STATE_FW, "to its wings", 30)
    circle(station)
    station.tell(lambda craft: craft.go_over_to(mav.MAV_VTOL_STATE_MC))
    station.wait(lambda craft: craft.flies_as == mav.MAV_VTOL_STATE_MC, "to its rotors", 30)
    station.tell(lambda craft: craft.command(mav.MAV_CMD_NAV_LAND, 0, 0, 0, nan, nan, nan))
    station.wait(lambda craft: not craft.is_armed, "landing", 90)
    print("done", flush=True)
    station.stay()


if __name__ == "__main__":
    with join() as me:
        {"plane": fly_plane, "vtol": fly_vtol}[sys.argv[1]](Station(me, Craft))
