"""What a job comes to: lengths, litres, refills and time."""

from __future__ import annotations

from itertools import pairwise
from math import pi

from airloom.farm.job import SQUARE_METRES, JobLine, Refill, Totals
from airloom.farm.routes import Routes
from airloom.missions.cruise import ACCELERATION, YAW_RATE, Pace

CLIMB = 1.5  # m/s, up and down
LANDING = 2.19 / 0.7  # s/m: see `leg_durations` in missions/trajectory.py


def litres_on(line: JobLine, swath: float) -> float:
    return sum(stretch.rate * stretch.length * swath for stretch in line.spray) / SQUARE_METRES


def totals(
    hectares: float,
    lines: list[JobLine],
    swath: float,
    speed: float,
    tank: float,
    refill: Refill,
    transit: float,
    routes: Routes,
) -> Totals:
    """Times are those of the built-in stack on level ground. Raises FarmError if a way is blocked."""
    ways = [routes.length(before.end, line.start) for before, line in pairwise(lines)]
    seconds = sum(_seconds(line.length, speed) for line in lines)
    seconds += sum(max(_seconds(way, speed), pi / YAW_RATE if way else 0.0) for way in ways)
    litres = sum(litres_on(line, swath) for line in lines)
    breaks = [load[-1].end for load in loads(lines, swath, tank)[:-1]]
    leave, land = _seconds(transit, CLIMB), LANDING * transit
    there_and_back = sum(2 * _seconds(routes.length(place, refill.place), speed) + 3 * leave + land for place in breaks)
    ends = routes.length(refill.place, lines[0].start), routes.length(lines[-1].end, refill.place)
    seconds += sum(_seconds(way, speed) for way in ends)
    seconds += there_and_back + len(breaks) * refill.seconds + 3 * leave + land
    sprayed = sum(line.sprayed for line in lines)
    return Totals(
        hectares=round(hectares, 4), sprayed_hectares=round(sprayed * swath / SQUARE_METRES, 4), lines=len(lines),
        line_metres=round(sum(line.length for line in lines), 1), sprayed_metres=round(sprayed, 1),
        turn_metres=round(sum(ways), 1), litres=round(litres, 2), refills=len(breaks), minutes=round(seconds / 60, 1),
    )  # fmt: skip


def loads(lines: list[JobLine], swath: float, tank: float, room: float = 0.0) -> list[list[JobLine]]:
    """What is done with each tank, the first one full before the first line: lines, and parts of them with `room`."""
    found: list[list[JobLine]] = [[]]
    left = tank
    for line in lines:
        begun = 0.0
        for stretch in line.spray:
            per_metre, at = stretch.rate * swath / SQUARE_METRES, stretch.start
            while per_metre > 0 and left < per_metre * (stretch.end - at) - 1e-9:
                at += left / per_metre
                if at > begun:
                    found[-1].append(line.part((begun, at), room))
                found.append([])
                begun, left = at, tank
            left -= per_metre * (stretch.end - at)
        found[-1].append(line if begun == 0.0 else line.part((begun, line.length), room))
    return [load for load in found if load]


def _seconds(length: float, speed: float) -> float:
    return Pace(length, speed, ACCELERATION).duration if length > 1e-6 else 0.0
