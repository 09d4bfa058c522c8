"""A guide for aeroplanes: the setpoint is the nearest point of a way of lines and arcs, and moves along it."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, sin, sqrt
from typing import ClassVar

import numpy as np

from airloom.commands import Mode
from airloom.compiled import Kernel, compiled
from airloom.compiled import rows as row
from airloom.control.flight_stack import ARRIVED, guide_kernel
from airloom.control.plane_rows import LOST, LOST_THRUST, airspeed_of
from airloom.missions.arcs import Piece

# A plan: whether the vehicle has arrived, the piece it is on and how far along it, the airspeed, how many pieces come,
# whether the way ends where the thrust does, which place is passed next, and how many there are. Behind the pieces come
# the places, each with the piece that passes it and how near the vehicle has been, m.
AT_PIECE, ALONG, AIRSPEED, PIECES, NEEDS_THRUST, AT_PLACE, PLACES, FIRST_PIECE = range(ARRIVED + 1, ARRIVED + 9)
X, Y, Z, COURSE, CURVATURE, LENGTH, SLOPE, PIECE_WIDTH = range(8)
PLACE_X, PLACE_Y, PLACE_PIECE, NEAREST, PLACE_WIDTH = range(5)
WITHOUT_THRUST = 2.0  # where it says whether the vehicle has arrived
LEAST_PACE = 1.0  # m/s; a setpoint that stands would be circled


@compiled
def _along(plan, at, before, x, y):
    """How far along a piece the point is that is nearest to (x, y); on an arc, near where it was before."""
    c, s = cos(plan[at + COURSE]), sin(plan[at + COURSE])
    dx, dy = x - plan[at + X], y - plan[at + Y]
    k = plan[at + CURVATURE]
    if k == 0.0:
        return c * dx + s * dy
    ahead, left = c * dx + s * dy, c * dy - s * dx - 1.0 / k  # from the arc's middle
    angle = atan2(ahead * k, -left * k) if k > 0.0 else atan2(-ahead * k, -left * k)
    beyond = angle - abs(k) * before
    return before + atan2(sin(beyond), cos(beyond)) / abs(k)


@compiled
def _place(plan, at, along):
    """Where and on which course."""
    course, k = plan[at + COURSE], plan[at + CURVATURE]
    x, y = plan[at + X], plan[at + Y]
    if k == 0.0:
        return x + along * cos(course), y + along * sin(course), course
    end = course + k * along
    return x + (sin(end) - sin(course)) / k, y - (cos(end) - cos(course)) / k, end


@compiled
def _note_how_near(plan, x, y):
    """To the place that is passed next; the one behind it is next once its piece is over."""
    if plan[AT_PLACE] >= plan[PLACES]:
        return
    at = FIRST_PIECE + int(plan[PIECES]) * PIECE_WIDTH + int(plan[AT_PLACE]) * PLACE_WIDTH
    dx, dy = x - plan[at + PLACE_X], y - plan[at + PLACE_Y]
    plan[at + NEAREST] = min(plan[at + NEAREST], sqrt(dx * dx + dy * dy))
    if (plan[AT_PIECE] > plan[at + PLACE_PIECE]) | (plan[ARRIVED] != 0.0):
        plan[AT_PLACE] += 1.0


@guide_kernel
def follow_track(w, i, tick, plan):
    x, y = w[row.EPX + i], w[row.EPY + i]
    at = FIRST_PIECE + int(plan[AT_PIECE]) * PIECE_WIDTH
    along = _along(plan, at, plan[ALONG], x, y)
    if along >= plan[at + LENGTH]:
        if plan[AT_PIECE] + 1.0 < plan[PIECES]:
            plan[AT_PIECE] += 1.0
            at += PIECE_WIDTH
            along = _along(plan, at, 0.0, x, y)
        else:
            plan[ARRIVED] = 1.0
    if (plan[NEEDS_THRUST] != 0.0) & (w[LOST_THRUST + i] >= LOST):
        plan[ARRIVED] = WITHOUT_THRUST
    _note_how_near(plan, x, y)
    plan[ALONG] = along
    sx, sy, course = _place(plan, at, along)
    over_ground = sqrt(w[row.EVX + i] ** 2 + w[row.EVY + i] ** 2)
    pace = max(over_ground + plan[AIRSPEED] - airspeed_of(w, i), LEAST_PACE)
    risen = min(max(along, 0.0), plan[at + LENGTH])
    c, s = cos(course), sin(course)
    w[row.SPX + i], w[row.SPY + i], w[row.SPZ + i] = sx, sy, plan[at + Z] + plan[at + SLOPE] * risen
    w[row.SVX + i], w[row.SVY + i] = pace * c, pace * s
    w[row.SVZ + i] = plan[at + SLOPE] * over_ground if risen == along else 0.0
    across = plan[at + CURVATURE] * pace * pace
    w[row.SAX + i], w[row.SAY + i], w[row.SAZ + i] = -across * s, across * c, 0.0
    w[row.SYAW + i], w[row.SYAWRATE + i], w[row.SCOS + i], w[row.SSIN + i] = course, 0.0, c, s


class Track:
    """Arrived at the end of the last piece, which leads on from there; if it needs thrust, also where that is lost."""

    kernel: ClassVar[Kernel] = follow_track
    mode: ClassVar[Mode] = Mode.POSITION_YAW

    def __init__(self, pieces: Sequence[Piece], airspeed: float, needs_thrust: bool = False) -> None:
        places = [(k, piece.passes) for k, piece in enumerate(pieces) if piece.passes is not None]
        self._first_place = FIRST_PIECE + len(pieces) * PIECE_WIDTH
        self._numbers = np.zeros(self._first_place + len(places) * PLACE_WIDTH)
        self._numbers[[AIRSPEED, PIECES, NEEDS_THRUST, PLACES]] = airspeed, len(pieces), needs_thrust, len(places)
        rows = [[p.begin.x, p.begin.y, p.z, p.begin.course, p.curvature, p.length, p.slope] for p in pieces]
        self._numbers[FIRST_PIECE : self._first_place] = np.ravel(rows)
        self._numbers[self._first_place :] = np.ravel([[*place, k, np.inf] for k, place in places])

    def passed(self) -> list[tuple[tuple[float, float], float]]:
        """The places that are behind it, and how near it came to each, m."""
        rows = self._numbers[self._first_place :].reshape(-1, PLACE_WIDTH)[: int(self._numbers[AT_PLACE])].tolist()
        return [((place[PLACE_X], place[PLACE_Y]), place[NEAREST]) for place in rows]

    @property
    def has_lost_thrust(self) -> bool:
        return bool(self._numbers[ARRIVED] == WITHOUT_THRUST)

    def go_on(self) -> None:
        """There is thrust again."""
        self._numbers[ARRIVED] = 0.0

    def plan(self, tick: int, step: float) -> np.ndarray:
        return self._numbers
