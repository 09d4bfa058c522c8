"""A liquid in a tank: its shape when it is at rest, and the masses on springs that swing as its surface does.

The equivalent mechanical model of linear sloshing (Dodge, in Abramson, ed., The Dynamic Behavior of Liquids in Moving
Containers, NASA SP-106, 1966, chapter 6): of a liquid of mass m, each mode n of each lateral axis moves a mass m_n at a
height H_n above the liquid's centre, on a spring of frequency ω_n; the rest is fixed.

Box of length a along the motion, depth h, k_n = (2n − 1) π/a:
    ω_n² = g k_n tanh(k_n h)    m_n/m = 8 tanh(k_n h) / ((k_n a)³ h/a)    H_n = h/2 − (2/k_n) tanh(k_n h/2)
Upright cylinder of radius R, ξ_n the zeros of J₁', k_n = ξ_n/R:
    ω_n² = g k_n tanh(k_n h)    m_n/m = 2 tanh(k_n h) / (k_n h (ξ_n² − 1))    H_n as above
Lying cylinder: the box with the same free surface and the same volume, of which McCarty and Stephens (NASA TN D-556,
1960) found the lengthwise frequencies to be those measured. Crosswise and half full, ω²R/g is 1.325 so, and 1.356 by
the exact theory (McIver, J. Fluid Mech. 201, 1989): 1.1 % in frequency.
"""

from math import cosh, pi, sin, sinh, sqrt, tanh

from airloom.compiled import compiled

BOX, UPRIGHT, LYING_ALONG_X, LYING_ALONG_Y = range(4)
MODES = 3
STANDARD_GRAVITY = 9.80665
LEAST_DEPTH, LEAST_ANGLE = 1e-5, 1e-3  # m and rad; below them the formulas would divide by almost nothing


@compiled
def zero_of_bessel(n):
    """ξ_n: where the derivative of the Bessel function J₁ is zero."""
    return 1.841183781 if n == 0 else (5.331442774 if n == 1 else 8.536316366)


@compiled
def segment_angle(area):
    """Half the angle of a segment of the unit circle with this area, by halving: φ − sin φ cos φ = area."""
    low, high = 0.0, pi
    for _ in range(52):
        middle = 0.5 * (low + high)
        if middle - 0.5 * sin(2.0 * middle) < area:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@compiled
def liquid_at_rest(shape, length, width, height, volume):
    """A frozen liquid of `volume` m³: depth, height of its centre above the tank's bottom, and its variances along x, y
    and z, m², which times its mass give moments of inertia: J_xx = m (var_y + var_z).
    """
    if shape == BOX:
        h = volume / (length * width)
        return h, 0.5 * h, length * length / 12.0, width * width / 12.0, h * h / 12.0
    radius = 0.5 * height
    if shape == UPRIGHT:
        radius = 0.5 * length
        h = volume / (pi * radius * radius)
        return h, 0.5 * h, 0.25 * radius * radius, 0.25 * radius * radius, h * h / 12.0
    along = length if shape == LYING_ALONG_X else width
    phi = max(segment_angle(volume / (along * radius * radius)), LEAST_ANGLE)
    s, c = sin(phi), 1.0 - 2.0 * sin(0.5 * phi) ** 2
    area = phi - s * c
    below = 2.0 * s**3 / (3.0 * area)  # the centre under the axis, as parts of the radius
    across = (3.0 * area - 2.0 * s**3 * c) / (12.0 * area)
    upright = max((area + 2.0 * s**3 * c) / (4.0 * area) - below * below, 0.0)
    lengthwise, across, upright = along * along / 12.0, across * radius * radius, upright * radius * radius
    h, middle = radius * (1.0 - c), radius * (1.0 - below)
    if shape == LYING_ALONG_X:
        return h, middle, lengthwise, across, upright
    return h, middle, across, lengthwise, upright


@compiled
def free_surface(shape, length, width, height, volume, depth):
    """Length of the free surface along x and along y, and the depth of the box that is as full."""
    if shape == BOX:
        return length, width, depth
    if shape == UPRIGHT:
        return length, length, depth
    radius = 0.5 * height
    across = 2.0 * sqrt(max(radius * radius - (radius - depth) ** 2, 0.0))
    across = max(across, 0.02 * radius)  # nearly full or empty, where it hardly is a box
    if shape == LYING_ALONG_X:
        return length, across, volume / (length * across)
    return across, width, volume / (width * across)


@compiled
def swinging_mass(shape, n, a, depth):
    """Mode n = 0, 1, 2 along a surface of length `a`: 1/L_n = ω_n²/g, m_n/m, and H_n above the liquid's centre."""
    h = max(depth, LEAST_DEPTH)
    xi = zero_of_bessel(n)
    k = 2.0 * xi / a if shape == UPRIGHT else (2 * n + 1) * pi / a
    t = tanh(k * h)
    share = 2.0 * t / (k * h * (xi * xi - 1.0)) if shape == UPRIGHT else 8.0 * t / ((k * a) ** 2 * k * h)
    return k * t, share, 0.5 * h - 2.0 / k * tanh(0.5 * k * h)


@compiled
def damping_ratio(viscosity, a, depth):
    """Of the lowest mode in an upright cylinder without baffles, a = 2R, ν the kinematic viscosity:

    ζ = 0.79 √(ν/√(g R³)) [1 + 0.318/sinh(1.84 h/R) (1 + (1 − h/R)/cosh(1.84 h/R))], as measured by Mikishev and
    Dorozhkin and by Stephens (NASA SP-106, section 4.3). It is taken for other modes, and for boxes of length a, too.
    """
    radius, h = 0.5 * a, max(depth, LEAST_DEPTH)
    deep = 0.79 * sqrt(viscosity / sqrt(STANDARD_GRAVITY * radius**3))
    x = min(1.84 * h / radius, 300.0)
    return min(deep * (1.0 + 0.318 / sinh(x) * (1.0 + (1.0 - h / radius) / cosh(x))), 1.0)


@compiled
def steepest_surface(a, depth, height):
    """The slope at which a surface that is plane meets the tank's lid or its bottom."""
    return max(2.0 * min(depth, height - depth) / a, 0.0)
