"""Where an aeroplane goes: along the way of a setpoint that moves, around one that stands, or by a velocity.

A setpoint that moves is a line along its velocity, or an arc if it accelerates across it. It is joined by the L1 law
(Park, Deyst and How, AIAA 2004-4900): a = 4ζ² V²/L sin η, L = ζ T V/π, with V the speed over the ground and
η = −(χ + atan(e/L)) of the course's error χ and the distance e to the left of the way; an arc of curvature κ adds κ V².
One that stands is circled: the way is the circle's point that is nearest.

Against a wind that would blow it back, it flies as much faster as it takes to come ahead.
"""

from math import atan, atan2, cos, pi, sin, sqrt

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import limit
from airloom.control.plane_rows import CRUISE, L1, RADIUS, VELOCITY
from airloom.physics.attitude import rotation

DAMPING = 0.75  # ζ
HEIGHT_K = 0.5  # 1/s
MOVES = 0.5  # m/s, above which a setpoint is a line
LEAST_GROUND_SPEED = 3.0  # m/s, below which a course has no meaning
LEAST_AHEAD = 0.25  # of the cruise speed, over the ground


@compiled
def guide(w, i, airspeed):
    """Acceleration to the left of the course, airspeed and climb that are wanted."""
    vx, vy = w[row.EVX + i], w[row.EVY + i]
    over_ground = sqrt(vx * vx + vy * vy)
    speed = max(over_ground, LEAST_GROUND_SPEED)
    if w[row.MODE + i] == VELOCITY:
        return _by_velocity(w, i, airspeed, speed, vx, vy)
    climb = w[row.SVZ + i] + HEIGHT_K * (w[row.SPZ + i] - w[row.EPZ + i])
    if w[row.SVX + i] * w[row.SVX + i] + w[row.SVY + i] * w[row.SVY + i] > MOVES * MOVES:
        left, pace = _along(w, i, speed, vx, vy)
        return left, max(airspeed + pace - over_ground, _against_wind(w, i, airspeed)), climb
    return _around(w, i, speed, vx, vy), max(w[CRUISE + i], _against_wind(w, i, airspeed)), climb


@compiled
def _against_wind(w, i, airspeed):
    """The airspeed at which it comes ahead, whatever the wind is that its nose meets."""
    nose_x, _, _, nose_y, _, _, _, _, _ = rotation(w[row.EQW + i], w[row.EQX + i], w[row.EQY + i], w[row.EQZ + i])
    thinner = sqrt(w[row.DENSITY + i])
    wind = airspeed / thinner - (w[row.EVX + i] * nose_x + w[row.EVY + i] * nose_y)
    return (wind + LEAST_AHEAD * w[CRUISE + i]) * thinner


@compiled
def _join(w, i, speed, vx, vy, ux, uy, left, curvature):
    """A way that leads along (ux, uy) here, from `left` metres to the left of it."""
    reach = w[L1 + i] * speed
    course = atan2(ux * vy - uy * vx, ux * vx + uy * vy)
    eta = limit(-(course + atan(left / reach)), -0.5 * pi, 0.5 * pi)
    near = limit(2.0 - 2.0 * abs(left * curvature), 0.0, 1.0)
    return 4.0 * DAMPING * DAMPING * speed * speed / reach * sin(eta) + near * curvature * speed * speed


@compiled
def _along(w, i, speed, vx, vy):
    """That joins the way of a moving setpoint, and the ground speed that it asks for."""
    sx, sy = w[row.SVX + i], w[row.SVY + i]
    pace = sqrt(sx * sx + sy * sy)
    ux, uy = sx / pace, sy / pace
    ex, ey = w[row.EPX + i] - w[row.SPX + i], w[row.EPY + i] - w[row.SPY + i]
    left, ahead = ux * ey - uy * ex, ux * ex + uy * ey
    curvature = (ux * w[row.SAY + i] - uy * w[row.SAX + i]) / (pace * pace)
    return _join(w, i, speed, vx, vy, ux, uy, left, curvature), pace - 0.1 * ahead


@compiled
def _around(w, i, speed, vx, vy):
    """That circles a setpoint as its yaw rate says at cruise speed; to the left with the usual radius without one."""
    turn = w[row.SYAWRATE + i]
    side = -1.0 if turn < 0.0 else 1.0
    radius = w[CRUISE + i] / abs(turn) if turn != 0.0 else w[RADIUS + i]
    ex, ey = w[row.EPX + i] - w[row.SPX + i], w[row.EPY + i] - w[row.SPY + i]
    far = sqrt(ex * ex + ey * ey)
    bearing = atan2(ey, ex) if far > 0.0 else 0.0
    return _join(w, i, speed, vx, vy, -side * sin(bearing), side * cos(bearing), side * (radius - far), side / radius)


@compiled
def _by_velocity(w, i, airspeed, speed, vx, vy):
    bx, by = w[row.BVX + i], w[row.BVY + i]
    if w[row.B_IN_BODY + i] != 0.0:
        return speed * w[row.BYAWRATE + i], bx, w[row.BVZ + i]
    off = atan2(vx * by - vy * bx, vx * bx + vy * by)
    pace = sqrt(bx * bx + by * by)
    return 2.0 * speed / w[L1 + i] * limit(off, -1.0, 1.0), airspeed + pace - speed, w[row.BVZ + i]


@compiled
def bank_for(w, i, left, heading_x, heading_y):
    """The roll that accelerates to the left of the course: lift is across the heading, which wind turns from it."""
    vx, vy = w[row.EVX + i], w[row.EVY + i]
    size = sqrt((vx * vx + vy * vy) * (heading_x * heading_x + heading_y * heading_y))
    crab = (vx * heading_x + vy * heading_y) / size if size > LEAST_GROUND_SPEED else 1.0
    return -atan(left / (w[row.GRAVITY + i] * max(crab, 0.5)))
