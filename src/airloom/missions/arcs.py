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
    passes: tuple[float, float] | None = None
    """A place that is nearest to this piece, if it is to be told by how much it was passed."""

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


def cut_corner(way: Way, x: float, y: float, radius: float, within: float) -> Way:
    """A way that ends with a line, led on to the line to the next point by an arc before it: a fly-by turn.

    The arc of a turn θ passes the corner at R (1/cos(θ/2) − 1). Where that is more than `within`, or where one of the
    lines is too short for the arc, the way stays as it is and leads over the corner.
    """
    line = way[-1]
    here = line.end
    turn = _short_turn(atan2(y - here.y, x - here.x) - here.course)
    half = cos(0.5 * turn)
    room = min(line.length, 0.5 * hypot(x - here.x, y - here.y))
    if line.curvature != 0.0 or abs(turn) < 1e-3 or radius * (1.0 - half) > within * half:
        return way
    early = radius * tan(0.5 * abs(turn))
    if early > room:
        return way
    shorter = replace(line, length=line.length - early)
    return [*way[:-1], shorter, Piece(shorter.end, radius * abs(turn), (1.0 if turn > 0.0 else -1.0) / radius)]


def onto_line(begin: Pose, line: Piece, radius: float) -> Way | None:
    """Onto a line by two arcs as soon as they can, and to its end; None if it is too far away or too short.

    From its beginning, a turn θ off its course, they end R sin θ + R √(4 − (1 + cos θ)²) along the line, 2√2 R at most.
    """
    course, side = begin.course, RIGHT if _short_turn(begin.course - line.begin.course) > 0.0 else LEFT
    c, s = cos(line.begin.course), sin(line.begin.course)
    middle = _middle(begin, radius, side)
    ahead, left = c * (middle[0] - line.begin.x) + s * (middle[1] - line.begin.y), _left_of(line, *middle)
    across = -side * radius - left
    if abs(across) > 2.0 * radius:
        return None
    along = sqrt(4.0 * radius * radius - across * across)
    if not 0.0 <= ahead + along <= line.length:
        return None
    steepest = line.begin.course + atan2(across, along) + side * 0.5 * pi
    first = Piece(begin, radius * _turn(course, steepest, side), side / radius)
    second = Piece(first.end, radius * _turn(steepest, line.begin.course, -side), -side / radius)
    joined = line.at(ahead + along)
    return _without_nothing([first, second, Piece(joined, line.length - ahead - along)])


def rest_of(line: Piece, begin: Pose, aside: float, off: float) -> Piece | None:
    """What is left of a line for who is on it, at most `aside` beside it and `off` rad off its course."""
    ahead = cos(line.begin.course) * (begin.x - line.begin.x) + sin(line.begin.course) * (begin.y - line.begin.y)
    is_on = abs(_left_of(line, begin.x, begin.y)) <= aside and abs(_short_turn(begin.course - line.begin.course)) <= off
    return Piece(line.at(ahead), line.length - ahead) if is_on and ahead < line.length else None


def _left_of(line: Piece, x: float, y: float) -> float:
    return cos(line.begin.course) * (y - line.begin.y) - sin(line.begin.course) * (x - line.begin.x)


def _short_turn(angle: float) -> float:
    return atan2(sin(angle), cos(angle))


def _middle(pose: Pose, radius: float, side: float) -> tuple[float, float]:
    return pose.x - side * radius * sin(pose.course), pose.y + side * radius * cos(pose.course)


def _turn(course: float, to: float, side: float) -> float:
    """The angle from a course to another round this side, 0 to 2π."""
    turn = (side * (to - course)) % (2.0 * pi)
    return 0.0 if isclose(turn, 2.0 * pi, abs_tol=1e-9) else turn


def _without_nothing(way: Way) -> Way:
    return [piece for piece in way if piece.length > SHORTEST] or way[:1]
