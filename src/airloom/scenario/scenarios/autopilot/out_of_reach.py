"""A ground station by radio: lets a swarm fly a line, sends one of them out of reach, and waits until it is home again.

What brings it home is its own failsafe: the ground station cannot tell it anything any more.
"""

from __future__ import annotations

from ground_station import ArduPilot, Drone, Station, mav  # type: ignore[import-not-found]  # beside this file

from airloom.member import join

HEIGHT, AHEAD = 8.0, 15.0  # m
FAR = 260.0  # m, beyond what the radio of the scenario reaches
RETURN = 6  # ArduPilot's mode RTL


class Distant(ArduPilot):
    """Hears the ground station by heartbeats, and is told again what may have got lost."""

    def listen(self, now: float) -> None:
        self.line.mav.heartbeat_send(mav.MAV_TYPE_GCS, mav.MAV_AUTOPILOT_INVALID, 0, 0, 0)
        super().listen(now)


def lose_one_and_wait(station: Station) -> None:
    lost = station.drones[len(station.drones) // 2]
    line = {drone.name: (drone.start[0], drone.start[1] + AHEAD, HEIGHT) for drone in station.drones}
    station.take_off(HEIGHT)
    station.fly_to(line, "a line")
    station.tell(lambda drone: drone.fly_to((drone.start[0], FAR, HEIGHT)) if drone is lost else None)
    station.wait(lambda drone: drone is not lost or drone.position[1] > 0.5 * FAR, f"{lost.name} flies out of reach")
    station.wait(lambda drone: drone is not lost or is_back(drone), f"{lost.name} comes back by itself", 180)
    station.land()


def is_back(drone: Drone) -> bool:
    """By itself, near its start: the heartbeat that the radio brings again says in which mode."""
    return drone.seen["HEARTBEAT"].custom_mode == RETURN and drone.position[1] < drone.start[1] + AHEAD


if __name__ == "__main__":
    with join() as me:
        lose_one_and_wait(Station(me, Distant))
