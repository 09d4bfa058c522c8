"""What a flock keeps off: the walls of its arena, and obstacles.

Both are shill agents (Vásárhelyi et al. 2018): at the nearest point of a wall stands a virtual member that flies away
from it with v_shill. Whoever's velocity differs from the shill's by more than lets it brake in time is turned:

    v_is^max  = D(r_is − r_shill, a_shill, p_shill)
    v_is^wall = (v_is − v_is^max) (v_s − v_i)/v_is      if v_is = |v_s − v_i| > v_is^max

r_is  distance from the wall, m, negative beyond it; v_s velocity of the shill, m/s; D as in `braking_speed`
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import Literal

import numpy as np
from pydantic import Field

from airloom.compiled import compiled
from airloom.plugin import Parameters
from airloom.scenario.values import Extent, NonNegative, Number, Point, Positive
from airloom.swarm.braking import braking_speed
from airloom.world.boundaries import SIDES, Boundary, widened
from airloom.world.meshes import ngon, rectangle

V_SHILL, R_SHILL, P_SHILL, A_SHILL = range(4)
IS_SQUARE, CENTER_X, CENTER_Y, RADIUS = range(4)


class Shills(Parameters):
    """How walls and obstacles turn members away; numbers that are left out are those of the authors' simulator."""

    v: Positive = Field(6.52174, description="speed of a virtual member that flies away from a wall, m/s")
    r: Number = Field(0.0, description="distance from the wall at which velocities should be alike, m")
    p: Positive = Field(0.4, description="gain of the braking curve, 1/s")
    a: Positive = Field(2.5, description="acceleration of the braking curve, m/s²")

    def numbers(self) -> np.ndarray:
        return np.array([self.v, self.r, self.p, self.a])


class Arena(Parameters):
    """Where the flock stays."""

    shape: Literal["square", "circle"] = Field("square", description="of its walls, seen from above")
    center: Point = Field((0.0, 0.0), description="east and north, m")
    radius: Extent = Field(100.0, description="of the circle, or half the side of the square, m")

    def numbers(self) -> np.ndarray:
        return np.array([float(self.shape == "square"), *self.center, self.radius])

    def outline(self) -> np.ndarray:
        seen = rectangle(2 * self.radius, 2 * self.radius) if self.shape == "square" else ngon(self.radius, SIDES)
        return seen + self.center


class Obstacle(Parameters):
    """Something to fly around: a convex polygon, or with one corner and a radius a pillar."""

    corners: list[Point] = Field(min_length=1, max_length=100, description="in the plane, one after the other, m")
    radius: NonNegative = Field(0.0, description="by which it is larger than its corners say, m")


def boundaries(arena: Arena | None, obstacles: Sequence[Obstacle], top: float) -> list[Boundary]:
    """To be drawn, up to some height."""
    pillars = [Boundary(widened(np.array(one.corners), one.radius), top, encloses=False) for one in obstacles]
    return pillars if arena is None else [Boundary(arena.outline(), top, encloses=True), *pillars]


def outlines(obstacles: list[Obstacle]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All corners [corner, 2], where those of each obstacle begin [obstacle + 1], and the radii [obstacle]."""
    corners = np.array([corner for obstacle in obstacles for corner in obstacle.corners]).reshape(-1, 2)
    starts = np.cumsum([0, *(len(obstacle.corners) for obstacle in obstacles)])
    return corners, starts, np.array([obstacle.radius for obstacle in obstacles], float)


@compiled
def add_shill(out, i, u, v, r, ex, ey, p):
    """One shill at the distance r that flies along (ex, ey), for a member of velocity (u, v)."""
    du, dv = p[V_SHILL] * ex - u, p[V_SHILL] * ey - v
    slip = sqrt(du * du + dv * dv)
    allowed = braking_speed(r - p[R_SHILL], p[A_SHILL], p[P_SHILL])
    if slip > allowed:
        share = (slip - allowed) / slip
        out[i, 0] += share * du
        out[i, 1] += share * dv


@compiled
def add_walls(own, arena, p, out):
    """Add what the arena's walls do to the velocities that members want: [member, 6], …, [member, 2]."""
    for i in range(own.shape[0]):
        u, v = own[i, 3], own[i, 4]
        dx, dy = arena[CENTER_X] - own[i, 0], arena[CENTER_Y] - own[i, 1]
        if arena[IS_SQUARE] != 0.0:
            add_shill(out, i, u, v, arena[RADIUS] - abs(dx), np.sign(dx), 0.0, p)
            add_shill(out, i, u, v, arena[RADIUS] - abs(dy), 0.0, np.sign(dy), p)
        else:
            r = sqrt(dx * dx + dy * dy)
            if r > 0.0:
                add_shill(out, i, u, v, arena[RADIUS] - r, dx / r, dy / r, p)


@compiled
def out_of(x, y, corners, begin, end):
    """Distance from a convex polygon, m, negative within, and the direction away from it, or out by the nearest side.

    Its corners are those from `begin` to before `end`. On the outline itself there is no direction: (0, 0).
    """
    nearest, nx, ny, inside = inf, 0.0, 0.0, False
    for c in range(begin, end):
        d = c + 1 if c + 1 < end else begin
        ax, ay = x - corners[c, 0], y - corners[c, 1]
        bx, by = corners[d, 0] - corners[c, 0], corners[d, 1] - corners[c, 1]
        square = bx * bx + by * by
        along = min(max((ax * bx + ay * by) / square, 0.0), 1.0) if square > 0.0 else 0.0
        fx, fy = ax - along * bx, ay - along * by
        r = sqrt(fx * fx + fy * fy)
        if r < nearest:
            nearest, nx, ny = r, fx, fy
        if (corners[c, 1] > y) != (corners[d, 1] > y) and ax < ay * bx / by:
            inside = not inside
    if nearest == 0.0:
        return 0.0, 0.0, 0.0
    sign = -1.0 if inside else 1.0
    return sign * nearest, sign * nx / nearest, sign * ny / nearest


@compiled
def add_obstacles(own, corners, starts, radii, p, out):
    """Add what obstacles do, given as by `outlines`, to the velocities that members want: [member, 6], …, [member, 2].

    Who is inside is sent out by the nearest side.
    """
    for i in range(own.shape[0]):
        for k in range(radii.shape[0]):
            r, ex, ey = out_of(own[i, 0], own[i, 1], corners, starts[k], starts[k + 1])
            if r != 0.0:
                add_shill(out, i, own[i, 3], own[i, 4], r - radii[k], ex, ey, p)
