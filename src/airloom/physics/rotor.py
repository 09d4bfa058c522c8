"""Rotors: motor lag, thrust, H-force, drag moment and rolling moment.

The model of RotorS (Furrer et al., 2016; Martin and Salaün, ICRA 2010), valid near hover with rigid blades:
thrust T = k ω |ω| along the axis, H-force −|ω| k_d v⊥, drag moment −dir k_m T about the axis and rolling moment
−|ω| k_r v⊥, where v⊥ is the hub's velocity through the air perpendicular to the axis.

Everything but the thrust is linear in the velocity of the vehicle, so all rotors of a tick together are one
constant wrench and one 6×6 damping matrix: they are summed once a tick and applied at every stage of the step.
"""

from __future__ import annotations

import numpy as np

from airloom.compiled import compiled
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

FOUR_ROTORS, FOUR_PROPELLERS = row.ROTORS_TOGETHER * row.ROTOR_WIDTH, row.ROTORS_TOGETHER * row.PROPELLER_WIDTH
SPEED_A, SPEED_B, SPEED_C, SPEED_D = (k * row.ROTOR_WIDTH + row.SPEED for k in range(row.ROTORS_TOGETHER))
A, B, C, D = (k * row.PROPELLER_WIDTH for k in range(row.ROTORS_TOGETHER))


def cross_matrix(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]], dtype=float)


def push_per_speed_squared(rotor, center_of_mass) -> np.ndarray:
    """Force and moment about the centre of mass of a rotor at speed 1 in still air."""
    axis = np.array(rotor.axis) / np.linalg.norm(rotor.axis)
    arm = np.subtract(rotor.position, center_of_mass)
    turn = 1.0 if rotor.turns == "ccw" else -1.0
    thrust = rotor.thrust_constant * axis
    return np.concatenate([thrust, np.cross(arm, thrust) - turn * rotor.moment_constant * thrust])


def damping_per_speed(rotor, center_of_mass) -> np.ndarray:
    """6×6 matrix D: the wrench about the centre of mass is −speed · D · (velocity through the air, rates)."""
    axis = np.array(rotor.axis) / np.linalg.norm(rotor.axis)
    arm = cross_matrix(np.subtract(rotor.position, center_of_mass))
    across = np.eye(3) - np.outer(axis, axis)
    cross_flow = np.hstack([across, -across @ arm])  # v⊥ = across · (u + ω × arm)
    force = rotor.drag_coefficient * cross_flow
    moment = arm @ force + rotor.rolling_moment_coefficient * cross_flow
    return np.vstack([force, moment])


@compiled
def _spin(rotor):
    for i in range(LANES):
        u, top = rotor[row.TARGET + i], rotor[row.MAX_SPEED + i]
        up, down, speed = rotor[row.LAG_UP + i], rotor[row.LAG_DOWN + i], rotor[row.SPEED + i]
        low = rotor[row.MIN_SPEED + i]
        u = u if u > low else low
        u = rotor[row.SHARE + i] * (u if u < top else top)
        lag = up if abs(u) > abs(speed) else down
        rotor[row.SPEED + i] = lag * speed + (1.0 - lag) * u


@compiled
def spin_rotors(rotors):
    """One tick of motor lag, exact for a constant command: ω ← α ω + (1 − α) u, α = exp(−dt/τ) up or down.

    The new speed acts during the whole tick, as in RotorS.
    """
    for base in range(0, rotors.size, row.ROTOR_WIDTH):
        _spin(rotors[base : base + row.ROTOR_WIDTH])


@compiled
def _sum_four(w, rotors, four):
    for n in range(6):
        for i in range(LANES):
            j = n * LANES + i
            a, b, c, d = rotors[SPEED_A + i], rotors[SPEED_B + i], rotors[SPEED_C + i], rotors[SPEED_D + i]
            w[row.ROTOR_PUSH + j] += (
                a * abs(a) * four[A + row.PUSH + j] + b * abs(b) * four[B + row.PUSH + j]
                + c * abs(c) * four[C + row.PUSH + j] + d * abs(d) * four[D + row.PUSH + j]
            )  # fmt: skip
    for n in range(36):
        for i in range(LANES):
            j = n * LANES + i
            a, b, c, d = rotors[SPEED_A + i], rotors[SPEED_B + i], rotors[SPEED_C + i], rotors[SPEED_D + i]
            w[row.ROTOR_DAMPING + j] += (
                abs(a) * four[A + row.DAMPING + j] + abs(b) * four[B + row.DAMPING + j]
                + abs(c) * four[C + row.DAMPING + j] + abs(d) * four[D + row.DAMPING + j]
            )  # fmt: skip


@compiled
def sum_rotors(w, rotors, propellers):
    """Constant wrench and damping matrix of all rotors at their present speeds."""
    for j in range(42 * LANES):
        w[row.ROTOR_PUSH + j] = 0.0
    for k in range(rotors.size // FOUR_ROTORS):
        _sum_four(w, rotors[k * FOUR_ROTORS :], propellers[k * FOUR_PROPELLERS :])


@compiled
def thin_out(w):
    """Thrust, H-force and moments are proportional to the density of the air; once a tick, after they are summed."""
    for n in range(42):
        for i in range(LANES):
            w[row.ROTOR_PUSH + n * LANES + i] *= w[row.DENSITY + i]


@compiled
def _damping(w, n, i):
    d = row.ROTOR_DAMPING + n * 6 * LANES + i
    return (
        w[d] * w[row.UX + i] + w[d + LANES] * w[row.UY + i] + w[d + 2 * LANES] * w[row.UZ + i]
        + w[d + 3 * LANES] * w[row.WX + i] + w[d + 4 * LANES] * w[row.WY + i] + w[d + 5 * LANES] * w[row.WZ + i]
    )  # fmt: skip


@compiled
def add_rotors(w):
    for i in range(LANES):
        w[row.FX + i] += w[row.ROTOR_PUSH + i] - _damping(w, 0, i)
        w[row.FY + i] += w[row.ROTOR_PUSH + LANES + i] - _damping(w, 1, i)
        w[row.FZ + i] += w[row.ROTOR_PUSH + 2 * LANES + i] - _damping(w, 2, i)
    for i in range(LANES):
        w[row.TX + i] += w[row.ROTOR_PUSH + 3 * LANES + i] - _damping(w, 3, i)
        w[row.TY + i] += w[row.ROTOR_PUSH + 4 * LANES + i] - _damping(w, 4, i)
        w[row.TZ + i] += w[row.ROTOR_PUSH + 5 * LANES + i] - _damping(w, 5, i)
