"""Three rules of C. W. Reynolds, "Flocks, herds, and schools: a distributed behavioral model", SIGGRAPH 1987."""

from __future__ import annotations

from math import sqrt
from typing import Literal

from pydantic import Field

from airloom.compiled import compiled
from airloom.plugin import Parameters
from airloom.scenario.values import NonNegative, Positive

RANGE, R_SEPARATION, SEPARATION, ALIGNMENT, COHESION = range(5)


class Reynolds(Parameters):
    """Keep apart, fly as the others fly, stay together."""

    kind: Literal["reynolds"] = Field(description="the law")
    range: Positive = Field(60.0, description="distance of members that matter, m")
    r_separation: Positive = Field(15.0, description="distance below which they keep apart, m")
    separation: NonNegative = Field(0.5, description="gain of separation, 1/s")
    alignment: NonNegative = Field(0.6, description="share of the difference to the mean velocity that is taken off")
    cohesion: NonNegative = Field(0.05, description="gain towards the middle of the others, 1/s")

    def numbers(self) -> list[float]:
        return [self.range, self.r_separation, self.separation, self.alignment, self.cohesion]

    def reach(self, v_flock: float) -> float:
        """How far one member has to do with another, m."""
        return self.range


@compiled
def add_reynolds(own, others, known, p, out):
    """Add separation, alignment and cohesion to the velocities that members want.

        separation  k_s Σ (r_s − r_ij) (r_i − r_j)/r_ij     over the others nearer than r_s
        alignment   k_a (mean of v_j − v_i)                  over the others nearer than the range
        cohesion    k_c (mean of r_j − r_i)                  likewise

    Shapes and units as in `add_vasarhelyi`.
    """
    for i in range(own.shape[0]):
        x, y = own[i, 0], own[i, 1]
        count, mx, my, mu, mv = 0, 0.0, 0.0, 0.0, 0.0
        for j in range(known.shape[1]):
            if not known[i, j]:
                continue
            dx, dy = others[i, j, 0] - x, others[i, j, 1] - y
            r = sqrt(dx * dx + dy * dy)
            if r > p[RANGE]:
                continue
            if 0.0 < r < p[R_SEPARATION]:
                push = p[SEPARATION] * (p[R_SEPARATION] - r) / r
                out[i, 0] -= push * dx
                out[i, 1] -= push * dy
            count += 1
            mx, my = mx + dx, my + dy
            mu, mv = mu + others[i, j, 3], mv + others[i, j, 4]
        if count > 0:
            out[i, 0] += p[ALIGNMENT] * (mu / count - own[i, 3]) + p[COHESION] * mx / count
            out[i, 1] += p[ALIGNMENT] * (mv / count - own[i, 4]) + p[COHESION] * my / count
