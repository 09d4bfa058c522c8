"""Ways of lines and arcs that an aeroplane can fly, and how to get from one to the other.

Who cannot turn more tightly than a radius goes from a pose to another on an arc, a line and an arc, which is the
shortest way if both are far enough apart (Dubins, American Journal of Mathematics 79, 1957).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import acos, atan2, cos, hypot, isclose, pi, sin, sqrt, tan
from typing import NamedTuple

LEFT, RIGHT = 1.0, -1.0
SHORTEST = 1e-6  # m


class Pose(NamedTuple):
    x: float
    y: float
    course: float


@dataclass(frozen=True)
class Piece:
    """A line, or an arc with a curvature (1/m, positive to the left), from a pose on; rises from z by `slope`."""

    begin: Pose
    length: float
    curvature: float = 0.0
    z: float = 0.0
    slope: float = 0.0

    def at(self, s: float) -> Pose:
        x, y, course = self.begin
        if self.curvature == 0.0:
            return Pose(x + s * cos(course), y + s * sin(course), course)
        end, k = course + self.curvature * s, self.curvature
        return Pose(x + (sin(end) - sin(course)) / k, y - (cos(end) - cos(course)) / k, end)

    @property
    def end(self) -> Pose:
        return self.at(self.length)


Way = list[Piece]


def length_of(way: Way) -> float:
    return sum(piece.length for piece in way)


def risen(way: Way, start: float, end: float) -> Way:
    """The same way with heights that change evenly along it."""
    slope, found, z = (end - start) / max(length_of(way), SHORTEST), [], start
    for piece in way:
        found.append(replace(piece, z=z, slope=slope))
        z += slope * piece.length
    return found


def straight(begin: Pose, x: float, y: float) -> Piece:
    dx, dy = x - begin.x, y - begin.y
    return Piece(Pose(begin.x, begin.y, atan2(dy, dx)), hypot(dx, dy))


def to_point(begin: Pose, x: float, y: float, radius: float) -> Way:
    """The shortest arc and line to a point."""
    ways = [way for side in (LEFT, RIGHT) if (way := _arc_to_point(begin, x, y, radius, side)) is not None]
    return min(ways, key=length_of)


def _arc_to_point(begin: Pose, x: float, y: float, radius: float, side: float) -> Way | None:
    """None if the point lies within the circle that is turned on."""
    middle = _middle(begin, radius, side)
    dx, dy = x - middle[0], y - middle[1]
    far = hypot(dx, dy)
    if far < radius:
        return None
    course = atan2(dy, dx) + side * (0.5 * pi - acos(min(radius / far, 1.0)))
    arc = Piece(begin, radius * _turn(begin.course, course, side), side / radius)
    return _without_nothing([arc, straight(arc.end, x, y)])


def to_pose(begin: Pose, end: Pose, radius: float) -> Way:
    """The shortest arc, line and arc to a pose."""
    return min(_arcs_to_pose(begin, end, radius), key=length_of)


def _arcs_to_pose(begin: Pose, end: Pose, radius: float) -> Iterator[Way]:
    for first in (LEFT, RIGHT):
        for last in (LEFT, RIGHT):
            (ax, ay), (bx, by) = _middle(begin, radius, first), _middle(end, radius, last)
            far, course = hypot(bx - ax, by - ay), atan2(by - ay, bx - ax)
            if first != last:
                if far < 2.0 * radius:
                    continue
                course += first * (0.5 * pi - acos(2.0 * radius / far))
            line = far if first == last else sqrt(far * far - 4.0 * radius * radius)
            arc = Piece(begin, radius * _turn(begin.course, course, first), first / radius)
            middle = Piece(arc.end, line)
            yield _without_nothing(
                [arc, middle, Piece(middle.end, radius * _turn(course, end.course, last), last / radius)]
            )


def cut_corner(way: Way, x: float, y: float, radius: float) -> Way:
    """A way that ends with a line, led on to the line to the next point by an arc before it: a fly-by turn."""
    line = way[-1]
    here = line.end
    course = atan2(y - here.y, x - here.x)
    turn = atan2(sin(course - here.course), cos(course - here.course))
    ahead = hypot(x - here.x, y - here.y)
    room = min(line.length, 0.5 * ahead)
    early = radius * tan(0.5 * abs(turn)) if abs(turn) < 0.9 * pi else 2.0 * room + SHORTEST
    if line.curvature != 0.0 or abs(turn) < 1e-3 or early > room:
        return way
    shorter = replace(line, length=line.length - early)
    return [*way[:-1], shorter, Piece(shorter.end, radius * abs(turn), (1.0 if turn > 0.0 else -1.0) / radius)]


def _middle(pose: Pose, radius: float, side: float) -> tuple[float, float]:
    return pose.x - side * radius * sin(pose.course), pose.y + side * radius * cos(pose.course)


def _turn(course: float, to: float, side: float) -> float:
    """The angle from a course to another round this side, 0 to 2π."""
    turn = (side * (to - course)) % (2.0 * pi)
    return 0.0 if isclose(turn, 2.0 * pi, abs_tol=1e-9) else turn


def _without_nothing(way: Way) -> Way:
    return [piece for piece in way if piece.length > SHORTEST] or way[:1]
