"""How much a signal loses over a distance in the open."""

from __future__ import annotations

from math import log10, pi

from airloom.compiled import compiled

LIGHT = 299_792_458.0
LOG_DISTANCE, FREE_SPACE, TWO_RAY = range(3)
LAWS = {"log-distance": LOG_DISTANCE, "free-space": FREE_SPACE, "two-ray": TWO_RAY}


@compiled
def path_loss(law, distance, height, other_height, exponent, reference_distance, reference_loss, wavelength):
    """dB between two antennas at a distance d, heights above the ground h₁ and h₂, all in m.

    log-distance:  L₀ + 10 n log₁₀(d / d₀), with L₀ lost at d₀ (Rappaport, *Wireless Communications*, 2nd ed., 4.9.1)
    free space:    20 log₁₀(4π d / λ) (Friis, *Proc. IRE* 34, 1946)
    two-ray:       free space up to 4π h₁ h₂ / λ, where both laws meet, then 40 log₁₀ d − 20 log₁₀(h₁ h₂)
                   (Rappaport, 4.6)

    Nearer than d₀ nothing more is gained: antennas at one place have the loss at d₀.
    """
    distance = max(distance, reference_distance)
    if law == LOG_DISTANCE:
        return reference_loss + 10.0 * exponent * log10(distance / reference_distance)
    if law == TWO_RAY and distance * wavelength > 4.0 * pi * height * other_height:
        return 40.0 * log10(distance) - 20.0 * log10(height * other_height)
    return 20.0 * log10(4.0 * pi * distance / wavelength)
