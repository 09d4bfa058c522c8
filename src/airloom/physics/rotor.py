"""Rotors: motor lag, thrust, H-force, drag moment and rolling moment.

The model of RotorS (Furrer et al., 2016; Martin and Salaün, ICRA 2010), valid near hover with rigid blades:
thrust T = k ω² along the axis, H-force −|ω| k_d v⊥, drag moment −dir k_m T about the axis and rolling moment
−|ω| k_r v⊥, where v⊥ is the hub's velocity through the air perpendicular to the axis.

Everything but the thrust is linear in the velocity of the vehicle, so all rotors of a tick together are one
constant wrench and one 6×6 damping matrix: they are summed once a tick and applied at every stage of the step.
"""

from __future__ import annotations

import numpy as np

from airloom.compiled import compiled
from airloom.physics.rows import (
    DAMPING, FX, FY, FZ, LAG_DOWN, LAG_UP, LANES, MAX_SPEED, PROPELLER_WIDTH, PUSH, ROTOR_DAMPING, ROTOR_PUSH,
    ROTOR_WIDTH, ROTORS_TOGETHER, SHARE, SPEED, TARGET, TX, TY, TZ, UX, UY, UZ, WX, WY, WZ,
)  # fmt: skip

FOUR_ROTORS, FOUR_PROPELLERS = ROTORS_TOGETHER * ROTOR_WIDTH, ROTORS_TOGETHER * PROPELLER_WIDTH
SPEED_A, SPEED_B, SPEED_C, SPEED_D = (k * ROTOR_WIDTH + SPEED for k in range(ROTORS_TOGETHER))
A, B, C, D = (k * PROPELLER_WIDTH for k in range(ROTORS_TOGETHER))


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
        u, top = rotor[TARGET + i], rotor[MAX_SPEED + i]
        up, down, speed = rotor[LAG_UP + i], rotor[LAG_DOWN + i], rotor[SPEED + i]
        u = u if u > 0.0 else 0.0
        u = rotor[SHARE + i] * (u if u < top else top)
        lag = up if u > speed else down
        rotor[SPEED + i] = lag * speed + (1.0 - lag) * u


@compiled
def spin_rotors(rotors):
    """One tick of motor lag, exact for a constant command: ω ← α ω + (1 − α) u, α = exp(−dt/τ) up or down.

    The new speed acts during the whole tick, as in RotorS.
    """
    for base in range(0, rotors.size, ROTOR_WIDTH):
        _spin(rotors[base : base + ROTOR_WIDTH])


@compiled
def _sum_four(w, rotors, four):
    for row in range(6):
        for i in range(LANES):
            j = row * LANES + i
            a, b, c, d = rotors[SPEED_A + i], rotors[SPEED_B + i], rotors[SPEED_C + i], rotors[SPEED_D + i]
            w[ROTOR_PUSH + j] += (
                a * a * four[A + PUSH + j] + b * b * four[B + PUSH + j]
                + c * c * four[C + PUSH + j] + d * d * four[D + PUSH + j]
            )  # fmt: skip
    for row in range(36):
        for i in range(LANES):
            j = row * LANES + i
            w[ROTOR_DAMPING + j] += (
                rotors[SPEED_A + i] * four[A + DAMPING + j] + rotors[SPEED_B + i] * four[B + DAMPING + j]
                + rotors[SPEED_C + i] * four[C + DAMPING + j] + rotors[SPEED_D + i] * four[D + DAMPING + j]
            )  # fmt: skip


@compiled
def sum_rotors(w, rotors, propellers):
    """Constant wrench and damping matrix of all rotors at their present speeds."""
    for j in range(42 * LANES):
        w[ROTOR_PUSH + j] = 0.0
    for k in range(rotors.size // FOUR_ROTORS):
        _sum_four(w, rotors[k * FOUR_ROTORS :], propellers[k * FOUR_PROPELLERS :])


@compiled
def _damping(w, row, i):
    d = ROTOR_DAMPING + row * 6 * LANES + i
    return (
        w[d] * w[UX + i] + w[d + LANES] * w[UY + i] + w[d + 2 * LANES] * w[UZ + i]
        + w[d + 3 * LANES] * w[WX + i] + w[d + 4 * LANES] * w[WY + i] + w[d + 5 * LANES] * w[WZ + i]
    )  # fmt: skip


@compiled
def add_rotors(w):
    for i in range(LANES):
        w[FX + i] += w[ROTOR_PUSH + i] - _damping(w, 0, i)
        w[FY + i] += w[ROTOR_PUSH + LANES + i] - _damping(w, 1, i)
        w[FZ + i] += w[ROTOR_PUSH + 2 * LANES + i] - _damping(w, 2, i)
    for i in range(LANES):
        w[TX + i] += w[ROTOR_PUSH + 3 * LANES + i] - _damping(w, 3, i)
        w[TY + i] += w[ROTOR_PUSH + 4 * LANES + i] - _damping(w, 4, i)
        w[TZ + i] += w[ROTOR_PUSH + 5 * LANES + i] - _damping(w, 5, i)
