"""Arithmetic for lane loops: without calls and branches, so that eight vehicles take the time of two."""

from math import pi

import numpy as np

from airloom.compiled import compiled

TAN_OF_EIGHTH = 0.41421356237309503  # tan(π/8)


@compiled
def update(w, row, condition, new):
    """`w[row] = new` where the condition holds: to the bit nothing happens elsewhere, whatever `new` is there."""
    old = w[row]
    w[row] = new if condition else old


@compiled
def limit(x, low, high):
    """The nearest to `x` from low to high."""
    x = x if x > low else low
    return x if x < high else high


@compiled
def _arc_beyond(z):
    """(arctan(t)/t − 1)/z for z = t², |t| ≤ tan(π/8): the rational function of Moshier's Cephes library."""
    above = -8.750608600031904122785e-1
    above = above * z - 1.615753718733365076637e1
    above = above * z - 7.500855792314704667340e1
    above = above * z - 1.228866684490136173410e2
    above = above * z - 6.485021904942025371773e1
    below = z + 2.485846490142306297962e1
    below = below * z + 1.650270098316988542046e2
    below = below * z + 4.328810604912902668951e2
    below = below * z + 4.853903996359136964868e2
    below = below * z + 1.945506571482613964425e2
    return above / below


@compiled
def angle_of(y, x):
    """The angle of (x, y) from the x axis: `atan2`, within 2 units in the last place."""
    width = x if x > 0.0 else -x
    height = y if y > 0.0 else -y
    steep = height > width
    less = width if steep else height
    more = height if steep else width
    diagonal = less > TAN_OF_EIGHTH * more
    above = less - more if diagonal else less
    below = less + more if diagonal else more
    t = above / (below if below != 0.0 else 1.0)
    z = t * t
    angle = t + t * z * _arc_beyond(z)
    angle = 0.25 * pi + angle if diagonal else angle
    angle = 0.5 * pi - angle if steep else angle
    angle = pi - angle if x < 0.0 else angle
    return angle if y >= 0.0 else -angle


@compiled
def exp_of(x):
    """`exp` for |x| ≤ 700, within 2 units in the last place: Moshier's Cephes library.

    2ⁿ is made of its exponent's bits: adding 2⁵² leaves n + 1023 in the lowest ones.
    """
    n = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - n * 6.93145751953125e-1 - n * 1.42860682030941723212e-6
    z = r * r
    above = r * ((1.26177193074810590878e-4 * z + 3.02994407707441961300e-2) * z + 1.0)
    below = ((3.00198505138664455042e-6 * z + 2.52448340349684104192e-3) * z + 2.27265548208155028766e-1) * z + 2.0
    bits = np.float64(n + 1023.0 + 4503599627370496.0).view(np.int64)
    power = np.int64(bits << np.int64(52)).view(np.float64)
    return (1.0 + 2.0 * above / (below - above)) * power


@compiled
def shortest_turn(angle):
    """The same direction between −π and π."""
    return angle - 2.0 * pi * np.floor(angle / (2.0 * pi) + 0.5)


@compiled
def is_kept_off(kp, kd, ex, ey, ez, vx, vy, vz):
    """Whether something, such as wind, keeps a vehicle off its setpoint, so that an integral should help.

    With position and velocity errors e and v: whether it comes closer at less than half the speed k_p/k_d · e. One that
    is on its way is faster, and would only wind the integral up.
    """
    return kd * (ex * vx + ey * vy + ez * vz) + 0.5 * kp * (ex * ex + ey * ey + ez * ez) > 0.0
