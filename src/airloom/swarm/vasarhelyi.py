"""The flocking model of Vásárhelyi, Virágh, Somorjai, Nepusz, Eiben and Vicsek, "Optimized flocking of autonomous
drones in confined environments", Science Robotics 3, eaat3536 (2018).

Each member i wants a velocity that is a sum, in the plane:

    ṽ_i = v_flock e_i + Σ_j v_ij^rep + Σ_j v_ij^frict + Σ_s v_is^wall + Σ_s v_is^obstacle
    v_i = ṽ_i / |ṽ_i| · min(|ṽ_i|, v_max)

e_i is the direction it flies in, or that of the way to go. Walls and obstacles are in `surroundings.py`.
"""

from __future__ import annotations

from math import sqrt
from typing import Literal

from pydantic import Field

from airloom.compiled import compiled
from airloom.plugin import Parameters
from airloom.scenario.values import NonNegative, Number, Positive
from airloom.swarm.braking import braking_distance, braking_speed

R_REP, P_REP, V_REP, R_FRICT, C_FRICT, V_FRICT, P_FRICT, A_FRICT = range(8)


class Vasarhelyi(Parameters):
    """Repulsion nearby, and friction that makes velocities alike as far away as it takes to brake.

    Numbers that are left out are those of the authors' simulator.
    """

    kind: Literal["vasarhelyi"] = Field(description="the law")
    r_rep: Positive = Field(25.6668, description="distance within which members repel each other, m")
    p_rep: NonNegative = Field(0.4, description="gain of repulsion, 1/s")
    v_rep: Positive = Field(6.19664, description="greatest speed by which one member repels another, m/s")
    r_frict: Number = Field(35.6668, ge=0, description="distance at which velocities should be alike, m")
    c_frict: NonNegative = Field(0.023802, description="share of the excess of velocity that is taken off, a member")
    v_frict: NonNegative = Field(0.5, description="difference of velocities that is always allowed, m/s")
    p_frict: Positive = Field(0.4, description="gain of the braking curve, 1/s")
    a_frict: Positive = Field(2.5, description="acceleration of the braking curve, m/s²")

    def numbers(self) -> list[float]:
        return [
            self.r_rep, self.p_rep, self.v_rep, self.r_frict, self.c_frict, self.v_frict, self.p_frict, self.a_frict
        ]  # fmt: skip

    def reach(self, v_flock: float) -> float:
        """How far one member has to do with another if their velocities differ by v_flock, m."""
        return self.r_frict + braking_distance(v_flock, self.a_frict, self.p_frict)


@compiled
def add_vasarhelyi(own, others, known, p, out):
    """Add repulsion and friction to the velocities that members want.

        v_ij^rep   = min(p_rep (r_rep − r_ij), v_rep) (r_i − r_j)/r_ij                       if r_ij < r_rep
        v_ij^max   = max(v_frict, D(r_ij − r_frict, a_frict, p_frict))
        v_ij^frict = C_frict (v_ij − v_ij^max) (v_j − v_i)/v_ij                              if v_ij > v_ij^max

    r_ij  distance, m, in the plane; v_ij = |v_j − v_i|, m/s; D as in `braking_speed`
    own     [member, 6]        position, m, and velocity, m/s, of each member as it knows them
    others  [member, node, 6]  those of others as it knows them
    known   [member, node]     whether it does
    out     [member, 2]        m/s

    The limit v_rep is that of the authors' simulator, the rest is eqs. 1, 4 and 5 of the paper.
    """
    for i in range(own.shape[0]):
        x, y, u, v = own[i, 0], own[i, 1], own[i, 3], own[i, 4]
        for j in range(known.shape[1]):
            if not known[i, j]:
                continue
            dx, dy = x - others[i, j, 0], y - others[i, j, 1]
            r = sqrt(dx * dx + dy * dy)
            if 0.0 < r < p[R_REP]:
                push = min(p[P_REP] * (p[R_REP] - r), p[V_REP])
                out[i, 0] += push * dx / r
                out[i, 1] += push * dy / r
            du, dv = others[i, j, 3] - u, others[i, j, 4] - v
            slip = sqrt(du * du + dv * dv)
            allowed = max(p[V_FRICT], braking_speed(r - p[R_FRICT], p[A_FRICT], p[P_FRICT]))
            if slip > allowed:
                share = p[C_FRICT] * (slip - allowed) / slip
                out[i, 0] += share * du
                out[i, 1] += share * dv
