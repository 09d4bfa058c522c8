"""A ground station for a swarm: from a line into a wedge, into a ring that turns once, back into the line, and down."""

from __future__ import annotations

from math import cos, pi, sin

from ground_station import ArduPilot, Place, Station  # type: ignore[import-not-found]  # beside this file

from airloom.member import join

HEIGHT = 8.0  # m
AHEAD, APART = 20.0, 4.0  # m
RADIUS, STEPS = 8.0, 10


def wedge(k: int, count: int) -> Place:
    """The middle one leads, to the north."""
    beside = k - (count - 1) / 2
    return APART * beside, AHEAD - APART * abs(beside), HEIGHT


def ring(k: int, count: int, turned: float) -> Place:
    """The middle one in the north, so that nobody crosses another's way."""
    angle = pi / 2 - 2 * pi * (k - (count - 1) / 2) / count + turned
    return RADIUS * cos(angle), AHEAD + RADIUS * sin(angle), HEIGHT


def fly_a_formation(station: Station) -> None:
    names = [drone.name for drone in station.drones]
    count = len(names)
    station.take_off(HEIGHT)
    station.fly_to({name: wedge(k, count) for k, name in enumerate(names)}, "a wedge")
    for step in range(STEPS + 1):
        turned = -2 * pi * step / STEPS
        station.fly_to({name: ring(k, count, turned) for k, name in enumerate(names)}, f"a ring, step {step}")
    station.fly_to({drone.name: (*drone.start[:2], HEIGHT) for drone in station.drones}, "the line")
    station.land()


if __name__ == "__main__":
    with join() as me:
        fly_a_formation(Station(me, ArduPilot))
