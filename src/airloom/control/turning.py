"""From a wanted angular acceleration to the torque that gives it, against what else turns the vehicle.

Wind on rotors above the centre of mass, a load off the middle or a weak rotor turn a vehicle with a torque that no
airframe tells. An observer finds it: it expects the rates that the rotors' torque should lead to, with the motors' lag,
and takes what lasts of the difference for an angular acceleration from outside, which is taken off the wanted one.
While nothing pushes, nothing is taken off, and the loops answer as their gains promise.

Motors follow late, with a time constant τ. They are told L times the change that is wanted, the *lead*, so that torque
follows with τ/L: from τ ȧ = u − a and the wished τ/L ȧ = w − a follows u = a + L (w − a), for the acceleration w that
is wanted and the a that motors give by now. The body rates of Faessler, Falanga and Scaramuzza ("Thrust mixing,
saturation, and body-rate control for accurate aggressive quadrotor flight", IEEE RA-L 2017) are controlled likewise, by
a law that knows the torque as a state.
"""

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.lanes import limit
from airloom.compiled.rows import LANES
from airloom.control.mixer import WANT_X, WANT_Y, WANT_Z

TURNING_GAINS = 7
PERIOD, FOLLOWED, LEAD, WATCH, MOST_X, MOST_Y, MOST_Z = (row.GAIN + k * LANES for k in range(TURNING_GAINS))
"""Control period; the part of a change that motors follow in it; how much more they are told; observer's frequency; the
most that rotors can turn it."""
MOST_FOUND = 0.25  # from outside, as a part of what rotors can do
OWN_GAINS = row.GAIN + TURNING_GAINS * LANES

PUSH_X, PUSH_Y, PUSH_Z, TOLD_X, TOLD_Y, TOLD_Z, EXPECT_X, EXPECT_Y, EXPECT_Z = (
    row.MEMORY + k * LANES for k in range(9)
)
"""Angular accelerations found from outside and given by the rotors, and the rates that they should have led to."""
OWN_MEMORY = row.MEMORY + 9 * LANES


@compiled
def _resist(w, i, on, want, rate, push, told, expected, most):
    off = w[rate + i] - w[expected + i]
    watch = w[WATCH + i]
    full = w[most + i]
    found = limit(w[push + i] + w[PERIOD + i] * watch * watch * off, -MOST_FOUND * full, MOST_FOUND * full)
    found = found if on else 0.0
    wanted = w[told + i] + w[LEAD + i] * (w[want + i] - found - w[told + i])
    given = w[told + i] + w[FOLLOWED + i] * (limit(wanted, -full, full) - w[told + i]) if on else 0.0
    w[push + i] = found
    w[told + i] = given
    w[expected + i] = w[rate + i] + w[PERIOD + i] * (given + found) - (1.0 - 2.0 * w[PERIOD + i] * watch) * off
    w[expected + i] = w[expected + i] if on else w[rate + i]
    w[want + i] = wanted


@compiled
def resist_pushes(w, i, on):
    """Take off the wanted angular acceleration of vehicle `i` what turns it from outside; where off, forget it."""
    _resist(w, i, on, WANT_X, row.EWX, PUSH_X, TOLD_X, EXPECT_X, MOST_X)
    _resist(w, i, on, WANT_Y, row.EWY, PUSH_Y, TOLD_Y, EXPECT_Y, MOST_Y)
    _resist(w, i, on, WANT_Z, row.EWZ, PUSH_Z, TOLD_Z, EXPECT_Z, MOST_Z)


@compiled
def turn_by_torque(w):
    """Torque that gives the wanted angular acceleration."""
    for i in range(LANES):
        p, q, r = w[row.EWX + i], w[row.EWY + i], w[row.EWZ + i]
        x, y, z = w[WANT_X + i], w[WANT_Y + i], w[WANT_Z + i]
        hx = w[row.JXX + i] * p + w[row.JXY + i] * q + w[row.JXZ + i] * r
        hy = w[row.JXY + i] * p + w[row.JYY + i] * q + w[row.JYZ + i] * r
        hz = w[row.JXZ + i] * p + w[row.JYZ + i] * q + w[row.JZZ + i] * r
        w[WANT_X + i] = w[row.JXX + i] * x + w[row.JXY + i] * y + w[row.JXZ + i] * z + q * hz - r * hy
        w[WANT_Y + i] = w[row.JXY + i] * x + w[row.JYY + i] * y + w[row.JYZ + i] * z + r * hx - p * hz
        w[WANT_Z + i] = w[row.JXZ + i] * x + w[row.JYZ + i] * y + w[row.JZZ + i] * z + p * hy - q * hx
