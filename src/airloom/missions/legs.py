"""How an aeroplane passes places one after the other, on ways of lines and arcs (arcs.py).

- **Fly-by.** It turns before a place onto the next leg, where that passes the place no farther off than its acceptance
  distance, by the plan: with a radius R and a turn θ at R (1/cos(θ/2) − 1).
- **Fly-over.** Elsewhere it flies over the place, and comes back onto the next leg as soon as it can, 2√2 R behind the
  place at the latest. A leg that is shorter is not joined: it flies straight to where that leads.
- **Lines** are flown from end to end: it comes onto their course some metres before they begin, by the shortest way,
  and flies over both ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import cos, sin

from airloom.missions.arcs import (
    Piece,
    Pose,
    Way,
    cut_corner,
    onto_line,
    rest_of,
    risen,
    straight,
    to_point,
    to_pose,
)

ACCEPTANCE = 10.0
"""m, as NAV_ACC_RAD of PX4 is if nobody sets it."""
BESIDE, OFF_COURSE = 0.15, 0.3
"""Of a turn's radius, and rad: who is as near is on a leg."""
STRAIGHT_ON = 0.02  # rad of a turn that is none


@dataclass(frozen=True)
class Leg:
    """To a place; a line is flown from end to end."""

    end: tuple[float, float, float]
    acceptance: float = ACCEPTANCE
    is_line: bool = False
    is_told: bool = True
    """Whether it is told by how much the place was passed."""

    @property
    def pose(self) -> Pose:
        """At its end, on no course of its own."""
        return Pose(*self.end[:2], 0.0)

    def on_to(self, following: Leg) -> Piece:
        return straight(self.pose, *following.end[:2])


@dataclass(frozen=True)
class Turns:
    """What ways are made of: the radius of turns, and how long it flies straight before a line begins, m."""

    radius: float
    lead: float


def past_places(here: Pose, z: float, before: Pose | None, legs: list[Leg], after: Leg | None, turns: Turns) -> Way:
    """From a pose at a height to the end of the last leg, or onto what follows it.

    `before` is the place at which the first leg began, if that is known.
    """
    way: Way = []
    for leg, following in zip(legs, [*legs[1:], after], strict=True):
        pieces = list(_one_leg(here, before, leg, following, turns))
        way += risen(pieces, z, leg.end[2])
        here, z, before = way[-1].end, leg.end[2], leg.pose
    return way


def _one_leg(here: Pose, before: Pose | None, leg: Leg, following: Leg | None, turns: Turns) -> Iterator[Piece]:
    line = leg.on_to(following) if following is not None and following.is_line else None
    if line is not None and not leg.is_line:
        yield from _told(_into(line, here, turns), leg)
        return
    way = _to_the_end(here, before, leg, turns)
    if following is not None and not leg.is_line:
        way = cut_corner(way, *following.end[:2], turns.radius, leg.acceptance)
    yield from _told(way, leg)
    turns_off = line is not None and abs(sin(0.5 * (line.begin.course - way[-1].end.course))) > 0.5 * STRAIGHT_ON
    if line is not None and turns_off:
        yield from _into(line, way[-1].end, turns)


def _to_the_end(here: Pose, before: Pose | None, leg: Leg, turns: Turns) -> Way:
    """Along the leg from where it began, or straight from here."""
    line = None if before is None else straight(before, *leg.end[:2])
    if line is None or line.length < turns.radius * BESIDE:
        return to_point(here, *leg.end[:2], turns.radius)
    rest = rest_of(line, here, BESIDE * turns.radius, OFF_COURSE)
    if rest is not None:
        return [rest]
    if leg.is_line:
        return [*_into(line, here, turns), line]
    return onto_line(here, line, turns.radius) or to_point(here, *leg.end[:2], turns.radius)


def _into(line: Piece, here: Pose, turns: Turns) -> Way:
    """To where a line begins, on its course."""
    x, y, course = line.begin
    lead = Piece(Pose(x - turns.lead * cos(course), y - turns.lead * sin(course), course), turns.lead)
    return [*to_pose(here, lead.begin, turns.radius), lead]


def _told(way: Way, leg: Leg) -> Way:
    return [*way[:-1], replace(way[-1], passes=leg.end[:2])] if leg.is_told else way
