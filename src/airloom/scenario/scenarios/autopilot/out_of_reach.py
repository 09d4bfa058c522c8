"""A ground station by radio: lets a swarm fly a line, sends one of them out of reach, and waits until it is home again.

What brings it home is its own failsafe: the ground station cannot tell it anything any more. Started as
`python out_of_reach.py ardupilot` or `… px4`.
"""

from __future__ import annotations

import sys

from ground_station import PX4, ArduPilot, Drone, Place, Station  # type: ignore[import-not-found]  # beside this file

from airloom.member import join

HEIGHT, AHEAD = 8.0, 15.0  # m
FAR = 260.0  # m, beyond what the radio of the scenarios reaches
LOST = 4.0  # s of silence after which somebody is lost


class Distant(Drone):
    """Hears a heartbeat of the ground station each second, and is heard by its own. By radio all are spoken to at the
    ports of ArduPilots.
    """

    beats_every = 1.0
    return_mode: int

    def __init__(self, name: str, instance: int, start: Place) -> None:
        super().__init__(name, instance, start)
        self._heard = self._now = 0.0

    def address(self, instance: int) -> str:
        return f"tcp:127.0.0.1:{5760 + 10 * instance}"

    def listen(self, now: float) -> None:
        before = self.seen.get("HEARTBEAT")
        super().listen(now)
        self._now = now
        if self.seen.get("HEARTBEAT") is not before:
            self._heard = now

    @property
    def is_lost(self) -> bool:
        return self._now > self._heard + LOST

    @property
    def returns(self) -> bool:
        return self.seen["HEARTBEAT"].custom_mode == self.return_mode


class DistantArduPilot(Distant, ArduPilot):
    return_mode = 6


class DistantPX4(Distant, PX4):
    return_mode = 5 << 24 | 4 << 16  # the fifth of its modes by itself


def lose_one_and_wait(station: Station) -> None:
    lost = station.drones[len(station.drones) // 2]
    line = {drone.name: (drone.start[0], drone.start[1] + AHEAD, HEIGHT) for drone in station.drones}
    station.take_off(HEIGHT)
    station.fly_to(line, "a line")
    lost.fly_to((lost.start[0], FAR, HEIGHT))
    station.wait(lambda drone: drone is not lost or drone.is_lost, f"{lost.name} flies away")
    station.wait(lambda drone: not drone.is_lost, f"{lost.name} is lost, {lost.position[1]:.0f} m away")
    if not lost.returns:
        sys.exit(f"{lost.name} is heard again, but is not on its way home")
    station.tell(lambda drone: None if drone is lost else drone.land())
    station.wait(lambda drone: not drone.is_armed, f"{lost.name} is heard again, {lost.position[1]:.0f} m away")
    if not lost.is_at(lost.start):
        sys.exit(f"{lost.name} has landed elsewhere: {lost.position}")
    print(f"{lost.name} is home", flush=True)
    station.stay()


if __name__ == "__main__":
    with join() as me:
        lose_one_and_wait(Station(me, {"ardupilot": DistantArduPilot, "px4": DistantPX4}[sys.argv[1]]))
